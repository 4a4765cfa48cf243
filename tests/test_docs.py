"""What the documentation shows is true: its code runs and its files exist.

Blocks of README.md and of the how-tos run here, in order, page by page.  Tutorials run when the
site is built (`test_site.py`).
"""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
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


@pytest.fixture(scope="module", params=range(1, 6), ids="seed {}".format)
def own_environment(request):
    """What the blocks on an environment of one's own define; the page has seed 0."""
    page = (DOCS / "how-to/networks.md").read_text().split("## Your own environment")[1]
    names: dict[str, object] = {"ta": ta}
    for block, output in OUTPUT.findall(page):
        if "save(" in block:
            continue
        assert block.count("seed=0)") == 1
        code = block.replace("seed=0)", f"seed={request.param})")
        with redirect_stdout(StringIO()) as out:
            exec(compile(code, "networks.md", "exec"), names)
        assert out.getvalue() == output
    return names


def test_the_environment_of_ones_own_is_learned_whatever_the_seed(own_environment):
    """Signs are learned from what is seen of them, and from descriptions."""
    for skills in (own_environment["signs"], own_environment["told"]):
        assert skills["late"].evaluate(episodes=50).success_rate == 1.0


def best_actions(place, signs):
    """The actions on a shortest way along the line to one of these signs, and to read it."""
    apart = [abs(place - sign) for sign in signs]
    near = [sign for sign, far in zip(signs, apart, strict=True) if far == min(apart)]
    return {2 if sign == place else int(sign > place) for sign in near}


def test_the_environment_of_ones_own_is_acted_in_optimally_whatever_the_seed(own_environment):
    for text, signs in {
        "ends": (0, 6),
        "late": (3, 6),
        "ends & ~late": (0,),
        "ends & late": (6,),
        "late & ~ends": (3,),
        "true": (0, 3, 6),
    }.items():
        actions = own_environment["signs"][text].act(np.eye(7, dtype=np.float32))
        for place, action in enumerate(actions):
            assert action in best_actions(place, signs), (text, place)


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
