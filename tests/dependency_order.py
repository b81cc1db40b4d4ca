#!/usr/bin/env python3
"""Checks which module includes which: lower modules never see higher ones, neighbours never see each other. Checks,
too, who sees private headers: those beside the sources, which are included by relative path and from there only, and
declare everything in a namespace `detail`.

    dependency_order.py [ROOT]      check include/, src/, apps/, python/, examples/ and experiments/ under ROOT
                                    (default: this repository)
    dependency_order.py --self-test check that planted violations are found, and nothing else
    dependency_order.py --diagram   the diagram of docs/design/architecture.md, which is checked too
"""

import os
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
    ["report"],
    ["apps", "python"],
]
ROOT_HEADERS = {"types.hpp", "error.hpp"}
ROOTS = set(LEVELS[0])
PAGE = "docs/design/architecture.md"
LEVEL_OF = {module: level for level, modules in enumerate(LEVELS) for module in modules}
USERS = ("apps", "python", "examples", "experiments")  # they see public headers only
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(alidade/[^>]+)>)')
NAMESPACE = re.compile(r"^namespace ([\w:]+)", flags=re.M)
INSIDE = re.compile(r"alidade(::\w+)?::detail(::\w+)?")


def module_of(path):
    """The module of a file given relative to the root of the repository; None for the headers at the root."""
    parts = path.parts
    if parts[0] in USERS:
        return "python" if parts[0] == "python" else "apps"
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


def included(path, line):
    """What a line of a file includes as (path below alidade/, whether by relative path); None if nothing of ours."""
    match = INCLUDE.match(line)
    if not match:
        return None
    name = match.group(1) or match.group(2)
    if name.startswith("alidade/"):
        return name.removeprefix("alidade/"), False
    place = os.path.normpath(path.parent / name)
    return (place.removeprefix("src/alidade/"), True) if place.startswith("src/alidade/") else None


def wrong_way(root, path, target, relative):
    """Why the header is not to be had in this way, or None: public ones by name, private ones from src by place."""
    private = (root / "src/alidade" / target).exists()
    if path.parts[0] == "src":
        if private and not relative:
            return f"alidade/{target} is private: include it by relative path"
        if relative and not private:
            return f"there is no private header {target}; public ones are included as \"alidade/...\""
        return None
    return f"{target} is private: only src sees it" if private or relative else None


def violations(root):
    """All offending lines as (path, line number, reason)."""
    found = []
    for folder in ("include/alidade", "src/alidade", *USERS):
        for file in sorted((root / folder).rglob("*.[ch]pp")):
            path = file.relative_to(root)
            module = module_of(path)
            if module is not None and module not in LEVEL_OF:
                found.append((path, 1, f"'{module}' is no module; add it to {Path(__file__).name}"))
                continue
            text = file.read_text(encoding="utf-8")
            for number, line in enumerate(text.splitlines(), start=1):
                use = included(path, line)
                reason = use and (wrong_way(root, path, *use) or complaint(module, use[0]))
                if reason:
                    found.append((path, number, reason))
            if path.parts[0] == "src" and path.suffix == ".hpp":
                found += [(path, number, reason) for number, reason in outside_detail(text)]
    return found


def outside_detail(text):
    """Where a private header declares something elsewhere than in a namespace `detail`."""
    spaces = [(text.count("\n", 0, match.start()) + 1, match.group(1)) for match in NAMESPACE.finditer(text)]
    lines = [line for line in text.splitlines() if line and not line[0].isspace()]
    macros = all(line.startswith(("#", "//", "/*", "*", "\\")) for line in lines)
    if not spaces and not macros:
        return [(1, "a private header declares its names in namespace alidade::detail")]
    return [(number, f"a private header declares its names in namespace alidade::detail, not in {name}")
            for number, name in spaces if not INSIDE.fullmatch(name)]


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
            path = file.relative_to(root)
            module = module_of(path)
            for line in file.read_text(encoding="utf-8").splitlines():
                use = included(path, line)
                if module and use and "/" in use[0]:
                    seen[module].add(use[0].split("/")[0])
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
    inside = "namespace alidade::detail {\n}\n"
    files = {
        "include/alidade/types.hpp": "#pragma once\n",
        "include/alidade/error.hpp": '#include "alidade/model/shape.hpp"\n',  # the root sees no module
        "include/alidade/model/shape.hpp": '#include "alidade/types.hpp"\n#include "alidade/plan/planner.hpp"\n',
        "include/alidade/model/lane.hpp": '#include "alidade/model/sweep.hpp"\n#include "../../../src/alidade/model/sweep.hpp"\n',
        "include/alidade/plan/planner.hpp": '#include "alidade/model/shape.hpp"\n#include "alidade/error.hpp"\n',
        "src/alidade/plan/planner.cpp": '#include "alidade/plan/planner.hpp"\n\n#include <alidade/problem/p.hpp>\n'
                                        '#include "../model/sweep.hpp"\n#include "alidade/model/sweep.hpp"\n'
                                        '#include "planner.hpp"\n#include "../run/json.hpp"\n#include "../sweep.hpp"\n',
        "src/alidade/model/sweep.hpp": inside,
        "src/alidade/model/macros.hpp": "#pragma once\n// What clones are.\n#define CLONES \\\n    1\n",
        "src/alidade/model/bare.hpp": "#pragma once\nint bare();\n",
        "src/alidade/model/open.hpp": inside + "namespace alidade {\n}\n",
        "src/alidade/referee/sets.hpp": "namespace alidade::referee::detail {\n}\n",
        "src/alidade/referee/width.hpp": "namespace alidade::referee {\n}\n",
        "src/alidade/problem/families/lock.cpp": '#include "../../model/sweep.hpp"\n#include "../../plan/backup.hpp"\n',
        "src/alidade/plan/backup.hpp": '#include <vector>\n' + inside,
        "src/alidade/theory/radius.cpp": '#include "alidade/width/bracket.hpp"\n',
        "src/alidade/run/store.cpp": '#include "alidade/explore/explorer.hpp"\n#include "alidade/extra.hpp"\n',
        "src/alidade/run/json.hpp": '// #include "alidade/apps/x.hpp" is only talked about\n' + inside,
        "apps/alidade/main.cpp": '#include "alidade/run/store.hpp"\n#include "alidade/cellar/wine.hpp"\n'
                                 '#include "console.hpp"\n#include "alidade/run/json.hpp"\n',
        "examples/one.cpp": '#include "alidade/plan/planner.hpp"\n#include "../src/alidade/plan/backup.hpp"\n',
    }
    planted = {
        ("include/alidade/error.hpp", 1),
        ("include/alidade/model/shape.hpp", 2),
        ("include/alidade/model/lane.hpp", 1),
        ("include/alidade/model/lane.hpp", 2),
        ("src/alidade/plan/planner.cpp", 3),
        ("src/alidade/plan/planner.cpp", 5),
        ("src/alidade/plan/planner.cpp", 6),
        ("src/alidade/plan/planner.cpp", 7),
        ("src/alidade/plan/planner.cpp", 8),
        ("src/alidade/model/bare.hpp", 1),
        ("src/alidade/model/open.hpp", 3),
        ("src/alidade/referee/width.hpp", 1),
        ("src/alidade/problem/families/lock.cpp", 2),
        ("src/alidade/theory/radius.cpp", 1),
        ("src/alidade/run/store.cpp", 2),
        ("apps/alidade/main.cpp", 2),
        ("apps/alidade/main.cpp", 4),
        ("examples/one.cpp", 2),
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
