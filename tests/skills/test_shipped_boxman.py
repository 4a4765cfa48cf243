"""The trained skills that come with the library, played on 50 starts; all 58 where these are fixed.

The full figures are in `results/deep`, made by `taskalgebra reproduce deep`.
"""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.paper.experiments.boxman import tables as tables
from taskalgebra.paper.experiments.boxman.exact import ExactSkills
from taskalgebra.paper.results.record import load
from taskalgebra.skills import SHIPPED_AT, store
from taskalgebra.skills.catalogue import ENTRIES, SHIPPED

RESULTS = Path(__file__).parents[2] / "results" / "deep"
TWELVE = (
    "blue",
    "purple",
    "square",
    "~blue & ~purple",
    "~square",
    "blue | square",
    "blue & square",
    "blue ^ square",
    "~blue",
    "blue & ~square",
    "~(blue | square)",
    "purple ^ square",
)


@pytest.fixture(scope="module", params=["boxman", "boxman-random"])
def by_pick_up(request):
    return ta.load(request.param)


def test_every_set_of_objects_is_collected_optimally(by_pick_up):
    world = by_pick_up.env
    codes = tables.starts(world, 50, seed=2020)
    (network,) = by_pick_up.family.reaches
    returns = tables.returns_on_cells(world, network, codes)
    for task in tables.all_tasks(world):
        outcome = tables.play_table(world, codes, task, returns + task.goal_reward[:, None])
        assert outcome.success.all(), task
        assert outcome.score >= 0.99, task


@pytest.mark.parametrize("expression", TWELVE)
def test_composed_agents_play_the_real_game_optimally(by_pick_up, expression):
    result = by_pick_up[expression].evaluate(episodes=50, seed=2020)
    assert result.success_rate == 1.0
    assert result.score == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("expression", ["blue", "blue ^ square"])
def test_moving_targets_are_collected_by_the_shortest_ways(expression):
    """Every pick-up takes the moves to the nearest wanted object and one step more."""
    skills = ta.load("boxman-random")
    world, agent = skills.env, skills[expression]
    games = world.continuing(25)
    observations, _ = games.reset(seed=3)

    def ahead(codes):
        away = world.board.distance[codes[:, :1], codes[:, 2:]]
        return np.where(agent.task.wanted, away, 99).min(axis=1)

    left = ahead(games.codes)
    for _ in range(50):
        observations, *_, infos = games.step(agent.policy.actions(observations))
        collected = infos["goal"] >= 0
        assert (collected == (left == 0)).all()
        assert agent.task.wanted[infos["goal"][collected]].all()
        left = np.where(collected, ahead(games.codes), left - 1)


@pytest.fixture(scope="module")
def by_touch():
    return ta.load("boxman-touch")


AND = "blue & square"  # exact values lose some episodes of it, so it is held against them below
SIX = ("purple", "blue", "square", "purple | blue", AND, "blue ^ square")


@pytest.mark.parametrize("expression", [text for text in SIX if text != AND])
def test_composed_agents_play_the_real_game_by_touch(by_touch, expression):
    result = by_touch[expression].evaluate(episodes=50, seed=2020)
    assert result.score >= 0.95
    assert result.success_rate >= 0.98


def test_by_touch_networks_earn_what_exact_values_compose_to(by_touch):
    world = by_touch.env
    codes = tables.starts(world, 50, seed=2020)
    exact = ExactSkills(world, by_touch.tasks, codes, by_touch.family.settings.v_min)
    agents = [by_touch[expression] for expression in SIX]
    chosen = tables.actions_on_cells(world, [agent.values for agent in agents], codes)
    for agent, actions in zip(agents, chosen, strict=True):
        outcome = tables.play_actions(world, codes, agent.task, actions)
        ceiling = tables.play_table(world, codes, agent.task, exact.q_bar(agent.expression))
        assert outcome.returns.mean() >= 0.99 * ceiling.returns.mean(), agent.expression
        assert outcome.success.mean() >= ceiling.success.mean(), agent.expression


def test_by_touch_tasks_are_refused_to_which_no_base_task_knows_a_way(by_touch):
    """No base task wants the beige circle, so nothing is learned about it (`met`)."""
    alone = "~purple & ~blue & ~square"
    met = by_touch.family.met
    wants = np.stack([task.desired for task in by_touch.tasks.values()])
    np.testing.assert_array_equal(met, wants)
    assert by_touch.n_expressible == 2**6 - 1
    with pytest.raises(ValueError, match=r"desires only beige circle, which no base task met"):
        by_touch[alone]
    with pytest.raises(ValueError, match=r"desires only beige circle"):
        ~(by_touch["purple"] | by_touch["blue"] | by_touch["square"])
    assert alone not in by_touch and by_touch.get(alone) is None
    assert ta.load("boxman").n_expressible == 2**6


def test_by_touch_every_other_set_of_objects_is_collected(by_touch):
    world = by_touch.env
    codes = tables.starts(world, 30, seed=7)
    agents = [by_touch[task] for task in tables.all_tasks(world) if task in by_touch]
    assert len(agents) == 62  # 63 without the empty one, and without the beige circle alone
    chosen = tables.actions_on_cells(world, [agent.values for agent in agents], codes)
    for agent, actions in zip(agents, chosen, strict=True):
        outcome = tables.play_actions(world, codes, agent.task, actions)
        assert outcome.success.mean() >= 0.9, agent.expression


def test_in_the_shipped_results_all_bars_are_met():
    """The returns of 1,000 starts a task, of all 58 where objects are fixed."""
    found = load("boxman_returns", RESULTS)
    table, subsets = found.table, found.tables["boxman_subsets"]
    fixed, rand, touch = (table.where(setting=name) for name in ("fixed", "random", "touch"))
    assert (fixed["optimal_episodes"] == fixed["episodes"]).all() and fixed.n_rows == 5
    assert rand["score"].mean() >= 0.99 and rand["score"].min() >= 0.97 and rand.n_rows == 12
    for setting, least in (("fixed", 0.99), ("random", 0.95)):
        every = subsets.where(setting=setting)
        assert every["score"].min() >= least and every.n_rows == 63
    assert tuple(touch["task"].tolist()) == SIX
    assert (touch["score_to_exact"] >= 0.95).all() and (touch["success"] >= 0.98).all()
    assert (rand["episodes"] == 1000).all() and (touch["episodes"] == 1000).all()


def test_expressions_tasks_and_operators_are_one_agent(by_pick_up):
    world = by_pick_up.env
    codes = tables.starts(world, 2, seed=1)
    screens = next(tables.screens(world, codes))
    expected = by_pick_up["blue ^ square"].policy.actions(screens)
    built = by_pick_up["blue"] ^ by_pick_up["square"]
    np.testing.assert_array_equal(built.policy.actions(screens), expected)
    task = world.find_task("blue ^ square")
    np.testing.assert_array_equal(by_pick_up[task].policy.actions(screens), expected)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_manifest_says_how_the_skills_were_made(name):
    manifest = store.manifest(SHIPPED_AT / name)
    recipe = import_module(ENTRIES[name].recipes).RECIPES[name]
    training = manifest["training"]
    assert training["command"].endswith(name)
    assert training["seed"] == recipe.seed
    assert 0 < training["seconds"] < 7200
    assert tuple(manifest["tasks"]) == recipe.tasks
    family = ta.load(name).family
    assert family.network is recipe.learner.network
    limit = recipe.learner.settings.max_episode_steps  # files of version 0.1 do not name it
    assert replace(family.settings, max_episode_steps=limit) == recipe.learner.settings
    assert manifest["world"]["arguments"].items() >= dict(recipe.world).items()


def test_a_name_that_is_almost_right_is_told_the_right_one():
    with pytest.raises(ta.StoreError, match="Did you mean 'boxman'"):
        ta.load("boxmann")


def test_an_open_world_is_learned_not_planned():
    with pytest.raises(TypeError, match="use learn"):
        ta.solve(ta.Boxman())
