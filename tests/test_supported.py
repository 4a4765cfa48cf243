"""The tables of `docs/supported.md` say what the library does with each space."""

import re
from pathlib import Path

import pytest

import supported

PAGE = (Path(__file__).parent.parent / "docs/supported.md").read_text()


def rows(heading):
    """The rows of the first table under a heading: the space, and what is said of it."""
    part = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    found = re.findall(r"^\| `([A-Z][^`]*)` \| (.*) \|$", part, re.MULTILINE)
    return [(space, [cell.strip("` ") for cell in cells.split(" | ")]) for space, cells in found]


@pytest.mark.parametrize(("space", "says"), rows("Observations"), ids=lambda one: str(one)[:30])
def test_observations_are_taken_as_the_table_says(space, says):
    assert supported.row(space) == says


@pytest.mark.parametrize(("space", "says"), rows("Actions"), ids=lambda one: str(one)[:30])
def test_actions_are_taken_as_the_table_says(space, says):
    assert supported.taken(space) == says


def test_the_tables_have_rows_for_every_kind_of_space():
    named = {space.split("(")[0] for space, _ in rows("Observations")}
    assert named == set(supported.NAMES) - {"np"}
    assert len(rows("Actions")) >= 7
