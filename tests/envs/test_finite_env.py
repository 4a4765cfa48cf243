"""Worlds as Gymnasium environments."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.logic.formulas import parse
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import absorbing_only, from_text

UP, RIGHT, DOWN, LEFT, STAY = range(5)
# Cells 0 … 3, goals A and B as states 4 and 5.
SPACE = TaskSpace(from_text("A..B", step_reward=-0.125))
TASKS = {"a": SPACE.task("A"), "b": SPACE.task("B")}
RANDOM = TaskSpace(from_text("A..\n..B", slip_probability=0.5))


@pytest.mark.parametrize("space", [SPACE, RANDOM], ids=["deterministic", "random"])
def test_gymnasium_finds_nothing_to_complain_about(space):
    check_env(FiniteEnv(space), skip_render_check=True)


def test_gymnasium_warns_of_nothing_but_the_missing_spec():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(FiniteEnv(SPACE))
    assert all("not having a spec" in str(warning.message) for warning in caught)


def test_an_episode_pays_steps_then_the_goal_and_ends():
    world = FiniteEnv(SPACE, TASKS, "b")
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
    world = FiniteEnv(SPACE, TASKS, task)
    for number, (name, state) in enumerate((("A", 4), ("B", 5))):
        world.reset(options={"state": state})
        observation, reward, terminated, truncated, info = world.step(action)
        assert (observation, reward) == (state, paid[name])
        assert (terminated, truncated, info["goal"]) == (True, False, number)


def test_the_goal_is_named_only_when_the_episode_ends():
    world = FiniteEnv(RANDOM)
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
    world = FiniteEnv(SPACE)
    world.reset(options={"state": 1})
    assert not any(any(world.step(STAY)[2:4]) for _ in range(2000))


def test_dense_tasks_pay_their_own_steps():
    steps = np.arange(30.0).reshape(6, 5)
    world = FiniteEnv(SPACE, task=SPACE.from_rewards([2.0, -0.1], steps))
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
    assert trajectory(FiniteEnv(RANDOM), 3) == trajectory(FiniteEnv(RANDOM), 3)
    assert trajectory(FiniteEnv(RANDOM), 3) != trajectory(FiniteEnv(RANDOM), 4)


def test_a_reset_without_a_seed_continues_with_the_numbers_of_the_last():
    world = FiniteEnv(RANDOM)
    first = [world.reset(seed=1)[0], *(world.reset()[0] for _ in range(20))]
    again = [world.reset(seed=1)[0], *(world.reset()[0] for _ in range(20))]
    assert first == again
    assert len(set(first)) > 1


def test_episodes_start_equally_often_in_every_start():
    space = TaskSpace(from_text("A...", starts=[(0, 1), (0, 3)]))
    world = FiniteEnv(space)
    world.reset(seed=0)
    starts = [world.reset()[0] for _ in range(2000)]
    assert set(starts) == {1, 3}
    assert abs(starts.count(1) - 1000) < 5 * np.sqrt(500)


def test_outcomes_come_as_often_as_they_are_probable():
    world = FiniteEnv(RANDOM)
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


class Scripted(FiniteEnv):
    """A world whose random numbers are given beforehand."""

    numbers = ()

    def _uniform(self):
        first, *self.numbers = self.numbers
        return first


@pytest.mark.parametrize(
    ("number", "start"), [(0.0, 0), (0.24, 0), (0.25, 1), (0.74, 2), (0.75, 3), (1 - 2**-53, 3)]
)
def test_a_start_takes_one_random_number_and_divides_the_range_evenly(number, start):
    world = Scripted(SPACE)
    world.numbers = [number]
    assert world.reset()[0] == start
    assert world.numbers == []


def test_no_number_is_drawn_for_a_given_start_or_a_sure_outcome():
    world = Scripted(RANDOM)
    world.reset(seed=0, options={"state": 1})
    world.step(STAY)
    world.reset(options={"state": 6})
    assert world.step(UP)[2]
    sure = Scripted(SPACE)
    sure.reset(options={"state": 1})
    for action in range(5):
        sure.step(action)


# From (0, 1), down leads to states 0, 1, 2 with 1/6 each and to 4 with 1/2, in this order.
@pytest.mark.parametrize(
    ("number", "state"),
    [(0.0, 0), (0.16, 0), (0.17, 1), (0.33, 1), (0.34, 2), (0.49, 2), (0.51, 4), (1 - 2**-53, 4)],
)
def test_an_outcome_is_where_the_cumulated_probability_passes_one_number(number, state):
    world = Scripted(RANDOM)
    world.numbers = [number]
    world.reset(options={"state": 1})
    assert world.step(DOWN)[0] == state
    assert world.numbers == []


def test_a_world_of_its_own_ends_only_in_the_desired_goals():
    world = FiniteEnv(SPACE, TASKS, "a", shared_absorbing=False)
    world.reset(options={"state": 3})
    assert world.step(STAY) == (3, -0.125, False, False, {"goal": -1})
    for expected in (2, 1, 0):
        assert world.step(LEFT)[0] == expected
    assert world.step(STAY)[0] == 4
    assert world.step(STAY) == (4, 2.0, True, False, {"goal": 0})


@pytest.mark.parametrize("task", ["true", "false"])
def test_the_universal_and_the_empty_task_end_everywhere(task):
    world = FiniteEnv(SPACE, TASKS, task, shared_absorbing=False)
    assert world.mdp is SPACE.mdp


def test_the_world_of_a_task_keeps_states_and_goals():
    mdp = FiniteEnv(SPACE, TASKS, "b", shared_absorbing=False).mdp
    assert mdp.next_state[:, STAY].tolist() == [0, 1, 2, 5, 4, 5]
    assert (mdp.next_state[:, :4] == SPACE.mdp.next_state[:, :4]).all()
    assert (mdp.goals.tolist(), mdp.goal_names) == ([4, 5], ("A", "B"))
    assert mdp.starts.tolist() == [0, 1, 2, 3]
    assert FiniteEnv(SPACE, TASKS, "b").mdp is SPACE.mdp


def test_the_table_follows_the_task():
    world = FiniteEnv(SPACE, TASKS, "a", shared_absorbing=False)
    world.reset(seed=0)
    world.task = "b"
    assert world.task == TASKS["b"]
    assert world.mdp.next_state[:, STAY].tolist() == [0, 1, 2, 5, 4, 5]
    with pytest.raises(gym.error.ResetNeeded):
        world.step(UP)
    world.task = parse("a | b")
    assert world.mdp is SPACE.mdp


def test_a_task_of_many_rewards_ends_in_the_goal_that_pays_most():
    world = FiniteEnv(SPACE, task=SPACE.from_rewards([0.5, 1.0]), shared_absorbing=False)
    assert world.desired.tolist() == [False, True]
    assert world.mdp.next_state[0, STAY] == 0


def test_random_transitions_into_a_closed_goal_stay_at_their_source():
    half = [[[0.0, 0.5, 0.5], [0.0, 0.0, 1.0]], [[0, 1, 0]] * 2, [[0, 0, 1]] * 2]
    mdp = absorbing_only(from_arrays(half, -1.0, [1, 2]), [False, True])
    assert mdp.offset.tolist() == [0, 2, 3, 4, 5, 6, 7]
    assert mdp.successor[:3].tolist() == [0, 2, 2]
    assert mdp.probability[:3].tolist() == [0.5, 0.5, 1.0]


def test_starts_without_a_way_to_a_desired_goal_are_left_out():
    mdp = from_text("A.#.B")
    assert mdp.starts.tolist() == [0, 1, 2, 3]
    assert absorbing_only(mdp, [False, True]).starts.tolist() == [2, 3]
    one_sided = from_text("A.#.B", starts=[(0, 1)])
    with pytest.raises(ValueError, match="no start has a path to B"):
        absorbing_only(one_sided, [False, True])


@pytest.mark.parametrize("desired", [[False, False], [True], [1, 0], "A"])
def test_goals_to_end_in_are_truth_values_with_one_true(desired):
    with pytest.raises(ValueError, match="each of the 2 goals"):
        absorbing_only(SPACE.mdp, desired)


def test_a_closed_goal_is_no_place_to_start():
    world = FiniteEnv(SPACE, TASKS, "a", shared_absorbing=False)
    world.reset(options={"state": 4})
    with pytest.raises(ValueError, match=r"state 5, goal 'B': .* shared_absorbing=False"):
        world.reset(options={"state": 5})


def test_the_spaces_have_the_sizes_of_the_world():
    world = FiniteEnv(SPACE)
    assert world.observation_space == gym.spaces.Discrete(6)
    assert world.action_space == gym.spaces.Discrete(5)
    state, _ = world.reset(seed=0)
    assert world.observation_space.contains(state)


@pytest.mark.parametrize("state", [-1, 6, 100])
def test_a_start_that_does_not_exist_is_refused(state):
    with pytest.raises(ValueError, match=rf"state {state}: expected one of 0 to 5"):
        FiniteEnv(SPACE).reset(options={"state": state})


def test_a_start_between_two_states_is_refused():
    with pytest.raises(ValueError, match=r"1\.5"):
        FiniteEnv(SPACE).reset(options={"state": 1.5})


def test_a_start_with_no_path_is_refused():
    space = TaskSpace(from_arrays([[1], [1], [2]], -1.0, [1]))
    with pytest.raises(ValueError, match=r"state 2: .* path to some goal"):
        FiniteEnv(space).reset(options={"state": 2})


@pytest.mark.parametrize("action", [-1, 5])
def test_an_action_that_does_not_exist_is_refused(action):
    world = FiniteEnv(SPACE)
    world.reset(seed=0)
    with pytest.raises(ValueError, match=f"action {action} .*up, right, down, left, stay"):
        world.step(action)


@pytest.mark.parametrize("action", [1.5, 1.0, "up", None, [1], np.array([1, 2])])
def test_an_action_that_is_no_whole_number_is_refused(action):
    world = FiniteEnv(SPACE)
    world.reset(seed=0)
    with pytest.raises(ValueError, match=r"action is .* whole number from 0 to 4 for up, right"):
        world.step(action)


@pytest.mark.parametrize("action", [RIGHT, np.int64(RIGHT), np.array(RIGHT)])
def test_whole_numbers_of_any_type_are_actions(action):
    world = FiniteEnv(SPACE)
    world.reset(options={"state": 0})
    assert world.step(action)[0] == 1


def test_a_task_is_a_name_an_expression_or_a_task():
    with pytest.raises(TypeError, match=r"name, an expression or a Task, got 3"):
        FiniteEnv(SPACE, TASKS, 3)


def test_a_step_before_the_first_reset_is_refused():
    with pytest.raises(gym.error.ResetNeeded):
        FiniteEnv(SPACE).step(UP)


def test_an_unknown_task_is_refused_with_the_known_ones():
    with pytest.raises(ValueError) as caught:
        FiniteEnv(SPACE, {"left": TASKS["a"], "right": TASKS["b"]}, "lefft & right")
    for word in ("'lefft'", "left, right", "Did you mean 'left'?"):
        assert word in str(caught.value)


def test_a_task_of_another_space_is_refused():
    other = TaskSpace(SPACE.mdp, r_universal=3.0)
    with pytest.raises(ValueError, match="another space"):
        FiniteEnv(SPACE, task=other.task("A"))


def test_named_tasks_of_another_space_are_refused():
    other = TaskSpace(SPACE.mdp, r_universal=3.0)
    with pytest.raises(ValueError, match="space"):
        FiniteEnv(SPACE, {"a": other.task("A")}, "a")
