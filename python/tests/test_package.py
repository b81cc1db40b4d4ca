"""The package as a whole: its examples, its documentation, its types, and what it leaves behind."""

from __future__ import annotations

import doctest
import inspect
import pathlib
import re
import subprocess
import sys
import types

import pytest

import alidade
import alidade.fleet
import alidade.gym
import alidade.logs
import alidade.plot
import alidade.simulators
import alidade.tracking
from alidade import _core
from conftest import ROOT

EXAMPLES = sorted((ROOT / "examples/python").glob("*.py")) + sorted((ROOT / "examples/notebooks").glob("*.py"))


def documented():
    """Every object of the package that has a docstring, compiled or not, by name."""
    found = {}
    places = [alidade, _core] + [m for m in vars(alidade).values() if isinstance(m, types.ModuleType) and m.__name__.startswith("alidade")]
    for place in places:
        found[place.__name__] = place.__doc__ or ""
        for name, thing in vars(place).items():
            if name.startswith("__") or isinstance(thing, types.ModuleType):
                continue
            found[f"{place.__name__}.{name}"] = inspect.getdoc(thing) or ""
            if inspect.isclass(thing):
                for member, value in vars(thing).items():
                    if not member.startswith("__") or member == "__init__":
                        found[f"{place.__name__}.{name}.{member}"] = getattr(value, "__doc__", None) or ""
    found["alidade.gym.LearnedEnv"] = alidade.gym.LearnedEnv.__doc__ or ""  # imported when it is wanted
    return found


DOCUMENTED = documented()
WITH_EXAMPLES = sorted({text: name for name, text in DOCUMENTED.items() if ">>>" in text}.items(), key=lambda x: x[1])


@pytest.mark.parametrize("text, name", WITH_EXAMPLES, ids=[name for _, name in WITH_EXAMPLES])
def test_examples_in_docstrings(text, name):
    example = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), {}, name, None, None)
    words: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    runner.run(example, out=words.append)
    assert not words, "".join(words)


def test_there_are_examples():
    assert len(WITH_EXAMPLES) >= 10


def test_everything_public_is_documented():
    silent = [name for name, text in DOCUMENTED.items() if not text.strip() and re.fullmatch(r"alidade\.\w+", name)]
    assert silent == []


def test_modules_mirror_the_library():
    """Every module of the library that users call has one here; files and formats are io."""
    folders = {folder.name for folder in (ROOT / "include/alidade").iterdir() if folder.is_dir()}
    inner = {"convex", "width", "estimate", "spec", "referee", "process", "files", "formats"}  # parts of others, or io
    here = {path.stem for path in (ROOT / "python/alidade").glob("[a-z]*.py")}
    assert folders - inner <= here


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
def test_examples_run(example):
    subprocess.run([sys.executable, example], check=True, capture_output=True, timeout=120)


def test_types():
    """mypy --strict over the examples, and the package that they import."""
    pytest.importorskip("mypy")
    package = pathlib.Path(alidade.__file__).parent.parent
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", *EXAMPLES],
        cwd=package, capture_output=True, text=True,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


def test_nothing_leaks():
    """nanobind names at exit what was not let go."""
    script = """
import alidade, numpy as np, tempfile
problem = alidade.make_builtin("builtin:inventory?capacity=6")
run = alidade.Run.create(tempfile.mkdtemp(), problem)
seen = []
run.explore(episodes=500, observe=seen.append)
knowledge = run.knowledge()
view = knowledge.model.probabilities(0)
plan = knowledge.plan(problem.rewards["balanced"], lambda P, R, H: np.zeros((H, R.shape[1]), dtype=int))
class Raises:
    def reset(self, seed): return 5
    def step(self, action): raise OSError("no")
try:
    alidade.Exploration(problem).run(Raises(), episodes=5)
except (OSError, ValueError):
    pass
try:
    alidade.Reward([2], problem.shape)
except ValueError:
    pass
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 0 and ended.stderr == ""


def test_memory_stays_where_it_is():
    """A hundred and fifty times around takes no more memory than thirty times."""
    script = """
import alidade, numpy as np, resource
problem = alidade.make_builtin("builtin:inventory?capacity=6")
reward = problem.rewards["balanced"]
def once():
    exploration = alidade.Exploration(problem)
    exploration.run(episodes=5, observe=lambda progress: None)
    plan = exploration.knowledge.plan(reward)
    np.sum(exploration.knowledge.model.probabilities(0))
for _ in range(30): once()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(120): once()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 2_000  # KiB


def test_it_is_imported_fast():
    """In less than 0.3 s of processor time, since others may share the machine."""
    timed = "import time; import alidade; print(time.process_time())"
    took = [
        float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]
    assert min(took) < 0.3


def test_scipy_and_pandas_are_only_imported_where_they_are_used():
    script = """
import sys, alidade
alidade.Exploration("builtin:riverswim").run(episodes=10)
print([name for name in ("scipy", "pandas", "tqdm", "quantecon") if name in sys.modules])
"""
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == "[]"
