"""The trained skills for MiniGrid that come with the library, played on a few layouts.

`taskalgebra reproduce minigrid-fetch` trains them and plays 1,000 of each expression.
"""

import sys

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.showcase import minigrid_fetch as fetch


@pytest.fixture(scope="module")
def skills():
    return ta.load("minigrid-fetch")


@pytest.mark.parametrize("expression", fetch.EXPRESSIONS)
def test_composed_agents_fetch_what_is_wanted_with_few_steps(skills, expression):
    played = fetch.play(skills, expression, episodes=50)
    assert played.rate >= 0.9
    steps, fewest = (each[played.success].sum() for each in (played.steps, played.fewest))
    assert steps <= 1.1 * fewest
    assert (played.steps >= played.fewest)[played.success].all()


def test_the_expressions_want_what_the_benchmark_says(skills):
    world = skills.env
    for expression, wanted in fetch.EXPRESSIONS.items():
        names = [name.split() for name in world.space.goal_names]
        expected = np.array([wanted(*name) for name in names])
        assert np.array_equal(world.find_task(expression).desired, expected), expression


def test_without_the_extra_the_install_line_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(ta.StoreError, match=r'pip install "taskalgebra\[minigrid\]"'):
        ta.load("minigrid-fetch")
