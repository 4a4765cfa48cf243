"""Tasks that never end: one wanted goal after the other, for as long as an episode lasts.

A formula over finite traces cannot say "again and again".  The agent of a Boolean task can do it:
it plays its task once more after every goal.  An episode of T steps is worth

    Σ_t r_t + Σ_t r_M(g_t)·[g_t is wanted]

where r_t is what step t pays and g_t the goal that it enters, if any.  Goals that the task does not
want pay nothing; they are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.content import ByContent
from taskalgebra.evaluation.rows import Columns, frame, plain, records
from taskalgebra.evaluation.shown import ShownContinuing
from taskalgebra.limits import MOST_EPISODES
from taskalgebra.progress import Event, Listener, silent
from taskalgebra.theory.goal_env import checked_rewards, goals_entered
from taskalgebra.theory.policy import Policy
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count, flag, instance
from taskalgebra.worlds.finite import NO_GOAL

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv
    from pandas import DataFrame

FIGURES = ("episodes", "mean_return", "standard_error", "quartiles")
"""What an evaluation says of all its episodes together."""


@final
@dataclass(frozen=True, eq=False)
class ContinuingEvaluation(ShownContinuing, ByContent):
    """Episodes that outlive goals, one by one; N of them, with G goals."""

    returns: Array  # [N]
    steps: LongArray  # [N]
    goals: LongArray  # [N, G], how often each goal was entered
    wanted: BoolArray  # [G], by the task
    avoided: BoolArray  # [G], goals in which an episode ends after all

    @property
    def episodes(self) -> int:
        """How many."""
        return self.returns.size

    @property
    def mean_return(self) -> float:
        """Of the episodes."""
        return float(self.returns.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean return; NaN for one episode."""
        n = self.episodes
        return float(self.returns.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """Of the returns: a quarter, half and three quarters of them are below."""
        low, median, high = np.quantile(self.returns, (0.25, 0.5, 0.75))
        return float(low), float(median), float(high)

    @property
    def median_return(self) -> float:
        """The second of the quartiles."""
        return self.quartiles[1]

    @property
    def n_wanted(self) -> LongArray:
        """[N], how often wanted goals were entered."""
        return np.asarray(self.goals[:, self.wanted].sum(axis=1))

    @property
    def n_unwanted(self) -> LongArray:
        """[N], how often other goals were entered."""
        return np.asarray(self.goals[:, ~self.wanted].sum(axis=1))

    @property
    def violated(self) -> BoolArray:
        """[N], which episodes ended in a goal that was to be avoided."""
        return np.asarray(self.goals[:, self.avoided].any(axis=1))

    @property
    def columns(self) -> Columns:
        """The episodes, by column: return, steps, wanted, unwanted, violated."""
        return {
            "return": self.returns,
            "steps": self.steps,
            "wanted": self.n_wanted,
            "unwanted": self.n_unwanted,
            "violated": self.violated,
        }

    def to_dict(self, *, rows: bool = True) -> dict[str, Any]:
        """The figures by name, ready for JSON: plain numbers, and None for those not known.

        Args:
            rows: whether to add the episodes, as `rows`: one dictionary per episode.
        """
        flag(rows, "rows")
        found = {name: plain(getattr(self, name)) for name in FIGURES}
        return {**found, "rows": records(self.columns)} if rows else found

    def to_frame(self) -> DataFrame:
        """The episodes as a pandas table, one row each.

        Raises:
            ImportError: pandas is not installed.
        """
        return frame(self.columns)

    def __str__(self) -> str:
        """One line with the figures."""
        low, median, high = self.quartiles
        wrong = f", {self.violated.sum()} violated" if self.avoided.any() else ""
        return (
            f"median return {median:.2f} (quartiles {low:.2f} to {high:.2f}), mean "
            f"{self.mean_return:.2f}, {self.n_wanted.mean():.2f} wanted goals and "
            f"{self.n_unwanted.mean():.2f} others in {self.steps.mean():.1f} steps, "
            f"{self.episodes} episodes{wrong}"
        )


def play_on(
    task: Task,
    env: VectorEnv[Any, Any, Any],
    policy: Policy,
    *,
    episodes: int,
    steps: int,
    avoided: BoolArray | None = None,
    seed: int = 0,
    listener: Listener = silent,
) -> ContinuingEvaluation:
    """Play a task again and again, in episodes of a number of steps.

    Copies play in waves, and only the first episode of each counts, as in `rollout.play`.  After
    every goal the policy begins anew.

    Args:
        task: whose wanted goals pay.
        env: copies of a goal environment, as `GoalEnv.continuing` makes them.
        policy: what acts.
        episodes: the number of episodes.
        steps: of an episode, if the environment does not end it earlier.
        avoided: `[G]`, goals in which an episode ends after all; by default none.
        seed: equal seeds play equal episodes, if the environment and the policy are deterministic.
        listener: receives progress.
    """
    instance(task, Task, "the task")
    episodes = count(episodes, "episodes", most=MOST_EPISODES)
    steps = count(steps, "steps")
    ends = np.zeros(task.space.n_goals, np.bool_) if avoided is None else avoided
    first_seed = int(np.random.SeedSequence(seed).generate_state(1)[0]) >> 1  # room to count up
    waves = []
    for first in range(0, episodes, env.num_envs):
        n_counted = min(env.num_envs, episodes - first)
        waves.append(_wave(task, env, policy, n_counted, first_seed + first, steps, ends))
        listener(Event("episodes", (first + n_counted) / episodes))
    returns, taken, goals = (np.concatenate(parts) for parts in zip(*waves, strict=True))
    return ContinuingEvaluation(returns, taken, goals, task.wanted, ends)


def _wave(
    task: Task,
    env: VectorEnv[Any, Any, Any],
    policy: Policy,
    n_counted: int,
    seed: int,
    max_steps: int,
    ends: BoolArray,
) -> tuple[Array, LongArray, LongArray]:
    """The first episode of each of the first copies: its return, steps and goals."""
    n = env.num_envs
    pays = np.where(task.wanted & ~ends, task.goal_reward, 0.0)
    observations, _ = env.reset(seed=seed)
    policy.reset(np.ones(n, np.bool_))
    returns, taken = np.zeros(n), np.zeros(n, np.int64)
    met = np.zeros((n, task.space.n_goals), np.int64)
    on = np.arange(n) < n_counted
    for number in range(1, max_steps + 1):
        observations, rewards, terminated, truncated, infos = env.step(policy.actions(observations))
        goals = goals_entered(infos, n, task.space.n_goals)
        entered = goals != NO_GOAL
        counted = np.flatnonzero(on & entered)
        met[counted, goals[counted]] += 1
        returns[on] += checked_rewards(rewards, number)[on]
        returns[counted] += pays[goals[counted]]
        taken[on] += 1
        on &= ~(terminated | truncated | (entered & ends[goals]))
        if not on.any():
            break
        if entered.any():
            policy.reset(entered)
    return returns[:n_counted], taken[:n_counted], met[:n_counted]
