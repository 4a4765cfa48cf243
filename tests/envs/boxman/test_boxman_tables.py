"""Boxman by tables: all episodes worked out at once are the episodes that are really played."""

import zlib

import numpy as np
import pytest
import torch

from boxman_oracle import SlowBoxman
from deep_worlds import BOARD, short, small_boxman
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.games import all_cells
from taskalgebra.learning.deep.networks import egocentric, make_network
from taskalgebra.learning.deep.uvfa import head_of
from taskalgebra.learning.deep.ways import NetworkReach
from taskalgebra.logic.algebra import Bounds
from taskalgebra.paper.experiments.boxman import tables as boxman_tables
from taskalgebra.paper.experiments.boxman.exact import returns_by_touch
from taskalgebra.paper.experiments.boxman.tables import (
    aimed_score,
    all_tasks,
    layouts,
    play_table,
    returns_on_cells,
    starts,
    worst_score,
)
from taskalgebra.theory.policy import GreedyPolicy
from taskalgebra.theory.reach import Reach, ReachBounds, ReachQ

WORLDS = {
    "fixed": small_boxman(),
    "random": small_boxman(layout="random"),
    "touch": small_boxman(layout="random", collect="touch"),
    "fixed touch": small_boxman(collect="touch"),
    "paper": Boxman(layout="random"),
}
EACH = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS.keys())
HEAD = head_of(short())


def frames_of_goals(world):
    n = world.space.n_goals
    places = np.arange(n) if world.places is None else world.places
    return world.games(1).frames([[0, 1 + g, *places] for g in range(n)])


def network_of(world, seed=0):
    """A network that was never trained; its weights are large, so that it has a will."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = make_network(
            egocentric, world.observation_space.shape, world.space.n_actions, HEAD.n_outputs
        )
        with torch.no_grad():
            network.last.weight.mul_(20.0)
    n = world.space.n_goals
    goals = frames_of_goals(world)
    return NetworkReach(network, HEAD, goals, np.arange(n), n, np.zeros(n))


class Whim(Reach):
    """Stands for a network: values at random for every screen, always the same for one."""

    observation_ndim = 3

    def __init__(self, world):
        self.n_goals, self.n_actions = world.space.n_goals, world.space.n_actions

    def returns(self, frames):
        shape = (self.n_goals, self.n_actions)
        seeds = [zlib.crc32(frame.tobytes()) for frame in frames]
        return np.stack([np.random.default_rng(seed).random(shape) for seed in seeds])


def played(world, codes, task, policy):
    """Returns, goals and steps of one episode from each code, in the environment itself."""
    env = world.vector(len(codes), task=task)
    seen, infos = env.reset(seed=0, options={"code": codes})
    n = len(codes)
    returns, steps, goals = np.zeros(n), np.zeros(n, np.int64), np.full(n, -1)
    on = np.ones(n, bool)
    for _ in range(world.max_episode_steps):
        seen, rewards, ended, _, found = env.step(policy.actions(seen))
        returns += np.where(on, rewards, 0.0)
        steps += on
        goals[on & ended] = found["goal"][on & ended]
        on &= ~ended
    return returns, goals, steps, infos["optimal_return"]


@EACH
def test_playing_by_table_is_playing(world):
    codes = starts(world, 40, seed=3)
    source = Whim(world)
    table = returns_on_cells(world, source, codes)
    bounds = ReachBounds(world.space, source)
    outcomes = set()
    for task in all_tasks(world)[:4]:
        values = ReachQ(source, task.goal_reward, bounds)
        outcome = play_table(world, codes, task, table + task.goal_reward[:, None])
        returns, goals, steps, optimal = played(world, codes, task, GreedyPolicy(values))
        wanted = task.goal_reward == task.goal_reward.max()
        np.testing.assert_allclose(outcome.returns, returns, atol=1e-12)
        assert np.array_equal(outcome.steps, steps)
        assert np.array_equal(outcome.success, (goals >= 0) & wanted[goals])
        np.testing.assert_allclose(outcome.optimal, optimal, atol=1e-12)
        assert outcome.score == pytest.approx(returns.mean() / optimal.mean())
        outcomes |= set(goals.tolist())
    assert {-1} < outcomes  # some episodes end nowhere, some in a goal


def perfect_table(world, codes, task):
    """[layouts, cells, G, A], returns to every goal by the oracle's own search."""
    slow = SlowBoxman(BOARD, world.board.objects)
    names = list(world.space.action_names)
    some = layouts(world, codes)
    table = np.empty((len(some), world.board.n_cells, world.space.n_goals, len(names)))
    for i, code in enumerate(some):
        for cell in range(world.board.n_cells):
            row, column = slow.cells[cell]
            for goal in range(world.space.n_goals):
                r, c = slow.cells[code[2 + goal]]
                for a, name in enumerate(names):
                    if name == "pick up":
                        here = (r, c) == (row, column)
                        steps = 1 if here else 2 + abs(r - row) + abs(c - column)
                        others = [slow.cells[p] for j, p in enumerate(code[2:]) if j != goal]
                        table[i, cell, goal, a] = -2.3 if (row, column) in others else -0.1 * steps
                        continue
                    down, right = {"up": (-1, 0), "down": (1, 0), "left": (0, -1)}.get(name, (0, 1))
                    there = (row + down, column + right)
                    y, x = there if there in slow.number else (row, column)
                    table[i, cell, goal, a] = -0.1 * (2 + abs(r - y) + abs(c - x))
    return table + task.goal_reward[:, None]


@pytest.mark.parametrize("name", ["fixed", "random"])
def test_perfect_values_score_exactly_the_optimum(name):
    world = WORLDS[name]
    codes = starts(world, 10, seed=0)
    for task in all_tasks(world):
        outcome = play_table(world, codes, task, perfect_table(world, codes, task))
        np.testing.assert_allclose(outcome.returns, outcome.optimal, atol=1e-12)
        assert outcome.success.all()
        assert outcome.score == pytest.approx(1.0)


def test_episodes_that_lead_nowhere_are_cut_off():
    world = WORLDS["fixed"]
    codes = starts(world, 0, seed=0)
    upwards = np.tile(np.eye(5)[0], (1, 25, 2, 1))
    outcome = play_table(world, codes, world.tasks["blue"], upwards)
    assert not outcome.success.any()
    assert (outcome.steps == world.max_episode_steps).all()
    np.testing.assert_allclose(outcome.returns, -0.1 * world.max_episode_steps)


@EACH
def test_values_on_cells_are_those_of_the_screens(world):
    codes = starts(world, 3, seed=5)
    source = network_of(world)
    table = returns_on_cells(world, source, codes)
    some = layouts(world, codes)
    assert table.shape == (
        1 if world.places is not None else 3,
        world.board.n_cells,
        world.space.n_goals,
        world.space.n_actions,
    )
    env = world.vector(1)
    for i in range(len(some)):
        for cell in (0, 7, world.board.n_cells - 1):
            env.reset(options={"code": [cell, 0, *some[i, 2:]]})
            frame = env.frames_of(env.codes)
            np.testing.assert_allclose(table[i, cell], source.returns(frame)[0], atol=1e-5)


def test_many_layouts_are_shown_a_few_at_a_time(monkeypatch):
    world = WORLDS["random"]
    codes = starts(world, 7, seed=1)
    source = network_of(world)
    whole = returns_on_cells(world, source, codes)
    monkeypatch.setattr(boxman_tables, "LAYOUTS_AT_ONCE", 3)
    np.testing.assert_allclose(returns_on_cells(world, source, codes), whole, atol=1e-6)


def test_starts_of_a_fixed_layout_are_all_cells_on_which_a_game_may_start():
    fixed, touch = WORLDS["fixed"], WORLDS["fixed touch"]
    assert starts(fixed, 3, 0)[:, 0].tolist() == list(range(25))
    assert (starts(fixed, 3, 0)[:, 2:] == fixed.places).all()
    assert set(starts(touch, 3, 0)[:, 0].tolist()) == set(range(25)) - set(touch.places.tolist())


def test_starts_of_random_layouts_are_seeded():
    world = WORLDS["random"]
    assert np.array_equal(starts(world, 9, 4), starts(world, 9, 4))
    assert not np.array_equal(starts(world, 9, 4), starts(world, 9, 5))
    assert starts(world, 9, 4).shape == (9, 4)
    assert np.array_equal(all_cells(starts(world, 1, 4), 25)[:, 0], np.arange(25))


def test_all_tasks_are_the_non_empty_goal_sets():
    tasks = all_tasks(WORLDS["paper"])
    assert len(tasks) == len({tuple(task.desired) for task in tasks}) == 63
    assert all(task.desired.any() for task in tasks)


def test_the_score_for_training_is_that_of_the_worst_task():
    world = WORLDS["fixed"]
    source = network_of(world)
    codes = starts(world, 0, 0)
    table = returns_on_cells(world, source, codes)
    tasks = all_tasks(world)
    each = [play_table(world, codes, t, table + t.goal_reward[:, None]).score for t in tasks]

    class Trained:
        reaches, shared, settings = (source,), True, short()
        tasks = {"blue": world.tasks["blue"]}  # noqa: RUF012

    score = worst_score(world, tasks)
    assert score(Trained) == pytest.approx(min(each))
    Trained.settings = short(own_rewards=True)  # a network of one task is scored on that
    blue = play_table(
        world, codes, world.tasks["blue"], table + world.tasks["blue"].goal_reward[:, None]
    )
    assert score(Trained) == pytest.approx(blue.score)


@pytest.mark.parametrize("layout", ["fixed", "random"])
def test_by_touch_the_score_is_that_of_the_way_to_the_worst_goal(layout):
    objects = {"blue square": (1, 1), "beige square": (1, 3), "blue circle": (5, 5)}
    world = small_boxman(layout=layout, collect="touch", objects=objects)
    task = world.tasks["square"]
    codes = starts(world, 30, seed=2)
    exact = returns_by_touch(world, layouts(world, codes), world.desired_goals(task), -2.3)
    perfect = aimed_score(world, codes, task, exact, -2.3)
    assert perfect == pytest.approx(1.0, abs=1e-12)
    # Knowing the path to the nearer goal only is enough to play the task well, not for the other.
    nearer = np.broadcast_to(exact.max(axis=2, keepdims=True), exact.shape)
    played_well = play_table(world, codes, task, nearer + task.goal_reward[:, None])
    assert played_well.score == pytest.approx(1.0)
    expected = []
    for goal in np.flatnonzero(task.desired):
        earned, best = [], []
        for i, code in enumerate(codes):
            values = exact[min(i, len(exact) - 1)]
            if values[code[0], goal].max() <= -2.3:
                continue
            best.append(2.0 + values[code[0], goal].max())
            cell, returned, reached = int(code[0]), 0.0, -1
            for _ in range(world.max_episode_steps):
                entered = world.board.neighbour[cell, values[cell].max(axis=0).argmax()]
                touched = [g for g in (0, 1) if code[2 + g] == entered and entered != cell]
                returned, cell = returned - 0.1, entered
                if touched:
                    reached = touched[0]
                    break
            earned.append(2.0 + returned if reached == goal else 2.0 - 2.3)
        expected.append(np.mean(earned) / np.mean(best))
    assert min(expected) < 0.9
    assert aimed_score(world, codes, task, nearer, -2.3) == pytest.approx(min(expected))

    class Trained:
        shared, settings, tasks = False, short(), {"square": task}
        reaches = (Whim(world),)

    score = worst_score(world, [], n=30, seed=2)
    table = returns_on_cells(world, Trained.reaches[0], codes)
    v_min = short().v_min
    assert score(Trained) == aimed_score(world, codes, task, table, v_min) < 0.5


def test_a_goal_that_is_walled_in_by_others_is_not_scored():
    objects = {"beige square": (1, 1), "blue square": (1, 2), "purple square": (2, 1)}
    world = small_boxman(collect="touch", objects=objects)
    task, codes = world.tasks["square"], starts(world, 0, 0)
    exact = returns_by_touch(world, layouts(world, codes), world.desired_goals(task), -2.3)
    assert (exact[0, codes[:, 0], 0] == -2.3).all()
    assert aimed_score(world, codes, task, exact, -2.3) == pytest.approx(1.0)


def test_bounds_of_the_table_are_those_of_the_network():
    world = WORLDS["fixed"]
    source = network_of(world)
    found = ReachBounds(world.space, source).at(world.games(1).frames(starts(world, 0, 0)))
    assert isinstance(found, Bounds)
    table = returns_on_cells(world, source, starts(world, 0, 0))[0]
    np.testing.assert_allclose(found.universal, table + 2.0, atol=1e-5)
    np.testing.assert_allclose(found.empty, table - 0.1, atol=1e-5)
