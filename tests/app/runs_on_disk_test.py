#!/usr/bin/env python3
"""Runs on disk and those who read them, with the real tool and real disks.

    runs_on_disk_test.py --tool PATH

Who only reads a run (plan, certify, audit, export) takes no lock and changes no byte: many at once, beside a writer,
after a writer that was killed, on a medium that is read-only or full, and as a user who may not write. Who writes finds
a full disk, says so, loses nothing, and goes on when there is room.

Real mounts and another user need root. Without it, stand-ins are used where there are any (permissions taken away, a
limit on the size of files), and what could not be done is said. As root all of it is done, stand-ins too.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from disk_bench import (PROBLEM, WITHOUT_END, Bench, NotDone, answers, finished, mounted, readers, recovered, rows, said,
                        state, without, writer)

NOBODY = 65534  # a user who owns nothing here


# --- the steps ---------------------------------------------------------------------------------------

def six_readers_at_once(bench):
    run = bench.folder / "finished"
    assert bench.explore(run, 2000).code == 0
    assert [file.name for file in run.iterdir()] == ["run.sqlite"]
    commands, exported = readers(bench, run)
    one_by_one = said(commands, [bench.run(*words) for words in commands], exported)
    for _ in range(3):
        assert answers(bench, run) == one_by_one


def readers_beside_a_writer(bench):
    run, straight = bench.folder / "beside", bench.folder / "straight"
    seen = []
    with writer(bench, run) as process:
        begun = time.monotonic()
        while len(seen) < 12 or time.monotonic() - begun < 3:
            for words in readers(bench, run)[0]:
                outcome = bench.run(*words)
                assert outcome.code == 0, f"{words[0]} beside explore ended with {outcome.code}: {outcome.err}"
                if words[0] == "certify":
                    seen.append(outcome.object["episodes"])
        for more in ([], ["--overwrite"]):
            second = bench.explore(run, 2000, *more)
            assert second.code == 2 and "another process" in second.error()["what"], second.err
        assert process.poll() is None, "the writer ended: nothing was read beside it"
        process.send_signal(signal.SIGINT)
        stopped = finished(process)
    assert stopped.code == 130, stopped.err
    assert seen == sorted(seen) and seen[0] < seen[-1], seen
    # Undisturbed, it is the same run.
    budget = stopped.object["episodes"] + 300
    for folder in (run, straight):
        assert bench.explore(folder, budget, *WITHOUT_END).code == 0
    assert rows(run) == rows(straight)


def killed_run(bench, name):
    """A run whose writer was killed: it has checkpoints in its log."""
    run = bench.folder / name
    with writer(bench, run) as process:
        process.kill()
        process.communicate()
    assert (run / "run.sqlite-wal").stat().st_size > 0
    return run


def what_a_killed_writer_left(bench):
    run = killed_run(bench, "killed")
    expected = answers(bench, recovered(run, bench.folder / "killed-recovered"))
    assert rows(run) == rows(bench.folder / "killed-recovered")
    assert answers(bench, run) == expected
    (run / "run.sqlite-shm").unlink()
    assert answers(bench, run) == expected


def for_each_kind_of_run(bench, place):
    """Copies of a finished run and of one that was killed, with and without -shm; and what readers must say."""
    finished_run, killed = bench.folder / "finished", killed_run(bench, f"killed-for-{place.name}")
    expected = answers(bench, recovered(killed, bench.folder / f"recovered-for-{place.name}"))
    shutil.copytree(finished_run, place / "finished")
    shutil.copytree(killed, place / "killed")
    shutil.copytree(killed, place / "killed-without-shm")
    (place / "killed-without-shm" / "run.sqlite-shm").unlink()
    return [(place / "finished", answers(bench, finished_run)), (place / "killed", expected),
            (place / "killed-without-shm", expected)]


def a_read_only_medium(bench):
    place = bench.folder / "medium"
    with mounted(place, "64m"):
        runs = for_each_kind_of_run(bench, place)
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        for run, expected in runs:
            assert answers(bench, run) == expected
            for more in ([], ["--overwrite"]):
                refused = bench.explore(run, 4000, *more)
                assert refused.code == 2, refused.err
                assert "damaged" not in refused.err and "--overwrite" not in refused.error()["fix"], refused.err
        refused = bench.explore(place / "new", 2000)
        assert refused.code in (1, 2) and "Read-only file system" in refused.err, refused.err


def another_user(bench):
    place = bench.folder / "somebody's"
    place.mkdir()
    runs = for_each_kind_of_run(bench, place)
    if os.geteuid() == 0:
        user = {"user": NOBODY}
    else:
        print("   as another user: could not be done without root; permission to write is taken away instead")
        user = {}
        for run, _ in runs:
            for file in run.iterdir():
                file.chmod(0o444)
            run.chmod(0o555)
    try:
        for run, expected in runs:
            assert answers(bench, run, **user) == expected
            refused = bench.explore(run, 4000, **user)
            assert refused.code == 2 and "may read" in refused.error()["what"], refused.err
        # What may not be read is not taken for something else, nor half of a run for all of it.
        for run, secret in ((runs[0][0], "run.sqlite"), (runs[1][0], "run.sqlite-wal"), (runs[2][0], ".")):
            (run / secret).chmod(0)
            refused = bench.run("certify", run, "--json", **user)
            assert refused.code == 2 and "chmod" in refused.error()["fix"], refused.err
            (run / secret).chmod(0o755)
    finally:
        for run, _ in runs:
            run.chmod(0o755)


def fill(file, leave):
    """Takes all room of a disk but about `leave` bytes."""
    space = os.statvfs(file.parent)
    with open(file, "ab", buffering=0) as filler, contextlib.suppress(OSError):
        filler.write(bytes(max(0, space.f_bavail * space.f_frsize - leave)))
        while leave == 0:
            filler.write(bytes(4096))


def says_full(outcome):
    error = outcome.error()
    assert outcome.code == 1 and "disk is full" in error["what"], outcome.err
    assert "make room" in error["what"] and "type the same again" in error["fix"], outcome.err
    assert "damaged" not in outcome.err and "copy" not in outcome.err, outcome.err


def a_full_disk(bench):
    place, reference = bench.folder / "full", bench.folder / "reference"
    logs = bench.folder / "logs.jsonl"
    logs.write_text('{"states": [0], "actions": [0]}\n')
    for episodes in (2000, 4000):
        assert bench.explore(reference, episodes).code == 0
    with mounted(place, "1m"):
        run, filler = place / "run", place / "filler"
        assert bench.explore(run, 2000).code == 0
        before, bytes_before = answers(bench, run), state(run)
        fill(filler, 0)
        assert answers(bench, run) == before
        says_full(bench.explore(run, 4000))
        says_full(bench.explore(place / "new", 2000))
        says_full(bench.run("learn", PROBLEM, "--episodes", logs, "-o", place / "learned", "--json"))
        assert not [file for file in place.rglob("*") if file.name.startswith("run.sqlite-new")]
        assert answers(bench, run) == before
        assert state(run)[str(run / "run.sqlite")] == bytes_before[str(run / "run.sqlite")]
        # Room enough to open the run, and not to save it.
        filler.unlink()
        fill(filler, 49152)
        says_full(bench.explore(run, 4000))
        fill(filler, 0)
        assert answers(bench, run) == before
        filler.unlink()
        assert bench.explore(run, 4000).code == 0
        assert rows(run) == rows(reference)
        assert bench.explore(place / "new", 2000).code == 0


def no_room_to_grow(bench):
    """What a full disk is, as far as a program can tell; it needs no root."""
    run, reference = bench.folder / "bounded", bench.folder / "unbounded"
    for episodes in (2000, 4000):
        assert bench.explore(reference, episodes).code == 0
    assert bench.explore(run, 2000).code == 0
    # The check of the model looks at all episodes that are stored: there may be more of them, never fewer.
    bounds = lambda: [without(a, "model_check") if isinstance(a, dict) else a for a in answers(bench, run)]
    before = bounds()
    for limit in (1000, 60_000):
        failed = bench.explore(run, 4000, limit=limit)
        assert failed.code == 1 and "File too large" in failed.error()["what"], failed.err
        assert "damaged" not in failed.err and "copy" not in failed.err, failed.err
        assert bounds() == before
    assert bench.explore(run, 4000).code == 0
    assert rows(run) == rows(reference)


def a_run_that_is_replaced_under_its_readers(bench):
    run, answer = bench.folder / "replaced", []
    for seed in (0, 1):
        assert bench.explore(run, 2000, "--overwrite", "--seed", seed).code == 0
        answer.append(without(bench.run("certify", run, "--json").object, "seconds"))
    answered = 0
    for turn in range(10):
        process = bench.start("explore", PROBLEM, "-o", run, "--episodes", 2000, "--overwrite", "--seed", turn % 2)
        while process.poll() is None:
            outcome = bench.run("certify", run, "--json")
            # Of a run that has not ended nothing is stored to compare with; it is one of the two all the same.
            if outcome.code == 0 and outcome.object["stored"] is None:
                assert outcome.object["episodes"] <= 2000 and outcome.object["agrees"], outcome.object
            elif outcome.code == 0:
                assert without(outcome.object, "seconds") in answer, outcome.object
                answered += 1
            elif outcome.code != 0:
                what = outcome.error()["what"]
                assert outcome.code == 2 and re.search(
                    "no run.sqlite|no such file any more|another run was put|no episodes yet", what), outcome.err
        assert finished(process).code == 0
    print(f"   {answered} answers while the run was replaced")


def advice_about_a_file_that_is_no_run(bench):
    logs = bench.folder / "logs.jsonl"
    logs.write_text('{"states": [0], "actions": [0]}\n')
    database = bench.folder / "accounts.sqlite"
    with contextlib.closing(sqlite3.connect(database)) as accounts:
        accounts.execute("CREATE TABLE accounts (year)")
        accounts.commit()
    contents = {"empty": b"", "text": b"the accounts of 1998", "database": database.read_bytes(),
                "noise": bytes(range(256)) * 20}
    for name, content in contents.items():
        run = bench.folder / f"foreign-{name}"
        run.mkdir()
        (run / "run.sqlite").write_bytes(content)
        explore = ("explore", PROBLEM, "-o", run, "--episodes", 100)
        learn = ("learn", PROBLEM, "--episodes", logs, "-o", run)
        for words in (explore, (*explore, "--overwrite"), learn, (*learn, "--overwrite"), ("demo", "--run", run),
                      *readers(bench, run)[0]):
            refused = bench.run(*words, *([] if "--json" in words else ["--json"]))
            error = refused.error()
            assert refused.code == 2 and "not a run" in error["what"], refused.err
            # Neither what is then refused, nor the folder that is taken.
            assert "--overwrite" not in error["fix"] and f"-o {run}" not in error["fix"], error["fix"]
            assert (run / "run.sqlite").read_bytes() == content
        # As advised.
        (run / "run.sqlite").rename(run / "kept")
        assert bench.run(*explore).code == 0
        assert bench.run("certify", run).code == 0
        assert (run / "kept").read_bytes() == content


def damage_in_words(bench):
    run = bench.folder / "damaged"
    shutil.copytree(bench.folder / "finished", run)
    content = (run / "run.sqlite").read_bytes()
    assert content.count(b"CREATE TABLE meta (key") == 1
    for words in (b"CREATE TABLE \x1b[2J  m(k", b"CREATE TABLE x \xff\x9bq  (k"):
        (run / "run.sqlite").write_bytes(content.replace(b"CREATE TABLE meta (key", words))
        for command in readers(bench, run)[0]:
            refused = bench.run(*command)  # which looks at the bytes that are printed
            assert refused.code == 2 and "damaged" in refused.error()["what"], refused.err
            assert "restore" in refused.error()["fix"], refused.err
    resumed = bench.explore(run, 4000)
    assert resumed.code == 2 and "--overwrite" in resumed.error()["fix"], resumed.err
    assert bench.explore(run, 2000, "--overwrite").code == 0
    assert answers(bench, run) == answers(bench, bench.folder / "finished")


STEPS = (six_readers_at_once, readers_beside_a_writer, what_a_killed_writer_left, a_read_only_medium, another_user,
         a_full_disk, no_room_to_grow, a_run_that_is_replaced_under_its_readers, advice_about_a_file_that_is_no_run,
         damage_in_words)


def in_a_world_of_its_own():
    """As root: goes on where mounts are seen by nobody else and vanish with this process."""
    mark = "ALIDADE_OWN_MOUNTS"
    if os.geteuid() != 0 or os.environ.get(mark) or not shutil.which("unshare"):
        return
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0:
        os.environ[mark] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path, help="the program alidade")
    parser.add_argument("--step", action="append", default=[], help="only this step; the first is always done")
    given = parser.parse_args()
    in_a_world_of_its_own()
    failed = []
    with tempfile.TemporaryDirectory(prefix="alidade-runs-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        bench = Bench(folder, given.tool)
        for step in STEPS:
            title = step.__name__.replace("_", " ")
            if given.step and step is not STEPS[0] and step.__name__ not in given.step:
                continue
            begun = time.monotonic()
            print(f"-- {title}", flush=True)
            try:
                step(bench)
                print(f"   holds, {time.monotonic() - begun:.1f} s", flush=True)
            except NotDone as reason:
                print(f"   could not be done: {reason}", flush=True)
            except (AssertionError, subprocess.SubprocessError, UnicodeDecodeError, KeyError, TypeError) as error:
                failed.append(title)
                print(f"   FAILS: {type(error).__name__}: {str(error)[:2000]}", flush=True)
    if failed:
        sys.exit(f"{len(failed)} of {len(STEPS)} fail: {', '.join(failed)}")


if __name__ == "__main__":
    main()
