"""PAPER.md is true: every symbol imports, every test exists, and every paper test is listed."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "PAPER.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| paper")
]
PLACES = sorted(set(re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", PAGE)))
REQUIRED = [
    *(f"Definition {i}" for i in range(1, 5)),
    *(f"Theorem {i}" for i in range(1, 4)),
    "Lemma 1",
    "Lemma 2",
    "Corollary 1",
    "Corollary 2",
    "Assumption 1",
    "Assumption 2",
]


def functions(path):
    """The names of the functions of a test file."""
    return {n.name for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef)}


def test_the_table_has_three_columns_and_many_rows():
    assert len(ROWS) >= 20
    assert all(len(row) == 3 for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_symbol_of_a_row_imports(row):
    module, _, name = row[1].strip("`").rpartition(".")
    assert hasattr(import_module(module), name)


@pytest.mark.parametrize("place", PLACES)
def test_a_test_that_is_named_exists(place):
    file, _, name = place.partition("::")
    assert (ROOT / file).is_file()
    assert not name or name in functions(ROOT / file)


@pytest.mark.parametrize("item", REQUIRED)
def test_every_result_of_the_paper_has_a_row(item):
    assert any(re.match(rf"{item}\b", row[0]) for row in ROWS)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests/paper").glob("test_*.py")), ids=lambda p: p.name
)
def test_every_file_of_paper_tests_is_listed(path):
    assert str(path.relative_to(ROOT)) in PAGE
