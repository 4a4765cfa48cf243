"""The site of the documentation builds, its notebooks run, and it holds all that is public."""

import re
import subprocess
import sys
import zlib
from html import unescape
from pathlib import Path

import pytest
import typer

import taskalgebra as ta
from taskalgebra.apps.cli.app import app

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as `make docs` builds it."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", DOCS, out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def test_the_site_builds_without_warnings_and_its_notebooks_end_as_they_say(site):
    def shown(page):
        return unescape(re.sub(r"<[^>]*>", "", (site / f"tutorials/{page}.html").read_text()))

    assert "16 of 16 are optimal from every start" in shown("four-rooms")
    assert "return 1.451 (optimal 1.451), success 100.0 %" in shown("four-rooms")
    assert shown("own-world").count("\nholds  ") == 10
    assert "Theorems 1 to 3 apply" in shown("own-world")
    assert "agent.improve() makes it optimal" in shown("own-world")
    assert "optimal from all 41 starts, in 1 round of improvement" in shown("own-world")
    assert "Task{s12}: return 0.970 (optimal 0.970)" in shown("own-world")
    assert shown("from-pixels").count("success 100.0 %") >= 4
    scores = [float(score) for score in re.findall(r"score (\d\.\d\d)\n", shown("from-pixels"))]
    assert len(scores) == 4 and min(scores) >= 0.95
    assert "return 2.337 (optimal 2.337), success 100.0 %" in shown("coffee")
    assert shown("coffee").count("planned on the product of the world and the automaton") == 2
    trained = re.findall(r"\n(?:top|left|~).* success (\d+\.\d) %", shown("minigrid"))
    assert len(trained) == 5 and min(float(rate) for rate in trained) >= 75


def test_notebooks_are_whole_on_the_site(site):
    """Pictures where the code draws, described in words, and no warnings or tracebacks."""
    for name in ("four-rooms", "own-world", "from-pixels", "minigrid", "coffee"):
        html = (site / f"tutorials/{name}.html").read_text()
        drawn = re.findall(r"<img[^>]*_images/[^>]*>", html)
        assert drawn and all(re.search(r'alt="[^"]{30,}"', one) for one in drawn), name
        words = unescape(re.sub(r"<[^>]*>", "", html))
        for wrong in ("Traceback", "Warning:", "<Figure", "object at 0x"):
            assert wrong not in words, (name, wrong)


def test_every_public_name_is_documented(site):
    _, _, _, _, packed = (site / "objects.inv").read_bytes().split(b"\n", 4)
    documented = {line.split(" ")[0] for line in zlib.decompress(packed).decode().splitlines()}
    assert {f"taskalgebra.{name}" for name in ta.__all__} <= documented


def test_types_in_signatures_are_links(site):
    """Every public class that a signature names is linked to, on its own page or another."""
    signature = re.compile(r'<dt class="sig[^>]*>.*?</dt>', re.DOTALL)
    linked = set()
    for page in (site / "reference").glob("*.html"):
        for found in signature.findall(page.read_text()):
            linked |= set(re.findall(r'reference internal" href="[^"]*#(taskalgebra\.\w+)"', found))
            unlinked = re.sub(r"<a\b.*?</a>", "", found, flags=re.DOTALL)
            names = re.findall(r'class="(?:n|pre)">(?:<span[^>]*>)?(\w+)<', unlinked)
            parts = re.findall(r'sig-(?:name|prename|paren)[^>]*><span class="pre">(\w+)', found)
            wrong = {name for name in names if name in ta.__all__ and name[0].isupper()}
            assert wrong <= set(parts), found
    assert {f"taskalgebra.{name}" for name in ("Evaluation", "Task", "Skills")} <= linked


def test_every_command_is_on_the_page_of_commands(site):
    html = (site / "reference/commands.html").read_text()
    text = unescape(re.sub(r"<[^>]*>", "", html))
    for name, command in typer.main.get_command(app).commands.items():
        assert f'id="taskalgebra-{name}"' in html
        for parameter in command.params:
            assert all(option in text for option in parameter.opts if option.startswith("--"))
        examples = re.findall(r"^taskalgebra .*", command.epilog, re.MULTILINE)
        assert examples
        assert all(example.replace("\\[", "[") in text for example in examples)


def test_pages_fetch_nothing_from_elsewhere(site):
    for page in site.glob("**/*.html"):
        for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", page.read_text()):
            assert not re.search(r'(?:src|href)="(?:https?:)?//', tag), (page.name, tag)
