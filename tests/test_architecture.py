"""What holds of the source as a whole: no cycles, no long files, no game named in general code."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import taskalgebra
from conftest import LONGEST

PACKAGE = Path(taskalgebra.__file__).parent
GAME = "boxman"
AT_HOME = (
    "__init__.py",  # its public name
    "envs/__init__.py",
    "envs/registry.py",
    "envs/boxman/",
    "paper/",
    "showcase/temporal/moving.py",
    "skills/catalogue.py",
    "skills/shipped/",
    "apps/playground/presets/",
    "apps/playground/static/",  # the page names the preset and its route
)
TEXTS = {".py", ".js", ".css", ".html", ".json", ".md"}


def test_one_game_is_named_only_where_it_is_at_home():
    strangers = []
    for path in sorted(PACKAGE.rglob("*")):
        name = path.relative_to(PACKAGE).as_posix()
        if path.suffix in TEXTS and not name.startswith(AT_HOME):
            if GAME in name.lower() or GAME in path.read_text(encoding="utf-8").lower():
                strangers.append(name)
    assert strangers == []


def modules():
    """Every module by its name, parsed."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imports(tree, known):
    """The modules of the package that a module imports, at the top, when needed or for types."""
    for node in ast.walk(tree):
        targets = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            targets = [f"{node.module}.{alias.name}" for alias in node.names]
        for target in targets:
            while target and target not in known:
                target = target.rpartition(".")[0]
            if target and target != "taskalgebra":
                yield target


def test_no_import_leads_back_to_where_it_started():
    known = modules()
    graph = {name: set(imports(tree, known)) - {name} for name, tree in known.items()}
    assert graph["taskalgebra.skills.making"] >= {"taskalgebra.planning.exact"}
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_no_file_is_longer_than_400_lines():
    long = {p.name: n for p in PACKAGE.rglob("*.py") if (n := p.read_text().count("\n")) > 400}
    assert long == {}


def test_skills_know_no_environment_by_name():
    known = modules()
    environments = {n for n in known if n.startswith("taskalgebra.envs.") and "registry" not in n}
    for name in ("skills", "making", "store"):
        module = f"taskalgebra.skills.{name}"
        assert not environments & set(imports(known[module], known)), name


def test_the_files_of_tests_that_begin_exist():
    assert [file for file in LONGEST if not Path(file).is_file()] == []
