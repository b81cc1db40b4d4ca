"""What the steps of runs_on_disk_test.py are made of: running the tool, and looking at what it leaves on disk."""

import contextlib
import hashlib
import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

# 1e12 episodes in 3e7 policies: hours. (In 2e5 policies, growth=0.0001, a fast machine was through in ten seconds.)
WITHOUT_END = ("--replan", "growth=0.000001")
PROBLEM = "builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=3&seed=5"
REWARD = "dense"
PATIENCE = 120  # seconds, for anything that must happen at all


# --- running the tool --------------------------------------------------------------------------------

class Bench:
    """A folder to work in, and the tool, where every user can get at them."""

    def __init__(self, folder, tool):
        self.folder = folder
        self.tool = folder / "alidade"
        shutil.copy(tool, self.tool)
        self.outputs = folder / "outputs"
        self.temporary = folder / "temporary"  # the readers' TMPDIR: must stay empty
        for place in (self.outputs, self.temporary):
            place.mkdir()
            place.chmod(0o777)

    def start(self, *words, user=None, limit=None):
        """Starts the tool; `limit`: the largest size of a file that it can write, as if the disk ended there."""
        identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        bound = None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        # Python ignores the signal that says that a limit is exceeded; the tool inherits that, and sees an error.
        return subprocess.Popen([str(self.tool), *map(str, words)], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(self.temporary)},
                                preexec_fn=bound, restore_signals=False, **identity)

    def run(self, *words, **how):
        return finished(self.start(*words, **how))

    def explore(self, run, episodes, *more, **how):
        return self.run("explore", PROBLEM, "-o", run, "--episodes", episodes, "--json", "--threads", 1, *more, **how)


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.err = code, shown(err)
        self.object = json.loads(out) if out.startswith(b"{") else None

    def error(self):
        return self.object["error"]


def finished(process):
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Outcome(process.returncode, out, err)


def shown(bytes_on_terminal):
    """The text; it must be UTF-8 without characters that steer a terminal."""
    text = bytes_on_terminal.decode("utf-8")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text), ascii(text)
    return text


def readers(bench, run):
    """Six commands that read, and the file that one of them writes elsewhere."""
    exported = bench.outputs / f"{uuid.uuid4().hex}.drn"
    common = ("--json", "--threads", 1)
    return [("plan", run, "--reward", REWARD, *common),
            ("plan", run, "--reward", REWARD, "--planner", "robust", *common),
            ("certify", run, *common),
            ("certify", run, "--fit-level", "0.05", *common),
            ("audit", run, "--rewards", 20, *common),
            ("export", run, "--as", "drn", "-o", exported, *common)], exported


def said(commands, outcomes, exported):
    """The answers, without what may differ between equal ones; all must answer."""
    for words, outcome in zip(commands, outcomes):
        assert outcome.code == 0, f"{words[0]} ended with {outcome.code}: {outcome.err}"
    what = [without(outcome.object, "seconds", "run", "threads", "files", "usage") for outcome in outcomes]
    what.append(hashlib.sha256(exported.read_bytes()).hexdigest())
    return what


def answers(bench, run, **how):
    """What six readers say who read at the same time; nothing in the folder may change."""
    before = state(run)
    commands, exported = readers(bench, run)
    outcomes = [finished(process) for process in [bench.start(*words, **how) for words in commands]]
    what = said(commands, outcomes, exported)
    assert state(run) == before, f"a reader changed {run}"
    assert not list(bench.temporary.iterdir()), "a reader left a temporary file behind"
    return what


def without(value, *keys):
    return {key: item for key, item in value.items() if key not in keys}


# --- looking at folders ------------------------------------------------------------------------------

def state(folder):
    """All that can be told about a folder: names, bytes, modes, times."""
    files = sorted(Path(folder).rglob("*"))
    result = {}
    for file in [Path(folder), *files]:
        status = file.stat()
        content = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
        result[str(file)] = (content, status.st_size, status.st_mode, status.st_mtime_ns, status.st_ctime_ns)
    return result


def rows(run):
    """All rows of all tables but meta, which has times; of a copy, as SQLite would write to the original."""
    with tempfile.TemporaryDirectory() as place:
        for file in Path(run).glob("run.sqlite*"):
            shutil.copy(file, place)
        database = sqlite3.connect(Path(place) / "run.sqlite")
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        content = {table: sorted(database.execute(f"SELECT * FROM {table}"), key=repr)
                   for table in tables if table != "meta"}
        database.close()
    return content


def recovered(run, to):
    """A copy that SQLite itself has recovered from the log."""
    shutil.copytree(run, to)
    database = sqlite3.connect(Path(to) / "run.sqlite")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return to


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)


@contextlib.contextmanager
def writer(bench, run):
    """An explore that does not end by itself and has stored something in its log."""
    process = bench.start("explore", PROBLEM, "-o", run, *WITHOUT_END, "--episodes", "1e12", "--json", "--threads", 1)
    try:
        log = Path(run) / "run.sqlite-wal"
        until(lambda: process.poll() is not None or log.exists() and log.stat().st_size > 0
              and bench.run("certify", run, "--json").code == 0, "the first checkpoint")
        assert process.poll() is None, finished(process).err
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


class NotDone(Exception):
    """A step that this machine or this user does not allow."""


def first_line(text):
    return text.splitlines()[0] if text else text


@contextlib.contextmanager
def mounted(place, size):
    """A file system in memory of its own; raises NotDone if that is not permitted."""
    place.mkdir()
    try:
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "none", str(place)],
                              capture_output=True, text=True)
        failure = first_line(made.stderr) or "mount failed" if made.returncode else ""
    except OSError as error:
        failure = str(error)
    if failure:
        raise NotDone(f"a file system of its own: {failure}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)
