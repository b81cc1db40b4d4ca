#!/usr/bin/env python3
"""Checks which module includes which: lower modules never see higher ones, neighbours never see each other.

    dependency_order.py [ROOT]      check include/, src/, apps/ and python/ under ROOT (default: this repository)
    dependency_order.py --self-test check that planted violations are found, and nothing else
    dependency_order.py --diagram   the diagram of docs/design/architecture.md, which is checked too
"""

import re
import sys
import tempfile
from pathlib import Path

# From the ground up. A module sees every module on a lower level, itself, and the headers at the root
# (types.hpp, error.hpp); modules on one level do not see each other.
LEVELS = [
    ["random", "spec", "referee"],
    ["model"],
    ["theory", "convex", "width"],
    ["problem", "environment", "estimate", "plan"],
    ["confidence"],
    ["certify"],
    ["explore", "audit"],
    ["files"],
    ["formats"],
    ["process"],
    ["run"],
    ["apps", "python"],
]
ROOT_HEADERS = {"types.hpp", "error.hpp"}
ROOTS = set(LEVELS[0])
PAGE = "docs/design/architecture.md"
LEVEL_OF = {module: level for level, modules in enumerate(LEVELS) for module in modules}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]alidade/([^">]+)[">]')


def module_of(path):
    """The module of a file given relative to the root of the repository; None for the headers at the root."""
    parts = path.parts
    if parts[0] in ("apps", "python"):
        return parts[0]
    return parts[2] if len(parts) > 3 else None


def complaint(module, target):
    """Why a file of `module` may not include alidade/`target`, or None if it may."""
    seen = target.split("/")[0] if "/" in target else None
    if seen is None:
        return None if target in ROOT_HEADERS else f"alidade/{target} belongs to no module"
    if seen not in LEVEL_OF:
        return f"'{seen}' is no module"
    if module is None:
        return f"types.hpp and error.hpp see no module, not even '{seen}'"
    if module == seen or LEVEL_OF[seen] < LEVEL_OF[module]:
        return None
    if LEVEL_OF[seen] == LEVEL_OF[module]:
        return f"'{module}' and '{seen}' are on one level and do not see each other"
    return f"'{seen}' is above '{module}'"


def violations(root):
    """All offending lines as (path, line number, reason)."""
    found = []
    for folder in ("include/alidade", "src/alidade", "apps", "python"):
        for file in sorted((root / folder).rglob("*.[ch]pp")):
            path = file.relative_to(root)
            module = module_of(path)
            if module is not None and module not in LEVEL_OF:
                found.append((path, 1, f"'{module}' is no module; add it to {Path(__file__).name}"))
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
                match = INCLUDE.match(line)
                reason = match and complaint(module, match.group(1))
                if reason:
                    found.append((path, number, reason))
    return found


def check(root):
    found = violations(root)
    for path, number, reason in found:
        print(f"{path}:{number}: {reason}")
    if found:
        order = " <- ".join("{" + ", ".join(modules) + "}" if len(modules) > 1 else modules[0] for modules in LEVELS)
        print(f"The order is: {order}")
        return 1
    return 0


def uses(root):
    """Which modules each module includes, itself left out."""
    seen = {module: set() for modules in LEVELS for module in modules}
    for folder in ("include/alidade", "src/alidade", "apps", "python"):
        for file in sorted((root / folder).rglob("*.[ch]pp")):
            module = module_of(file.relative_to(root))
            for line in file.read_text(encoding="utf-8").splitlines():
                match = INCLUDE.match(line)
                if module and match and "/" in match.group(1):
                    seen[module].add(match.group(1).split("/")[0])
    return {module: others - {module} for module, others in seen.items() if others - {module} or module in ROOTS}


def diagram(root):
    """The includes as a Mermaid graph, without arrows that others imply."""
    direct = uses(root)

    def reached(module):
        return {module}.union(*(reached(other) for other in direct.get(module, ())))

    lines = ["```mermaid", "graph BT"]
    for module, others in direct.items():
        implied = set().union(*(reached(other) - {other} for other in others))
        lines += [f"    {other} --> {module}" for other in sorted(others - implied, key=lambda name: (LEVEL_OF[name], name))]
    return "\n".join([*lines, "```", ""])


def check_walks(root):
    """Every file that the page walks through is there."""
    page = (root / PAGE).read_text(encoding="utf-8")
    missing = [file for file in re.findall(r"^\d+\. `([^`]+)`", page, flags=re.M) if not (root / file).exists()]
    for file in missing:
        print(f"{PAGE} walks through {file}, which is not there")
    return 1 if missing else 0


def check_diagram(root):
    if diagram(root) in (root / PAGE).read_text(encoding="utf-8"):
        return 0
    print(f"{PAGE} has not the diagram that dependency_order.py --diagram prints")
    return 1


def self_test():
    files = {
        "include/alidade/types.hpp": "#pragma once\n",
        "include/alidade/error.hpp": '#include "alidade/model/shape.hpp"\n',  # the root sees no module
        "include/alidade/model/shape.hpp": '#include "alidade/types.hpp"\n#include "alidade/plan/planner.hpp"\n',
        "include/alidade/plan/planner.hpp": '#include "alidade/model/shape.hpp"\n#include "alidade/error.hpp"\n',
        "src/alidade/plan/planner.cpp": '#include "alidade/plan/planner.hpp"\n\n#include <alidade/problem/p.hpp>\n',
        "src/alidade/theory/radius.cpp": '#include "alidade/width/bracket.hpp"\n',
        "src/alidade/run/store.cpp": '#include "alidade/explore/explorer.hpp"\n#include "alidade/extra.hpp"\n',
        "src/alidade/run/json.hpp": '// #include "alidade/apps/x.hpp" is only talked about\n',
        "apps/alidade/main.cpp": '#include "alidade/run/store.hpp"\n#include "alidade/cellar/wine.hpp"\n',
    }
    planted = {
        ("include/alidade/error.hpp", 1),
        ("include/alidade/model/shape.hpp", 2),
        ("src/alidade/plan/planner.cpp", 3),
        ("src/alidade/theory/radius.cpp", 1),
        ("src/alidade/run/store.cpp", 2),
        ("apps/alidade/main.cpp", 2),
    }
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found = {(path.as_posix(), number) for path, number, _ in violations(root)}
    if found != planted:
        print(f"self-test failed: missed {sorted(planted - found)}, invented {sorted(found - planted)}")
        return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    here = Path(__file__).resolve().parent.parent
    if sys.argv[1:] == ["--diagram"]:
        sys.exit(print(diagram(here), end=""))
    sys.exit(check(Path(sys.argv[1])) if len(sys.argv) > 1 else check(here) or check_diagram(here) or check_walks(here))
