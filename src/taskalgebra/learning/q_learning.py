"""Goal-oriented Q-learning, Algorithm 1 of the supplement, and plain Q-learning beside it.

An agent that learns Q̄ keeps the goals it has met so far, 𝒢, and updates *all* of them at every
step.  In state s it takes action a and sees r and s':

    target(g) = r̄                              if the episode ends in some goal: r if that is g,
                                               the penalty r̄_MIN if it is another
              = r + γ max_b Q(s', g, b)        otherwise
    Q(s, g, a) ← (1 − α) Q(s, g, a) + α target(g)          for all g ∈ 𝒢

By default α is 1 until the outcomes of an action in a state are seen to differ: until then it may
have one outcome, and the last target is the value.  From then on α = n^−`DECAY` at the n-th update
of an entry, so that values converge: Σ α = ∞ and Σ α² < ∞ (Robbins and Monro 1951).

It acts greedily by generalised policy improvement, argmax_a max_{g ∈ 𝒢} Q(s, g, a), and at random
with probability ε and while 𝒢 is empty.  A goal joins 𝒢 when the episode that met it is over.

There are two versions of the same algorithm.  This one is compiled and works on the tables of a
finite world.  `taskalgebra.learning.readable` is plain Python for any Gymnasium environment with
discrete spaces; with the same random numbers it learns the identical table.

A `Run` can be stopped and resumed bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, IntArray
from taskalgebra.learning.kernels import AT_START, NONE, advance
from taskalgebra.theory.rewards import default_r_bar_min
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count, instance, number, share
from taskalgebra.worlds.chance import State, seeded
from taskalgebra.worlds.finite import NO_LIMIT, FiniteMDP

N = TypeVar("N", bound=np.generic)
NO_OPTIMUM = np.empty((0, 0, 0))
CHUNK = 8_000_000
"""Updates between two reports of progress and checks for Ctrl-C: some tens of milliseconds."""


@dataclass(frozen=True)
class Settings:
    """The constants of Algorithm 1; the defaults are those of the paper's tabular experiments."""

    learning_rate: float | None = None
    """α, how far a value moves towards its target.  By default it is 1, and in Q-learning it falls
    where outcomes are seen to differ; a number is kept throughout."""
    epsilon: float = 1.0
    """ε, how often the agent acts at random."""
    discount: float = 1.0
    """γ; the theory is undiscounted."""

    def __post_init__(self) -> None:
        """Refuse numbers outside [0, 1]."""
        for name in ("learning_rate", "epsilon", "discount"):
            if getattr(self, name) is not None or name != "learning_rate":
                share(getattr(self, name), name)
        if self.learning_rate == 0.0:
            raise ValueError("learning_rate is 0, so nothing would be learned")

    @property
    def constant_rate(self) -> float:
        """α of learners that keep it throughout."""
        return 1.0 if self.learning_rate is None else self.learning_rate


@dataclass
class Run:
    """The state of learning: everything that is needed to resume."""

    q: Array  # [S, G, A], or [S, 1, A] for plain Q-learning; unvisited entries are 0
    seen_goals: IntArray  # [G], in the order in which they were met; -1 where none was met yet
    stream: State  # [2]
    visits: IntArray  # [S, G, A], how often each entry was updated; empty where nothing asks
    outcome: Array  # [S, A, 2], the last outcome and its reward, or `NONE`, or `DIFFER`; or empty
    n_steps: int = 0
    n_episodes: int = 0
    position: int = AT_START  # the state in which the agent stands, or AT_START between episodes
    converged: bool = False  # whether the whole table agrees with the given optimum
    interrupted: bool = False  # whether the user stopped it
    protocol: str = ""  # algorithm and settings; it can be resumed with the same only

    @property
    def n_seen(self) -> int:
        """The number of goals met so far."""
        return int(np.count_nonzero(self.seen_goals >= 0))

    def watch_outcomes(self) -> None:
        """Make room for what a falling α needs, as much as the table has now."""
        n_states, _, n_actions = self.q.shape
        self.visits = padded(self.visits, self.q.shape, 0)
        self.outcome = padded(self.outcome, (n_states, n_actions, 2), NONE)


def padded(array: NDArray[N], shape: tuple[int, ...], value: float) -> NDArray[N]:
    """An array in the corner of a larger one; itself if it has that shape."""
    if array.shape == shape:
        return array
    result: NDArray[N] = np.full(shape, value, array.dtype)
    result[tuple(map(slice, array.shape))] = array
    return result


def begin(n_states: int, n_goals: int, n_actions: int, *, seed: int, plain: bool = False) -> Run:
    """A run before its first step; plain Q-learning does not wait for a goal to be met."""
    n_slices = 1 if plain else n_goals
    seen = np.full(n_slices, -1, np.int32)
    if plain:
        seen[0] = 0
    table = np.zeros((n_states, n_slices, n_actions))
    nothing = np.zeros((0, 0, 0), np.int32), np.zeros((0, 0, 2))
    return Run(table, seen, seeded(seed), *nothing)


@dataclass(frozen=True)
class Stop:
    """When to stop; whichever comes first."""

    episodes: int | None = None
    steps: int | None = None
    optimum: Array | None = None  # of the shape of the table
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        """Require at least one limit, and sensible numbers."""
        if self.episodes is None and self.steps is None and self.optimum is None:
            raise ValueError("learning would never stop; give episodes, steps or an optimum")
        for name in ("episodes", "steps"):
            if getattr(self, name) is not None:
                count(getattr(self, name), name)
        if not self.tolerance >= 0:
            raise ValueError(f"tolerance is {self.tolerance}, expected a number of at least 0")


def goal_oriented_q_learning(
    task: Task,
    stop: Stop,
    *,
    settings: Settings = Settings(),
    seed: int = 0,
    r_bar_min: float | None = None,
    mdp: FiniteMDP | None = None,
    run: Run | None = None,
    progress: Callable[[Run], None] | None = None,
) -> Run:
    """Learn Q̄_M by Algorithm 1 in the tables of a finite world.

    Args:
        task: the task M to learn.
        stop: when to stop.  Episodes and steps count from the beginning of a run.
        settings: α, ε and γ.
        seed: of the random stream; ignored when a run is resumed.
        r_bar_min: r̄_MIN; by default that of `default_r_bar_min`.
        mdp: the dynamics, if other than those of the task's space; the states must be the same.
        run: a run to resume.  It is changed in place.
        progress: called every few tens of milliseconds.  The table of the run keeps changing
            afterwards: copy what should be kept.

    Returns:
        The run, also if Ctrl-C stopped it early.
    """
    world = instance(task, Task, "the task").space.mdp if mdp is None else mdp
    shape = (world.n_states, world.n_goals, world.n_actions)
    penalty = default_r_bar_min(task.space) if r_bar_min is None else r_bar_min
    penalty = number(penalty, "r_bar_min")
    current = begin(*shape, seed=seed) if run is None else run
    return _learn(task, world, current, shape, stop, settings, penalty, False, progress)


def q_learning(
    task: Task,
    stop: Stop,
    *,
    settings: Settings = Settings(),
    seed: int = 0,
    mdp: FiniteMDP | None = None,
    run: Run | None = None,
    progress: Callable[[Run], None] | None = None,
) -> Run:
    """Learn the plain Q_M(s, a) of a task; for the arguments see `goal_oriented_q_learning`."""
    world = task.space.mdp if mdp is None else mdp
    shape = (world.n_states, 1, world.n_actions)
    current = begin(*shape, seed=seed, plain=True) if run is None else run
    return _learn(task, world, current, shape, stop, settings, 0.0, True, progress)


def _learn(
    task: Task,
    world: FiniteMDP,
    run: Run,
    shape: tuple[int, int, int],
    stop: Stop,
    settings: Settings,
    r_bar_min: float,
    plain: bool,
    progress: Callable[[Run], None] | None,
) -> Run:
    if run.q.shape != shape:
        raise ValueError(f"the run has a table of shape {run.q.shape}, this world needs {shape}")
    kind = "plain Q-learning" if plain else f"goal-oriented Q-learning, r̄_MIN = {r_bar_min!r}"
    protocol = f"{kind}, {instance(settings, Settings, 'settings')}"
    if run.protocol not in ("", protocol):
        raise ValueError(f"the run was started with {run.protocol}, not with {protocol}")
    run.protocol = protocol
    optimum = NO_OPTIMUM
    if stop.optimum is not None:
        if stop.optimum.size != run.q.size:
            raise ValueError(f"the optimum has shape {stop.optimum.shape}, expected {shape}")
        optimum = np.ascontiguousarray(stop.optimum.reshape(shape))
    counters = np.array([run.n_steps, run.n_episodes, run.position, run.n_seen], np.int64)
    last_step = NO_LIMIT if stop.steps is None else stop.steps
    last_episode = NO_LIMIT if stop.episodes is None else stop.episodes
    run.interrupted = False
    if run.n_steps >= last_step or run.n_episodes >= last_episode:
        return run
    chunk = max(100_000, CHUNK // max(4, shape[1]))  # steps
    falling = settings.learning_rate is None and not world.deterministic
    if falling:
        run.watch_outcomes()
    run.q = run.q.copy()  # learning writes into it; a table taken from the run earlier stays
    try:
        while True:
            run.converged = advance(
                world.offset,
                world.successor,
                world.probability,
                task.steps,
                world.goal_of_state,
                task.goal_reward,
                world.starts,
                r_bar_min,
                plain,
                settings.constant_rate,
                settings.epsilon,
                settings.discount,
                run.q,
                run.seen_goals,
                counters,
                run.stream,
                falling,
                run.visits,
                run.outcome,
                optimum,
                stop.tolerance,
                min(last_step, int(counters[0]) + chunk),
                last_episode,
            )
            run.n_steps, run.n_episodes, run.position = counters[:3].tolist()
            if progress is not None:
                progress(run)
            if run.converged or run.n_steps >= last_step or run.n_episodes >= last_episode:
                return run
    except KeyboardInterrupt:
        run.n_steps, run.n_episodes, run.position = counters[:3].tolist()
        run.interrupted = True
        return run
