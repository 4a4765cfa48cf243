"""Hindsight replay: one table for all goals, learned from what was reached by chance.

The agent pursues one goal g per episode, and learns Q(s, g, a) by Q-learning from a memory of
transitions (Andrychowicz et al. 2017).  An episode that ends in another goal e says little of g,
but all of how to reach e.  So most transitions are replayed as if e had been pursued:

    target(g) = r_M(g) if the episode ends in g, r̄_MIN if it ends in another goal
              = r + γ max_b Q(s', g, b) otherwise
    Q(s, g, a) ← (1 − α) Q(s, g, a) + α target(g)       for the goal pursued, or the goal reached

The table is Q̄_M of the paper (Definition 3); r_M(g) is all that tasks differ in, so several tables
are learned from the same replays.  Algorithm 1 updates *all* goals at each step, where this updates
one per replay.

Which goals are put in: those reached at the end of the episode ("final"), or at any later time
("future", k = 4).  Here the two are one, because every goal ends its episode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from taskalgebra.arrays import Array, LongArray
from taskalgebra.learning import checkpoint
from taskalgebra.learning.learner import require_shared_absorbing
from taskalgebra.learning.missed import never_met, require_ways
from taskalgebra.learning.q_learning import NO_OPTIMUM, Settings, Stop
from taskalgebra.learning.replay_kernels import Buffer, Rules, Standing, World, advance
from taskalgebra.progress import Event, Listener, StopLearning
from taskalgebra.theory.family import TableFamily
from taskalgebra.theory.goal_env import MAX_EPISODE_STEPS, GoalEnv
from taskalgebra.theory.rewards import checked_r_bar_min, default_r_bar_min
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count, instance, number
from taskalgebra.worlds.chance import seeded

DETERMINISTIC = Settings()
"""α and ε for worlds whose outcomes are certain: both 1."""
STOCHASTIC = Settings(learning_rate=0.1, epsilon=0.5)
"""α and ε for worlds with random outcomes."""
CHUNK = 4_000_000
"""Updates between two reports of progress and checks for Ctrl-C."""


@final
@dataclass(frozen=True)
class Replay:
    """What is remembered, and how it is replayed."""

    relabelled: int = 4
    """k, how many transitions are replayed with the goal that was reached, for each with the goal
    that was pursued.  0 is replay without hindsight."""
    replays: int = 8
    """Transitions that are replayed after each step."""
    memory: int = 1_000_000
    """Transitions that are remembered, the newest ones."""

    def __post_init__(self) -> None:
        """Refuse numbers that are not counts."""
        count(self.relabelled, "relabelled", least=0)
        count(self.replays, "replays")
        count(self.memory, "memory", least=MAX_EPISODE_STEPS)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What was learned, and at what cost."""

    q: Array  # [T, S, G, A]
    met: LongArray  # [G], how many episodes ended in each goal
    n_steps: int
    n_episodes: int
    converged: bool  # whether the first table agrees with the given optimum


def hindsight_replay(
    tasks: Sequence[Task],
    stop: Stop,
    *,
    replay: Replay = Replay(),
    settings: Settings = DETERMINISTIC,
    seed: int = 0,
    r_bar_min: float | None = None,
    progress: Callable[[Run], None] | None = None,
) -> Run:
    """Learn Q̄ of some tasks of one finite world, all from the same episodes.

    Args:
        tasks: one table is learned for each; the agent acts on that of the first.
        stop: when to stop: after steps, or when the first table agrees with an optimum.
        replay: what is remembered and replayed.
        settings: α, ε and γ.
        seed: of the random stream.
        r_bar_min: r̄_MIN; by default `default_r_bar_min`, as in planning.
        progress: called now and then; it may raise `StopLearning`.
    """
    first = tasks[0]
    mdp, space = first.space.mdp, first.space
    if stop.episodes is not None:
        raise ValueError("hindsight replay stops after steps or at an optimum, not after episodes")
    low = default_r_bar_min(space) if r_bar_min is None else number(r_bar_min, "r_bar_min")
    shape = (mdp.n_states, mdp.n_goals, mdp.n_actions)
    optimum = NO_OPTIMUM
    if stop.optimum is not None:
        if stop.optimum.shape != shape:
            raise ValueError(f"the optimum has shape {stop.optimum.shape}, expected {shape}")
        optimum = np.ascontiguousarray(stop.optimum)
    world = World(
        mdp.offset,
        mdp.successor,
        mdp.probability,
        first.steps,
        mdp.goal_of_state,
        mdp.starts,
    )
    rules = Rules(
        np.stack([task.goal_reward for task in tasks]),
        low,
        settings.constant_rate,
        settings.epsilon,
        settings.discount,
        replay.relabelled,
        replay.replays,
        MAX_EPISODE_STEPS,
    )
    steps = np.iinfo(np.int64).max if stop.steps is None else stop.steps
    size = min(replay.memory, steps)
    buffer = Buffer(*(np.zeros(size, np.int32) for _ in Buffer._fields))
    standing = Standing(
        np.zeros((len(tasks), *shape)),
        np.zeros(mdp.n_goals, np.int64),
        np.array([0, 0, -1, 0, 0, 0], np.int64),
        seeded(seed),
    )
    chunk = max(1, CHUNK // (replay.replays * len(tasks)))
    while True:
        n_steps = int(standing.counters[0])
        until = min(steps, n_steps + chunk)
        converged = advance(world, rules, buffer, standing, optimum, stop.tolerance, until)
        n_steps, n_episodes = standing.counters[:2].tolist()
        run = Run(standing.q, standing.met, n_steps, n_episodes, bool(converged))
        if progress is not None:
            try:
                progress(run)
            except StopLearning:
                return run
        if converged or n_steps >= steps:
            return run


@final
@dataclass(frozen=True)
class Hindsight:
    """Hindsight replay as a learner for `taskalgebra.learn`.

    Q̄ of all base tasks, and the bounds Q̄_U and Q̄_∅, are learned from one stream of episodes, each
    in pursuit of one goal.  It learns finite worlds.
    """

    steps: int | None = None
    """Steps for all tasks together; by default a thousand per state and action."""
    replay: Replay = Replay()
    """What is remembered and replayed."""
    settings: Settings | None = None
    """α, ε and γ; by default those of `QLearning`: α = ε = 1 in deterministic worlds."""
    r_bar_min: float | None = None
    """r̄_MIN, the penalty for a wrong goal; by default the one of Definition 2, and in a stochastic
    world r_∅."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense before anything is learned."""
        if self.steps is not None:
            count(self.steps, "steps")
        instance(self.replay, Replay, "replay")
        if self.settings is not None:
            instance(self.settings, Settings, "settings")
        if self.r_bar_min is not None:
            number(self.r_bar_min, "r_bar_min")

    def learn(
        self,
        env: GoalEnv,
        tasks: Mapping[str, Task],
        *,
        seed: int,
        folder: Path | None,
        listener: Listener,
    ) -> TableFamily:
        """Learn the tables of these tasks, and the bounds; the result is kept in `folder`.

        A run that a listener stopped with `StopLearning` is returned, but not kept.

        Raises:
            ValueError: the world is not finite, tasks end in goals of their own or are dense, or
                some goal was never met, so that its values are unknown.
        """
        require_shared_absorbing(env)
        space = env.space
        if not space.finite:
            raise ValueError(
                f"{env!r} is an open world, known only by playing it, and Hindsight needs a finite "
                f"one; learn with QLearning if observations are numbered, else with DeepQ"
            )
        for name, task in tasks.items():
            if task.step_reward is not None:
                raise ValueError(
                    f"task {name!r} is dense, and Hindsight learns all tasks from the same rewards "
                    f"of steps; learn it with QLearning"
                )
        require_ways(space.mdp)
        low = default_r_bar_min(space)
        if self.r_bar_min is not None:
            low = checked_r_bar_min(self.r_bar_min, space)
        steps = self.steps or 1000 * space.mdp.n_states * space.mdp.n_actions
        settings = self.settings or (DETERMINISTIC if space.mdp.deterministic else STOCHASTIC)
        every = [space.universal, space.empty, *tasks.values()]
        path = None if folder is None else folder / "hindsight.npz"
        if folder is not None:
            checkpoint.claim(folder, r"hindsight\.npz")
        rewards = ", ".join(f"{name}: {task.goal_reward.tolist()}" for name, task in tasks.items())
        of = f"{checkpoint.fingerprint(space.universal)}, {rewards}, {self}, {low}, seed {seed}"
        if path is not None and path.exists():
            q = checkpoint.read(path, ("q",), of)["q"]
        else:

            def progress(run: Run) -> None:
                met = int(np.count_nonzero(run.met))
                share = run.n_steps / steps
                listener(Event("all tasks", share, n_steps=run.n_steps, n_goals=met))

            run = hindsight_replay(
                every,
                Stop(steps=steps),
                replay=self.replay,
                settings=settings,
                seed=seed,
                r_bar_min=low,
                progress=progress,
            )
            if not run.met.all():
                after = f"{run.n_steps:,} steps and {run.n_episodes:,} episodes"
                longer = "learn longer, learner=Hindsight(steps=...)"
                missed = np.flatnonzero(run.met == 0).tolist()
                raise ValueError(never_met(space, missed, after, longer))
            q = run.q
            if path is not None and run.n_steps >= steps:
                checkpoint.write(path, {"q": q}, of)
        return TableFamily.of(space, tasks, list(q), r_bar_min=low, error_bound=None)
