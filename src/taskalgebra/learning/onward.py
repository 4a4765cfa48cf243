"""Learning on from composed values: a few episodes of the task itself.

Composed values are a good guess where they are not exact.  They are taken as the prior of a plain
Q(s, a): what was seen counts as much as it was seen, and the prior as much as `prior` outcomes,

    Q(s, a) = (prior · max_g Q̄(s, g, a) + Σ_s' n(s, a, s') (r + max_b Q(s', b))) / (prior + n)

with n the number of times that an action was tried, and r the mean of what it paid.  After every
episode the equation is applied to the states of the episode, last one first, so that what was found
at its end is known at its start.  Observations that were never met keep their composed values, so
that any agent with numbered actions can be improved: of tables, networks, or somebody else's.

Few episodes may also mislead.  So at last both policies play, without random actions, and the
learned one is taken only if it earned significantly more.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, LongArray
from taskalgebra.evaluation.rollout import episodes_of, rollout
from taskalgebra.limits import MOST_EPISODES
from taskalgebra.progress import Event, Listener, silent
from taskalgebra.theory.goal_env import MAX_EPISODE_STEPS, GoalEnv
from taskalgebra.theory.numbering import Numbering
from taskalgebra.theory.policy import GreedyPolicy, Policy, greedy
from taskalgebra.theory.rewards import recover_q
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import ExtendedQ
from taskalgebra.validation import checked_seed, count, number, share
from taskalgebra.worlds.finite import NO_GOAL

PASSES = 2
"""How often an episode is gone through backwards."""
MOST_SWEEPS = 500
SETTLED = 1e-9
"""At the end all states are gone through until no value changes by more."""
LEAST_JUDGED, MOST_JUDGED = 20, 100
"""Episodes that each of the two policies plays at last."""
SURE = 1.729
"""Standard errors by which the learned policy must be ahead: 95 %, one-sided, by Student's t with
19
degrees of freedom, which is a little strict for more."""
ENOUGH_SEEN = 0.05
"""The share of steps that must lead to an observation met before."""


class NothingRepeatsError(ValueError):
    """Observations hardly ever repeat, so that a table of them learns nothing."""


@final
@dataclass(frozen=True)
class Experience:
    """What an agent was improved by."""

    episodes: int
    steps: int  # of the environment, in these episodes
    known: int  # observations that were met
    judged: int  # episodes that each of the two policies played at last
    gained: float  # what the learned policy earned more in these, on average
    kept: bool  # whether it is the learned policy that acts

    def __str__(self) -> str:
        """What it took, in words."""
        said = f"by {self.episodes:,} episodes of learning, {self.steps:,} steps"
        return said if self.kept else f"{said}, which gained too little to be taken"


@final
class OnwardPolicy(Policy):
    """Greedy on Q(s, a) where it was learned, and on the composed values elsewhere."""

    def __init__(self, values: ExtendedQ, numbering: Numbering, q: Array) -> None:
        """Take the composed values, and Q of the observations that have a number, `[N, A]`."""
        self.values, self.numbering, self.table = values, numbering, q
        self.observation_ndim = values.bounds.observation_ndim

    def q(self, observations: Any) -> Array:
        """[B, A]."""
        found = recover_q(self.values.q_bar(observations))
        rows = self.numbering.find(np.asarray(observations))
        met = rows < len(self.numbering)
        found[met] = self.table[rows[met]]
        return found

    def actions(self, observations: Any) -> LongArray:
        """argmax_a Q(s, a); of tied actions the first."""
        return greedy(self.q(observations)[:, None, :], self.values.space.reward_scale)


def learn_onward(
    env: GoalEnv,
    task: Task,
    values: ExtendedQ,
    *,
    episodes: int,
    epsilon: float = 0.1,
    prior: float = 5.0,
    seed: int = 0,
    listener: Listener = silent,
) -> tuple[Policy, Experience]:
    """Play episodes of a task, and learn from them, beginning with composed values.

    Returns the better policy, and what it took.

    Args:
        env: where to play.
        task: what is paid.
        values: of the task, composed.
        episodes: how many.
        epsilon: how often the agent acts at random.
        prior: how many outcomes of an action its composed value counts for.
        seed: equal seeds learn equal values.
        listener: receives progress.

    Raises:
        NothingRepeatsError: hardly any observation was met twice.
    """
    episodes = count(episodes, "episodes", most=MOST_EPISODES)
    share(epsilon, "epsilon")
    number(prior, "prior", "a number of at least 0", least=0.0)
    limit = env.max_episode_steps or MAX_EPISODE_STEPS
    rng = np.random.default_rng(checked_seed(seed))
    with closing(env.vector(1, task=task, max_episode_steps=limit)) as copy:
        observations, _ = copy.reset(seed=int(rng.integers(2**31)))
        memory = _Memory(values, prior, np.asarray(observations))

        def act(observed: NDArray[Any]) -> NDArray[Any]:
            s = memory.meet(observed)
            if rng.random() < epsilon:
                return np.array([rng.integers(task.space.n_actions)])
            q = np.array(memory.q[s])[None, None, :]
            return greedy(q, task.space.reward_scale)

        done = steps = repeated = ends = 0
        before = np.array(observations)
        walked: list[int] = []
        for step in rollout(copy, observations, act, task.space.n_goals):
            if not step.resets[0]:
                s, a = memory.meet(before), int(step.actions[0])
                n_known = len(memory.numbering)
                terminated = step.goals[0] != NO_GOAL
                t = END if terminated else memory.meet(step.next_observations)
                steps += 1
                ends += bool(terminated)
                repeated += 0 <= t < n_known
                memory.saw(s, a, float(step.rewards[0]), t)
                walked.append(s)
                if step.ended[0]:
                    for _ in range(PASSES):
                        memory.learn(reversed(walked))
                    walked.clear()
                    done += 1
                    listener(Event("episodes", done / episodes))
                    if done == episodes:
                        break
            before = np.array(step.observations)
    if repeated < ENOUGH_SEEN * (steps - ends):
        raise NothingRepeatsError(
            f"of {steps:,} steps only {repeated:,} led to an observation that was met before, so "
            f"that a table of observations learns nothing; learn the task itself with networks: "
            f"learn(world, {{name: task}})"
        )
    memory.settle()
    composed = GreedyPolicy(values)
    learned = OnwardPolicy(values, memory.numbering, np.array(memory.q))
    n = min(max(episodes, LEAST_JUDGED), MOST_JUDGED)
    own, other = (_returns(env, task, policy, n, limit, seed) for policy in (composed, learned))
    gain = other - own
    kept = bool(gain.mean() > SURE * gain.std(ddof=1) / np.sqrt(n))
    took = Experience(done, steps, len(memory.numbering), n, float(gain.mean()), kept)
    return learned if kept else composed, took


def _returns(
    env: GoalEnv, task: Task, policy: Policy, episodes: int, limit: int, seed: int
) -> Array:
    """[N], what a policy earns in episodes from the same seeds as others."""
    with closing(env.vector(min(episodes, env.max_copies), task=task)) as copies:
        found = episodes_of(task, copies, policy, episodes=episodes, max_steps=limit, seed=seed + 1)
    return found.returns


END = -1
"""In place of the observation after the end of an episode."""


@dataclass
class _Tried:
    """What an action in a state led to."""

    n: int = 0
    paid: float = 0.0
    after: dict[int, int] = field(default_factory=dict)


class _Memory:
    """Q of the observations that were met, and all that was tried there."""

    def __init__(self, values: ExtendedQ, prior: float, like: NDArray[Any]) -> None:
        self.values, self.prior = values, prior
        self.numbering = Numbering(like[:0])
        self.q: list[Array] = []
        self.composed: list[Array] = []
        self.v: list[float] = []
        self.tried: list[dict[int, _Tried]] = []

    def meet(self, observations: NDArray[Any]) -> int:
        """The number of the one observation of a batch; with its composed values, if it is new."""
        s = self.numbering.meet(np.asarray(observations)[0])
        if s == len(self.q):
            q = recover_q(self.values.q_bar(observations))[0]
            self.q.append(q.copy())
            self.v.append(float(q.max()))
            self.composed.append(q)
            self.tried.append({})
        return s

    def saw(self, s: int, a: int, reward: float, t: int) -> None:
        tried = self.tried[s].setdefault(a, _Tried())
        tried.n += 1
        tried.paid += reward
        tried.after[t] = tried.after.get(t, 0) + 1

    def learn(self, walked: Iterable[int]) -> float:
        """Apply the equation to some states in this order; the largest change of a value.

        Steps that lead back to where they began are solved for, so that they only cost.
        """
        change = 0.0
        for s in walked:
            q = self.q[s]
            for a, tried in self.tried[s].items():
                away = tried.n - tried.after.get(s, 0)
                weight = self.prior if self.composed[s][a] > -np.inf else 0.0
                if weight + away == 0.0:
                    continue  # it was only seen to lead nowhere
                ahead = sum(n * self.v[t] for t, n in tried.after.items() if t not in (END, s))
                kept = weight * self.composed[s][a] if weight else 0.0
                q[a] = (kept + tried.paid + ahead) / (weight + away)
            best = float(q.max())
            change = max(change, abs(best - self.v[s]))
            self.v[s] = best
        return change

    def settle(self) -> None:
        """Apply the equation to all states until it holds."""
        for _ in range(MOST_SWEEPS):
            if self.learn(range(len(self.q))) <= SETTLED:
                break
