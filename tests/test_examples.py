"""The notebooks of `examples/`: whole, without outputs, and on the site, where they run."""

import re
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.ipynb"))
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
sys.path.insert(0, str(ROOT / "docs/_extensions"))


def named(path):
    return path.stem


def texts(path):
    return [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown"]


def test_there_are_five_and_the_site_shows_them():
    shown = (ROOT / "docs/tutorials/index.md").read_text().split("```")[1].split()
    assert {path.stem for path in EXAMPLES} == set(shown[-5:]) and len(EXAMPLES) == 5


@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_a_notebook_is_whole_and_holds_no_outputs(path):
    """What cells give is made when the site is built; stored, it would be old."""
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) >= 8
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    first = notebook.cells[0]
    assert first.cell_type == "markdown" and first.source.startswith("# ")
    assert "ten minutes" in first.source and "pip install" in first.source


@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_figures_are_described_for_those_who_do_not_see_them(path):
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "code" and re.search(r"\.plot\w*\(|plt\.subplots", cell.source):
            assert len(cell.metadata["mystnb"]["image"]["alt"]) > 30, cell.source


@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_links_of_a_notebook_lead_somewhere(path):
    for text in texts(path):
        for target in LINK.findall(text):
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_no_figure_needs_an_internal_module(path):
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "code":
            inner = re.findall(r"taskalgebra\.[\w.]+", cell.source)
            assert set(inner) <= {"taskalgebra.envs"}, inner


def test_what_a_notebook_asks_to_try_works_after_its_cells(monkeypatch):
    """Its names still mean what they did where they are asked for."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    notebook = nbformat.read(ROOT / "examples/four-rooms.ipynb", 4)
    monkeypatch.setattr(pyplot, "show", lambda: None)
    names: dict[str, object] = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(cell.source, names)
    pyplot.close("all")
    tries = re.findall(r'`(skills\["[^`]*\])`', notebook.cells[-1].source)
    assert tries
    for code in tries:
        eval(code, names)


def test_links_hold_on_the_site():
    from notebooks import as_page, to_pages

    assert as_page("[a](../docs/how-to/a.md) [b](b.ipynb)") == "[a](../how-to/a.md) [b](b.ipynb)"
    for page, link, on_site in (
        ("index", "../examples/a.ipynb", "tutorials/a.ipynb"),
        ("how-to/trust", "../../examples/a.ipynb", "../tutorials/a.ipynb"),
        ("how-to/trust", "other.md", "other.md"),
    ):
        assert to_pages(f"see [this]({link}).", page) == f"see [this]({on_site})."
