"""Problems of the golden runs that no family makes: a start law, pooled steps, a misspecification, signed features,
linear MDPs in which not every state can follow, and logs."""

import json
import random
import struct
import subprocess
import zipfile
from pathlib import Path

BASES = "builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=3&seed=5"


def npy(values, shape, kind):
    """An array as NumPy stores it; kind is "d" (doubles), "q" (64-bit integers) or "S" (bytes, as they are)."""
    described = f"|S{len(values)}" if kind == "S" else {"d": "<f8", "q": "<i8"}[kind]
    words = f"{{'descr': '{described}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    data = values if kind == "S" else struct.pack(f"<{len(values)}{kind}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words.encode() + data


def write_npz(path, arrays):
    with zipfile.ZipFile(path, "w") as archive:
        for name, (values, shape, kind) in arrays.items():
            archive.writestr(name + ".npy", npy(values, shape, kind))


def problem_toml(name, bases, more="", start="initial_state = 0", truth=True):
    lines = ["[problem]", f'name = "{name}"', "horizon = 4", start, more]
    for base in bases:
        lines += ["[[base]]", f'file = "{base}"']
    return "\n".join([*lines, *(["[environment]", 'weights = "truth.json"'] if truth else []), ""])


def mixtures(rows):
    return json.dumps({"weights": [[0.2 + 0.1 * (h % 3), 0.5, 0.3 - 0.1 * (h % 3)] for h in range(rows)]})


def write_signed(folder):
    """Laws q plus what two signed features move between successors, theta = (1, 0.2, -0.1)."""
    states, actions, successors = 6, 2, 3
    offsets, targets, values = [0], [], []
    for pair in range(states * actions):
        rows = []
        for j in range(successors):
            q = (0.5, 0.3, 0.2)[(j + pair) % 3]
            moved = (0.3, -0.1, -0.2)[(j + pair // 2) % 3], (-0.25, 0.5, -0.25)[(j + 2 * pair) % 3]
            rows.append(((pair + 1 + 2 * j) % states, (q, *moved)))
        for target, features in sorted(rows):
            targets.append(target)
            values += features
        offsets.append(len(targets))
    folder.mkdir()
    write_npz(folder / "features.npz", {"states": ([states], (), "q"), "actions": ([actions], (), "q"),
                                        "offsets": (offsets, (len(offsets),), "q"),
                                        "targets": (targets, (len(targets),), "q"),
                                        "values": (values, (len(targets), 3), "d")})
    (folder / "truth.json").write_text(json.dumps({"weights": [[1, 0.2, -0.1]] * 4}))
    (folder / "problem.toml").write_text(
        '[problem]\nname = "signed"\nhorizon = 4\ninitial_state = 0\n[features]\nfile = "features.npz"\n'
        'norm_bound = 1.3\n[environment]\nweights = "truth.json"\n')


# The three laws that linear MDPs mix here, and what is known of each of six states and two actions: shares of them.
MEASURES = ((0.5, 0.3, 0.2, 0, 0, 0), (0, 0, 0.4, 0.6, 0, 0), (0, 0, 0, 0, 0.7, 0.3))


def shares(pair):
    return ((0.7, 0.3, 0), (0, 0.4, 0.6), (0.2, 0.3, 0.5), (1, 0, 0), (0.5, 0.5, 0))[(pair + pair // 3) % 5]


def write_linear(folder, name, more, truth):
    """Every pair leads where the laws that it mixes do."""
    offsets, targets = [0], []
    for pair in range(12):
        targets += [s for s in range(6) if any(share * mu[s] > 0 for share, mu in zip(shares(pair), MEASURES))]
        offsets.append(len(targets))
    folder.mkdir()
    write_npz(folder / "phi.npz", {"features": ([x for pair in range(12) for x in shares(pair)], (6, 2, 3), "d"),
                                   "offsets": (offsets, (len(offsets),), "q"),
                                   "targets": (targets, (len(targets),), "q")})
    environment = '[environment]\nmeasures = "truth.npz"\n' if truth else ""
    if truth:
        write_npz(folder / "truth.npz", {"measures": ([p for mu in MEASURES for p in mu], (3, 6), "d")})
    (folder / "problem.toml").write_text(
        f'[problem]\nname = "{name}"\nhorizon = 4\n{more}\n[linear]\nfile = "phi.npz"\n{environment}')


def write_linear_log(folder):
    draws, episodes = random.Random(8), []
    for _ in range(600):
        states, actions = [draws.randrange(2)], [draws.randrange(2) for _ in range(4)]
        for action in actions[:3]:
            mixed = draws.choices(MEASURES, shares(2 * states[-1] + action))[0]
            states.append(draws.choices(range(6), mixed)[0])
        episodes.append({"states": states, "actions": actions})
    (folder / "log.jsonl").write_text("".join(json.dumps(episode) + "\n" for episode in episodes))


def write_logged(folder):
    """Two states, two base models, and episodes that somebody logged."""
    (folder / "base").mkdir(parents=True)
    for name, stays in (("calm", (0.9, 0.5, 0.8, 0.4)), ("rough", (0.6, 0.5, 0.9, 0.9))):
        data = [p for pair, stay in enumerate(stays) for p in ((stay, 1 - stay) if pair < 2 else (1 - stay, stay))]
        write_npz(folder / f"base/{name}.npz", {"format": (b"csr", (), "S"), "shape": ([4, 2], (2,), "q"),
                                                "data": (data, (8,), "d"), "indices": ([0, 1] * 4, (8,), "q"),
                                                "indptr": ([0, 2, 4, 6, 8], (5,), "q")})
    (folder / "problem.toml").write_text(problem_toml("logged", ["base/calm.npz", "base/rough.npz"], truth=False))
    draws, episodes = random.Random(7), []
    for _ in range(600):
        states, actions = [0], [draws.randrange(2) for _ in range(4)]
        for action in actions[:3]:
            first = (0.75, 0.5, 0.15, 0.35)[2 * states[-1] + action]  # half of each base model
            states.append(0 if draws.random() < first else 1)
        episodes.append({"states": states, "actions": actions})
    (folder / "log.jsonl").write_text("".join(json.dumps(episode) + "\n" for episode in episodes))


def write_problems(tool, folder):
    folder = Path(folder)
    made = subprocess.run([tool, "problem", "make", BASES, "-o", "made"], cwd=folder, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    bases = [f"../made/{file.relative_to(folder / 'made')}" for file in sorted((folder / "made/base").iterdir())]
    for name, more, start, rows in (("start-law", "", "initial = [[0, 0.5], [3, 0.5]]", 4),
                                    ("homogeneous", "homogeneous = true", "initial_state = 0", 1),
                                    ("misspecified", "misspecification = 0.02", "initial_state = 0", 4)):
        (folder / name).mkdir()
        (folder / name / "problem.toml").write_text(problem_toml(name, bases, more, start))
        (folder / name / "truth.json").write_text(mixtures(rows))
    write_signed(folder / "signed")
    write_logged(folder / "logged")
    law = "initial = [[0, 0.5], [1, 0.5]]"
    write_linear(folder / "linear-homogeneous", "linear-homogeneous", f"homogeneous = true\n{law}", True)
    write_linear(folder / "linear-logged", "linear-logged", law, False)
    write_linear_log(folder / "linear-logged")
