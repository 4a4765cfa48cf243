"""The constraints of `make test-lowest` follow from the declared bounds."""

from __future__ import annotations

import pytest

from lowest import ROOT, constraints

PROJECT = """
[project]
name = "it"
dependencies = ["numpy>=1.26"{more}]
[project.optional-dependencies]
deep = ["torch>=2.4", "uvloop>=0.21; sys_platform != 'win32'"]
all = ["it[deep]", "numpy>={again}"]
"""


def test_each_direct_dependency_gets_its_lowest_version_and_pins_stay():
    lines = constraints(PROJECT.format(more="", again="1.26"), "# why\ntorch==2.13.0\n")
    assert lines == ["torch==2.13.0", "numpy==1.26", "uvloop==0.21; sys_platform != 'win32'"]


@pytest.mark.parametrize("more, again", [("", "2.0"), (', "rich"', "1.26"), (', "a<2"', "1.26")])
def test_bounds_that_are_missing_or_differ_are_refused(more, again):
    with pytest.raises(ValueError, match=r"lowest version"):
        constraints(PROJECT.format(more=more, again=again), "")


def test_the_project_declares_a_lowest_version_of_everything():
    texts = [(ROOT / name).read_text() for name in ("pyproject.toml", "constraints.txt")]
    assert "torch==2.13.0" in constraints(*texts)
