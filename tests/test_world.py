"""Worlds as Gymnasium environments."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from taskalgebra.envs.world import World
from taskalgebra.expression import parse
from taskalgebra.grid import from_text
from taskalgebra.mdp import from_arrays
from taskalgebra.tasks import TaskSpace

UP, RIGHT, DOWN, LEFT, STAY = range(5)
# Cells 0 … 3, goals A and B as states 4 and 5.
SPACE = TaskSpace(from_text("A..B", step_reward=-0.125))
TASKS = {"a": SPACE.task("A"), "b": SPACE.task("B")}
RANDOM = TaskSpace(from_text("A..\n..B", slip_probability=0.5))


@pytest.mark.parametrize("space", [SPACE, RANDOM], ids=["deterministic", "random"])
def test_gymnasium_finds_nothing_to_complain_about(space):
    check_env(World(space), skip_render_check=True)


def test_gymnasium_warns_of_nothing_but_the_missing_spec():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(World(SPACE))
    assert all("not having a spec" in str(warning.message) for warning in caught)


def test_an_episode_pays_steps_then_the_goal_and_ends():
    world = World(SPACE, TASKS, "b")
    assert world.reset(seed=0, options={"state": 1}) == (1, {"goal": -1})
    assert world.step(RIGHT) == (2, -0.125, False, False, {"goal": -1})
    assert world.step(STAY) == (2, -0.125, False, False, {"goal": -1})
    assert world.step(UP) == (2, -0.125, False, False, {"goal": -1})
    assert world.step(RIGHT) == (3, -0.125, False, False, {"goal": -1})
    assert world.step(STAY) == (5, -0.125, False, False, {"goal": -1})
    assert world.step(LEFT) == (5, 2.0, True, False, {"goal": 1})
    with pytest.raises(gym.error.ResetNeeded, match=r"reset\(\)"):
        world.step(LEFT)
    world.reset(seed=0)
    world.step(LEFT)


@pytest.mark.parametrize("action", range(5))
@pytest.mark.parametrize(
    ("task", "paid"),
    [
        (None, {"A": 2.0, "B": 2.0}),
        ("a", {"A": 2.0, "B": -0.1}),
        ("~a", {"A": -0.1, "B": 2.0}),
        ("a & b", {"A": -0.1, "B": -0.1}),
        ("true", {"A": 2.0, "B": 2.0}),
        (parse("a | b"), {"A": 2.0, "B": 2.0}),
        (SPACE.from_rewards([0.5, 1.0]), {"A": 0.5, "B": 1.0}),
    ],
    ids=["none", "name", "not", "and", "true", "expression", "task"],
)
def test_the_terminal_reward_is_that_of_the_task_whatever_the_action(task, paid, action):
    world = World(SPACE, TASKS, task)
    for number, (name, state) in enumerate((("A", 4), ("B", 5))):
        world.reset(options={"state": state})
        observation, reward, terminated, truncated, info = world.step(action)
        assert (observation, reward) == (state, paid[name])
        assert (terminated, truncated, info["goal"]) == (True, False, number)


def test_the_goal_is_named_only_when_the_episode_ends():
    world = World(RANDOM)
    rng = np.random.default_rng(0)
    ended = 0
    world.reset(seed=0)
    for _ in range(2000):
        state, _, terminated, truncated, info = world.step(int(rng.integers(5)))
        assert not truncated
        if terminated:
            assert RANDOM.mdp.goals[info["goal"]] == state
            ended += 1
            world.reset()
        else:
            assert info["goal"] == -1
    assert ended > 20


def test_there_is_no_step_limit():
    world = World(SPACE)
    world.reset(options={"state": 1})
    assert not any(any(world.step(STAY)[2:4]) for _ in range(2000))


def test_dense_tasks_pay_their_own_steps():
    steps = np.arange(30.0).reshape(6, 5)
    world = World(SPACE, task=SPACE.from_rewards([2.0, -0.1], steps))
    world.reset(options={"state": 2})
    assert world.step(LEFT)[:2] == (1, steps[2, LEFT])


def trajectory(world, seed, steps=40):
    rng = np.random.default_rng(0)
    seen = [world.reset(seed=seed)[0]]
    for _ in range(steps):
        state, _, terminated, *_ = world.step(int(rng.integers(4)))
        seen.append(state)
        if terminated:
            seen.append(world.reset()[0])
    return seen


def test_equal_seeds_agree_and_different_seeds_differ():
    assert trajectory(World(RANDOM), 3) == trajectory(World(RANDOM), 3)
    assert trajectory(World(RANDOM), 3) != trajectory(World(RANDOM), 4)


def test_a_reset_without_a_seed_goes_on_with_the_numbers_of_the_last():
    world = World(RANDOM)
    first = [world.reset(seed=1)[0], *(world.reset()[0] for _ in range(20))]
    again = [world.reset(seed=1)[0], *(world.reset()[0] for _ in range(20))]
    assert first == again
    assert len(set(first)) > 1


def test_episodes_start_equally_often_in_every_start():
    space = TaskSpace(from_text("A...", starts=[(0, 1), (0, 3)]))
    world = World(space)
    world.reset(seed=0)
    starts = [world.reset()[0] for _ in range(2000)]
    assert set(starts) == {1, 3}
    assert abs(starts.count(1) - 1000) < 5 * np.sqrt(500)


def test_outcomes_come_as_often_as_they_are_probable():
    world = World(RANDOM)
    world.reset(seed=0)
    counts = np.zeros(RANDOM.mdp.n_states, int)
    for _ in range(6000):
        world.reset(options={"state": 1})
        counts[world.step(DOWN)[0]] += 1
    # From (0, 1): down 1/2 to (1, 1); up is a wall, left (0, 0), right (0, 2), 1/6 each.
    expected = {4: 1 / 2, 1: 1 / 6, 0: 1 / 6, 2: 1 / 6}
    for state, count in enumerate(counts):
        p = expected.get(state, 0.0)
        assert abs(count / 6000 - p) <= 5 * np.sqrt(p * (1 - p) / 6000)


def test_the_spaces_have_the_sizes_of_the_world():
    world = World(SPACE)
    assert world.observation_space == gym.spaces.Discrete(6)
    assert world.action_space == gym.spaces.Discrete(5)
    state, _ = world.reset(seed=0)
    assert world.observation_space.contains(state)


@pytest.mark.parametrize("state", [-1, 6, 100])
def test_a_start_that_does_not_exist_is_refused(state):
    with pytest.raises(ValueError, match=rf"state {state}: expected one of 0 to 5"):
        World(SPACE).reset(options={"state": state})


def test_a_start_between_two_states_is_refused():
    with pytest.raises(ValueError, match=r"1\.5"):
        World(SPACE).reset(options={"state": 1.5})


def test_a_start_with_no_path_is_refused():
    space = TaskSpace(from_arrays([[1], [1], [2]], -1.0, [1]))
    with pytest.raises(ValueError, match=r"state 2: .* path to some goal"):
        World(space).reset(options={"state": 2})


@pytest.mark.parametrize("action", [-1, 5])
def test_an_action_that_does_not_exist_is_refused(action):
    world = World(SPACE)
    world.reset(seed=0)
    with pytest.raises(ValueError, match=f"action {action} .*up, right, down, left, stay"):
        world.step(action)


def test_a_step_before_the_first_reset_is_refused():
    with pytest.raises(gym.error.ResetNeeded):
        World(SPACE).step(UP)


def test_an_unknown_task_is_refused_with_the_known_ones():
    with pytest.raises(ValueError) as caught:
        World(SPACE, {"left": TASKS["a"], "right": TASKS["b"]}, "lefft & right")
    for word in ("'lefft'", "left, right", "Did you mean 'left'?"):
        assert word in str(caught.value)


def test_a_task_of_another_space_is_refused():
    other = TaskSpace(SPACE.mdp)
    with pytest.raises(ValueError, match="another space"):
        World(SPACE, task=other.task("A"))


def test_named_tasks_of_another_space_are_refused():
    other = TaskSpace(SPACE.mdp)
    with pytest.raises(ValueError, match="space"):
        World(SPACE, {"a": other.task("A")}, "a")
