#!/usr/bin/env python3
"""Plants the faults of faults.toml one after another and demands that the named tests fail.

    plant.py --check          every text of the table stands in its file exactly once, and docs/testing.md
                              has the table as it is (a second; part of ./dev test)
    plant.py --table          the table for docs/testing.md
    plant.py [--jobs N] [WORD...]
                              plants all faults, or those whose names contain a word, in a copy of the
                              source under build/faults, and demands that each test named passes without
                              the fault and fails with it (./dev test faults; part of ./dev test --long)
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

root = Path(__file__).resolve().parents[2]
table_file = root / "tests/faults/faults.toml"
page = root / "docs/testing.md"
copy = root / "build/faults/source"
copied = ["apps", "benchmarks", "cmake", "examples", "experiments", "include", "src", "tests",
          "web", "CMakeLists.txt", "CMakePresets.json"]
installed = {"__pycache__", "node_modules"}  # what tools leave beside the source
fields = {"name", "file", "text", "planted"}
begin, end = "<!-- planted faults: from here -->", "<!-- planted faults: to here -->"


def load():
    with open(table_file, "rb") as file:
        faults = tomllib.load(file)["fault"]
    names = [fault["name"] for fault in faults]
    for fault in faults:
        if set(fault) not in (fields | {"seen"}, fields | {"unseen"}):
            sys.exit(f"{table_file}: '{fault.get('name')}' must have name, file, text, planted and one of "
                     "seen, unseen")
        if names.count(fault["name"]) > 1:
            sys.exit(f"{table_file}: two faults are called '{fault['name']}'")
    return faults


def misplaced(faults):
    """What is not in the source as the table has it."""
    wrong = []
    for fault in faults:
        found = (root / fault["file"]).read_text().count(fault["text"])
        if found != 1:
            wrong.append(f"'{fault['name']}': its text stands {found} times in {fault['file']}, "
                         f"must be once:\n    {fault['text']}")
    return wrong


def check(faults):
    wrong = misplaced(faults)
    if begin + "\n" + table(faults) + end not in page.read_text():
        wrong.append(f"{page.relative_to(root)} has not the table that plant.py --table prints")
    if wrong:
        sys.exit("The table of planted faults is not true any more.\n" + "\n".join(wrong))
    print(f"{len(faults)} planted faults: every text is where the table says.")


def table(faults):
    lines = ["| file | fault | test that fails |", "|---|---|---|"]
    for fault in faults:
        seen = ", ".join("`" + test.split(":", 1)[1] + "`" for test in fault.get("seen", []))
        lines.append(f"| `{Path(fault['file']).relative_to('src/alidade')}` | {fault['name']} | "
                     f"{seen or 'none: ' + fault['unseen']} |")
    return "\n".join(lines) + "\n"


def refresh_copy():
    """The source as it is now; only what changed is written, so that little is compiled again."""
    kept = set()
    for name in copied:
        top = root / name
        for path in [top] if top.is_file() else [p for p in top.rglob("*") if p.is_file()]:
            if installed & set(path.parts):
                continue
            target = copy / path.relative_to(root)
            kept.add(target)
            if target.exists() and target.read_bytes() == path.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            shutil.copymode(path, target)
    for name in copied:
        for path in (copy / name).rglob("*"):
            if path.is_file() and path not in kept:
                path.unlink()


def run(command, **options):
    return subprocess.run(command, cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)


def build(targets, jobs):
    return run(["cmake", "--build", "--preset", "dev", "-j", str(jobs), "--target", *sorted(targets)])


def binary(test):
    return "test_" + test.split(":", 1)[0]


def failed(test):
    """Whether the test fails. It must be there."""
    module, name = test.split(":", 1)
    command = [f"build/dev/tests/{module}/test_{module}", f"--gtest_filter={name}", "--gtest_brief=1"]
    try:
        result = run(command, timeout=600)
    except subprocess.TimeoutExpired:
        return True
    if re.search(r"\b0 tests from", result.stdout):
        sys.exit(f"{test}: there is no such test")
    return result.returncode != 0


def configure(faults):
    # What changes with every fault is compiled by itself, so that little is compiled again.
    alone = sorted({fault["file"] for fault in faults if fault["file"].endswith(".cpp")})
    # The script of the report's page is left out: no fault is planted there, and npm would install for it.
    command = ["cmake", "--preset", "dev", "-DALIDADE_NODE=OFF", "-DALIDADE_EXAMPLES=OFF", "-DALIDADE_SANITIZERS=OFF",
               "-DALIDADE_BENCHMARKS=OFF", "-DALIDADE_ALONE=" + ";".join(alone)]
    if shutil.which("ccache"):
        command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        os.environ.setdefault("CCACHE_BASEDIR", str(root))
        os.environ.update(CCACHE_SLOPPINESS="pch_defines,time_macros", CCACHE_NODEPEND="1")
    result = run(command)
    if result.returncode:
        sys.exit(result.stdout)


def plant(fault, jobs):
    """What happened, and whether it is what the table says."""
    file = copy / fault["file"]
    original = file.read_text()
    tests = fault.get("seen", [])
    try:
        file.write_text(original.replace(fault["text"], fault["planted"]))
        result = build({binary(test) for test in tests}, jobs)
        if result.returncode:
            return "does not compile:\n" + result.stdout[-2000:], False
        missed = [test for test in tests if not failed(test)]
    finally:
        file.write_text(original)
    return ("caught", True) if not missed else ("NOT CAUGHT by " + ", ".join(missed), False)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    faults = load()
    if options.table:
        return print(table(faults), end="")
    if options.check:
        return check(faults)
    if wrong := misplaced(faults):
        sys.exit("\n".join(wrong))
    if options.words:
        faults = [f for f in faults if any(word in f["name"] or word in f["file"] for word in options.words)]
    # The statistical tests with the runs of every day: what only more would show is not in the table.
    os.environ.pop("ALIDADE_TEST_EFFORT", None)
    os.environ.pop("GTEST_TOTAL_SHARDS", None)
    refresh_copy()
    configure(load())
    tests = sorted({test for fault in faults for test in fault.get("seen", [])})
    result = build({binary(test) for test in tests}, options.jobs)
    if result.returncode:
        sys.exit(result.stdout[-4000:])
    for test in tests:
        if failed(test):
            sys.exit(f"{test} fails without any fault")
    print(f"{len(tests)} tests pass without a fault.", flush=True)
    caught, unseen, wrong = 0, 0, []
    for fault in faults:
        if "unseen" in fault:
            unseen += 1
            print(f"not to be seen  {fault['name']}: {fault['unseen']}", flush=True)
            continue
        began = time.monotonic()
        what, right = plant(fault, options.jobs)
        caught += right
        if not right:
            wrong.append(fault["name"])
        by = ", ".join(fault["seen"])
        print(f"{what:14}  {fault['name']} ({Path(fault['file']).name}), by {by}: "
              f"{time.monotonic() - began:.0f} s", flush=True)
    print(f"{caught} planted faults caught, {unseen} not to be seen, {len(wrong)} missed.")
    if wrong:
        sys.exit("Missed: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
