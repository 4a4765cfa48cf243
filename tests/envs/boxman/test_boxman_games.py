"""Many games by codes, and games played by a table of actions."""

import numpy as np
import pytest

from taskalgebra.envs.boxman.board import STEP_REWARD, advance
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.finite import finite_world
from taskalgebra.envs.boxman.games import all_cells, follow
from taskalgebra.planning.exact import optimal_v, q_bar_star
from taskalgebra.theory.policy import GreedyPolicy
from taskalgebra.theory.tasks import TaskSpace

MODES = pytest.mark.parametrize("collect", ["pick-up", "touch"])
LAYOUTS = pytest.mark.parametrize("layout", ["fixed", "random"])


def started(world, n, seed=0):
    games = world.games(n)
    games.start(np.arange(n), np.random.default_rng(seed))
    return games


@MODES
@LAYOUTS
def test_starts_are_everywhere_that_is_allowed(layout, collect):
    world = Boxman(layout=layout, collect=collect)
    codes = started(world, 20_000).codes
    on_object = (codes[:, :1] == codes[:, 2:]).any(axis=1)
    assert not codes[:, 1].any()
    if layout == "fixed":
        assert (codes[:, 2:] == world.places).all()
        allowed = 52 if collect == "touch" else 58
    else:
        allowed = 58
        assert all(len(np.unique(codes[:, 2 + i])) == 58 for i in range(6))
    counts = np.bincount(codes[:, 0], minlength=58)
    assert (counts > 0).sum() == allowed
    assert abs(counts[counts > 0] - 20_000 / allowed).max() < 6 * np.sqrt(20_000 / allowed)
    if collect == "touch":
        assert not on_object.any()
    else:
        assert on_object.mean() == pytest.approx(6 / 58, abs=0.02)


@MODES
@LAYOUTS
def test_equal_seeds_agree_and_different_seeds_differ(layout, collect):
    world = Boxman(layout=layout, collect=collect)
    one, same, other = (started(world, 100, seed).codes for seed in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_only_the_games_that_are_asked_for_start_again():
    world = Boxman(layout="random")
    games = started(world, 50)
    before = games.codes.copy()
    games.start(np.array([3, 40]), np.random.default_rng(9))
    changed = (games.codes != before).any(axis=1)
    assert np.flatnonzero(changed).tolist() == [3, 40]


def test_the_objects_that_ended_are_not_overwritten_by_the_next_step():
    world = Boxman()
    games = world.games(1)
    games.codes[:] = [[0, 3, *world.places]]
    ended = games.step(np.array([0]), world.desired)
    games.codes[0, 1] = 0
    games.step(np.array([0]), world.desired)
    assert ended.tolist() == [2]


@MODES
@LAYOUTS
@pytest.mark.parametrize("task", ["blue ^ square", "purple", "blue & beige"])
def test_follow_plays_as_the_environment_does(task, layout, collect):
    world = Boxman(task, layout=layout, collect=collect)
    rng = np.random.default_rng(3)
    codes = started(world, 40).codes
    codes[::9, 1] = 2  # some hold an object already
    actions = rng.integers(world.space.n_actions, size=(40, 58))
    returns, goals, steps = follow(
        world.board,
        codes,
        actions,
        world.desired,
        by_touch=world.by_touch,
        goal_reward=world.task.goal_reward,
        step_reward=STEP_REWARD,
        max_steps=world.max_episode_steps,
    )
    for i, code in enumerate(codes):
        world.reset(options={"code": code})
        total, goal, n = 0.0, -1, 0
        for _ in range(world.max_episode_steps):
            _, reward, terminated, _, info = world.step(actions[i, world.code[0]])
            total, n = total + reward, n + 1
            if terminated:
                goal = info["goal"]
                break
        assert (returns[i], goals[i], steps[i]) == (pytest.approx(total), goal, n)


def test_follow_leaves_the_codes_alone():
    world = Boxman("blue")
    codes = started(world, 5).codes
    before = codes.copy()
    actions = np.zeros((5, 58), np.int64)
    options = {"goal_reward": world.task.goal_reward, "step_reward": -0.1, "max_steps": 3}
    follow(world.board, codes, actions, world.desired, by_touch=False, **options)
    assert np.array_equal(codes, before)


@MODES
@pytest.mark.parametrize("task", ["blue", "square & ~beige", "blue ^ square", "circle | purple"])
def test_the_policy_that_planning_finds_earns_the_optimum_from_everywhere(task, collect):
    world = Boxman(task, layout="random", collect=collect)
    for code in started(world, 3).codes:
        space = TaskSpace(
            finite_world(world.board, code[2:], by_touch=world.by_touch, desired=world.desired)
        )
        planned = space.from_desired(world.task.desired)
        policy = GreedyPolicy(q_bar_star(space, [planned]).values[0])
        table = np.tile(policy.actions(np.arange(58)), (58, 1))
        codes = all_cells(code[None], 58)
        returns, goals, steps = follow(
            world.board,
            codes,
            table,
            world.desired,
            by_touch=world.by_touch,
            goal_reward=world.task.goal_reward,
            step_reward=STEP_REWARD,
            max_steps=world.max_episode_steps,
        )
        assert returns == pytest.approx(world.optimal_returns(codes), abs=1e-12)
        assert returns == pytest.approx(optimal_v(planned)[:58], abs=1e-12)
        assert world.task.desired[goals].all()
        assert steps.max() <= 16


def test_a_move_by_games_is_a_move_by_the_kernel():
    world = Boxman("blue", collect="touch")
    games = started(world, 30)
    rng = np.random.default_rng(0)
    for _ in range(50):
        codes, actions = games.codes.copy(), rng.integers(4, size=30)
        collected = np.empty(30, np.int64)
        advance(codes, actions, world.board.neighbour, True, world.desired, collected)
        assert games.step(actions, world.desired).tolist() == collected.tolist()
        assert np.array_equal(games.codes, codes)
