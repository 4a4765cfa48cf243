"""Algorithm 1: compiled and readable learners agree, converge, stop, resume and refuse."""

import os
import signal
import threading

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import costly, spaces, two_valued, worlds
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning import readable
from taskalgebra.learning.q_learning import (
    Settings,
    Stop,
    begin,
    goal_oriented_q_learning,
    q_learning,
)
from taskalgebra.planning.exact import q_bar_star
from taskalgebra.theory.rewards import default_r_bar_min
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.chance import Stream
from taskalgebra.worlds.grid import absorbing_only, from_text


@pytest.fixture(scope="module")
def slippery_rooms():
    return FourRooms(slip_probability=0.2)


def learned_in_python(world, stop, settings, seed, r_bar_min):
    """Run the readable learner with agent and environment drawing from one stream."""
    stream = Stream(seed)
    world._uniform = stream.random
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readable, "Stream", lambda state: stream)
        return readable.goal_oriented_q_learning(
            world, stop, r_bar_min=r_bar_min, settings=settings, seed=seed
        )


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, Settings()),
        ({}, Settings(epsilon=0.3, learning_rate=0.5)),
        ({"slip_probability": 0.2}, Settings(epsilon=0.5, learning_rate=0.1, discount=0.9)),
        ({"slip_probability": 0.2}, Settings(learning_rate=1.0)),
        ({"slip_probability": 0.2}, Settings(epsilon=0.5)),
        ({"dense": True, "shared_absorbing": False}, Settings(epsilon=0.7)),
        ({"n_goals": 40}, Settings(epsilon=0.9)),
    ],
    ids=[
        "paper",
        "greedy",
        "slips",
        "slips, all forgotten",
        "slips, falling",
        "relaxed",
        "40 goals",
    ],
)
def test_the_compiled_and_the_readable_learner_give_the_identical_table(options, settings):
    world = FourRooms(**options)
    world.task = next(iter(world.tasks))
    stop = Stop(steps=6000)
    fast = goal_oriented_q_learning(
        world.task, stop, settings=settings, seed=5, r_bar_min=-46.2, mdp=world.mdp
    )
    slow = learned_in_python(world, stop, settings, 5, -46.2)
    n_met = slow.q.shape[1]
    assert np.array_equal(fast.q[:, :n_met], slow.q)
    assert not fast.q[:, n_met:].any()
    assert fast.seen_goals.tolist()[: fast.n_seen] == slow.seen_goals.tolist()[: slow.n_seen]
    assert (fast.n_steps, fast.n_episodes) == (slow.n_steps, slow.n_episodes)
    assert np.array_equal(fast.stream, slow.stream)


@given(st.data())
def test_they_agree_on_random_worlds_in_which_some_outcomes_are_certain(data):
    """Self-loops, entries that settle and are unsettled again, goals met late or never."""
    world = data.draw(worlds(max_states=6))
    dense = np.eye(world.n_states)[world.next_state]
    pair = st.tuples(st.integers(0, world.n_states - 1), st.integers(0, world.n_actions - 1))
    for s, a in data.draw(st.lists(pair, max_size=4)):
        if not world.is_goal[s]:
            dense[s, a] = (dense[s, a] + dense[s, 0]) / 2
    space = TaskSpace(from_arrays(dense, world.step_reward, world.goals, starts=world.starts))
    settings = Settings(
        learning_rate=data.draw(st.sampled_from([0.5, 1.0, None])),
        epsilon=data.draw(st.sampled_from([0.25, 1.0])),
        discount=data.draw(st.sampled_from([0.5, 1.0])),
    )
    stop, seed = Stop(steps=data.draw(st.integers(1, 300))), data.draw(st.integers(0, 9))
    fast = goal_oriented_q_learning(
        space.universal, stop, settings=settings, seed=seed, r_bar_min=-8.0
    )
    slow = learned_in_python(FiniteEnv(space), stop, settings, seed, -8.0)
    n_met = slow.q.shape[1]
    assert np.array_equal(fast.q[:, :n_met], slow.q)
    assert not fast.q[:, n_met:].any()
    assert np.array_equal(fast.stream, slow.stream)


def test_a_table_taken_from_a_run_stays_as_it_was(four_rooms):
    task = four_rooms.tasks["top"]
    run = goal_oriented_q_learning(task, Stop(steps=500))
    taken, copy = run.q, run.q.copy()
    goal_oriented_q_learning(task, Stop(steps=1000), run=run)
    assert np.array_equal(taken, copy)
    assert not np.array_equal(run.q, copy)


def test_plain_q_learning_agrees_with_a_loop_written_here():
    world = FourRooms(step_reward=-0.125)
    mdp, task = world.space.mdp, world.tasks["top"]
    run = q_learning(task, Stop(steps=4000), settings=Settings(epsilon=0.4), seed=3)
    stream, q, s = Stream(3), np.zeros((mdp.n_states, mdp.n_actions)), -1
    for _ in range(4000):
        if s < 0:
            s = int(mdp.starts[int(stream.random() * mdp.starts.size)])
        explore = stream.random() < 0.4
        a = int(stream.random() * 5) if explore else int(q[s].argmax())
        if mdp.is_goal[s]:
            q[s, a], s = task.goal_reward[mdp.goal_of_state[s]], -1
        else:
            t = int(mdp.next_state[s, a])
            q[s, a], s = -0.125 + q[t].max(), t
    assert np.array_equal(run.q[:, 0], q)


class Paying(gym.Env):
    """One state; its one action ends the episode in the one goal, and pays the next number."""

    observation_space = action_space = gym.spaces.Discrete(1)

    def __init__(self, pays):
        self.pays = iter(pays)

    def reset(self, *, seed=None, options=None):
        return 0, {"goal": -1}

    def step(self, action):
        return 0, next(self.pays), True, False, {"goal": 0}


@pytest.mark.parametrize("alpha", [None, 1.0, 0.25])
def test_a_rate_that_is_not_given_falls_once_outcomes_differ(alpha):
    pays = [2.0, 2.0, 2.0, 0.0, 2.0, 2.0, 0.0, 0.0, 2.0, 2.0]
    for n_steps in range(2, len(pays) + 1):
        value = 0.0
        for n, pay in enumerate(pays[1:n_steps], 1):  # the goal is met in the first episode
            falls = alpha is None and n >= 3
            rate = n**-0.55 if falls else alpha or 1.0
            value = (1.0 - rate) * value + rate * pay
        run = readable.goal_oriented_q_learning(
            Paying(pays), Stop(steps=n_steps), r_bar_min=-9.0, settings=Settings(alpha)
        )
        assert run.q.item() == value, n_steps


@pytest.mark.parametrize(("last", "differ"), [(0.1 + 0.2, False), (0.3001, True)])
def test_rewards_that_differ_by_rounding_are_no_chance(last, differ):
    pays = [0.3, 0.3, last]
    run = readable.goal_oriented_q_learning(Paying(pays), Stop(steps=3), r_bar_min=-9.0)
    assert (run.outcome[0, 0, 0] == np.inf) == differ
    assert (run.q.item() == last) != differ


def test_more_visits_than_can_be_counted_leave_the_rate_where_it_is():
    space = TaskSpace(from_text("A.B", slip_probability=0.2))
    settings, task = Settings(epsilon=0.5), space.task(["A"])
    run = goal_oriented_q_learning(task, Stop(steps=3000), settings=settings)
    before = run.q.copy()
    run.visits[:] = np.iinfo(np.int32).max - 1
    goal_oriented_q_learning(task, Stop(steps=6000), settings=settings, run=run)
    assert run.visits.min() > 0
    assert np.abs(run.q - before).max() < 0.1


def test_the_readable_learner_counts_no_further_either():
    pays = [0.3, 0.5, 0.3, 0.5]
    run = readable.goal_oriented_q_learning(Paying(pays), Stop(steps=2), r_bar_min=-9.0)
    run.visits[:] = np.iinfo(np.int32).max
    before = run.q.item()
    env = Paying(pays)
    readable.goal_oriented_q_learning(env, Stop(steps=4), r_bar_min=-9.0, run=run)
    assert run.visits.item() == np.iinfo(np.int32).max
    assert abs(run.q.item() - before) < 1e-4


def test_outcomes_are_seen_to_differ_where_the_tables_have_several(slippery_rooms):
    mdp = slippery_rooms.mdp
    run = goal_oriented_q_learning(slippery_rooms.tasks["top"], Stop(steps=600_000))
    several = (np.diff(mdp.offset) > 1).reshape(mdp.n_states, mdp.n_actions)
    assert np.array_equal(run.outcome[:, :, 0] == np.inf, several & ~mdp.is_goal[:, None])


def test_values_of_slippery_worlds_converge_unless_the_rate_is_kept(slippery_rooms):
    task = slippery_rooms.tasks["top"]
    low = default_r_bar_min(slippery_rooms.space)
    exact = q_bar_star(slippery_rooms.space, [task], r_bar_min=low).values[0].table
    errors = {}
    for alpha in (None, 0.1):
        settings = Settings(alpha, epsilon=0.5)
        for steps in (500_000, 8_000_000):
            runs = (
                goal_oriented_q_learning(task, Stop(steps=steps), settings=settings, seed=seed)
                for seed in range(3)
            )
            errors[alpha, steps] = np.mean([np.abs(run.q - exact).mean() for run in runs])
    assert errors[None, 500_000] < 0.75 * errors[0.1, 500_000]
    assert errors[None, 8_000_000] < 0.4 * errors[None, 500_000]
    assert errors[0.1, 8_000_000] > 0.8 * errors[0.1, 500_000]


@given(st.data())
def test_it_converges_to_the_planned_values_on_random_worlds(data):
    space = data.draw(spaces(step_rewards=costly, max_states=6))
    task = data.draw(two_valued(space))
    plan = q_bar_star(space, [task])
    run = goal_oriented_q_learning(task, Stop(steps=20_000), r_bar_min=plan.r_bar_min)
    visited = np.unique(run.q.nonzero()[0])
    if run.n_seen < space.mdp.n_goals or not space.mdp.ending.all():
        return
    assert np.array_equal(run.q[visited], plan.values[0].table[visited])


@pytest.mark.parametrize("n_goals", [4, 40])
def test_it_stops_when_the_whole_table_is_optimal_and_not_before(n_goals):
    world = FourRooms(n_goals, step_reward=-0.125)
    task = next(iter(world.tasks.values()))
    optimum = q_bar_star(world.space, [task]).values[0].table
    run = goal_oriented_q_learning(task, Stop(optimum=optimum), seed=1)
    assert run.converged
    assert np.array_equal(run.q, optimum)
    before = goal_oriented_q_learning(task, Stop(steps=run.n_steps - 1), seed=1)
    assert np.abs(before.q - optimum).max() > 1e-5


def test_it_stops_after_episodes_and_after_steps(four_rooms):
    task = four_rooms.tasks["top"]
    assert goal_oriented_q_learning(task, Stop(episodes=7)).n_episodes == 7
    assert goal_oriented_q_learning(task, Stop(steps=7)).n_steps == 7
    assert goal_oriented_q_learning(task, Stop(steps=10**6, episodes=3)).n_episodes == 3


def test_a_run_that_has_reached_its_limit_does_not_go_on(four_rooms):
    task = four_rooms.tasks["top"]
    run = goal_oriented_q_learning(task, Stop(episodes=3))
    steps, table = run.n_steps, run.q.copy()
    for stop in (Stop(episodes=3), Stop(episodes=2), Stop(steps=1), Stop(steps=steps)):
        run = goal_oriented_q_learning(task, stop, run=run)
        assert run.n_steps == steps
        assert np.array_equal(run.q, table)


@pytest.mark.parametrize("slip", [0.0, 0.2])
def test_a_run_in_parts_is_the_run_in_one(slip):
    task = FourRooms(slip_probability=slip).tasks["left"]
    settings = Settings(epsilon=0.5)
    whole = goal_oriented_q_learning(task, Stop(steps=9000), settings=settings, seed=2)
    run = None
    for steps in (1, 500, 501, 8999, 9000):
        run = goal_oriented_q_learning(task, Stop(steps=steps), settings=settings, seed=2, run=run)
    assert np.array_equal(run.q, whole.q)
    assert np.array_equal(run.stream, whole.stream)
    assert (run.position, run.n_episodes) == (whole.position, whole.n_episodes)


def test_equal_seeds_agree_and_different_seeds_differ(four_rooms):
    task = four_rooms.tasks["top"]
    one, same, other = (
        goal_oriented_q_learning(task, Stop(steps=3000), seed=seed).q for seed in (4, 4, 5)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_ctrl_c_returns_what_was_learned_so_far(four_rooms):
    def interrupt(run):
        raise KeyboardInterrupt

    task = four_rooms.tasks["top"]
    run = goal_oriented_q_learning(task, Stop(steps=10**9), progress=interrupt)
    assert run.interrupted
    assert 0 < run.n_steps < 10**9
    assert run.q.any()
    run = readable.goal_oriented_q_learning(
        four_rooms, Stop(steps=10**9), r_bar_min=-46.2, progress=interrupt
    )
    assert run.interrupted
    assert run.n_episodes == 1


def test_a_task_that_ends_only_in_its_own_goals_never_meets_the_others():
    world = FourRooms(shared_absorbing=False)
    world.task = "top"
    run = goal_oriented_q_learning(world.task, Stop(episodes=200), mdp=world.mdp)
    assert set(run.seen_goals.tolist()) == {0, 1, -1}
    same = absorbing_only(world.space.mdp, world.task.desired)
    assert np.array_equal(same.successor, world.mdp.successor)


def test_truncation_is_not_termination():
    """A time limit ends the episode, but the value still looks ahead."""
    from gymnasium.wrappers import TimeLimit

    space = TaskSpace(from_text("A..", step_reward=-0.5))
    env = TimeLimit(FiniteEnv(space), max_episode_steps=1)
    run = begin(space.mdp.n_states, 1, 5, seed=0)
    run.seen_goals[0] = 0
    run.q[:] = 7.0
    run = readable.goal_oriented_q_learning(env, Stop(episodes=12), r_bar_min=-9.0, run=run)
    assert run.n_episodes == run.n_steps == 12
    changed = run.q[run.q != 7.0]
    assert changed.size
    assert changed.min() >= 7.0 - 12 * 0.5


@pytest.mark.parametrize("name", ["learning_rate", "epsilon", "discount"])
@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan])
def test_constants_outside_0_and_1_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"{name} is .*, expected a number in \[0, 1\]"):
        Settings(**{name: value})


def test_a_stop_that_never_comes_is_refused():
    with pytest.raises(ValueError, match="would never stop"):
        Stop()
    for limit in ("episodes", "steps"):
        with pytest.raises(ValueError, match=f"{limit} is 0, expected a whole number"):
            Stop(**{limit: 0})
        for odd in (2.5, float("nan"), "5"):
            with pytest.raises(ValueError, match="expected a whole number"):
                Stop(**{limit: odd})
    with pytest.raises(ValueError, match="tolerance is nan"):
        Stop(steps=1, tolerance=float("nan"))


def test_an_interrupt_in_the_compiled_loop_keeps_table_and_counters_together(four_rooms):
    """The signal arrives while the kernel runs; what it did until then must be counted."""
    task = four_rooms.tasks["top"]
    goal_oriented_q_learning(task, Stop(steps=1))  # compiled before the clock starts
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    run = goal_oriented_q_learning(task, Stop(steps=10**12), seed=6)
    assert run.interrupted
    assert run.n_steps > 0
    whole = goal_oriented_q_learning(task, Stop(steps=run.n_steps), seed=6)
    assert np.array_equal(run.stream, whole.stream)
    assert (run.n_episodes, run.position) == (whole.n_episodes, whole.position)
    assert np.array_equal(run.q, whole.q)


def test_a_run_is_resumed_with_its_own_constants_only(four_rooms):
    task = four_rooms.tasks["top"]
    run = goal_oriented_q_learning(task, Stop(steps=100), r_bar_min=-1000.0)
    with pytest.raises(ValueError, match="was started with goal-oriented Q-learning"):
        goal_oriented_q_learning(task, Stop(steps=200), run=run)
    with pytest.raises(ValueError, match="not with"):
        goal_oriented_q_learning(
            task, Stop(steps=200), r_bar_min=-1000.0, settings=Settings(epsilon=0.5), run=run
        )


def test_numbers_and_shapes_that_do_not_fit_are_refused(four_rooms):
    task = four_rooms.tasks["top"]
    with pytest.raises(ValueError, match="r_bar_min is nan"):
        goal_oriented_q_learning(task, Stop(steps=1), r_bar_min=float("nan"))
    with pytest.raises(ValueError, match=r"optimum has shape \(2,\)"):
        goal_oriented_q_learning(task, Stop(optimum=np.zeros(2)))
    with pytest.raises(ValueError, match="nothing would be learned"):
        Settings(learning_rate=0.0)
    with pytest.raises(TypeError, match="must be a Task"):
        goal_oriented_q_learning("top", Stop(steps=1))
    with pytest.raises(TypeError, match="must be a Settings"):
        goal_oriented_q_learning(task, Stop(steps=1), settings={"epsilon": 1})


def test_a_converged_readable_run_can_go_on():
    space = TaskSpace(from_text("A.", step_reward=-0.5))
    optimum = q_bar_star(space, [space.universal])
    low = optimum.r_bar_min
    run = readable.goal_oriented_q_learning(
        FiniteEnv(space), Stop(optimum=optimum.values[0].table), r_bar_min=low
    )
    assert run.converged
    steps = run.n_steps
    run = readable.goal_oriented_q_learning(
        FiniteEnv(space), Stop(steps=steps + 10), r_bar_min=low, run=run
    )
    assert run.n_steps == steps + 10


def test_a_run_of_another_size_is_refused(four_rooms):
    run = begin(5, 2, 5, seed=0)
    with pytest.raises(ValueError, match=r"shape \(5, 2, 5\), this world needs \(108, 4, 5\)"):
        goal_oriented_q_learning(four_rooms.tasks["top"], Stop(steps=1), run=run)
    with pytest.raises(ValueError, match="this environment has 108 states"):
        readable.goal_oriented_q_learning(four_rooms, Stop(steps=1), r_bar_min=-1.0, run=run)


def test_environments_that_are_no_goal_environments_are_refused():
    import gymnasium

    with pytest.raises(ValueError, match='puts no "goal" into info'):
        readable.goal_oriented_q_learning(
            gymnasium.make("FrozenLake-v1"), Stop(steps=1), r_bar_min=-1.0
        )
    with pytest.raises(ValueError, match=r"observation space is Box.*expected Discrete"):
        readable.goal_oriented_q_learning(
            gymnasium.make("CartPole-v1"), Stop(steps=1), r_bar_min=-1.0
        )


@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_a_bad_seed_is_refused(four_rooms, seed):
    with pytest.raises(ValueError, match="expected a whole number"):
        goal_oriented_q_learning(four_rooms.tasks["top"], Stop(steps=1), seed=seed)
