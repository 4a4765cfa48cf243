"""Counts that are too large, or are no counts, are refused in words wherever a count is taken."""

from __future__ import annotations

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.limits import MOST_COPIES, MOST_SEED
from taskalgebra.validation import count

ROOMS = ta.FourRooms()
SKILLS = ta.solve(ROOMS)
AGENT = SKILLS["top"]
HUGE = [10**20, 10**30, 2**63, 2**64, 10**5000, np.uint64(2**64 - 1)]
ODD = [1e9, 1e20, float("inf"), float("nan"), "5", None, True, -1, 1.5, np.float64(3), [3], 3 + 0j]


def settings(name):
    return lambda n: ta.DeepSettings(**{name: n})


def learned(**given):
    return ta.learn(ROOMS, ["top"], learner=ta.QLearning(**given))


COUNTS = {
    "episodes": lambda n: AGENT.evaluate(n),
    "max_steps": lambda n: AGENT.evaluate(3, max_steps=n),
    "steps per task": lambda n: learned(steps=n),
    "episodes per task": lambda n: learned(episodes=n),
    "few steps": lambda n: ta.learn(ROOMS, learner=ta.FewSteps(max_steps=n)),
    "patience": lambda n: ta.learn(ROOMS, learner=ta.FewSteps(patience=n)),
    "copies": lambda n: ROOMS.vector(n, task=ROOMS.tasks["top"]),
    "copies of the game": lambda n: ta.Boxman().vector(n),
    "limit": lambda n: ROOMS.vector(2, task=ROOMS.tasks["top"], max_episode_steps=n),
    **{
        name: settings(name)
        for name in (
            "n_updates",
            "n_envs",
            "batch_size",
            "replay_size",
            "threads",
            "target_interval",
        )
    },
}
SEEDS = {
    "evaluate": lambda n: AGENT.evaluate(3, seed=n),
    "learn": lambda n: ta.learn(ROOMS, ["top"], learner=ta.QLearning(steps=10**5), seed=n),
    "few steps": lambda n: ta.learn(ROOMS, learner=ta.FewSteps(), seed=n),
}
MAY_BE_NONE = ("max_steps", "steps per task", "episodes per task", "patience", "limit")


@pytest.mark.parametrize("take", COUNTS.values(), ids=COUNTS)
def test_a_huge_count_is_refused_and_the_most_is_named(take):
    for n in HUGE:
        with pytest.raises(ValueError, match=r"expected at most [\d,]+$"):
            take(n)


@pytest.mark.parametrize("name", COUNTS)
def test_what_is_no_count_is_refused(name):
    for n in ODD:
        if n is not None or name not in MAY_BE_NONE:
            with pytest.raises(ValueError, match="expected a whole number of at least 1"):
                COUNTS[name](n)


@pytest.mark.parametrize("take", SEEDS.values(), ids=SEEDS)
def test_seeds_have_64_bits(take):
    take(MOST_SEED)
    take(np.int64(5))
    for n in (10**20, 10**30, 2**64, 10**5000):
        with pytest.raises(ValueError, match=r"seed is .*expected at most 18,446,744,073,"):
            take(n)
    for n in ODD:
        with pytest.raises(ValueError, match="expected a whole number of at least 0"):
            take(n)


def test_the_message_names_the_number_however_long():
    with pytest.raises(ValueError, match="steps is a number of about 5,001 digits, expected at"):
        count(10**5000, "steps")
    with pytest.raises(ValueError, match="steps is a number of about 5,001 digits, expected a wh"):
        count(-(10**5000), "steps")
    with pytest.raises(ValueError, match=r"steps is 1000000000001, expected at most 1,000,0"):
        count(10**12 + 1, "steps")
    assert count(np.int32(MOST_COPIES), "steps") == MOST_COPIES
