"""Memory: a ring of transitions, those that tell most among them, codes or observations alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.learning.deep.replay import Compact, Replay

N = -1


def add(replay, states, goals, valid=None, actions=None):
    """One step of every environment; a state is a number, and the next one is 1000 more."""
    states = np.array(states, np.int64)[:, None]
    n = len(states)
    replay.add(
        states,
        np.zeros(n, np.int64) if actions is None else np.array(actions),
        -states[:, 0] / 8.0,
        states + 1000,
        np.array(goals),
        np.ones(n, bool) if valid is None else np.array(valid),
    )


def small(capacity):
    return Replay(capacity, (1,), np.int64)


def test_a_transition_comes_back_as_it_was():
    replay = small(8)
    add(replay, [3, 5], [N, 2], actions=[1, 4])
    batch = replay.sample(500, 0.0, np.random.default_rng(0), None)
    assert set(batch.observations[:, 0].tolist()) == {3, 5}
    first = batch.observations[:, 0] == 3
    for column, (of_first, of_second) in {
        "actions": (1, 4),
        "rewards": (-0.375, -0.625),
        "goals": (N, 2),
    }.items():
        values = getattr(batch, column)
        assert (values[first] == of_first).all()
        assert (values[~first] == of_second).all()
    assert (batch.next_observations == batch.observations + 1000).all()
    assert batch.actions.dtype == batch.goals.dtype == np.int64
    assert batch.rewards.dtype == np.float32


@given(st.integers(1, 12), st.lists(st.lists(st.booleans(), min_size=3, max_size=3), max_size=12))
def test_it_holds_the_last_transitions_that_were_valid(capacity, steps):
    replay, written = small(capacity), []
    for t, valid in enumerate(steps):
        states = [10 * t + i for i in range(3)]
        add(replay, states, [N] * 3, valid)
        written += [s for s, ok in zip(states, valid, strict=True) if ok]
    assert replay.size == min(len(written), capacity)
    assert sorted(replay.states[: replay.size, 0].tolist()) == sorted(written[-capacity:])
    assert (replay.next_states[: replay.size] == replay.states[: replay.size] + 1000).all()


def slow_telling(steps, capacity):
    """Which transitions tell: an end in a goal, and the step of that environment before it."""
    memory, last = [], {}
    for t, (goals, valid) in enumerate(steps):
        for i, (goal, ok) in enumerate(zip(goals, valid, strict=True)):
            if not ok:
                last.pop(i, None)
                continue
            row = {"state": 10 * t + i, "telling": goal != N}
            if goal != N and i in last:
                last[i]["telling"] = True
            memory.append(row)
            last[i] = row
    return {row["state"] for row in memory[-capacity:] if row["telling"]}


steps = st.lists(
    st.tuples(
        st.lists(st.sampled_from([N, N, 0, 1]), min_size=3, max_size=3),
        st.lists(st.sampled_from([True, True, False]), min_size=3, max_size=3),
    ),
    min_size=1,
    max_size=15,
)


@given(steps, st.integers(1, 50))
def test_telling_are_the_ends_in_a_goal_and_the_steps_before_them(steps, capacity):
    replay = small(capacity)
    for t, (goals, valid) in enumerate(steps):
        add(replay, [10 * t + i for i in range(3)], goals, valid)
    telling = replay.states[: replay.size, 0][replay.telling[: replay.size]]
    assert set(telling.tolist()) == slow_telling(steps, capacity)


def test_a_step_before_an_end_that_was_overwritten_does_not_make_another_one_telling():
    replay = small(3)
    add(replay, [1, 2], [N, N])
    add(replay, [3, 4], [0, N])  # 3 follows 1, whose row has gone to 4
    assert replay.states[:, 0].tolist() == [4, 2, 3]
    assert replay.telling.tolist() == [False, False, True]


def test_what_is_overwritten_by_another_step_no_longer_tells():
    replay = small(3)
    add(replay, [1], [0])
    for state in (2, 3, 4):
        add(replay, [state], [N])
    assert not replay.telling.any()


def test_after_a_reset_the_last_step_leads_nowhere():
    replay = small(10)
    add(replay, [1, 2], [N, N])
    replay.forget_last()
    add(replay, [3, 4], [0, 0])
    assert replay.states[: replay.size, 0][replay.telling[: replay.size]].tolist() == [3, 4]


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_a_share_of_a_batch_is_drawn_from_the_telling(share):
    replay = small(1000)
    for t in range(900):
        add(replay, [t], [0 if t in (450, 700) else N])
    rows = replay.draw(4000, share, np.random.default_rng(0))
    assert rows.min() >= 0
    assert rows.max() < 900
    drawn = np.bincount(rows, minlength=900)
    telling = drawn[[449, 450, 699, 700]]
    expected = 4000 * (share / 4 + (1 - share) / 900)
    assert (np.abs(telling - expected) < 6 * np.sqrt(expected) + 1).all()
    if share < 1.0:
        assert (drawn > 0).sum() > 500
    else:
        assert telling.sum() == 4000


def test_without_telling_transitions_the_whole_batch_is_drawn_from_all():
    replay = small(100)
    for t in range(50):
        add(replay, [t], [N])
    rows = replay.draw(2000, 1.0, np.random.default_rng(0))
    assert set(rows.tolist()) == set(range(50))


def test_equal_seeds_draw_equal_batches():
    replay = small(100)
    for t in range(50):
        add(replay, [t], [0 if t % 9 == 8 else N])
    first, second, other = (replay.draw(64, 0.25, np.random.default_rng(s)) for s in (1, 1, 2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_codes_and_observations_give_the_same_batches():
    env = Boxman(layout="random").vector(8)
    assert isinstance(env, Compact)
    by_code = Replay(60, env.codes.shape[1:], np.uint8)
    by_frame = Replay(60, env.single_observation_space.shape, np.uint8)
    rng = np.random.default_rng(0)
    frames, _ = env.reset(seed=4)
    codes, fresh = env.codes, np.zeros(8, bool)
    for _ in range(20):
        actions = rng.integers(0, 5, 8)
        next_frames, rewards, ended, _, infos = env.step(actions)
        goals = np.where(ended, infos["goal"], N)
        by_code.add(codes, actions, rewards, env.codes, goals, ~fresh)
        by_frame.add(frames, actions, rewards, next_frames, goals, ~fresh)
        frames, codes, fresh = next_frames, env.codes, ended
    assert by_code.n_added > 60  # the ring has turned over
    one = by_code.sample(100, 0.3, np.random.default_rng(7), env)
    two = by_frame.sample(100, 0.3, np.random.default_rng(7), None)
    for name in ("observations", "actions", "rewards", "next_observations", "goals"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    assert (one.goals != N).any()


def test_an_environment_without_codes_is_not_compact():
    assert not isinstance(object(), Compact)
