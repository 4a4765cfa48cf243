"""What the documentation shows is true: its code runs, its files exist, and the site builds.

Blocks of README.md and of the how-tos run here, in order, page by page.  Tutorials run when the
site is built.
"""

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
from taskalgebra.paper.catalogue import find
from taskalgebra.paper.reproduce import figures_of

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"^```python\n((?:(?!^```).)*?)^```\n+```text\n(.*?)^```", re.M | re.S)
COMMAND = re.compile(r"^taskalgebra (\w+)(.*)$|`taskalgebra (\w+)([^`]*)`", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)[^)]*\)")
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("**/*.md"))]
WITH_CODE = [page for page in PAGES if BLOCK.search(page.read_text())]


def named(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", WITH_CODE, ids=named)
def test_the_blocks_of_a_page_run_and_print_what_it_shows(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    shown = {block: output for block, output in OUTPUT.findall(text)}
    names: dict[str, object] = {}
    for block in BLOCK.findall(text):
        capsys.readouterr()
        exec(compile(block, page.name, "exec"), names)
        if block in shown:
            assert capsys.readouterr().out.rstrip() == shown[block].rstrip()


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_environment_of_ones_own_is_learned_whatever_the_seed(seed, capsys):
    """The page has seed 0.  Signs are learned from what is seen of them, and from descriptions."""
    page = (DOCS / "how-to/networks.md").read_text().split("## Your own environment")[1]
    names: dict[str, object] = {"ta": ta}
    for block, output in OUTPUT.findall(page):
        if "save(" in block:
            continue
        assert block.count("seed=0)") == 1
        exec(compile(block.replace("seed=0)", f"seed={seed})"), "networks.md", "exec"), names)
        assert capsys.readouterr().out == output
    assert names["signs"]["late"].evaluate(episodes=50).success_rate == 1.0
    assert names["told"]["late"].evaluate(episodes=50).success_rate == 1.0


def test_the_settings_of_a_long_training_are_those_of_its_recipe():
    """A block that takes minutes is marked `py`, and runs up to the training."""
    from taskalgebra.envs.boxman.recipes import RECIPES

    (block,) = re.findall(
        r"^```py\n(.*?)^```", (DOCS / "how-to/networks.md").read_text(), re.M | re.S
    )
    before, _, training = block.partition("skills = ")
    names = {"ta": ta}
    exec(before, names)
    recipe, learner, world = RECIPES["boxman-touch"], names["learner"], names["touch"]
    assert learner.network is recipe.learner.network
    assert learner.settings == recipe.learner.settings
    assert f'start=ta.load("{recipe.start}")' in before and recipe.start == "boxman-random"
    assert world.spec == ta.Boxman(**recipe.world).spec
    assert str(list(recipe.tasks)).replace("'", '"') in training
    assert not [page for page in PAGES if "```py\n" in page.read_text()][1:]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_and_commands_of_a_page_exist(page):
    text = page.read_text()
    for target in LINK.findall(text):
        assert (page.parent / target).exists(), target
    group = typer.main.get_command(app)
    for start, start_rest, inline, inline_rest in COMMAND.findall(text):
        name, rest = start or inline, start_rest or inline_rest
        if name == "COMMAND":
            continue
        assert name in group.commands, f"taskalgebra {name}"
        known = {option for parameter in group.commands[name].params for option in parameter.opts}
        given = re.findall(r"(?<!\S)--[a-z-]+", rest.split(" #")[0])
        assert set(given) <= known | {"--help"}, f"taskalgebra {name}{rest}"


@pytest.mark.parametrize("part", ["tabular", "deep"])
def test_every_figure_has_its_command_and_its_file(part):
    text = (DOCS / "reproduce.md").read_text().split(f"`results/{part}/figures/`")[1]
    table = text.split("\n#")[0]
    shown = re.findall(r"\| `(\S+)` \| `(\S+)` \|$", table, re.MULTILINE)
    for name, file in shown:
        assert (ROOT / "results" / part / "figures" / file).is_file()
        assert Path(file).stem in find(name)
    assert {Path(file).stem for _, file in shown} == set(figures_of(part)[part])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as `make docs` builds it."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", DOCS, out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def test_the_site_builds_without_warnings_and_its_tutorials_end_as_they_say(site):
    def shown(page):
        return unescape(re.sub(r"<[^>]*>", "", (site / f"tutorials/{page}.html").read_text()))

    assert "16 of 16 are optimal from every start" in shown("four-rooms")
    assert "return 1.451 (optimal 1.451), success 100.0 %" in shown("four-rooms")
    assert shown("own-world").count("\nholds  ") == 10
    assert "Theorems 1 to 3 apply" in shown("own-world")
    assert "Task{s12}: return 0.970 (optimal 0.970)" in shown("own-world")
    assert shown("from-pixels").count("success 100.0 %") == 4
    scores = [float(score) for score in re.findall(r"score (\d\.\d\d)\n", shown("from-pixels"))]
    assert len(scores) == 4 and min(scores) >= 0.95


def test_every_public_name_is_documented(site):
    _, _, _, _, packed = (site / "objects.inv").read_bytes().split(b"\n", 4)
    documented = {line.split(" ")[0] for line in zlib.decompress(packed).decode().splitlines()}
    assert {f"taskalgebra.{name}" for name in ta.__all__} <= documented


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
