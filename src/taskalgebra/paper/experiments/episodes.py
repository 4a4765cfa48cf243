"""Episodes of one policy, counted by outcome and length.

Rewards of the evaluated tasks are sparse, so that a return follows from the goal reached and the
number of steps.  A hundred thousand episodes are then a table of a few dozen counts, from which
every quantile and every outlier follows exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray
from taskalgebra.compiled import kernel
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count
from taskalgebra.worlds.chance import State, sampled, seeded, uniform

DESIRED, WRONG, CUT_OFF = "desired goal", "wrong goal", "cut off"
OUTCOMES = (DESIRED, WRONG, CUT_OFF)


@final
@dataclass(frozen=True, eq=False)
class Episodes:
    """Counts of episodes of one policy in one sparse task."""

    task: Task
    counts: NDArray[np.int64]  # [3, max_steps + 1], by outcome, in their order, and length
    n_started: NDArray[np.int64]  # [S]

    @property
    def n(self) -> int:
        """The number of episodes."""
        return int(self.n_started.sum())

    def returns(self) -> Array:
        """[3, max_steps + 1], the return of an episode by outcome and length."""
        rewards = self.task.goal_reward
        step = float(self.task.steps[~self.task.space.mdp.is_goal].max())
        n_steps = np.arange(self.counts.shape[1])
        ended = step * (n_steps - 1)  # the last action pays the terminal reward
        return np.stack([ended + rewards.max(), ended + rewards.min(), step * n_steps])

    def add(self, other: Episodes) -> Episodes:
        """The episodes of both."""
        return Episodes(self.task, self.counts + other.counts, self.n_started + other.n_started)

    @property
    def mean(self) -> float:
        """The mean return."""
        return float((self.counts * self.returns()).sum() / self.n)

    def rate(self, outcome: str) -> float:
        """The fraction of episodes with an outcome."""
        return float(self.counts[OUTCOMES.index(outcome)].sum() / self.n)

    @property
    def failure_rate(self) -> float:
        """The fraction of episodes that were cut off or ended in a wrong goal."""
        return float(self.counts[1:].sum() / self.n)

    def mean_of(self, values: Array) -> float:
        """The mean of `[S]` values over the starts of these episodes."""
        return float((self.n_started * values).sum() / self.n)


def play(task: Task, actions: ArrayLike, *, episodes: int, max_steps: int, seed: int) -> Episodes:
    """Play episodes with one action per state, `[S]`, from random starts.

    A goal is desired when no other pays more, so that the empty task, whose goals all pay the same,
    cannot end in a wrong one.

    Args:
        task: a two-valued task with one step reward.
        actions: the policy.
        episodes: how many.
        max_steps: an episode is cut off after this many steps; the last step of one that ends pays
            the terminal reward.
        seed: of the random stream.
    """
    mdp = task.space.mdp
    if not task.two_valued or task.step_reward is not None:
        raise ValueError(f"episodes are counted for sparse, two-valued tasks, got {task!r}")
    counts = np.zeros((len(OUTCOMES), count(max_steps, "max_steps") + 1), np.int64)
    n_started = np.zeros(mdp.n_states, np.int64)
    _play(
        mdp.offset,
        mdp.successor,
        mdp.probability,
        mdp.goal_of_state,
        task.goal_reward < task.goal_reward.max(),
        mdp.starts,
        np.ascontiguousarray(actions, np.int64),
        mdp.n_actions,
        count(episodes, "episodes"),
        seeded(seed),
        counts,
        n_started,
    )
    return Episodes(task, counts, n_started)


@kernel
def _play(
    offset: NDArray[np.int64],
    successor: IntArray,
    probability: Array,
    goal_of_state: IntArray,
    wrong: BoolArray,
    starts: IntArray,
    actions: NDArray[np.int64],
    n_actions: int,
    n_episodes: int,
    stream: State,
    counts: NDArray[np.int64],
    n_started: NDArray[np.int64],
) -> None:
    max_steps = counts.shape[1] - 1
    for _ in range(n_episodes):
        s = starts[int(uniform(stream) * starts.size)]
        n_started[s] += 1
        outcome = 2  # cut off
        steps = max_steps
        for n in range(max_steps):
            if goal_of_state[s] >= 0:
                outcome = 1 if wrong[goal_of_state[s]] else 0
                steps = n + 1
                break
            s = successor[sampled(offset, probability, s * n_actions + actions[s], stream)]
        counts[outcome, steps] += 1
