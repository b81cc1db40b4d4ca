#!/usr/bin/env python3
"""`alidade serve` as a stranger, an attacker and a crowd see it.

    serve_test.py --tool ALIDADE [--malformed N]           what must hold; N requests that are none (1000)

What a crowd costs the run is benchmarks/serve/crowd.py.
"""

import argparse
import hashlib
import http.client
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlparse

PROBLEM = "builtin:inventory?capacity=4"


class Server:
    """The tool, serving a run."""

    def __init__(self, tool, run, *words):
        self.process = subprocess.Popen([tool, "serve", str(run), "--json", "--quiet", *words], stdout=subprocess.PIPE, text=True)
        text = ""
        while not text.endswith("}\n"):
            line = self.process.stdout.readline()
            assert line, "the server has ended"
            text += line
        address = urlparse(json.loads(text)["address"])
        self.port, self.root = address.port, address.path
        assert address.hostname == "127.0.0.1" and len(self.root) == 34

    def get(self, path, host="127.0.0.1", method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        if host is not None:
            connection.putheader("Host", host)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def raw(self, data, wait=0.0):
        """Sends bytes, and returns the first bytes of the answer if one comes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(wait or 10)
                return connection.recv(200)
            except OSError:
                return b""

    def memory(self):
        """Kilobytes that it has in memory."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1])
        return 0

    def listen(self):
        """A connection that events arrive on, and a file to read them from."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        connection.sendall(f"GET {self.root}events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return connection, connection.makefile("rb")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(20) == 0


def state_of(folder):
    """Names, contents and times of everything in a folder."""
    found = {}
    for file in sorted(Path(folder).rglob("*")):
        status = file.stat()
        content = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
        found[str(file)] = (status.st_mtime_ns, status.st_mode, status.st_size, content)
    return found


def explore(tool, folder, *words):
    subprocess.run([tool, "explore", PROBLEM, "-o", str(folder), "--quiet", *words], check=True, stdout=subprocess.DEVNULL)


def check_reading(server, secret):
    status, headers, page = server.get(server.root)
    assert status == 200 and b"<h1>" in page and headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY"
    assert b"data-live data-version" in page
    for host in ("127.0.0.1", "localhost:99", "[::1]", f"127.0.0.1:{server.port}"):
        assert server.get(server.root, host)[0] == 200, host
    status, _, news = server.get(server.root + "page")
    assert status == 200 and b"<main" in news and b"<style" not in news and len(news) < len(page) / 2
    status, _, body = server.get(server.root, method="HEAD")
    assert status == 200 and body == b""
    assert secret not in page


def check_refusals(server, secret):
    token = server.root.strip("/")
    other = ("0" if token[0] != "0" else "1") + token[1:]
    for path in ("/", "/page", f"/{other}/", f"/{token[:-1]}/", f"/{token}", f"/{token}0/", f"/%00{token}/", "//", f"//{token}/",
                 f"/x/{token}/", "*", f"/{other}/../{token}/"):
        status, _, body = server.get(path)
        assert status in (400, 403, 404) and b"<h1>" not in body, (path, status)
    for host in ("evil.example", "127.0.0.1.evil.example", "127.0.0.2", "", None, "localhost.evil.example:80", "[::2]"):
        status, _, body = server.get(server.root, host)
        assert status in (400, 403) and b"<h1>" not in body, (host, status)
    two_hosts = f"GET {server.root} HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n".encode()
    assert b" 200 " not in server.raw(two_hosts)
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"):
        assert server.get(server.root, method=method)[0] in (400, 404, 405), method
    steps = ("../", "..%2f", "%2e%2e/", "..\\", "....//", "%2e%2e%2f", "..%252f", "..%c0%af", "/../")
    for step in steps:
        for depth in (1, 4, 12):
            for name in ("secret.txt", "etc/passwd", "run.sqlite", "served/run.sqlite"):
                for path in (server.root + step * depth + name, "/" + step * depth + name):
                    status, _, body = server.get(path)
                    assert status in (400, 403, 404) and secret not in body and b"root:" not in body and b"SQLite" not in body, path
    for name in ("run.sqlite", "/etc/passwd", "%2fetc%2fpasswd", "page/", "events/x", "page?file=/etc/passwd&x=../../etc/passwd"):
        status, _, body = server.get(server.root + name)
        assert b"root:" not in body and b"SQLite" not in body and (status in (403, 404) or name.startswith("page?")), name


def nonsense(randomly, root):
    """Bytes that are no request, or nearly one."""
    kind = randomly.randrange(10)
    junk = randomly.randbytes(randomly.randrange(1, 300))
    if kind == 0:
        return junk
    if kind == 1:
        return b"GET " + junk + b"\r\n\r\n"
    if kind == 2:
        return f"GET {root} HTTP/1.1\r\n".encode() + junk + b"\r\n\r\n"
    if kind == 3:
        return f"GET {root} HTTP/{randomly.randrange(99)}.{randomly.randrange(99)}\r\nHost: localhost\r\n\r\n".encode()
    if kind == 4:
        return b"GET /" + b"a" * randomly.randrange(1, 20000) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    if kind == 5:
        return f"POST {root} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {randomly.choice((-1, 10**20, 5))}\r\n\r\n".encode() + junk
    if kind == 6:
        return f"GET {root} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".encode() + junk
    if kind == 7:
        return f"GET {root} HTTP/1.1\r\nHost: localhost\r\nRange: bytes={randomly.choice(('9-1', '-1-', '0-' + '9' * 40, 'x', ',' * 400))}\r\n\r\n".encode()
    if kind == 8:
        return f"GET {root} HTTP/1.1\r\n".encode() + b"X: y\r\n" * randomly.randrange(1, 400) + b"\r\n"
    return b"\x16\x03\x01" + junk  # as if it spoke TLS


def check_nonsense(server, count):
    began = time.time()
    warm = None

    def shower(seed, share):
        randomly = random.Random(seed)
        for _ in range(share):
            server.raw(nonsense(randomly, server.root), 2)

    for part in range(2):
        threads = [threading.Thread(target=shower, args=(8 * part + i, count // 16)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if part == 0:
            warm = server.memory()
    grown = server.memory() - warm
    assert server.process.poll() is None
    assert server.get(server.root)[0] == 200
    assert grown < 20_000, f"{grown} kB more"
    print(f"   {count} malformed requests in {time.time() - began:.1f} s, memory {warm} kB and then {grown:+} kB")


def check_events(tool, folder, server):
    listeners = [server.listen() for _ in range(3)]
    for _, lines in listeners:
        assert b" 200 " in lines.readline()
    explore(tool, folder, "--episodes", "6000")
    for connection, lines in listeners:
        heard = ""
        while "has ended after 6,000" not in heard:
            heard += lines.readline().decode()
        assert "event: news" in heard and '"version"' in heard
        lines.close()
        connection.close()


def test(tool, malformed):
    with tempfile.TemporaryDirectory(prefix="alidade-serve-") as place:
        folder = Path(place) / "served"
        secret = b"the secret of this place"
        (Path(place) / "secret.txt").write_bytes(secret)
        explore(tool, folder, "--episodes", "2000")
        before = state_of(folder)
        server = Server(tool, folder)
        check_reading(server, secret)
        check_refusals(server, secret)
        check_nonsense(server, malformed)
        assert state_of(folder) == before, "the run was touched"
        check_events(tool, folder, server)
        subprocess.run([tool, "certify", str(folder), "--quiet"], check=True, stdout=subprocess.DEVNULL)
        # A run that is gone is said to be; the last page stays.
        (folder / "run.sqlite").rename(folder / "elsewhere")
        time.sleep(2)
        assert server.get(server.root)[0] == 200
        server.stop()
        (folder / "elsewhere").rename(folder / "run.sqlite")
        for words in (["--host", "0.0.0.0"], ["--port", "70000"]):
            refused = subprocess.run([tool, "serve", str(folder), *words], capture_output=True, text=True)
            assert refused.returncode == 2 and "fix" in refused.stderr.lower(), refused.stderr
        assert subprocess.run([tool, "serve", place], capture_output=True).returncode == 2
    print("serve: all held")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--malformed", type=int, default=1000)
    given = parser.parse_args()
    tool = str(Path(given.tool).resolve())
    if "without a library for HTTP" in subprocess.run([tool, "serve", "."], capture_output=True, text=True).stderr:
        sys.exit("this build cannot serve")
    test(tool, given.malformed)


if __name__ == "__main__":
    main()
