"""Learning with few steps: all 2^G tasks of a world, exactly, from one short walk through it.

The paper ends with a wish for fewer samples.  In a deterministic world under Assumption 1, four
ideas grant it.  Each can be switched off (`Ideas`) to measure its contribution.

1. *One stream.*  Tasks differ in nothing but r_M(g), so one stream of experience serves all of
   them: Q̄_M(s, g, a) = G*(s:g, a) + r_M(g)  (Corollary 1).
2. *Warm start*, if tasks are learned one after the other.  With replay, the next task starts from
   the memory of all that does not end an episode.  Without, it starts from the table; when a goal
   turns out to pay something else, its slice moves as a whole (Corollary 1).
3. *Replay.*  Every stored transition is replayed for every goal, backwards from the goals, until no
   value changes.  With one outcome per pair and α = 1 that is exact, and one try each is enough.
4. *Exploring towards what was tried least.*  The agent takes the shortest known path to a pair
   (s, a) that was never tried, or without replay to one that was tried least often.

**What the agent observes.**  It knows the numbers of states and actions, r̄_MIN, and that r_U and
r_∅ are what M_U and M_∅ pay.  `reset` shows a random start; a step shows the next state, the step
reward and, when it ends an episode, the number of the goal; and then the terminal reward of *every*
task that is learned from the stream.  With one stream these are all base tasks, which asks more of
an environment than a Gymnasium step that pays for one task; without, it is the current task.
Nothing else is read from the world: the simulator is behind three functions of
`taskalgebra.learning.few_steps.kernels`.

**When it stops.**  With replay the agent knows that it is done: nothing it met is left untried.
Without, it cannot know; an examiner compares with a given optimum before every step, as in the
paper's experiments.

**Not assumed by default**: that a goal pays the same for every last action.  So each of them is
tried in each goal.  `Ideas(one_reward_per_goal=True)` assumes it, as Theorem 3 does anyway.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray
from taskalgebra.learning.few_steps.kernels import (
    Memory,
    Rules,
    Simulator,
    Tally,
    at_the_start,
    blank_memory,
    interact,
    values_from,
)
from taskalgebra.learning.few_steps.replay import replayed
from taskalgebra.theory.family import TableFamily
from taskalgebra.theory.rewards import r_bar_min_of
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import count, flag, instance, number
from taskalgebra.worlds import graph
from taskalgebra.worlds.chance import State, seeded
from taskalgebra.worlds.finite import FiniteMDP

ENOUGH_STEPS = 10**8
CHUNK = 20_000
"""Steps between two checks for Ctrl-C."""
MISSED = 1e-3
"""How likely the default patience overlooks a start, if all states were equally likely starts."""


@dataclass(frozen=True)
class Ideas:
    """What the agent makes use of; without any, it is Algorithm 1 with ε = α = 1."""

    one_stream: bool = True
    """Learn all tasks from one stream of experience, or else one after the other."""
    warm_start: bool = True
    """Start each task from the one before; no effect with one stream."""
    replay: bool = True
    """Replay stored transitions for all goals until nothing changes, or else use each once."""
    explore: bool = True
    """Go to what was tried least, or else act at random."""
    one_reward_per_goal: bool = False
    """Assume that every action ends an episode in g, with the same r(g), once one of them did."""

    def __post_init__(self) -> None:
        """Refuse what is neither true nor false."""
        for one in fields(self):
            flag(getattr(self, one.name), one.name)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Mastery:
    """What was learned, and what it cost.

    Rows of states that were never met are 0.  States from which no path to any goal was found have
    the value −∞, as in planning.
    """

    family: TableFamily
    n_steps: int
    n_episodes: int
    given_up: int  # episodes broken off because nothing untried and no goal could be reached
    finished: bool  # whether the agent was done, or the examiner satisfied, before the step limit
    tried: BoolArray  # [S, A], whether a pair was ever tried, or known by assumption

    @property
    def complete(self) -> bool:
        """Whether every pair of the world is known."""
        return bool(self.tried.all())

    @property
    def never_met(self) -> NDArray[np.int64]:
        """The states of which nothing is known; if finished, no start leads there."""
        return np.flatnonzero(~self.tried.any(axis=1))

    def __repr__(self) -> str:
        """The cost, and what is missing."""
        n_missing = self.never_met.size
        missing = f", {n_missing} states never met" if n_missing else ""
        done = "" if self.finished else ", not finished"
        return (
            f"<Mastery of {len(self.family.tasks)} tasks in {self.n_steps:,} steps{missing}{done}>"
        )


def master(
    space: TaskSpace,
    base_tasks: Mapping[str, Task],
    *,
    seed: int = 0,
    ideas: Ideas = Ideas(),
    r_bar_min: float | None = None,
    optimum: Mapping[Task, Array] | None = None,
    tolerance: float = 1e-5,
    max_steps: int = ENOUGH_STEPS,
    patience: int | None = None,
) -> Mastery:
    """Learn Q̄ of the base tasks, and Q̄_U and Q̄_∅, by interaction with a deterministic world.

    Args:
        space: the task space; its world is the simulator.
        base_tasks: the tasks to learn, by name.
        seed: of the random starts, and of random actions.
        ideas: what to make use of.
        r_bar_min: r̄_MIN; by default the one of Definition 2.
        optimum: Q̄* of every base task, of `space.universal` and of `space.empty`, `[S, G, A]`:
            what an examiner compares with.  Required without replay, not used with it.
        tolerance: of the examiner.
        max_steps: stop after this many steps, done or not.
        patience: if some states were never met, the number of resets in a row without a new state
            after which the agent believes that none is left; by default S·ln(S / 0.001).

    Raises:
        ValueError: the world is stochastic, a task is dense or of another space, a cycle has a
            positive sum of step rewards, or learning would not know when to stop.
    """
    tasks = _checked_tasks(space, base_tasks)
    learner = _Learner(
        mdp=space.mdp,
        ideas=instance(ideas, Ideas, "ideas"),
        r_bar_min=number(r_bar_min_of(space) if r_bar_min is None else r_bar_min, "r_bar_min"),
        optimum=_checked_optimum(space, tasks, ideas, optimum),
        tolerance=number(tolerance, "tolerance", "a finite number of at least 0", least=0.0),
        patience=_default_patience(space) if patience is None else count(patience, "patience"),
        stream=seeded(seed),
    )
    left = count(max_steps, "max_steps")
    tried = np.zeros((space.mdp.n_states, space.mdp.n_actions), np.bool_)
    for group in _groups(space, list(tasks.values()), ideas):
        tried |= learner.learn(group, left)
        left -= learner.tallies[-1].steps
    tallies = learner.tallies
    tables = [learner.tables[task] for task in (space.universal, space.empty, *tasks.values())]
    return Mastery(
        family=TableFamily.of(space, tasks, tables, r_bar_min=learner.r_bar_min, error_bound=None),
        n_steps=sum(tally.steps for tally in tallies),
        n_episodes=sum(tally.episodes for tally in tallies),
        given_up=sum(tally.given_up for tally in tallies),
        finished=all(tally.finished for tally in tallies),
        tried=tried,
    )


def _groups(space: TaskSpace, tasks: Sequence[Task], ideas: Ideas) -> list[list[Task]]:
    """Tasks that are learned from the same stream of experience, in the order of learning.

    What M_U and M_∅ pay need not be observed, so they are learned together with the first.
    """
    bounds = [space.universal, space.empty]
    if ideas.one_stream:
        return [[*tasks, *bounds]]
    return [[tasks[0], *bounds], *([task] for task in tasks[1:])]


class _Lanes(NamedTuple):
    """The different pairs of a goal and its terminal reward among some tasks."""

    goal: IntArray  # [L]
    reward: Array  # [L]
    of_task: NDArray[np.int64]  # [tasks, G], the lane that holds each slice of each task

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> _Lanes:
        rewards: Array = np.stack([task.goal_reward for task in tasks])
        goals = np.broadcast_to(np.arange(rewards.shape[1]), rewards.shape)
        pairs = np.stack((goals.ravel(), rewards.ravel()), axis=1)
        lanes, of_task = np.unique(pairs, axis=0, return_inverse=True)
        goal, reward = lanes[:, 0].astype(np.int32), lanes[:, 1].astype(np.float64)
        return cls(goal, reward, of_task.reshape(rewards.shape))


@dataclass
class _Learner:
    """Learns one group of tasks after the other."""

    mdp: FiniteMDP
    ideas: Ideas
    r_bar_min: float
    optimum: Mapping[Task, Array]
    tolerance: float
    patience: int
    stream: State
    tables: dict[Task, Array] = field(default_factory=dict)  # [S, G, A] each
    tallies: list[Tally] = field(default_factory=list)
    last: tuple[Memory, Array] | None = None  # memory and table of the task before

    def learn(self, tasks: Sequence[Task], max_steps: int) -> BoolArray:
        """Learn the tables of some tasks from one stream; [S, A], which pairs are known then."""
        mdp, ideas, lanes = self.mdp, self.ideas, _Lanes.of(tasks)
        n_lanes = lanes.goal.size
        last = self.last if ideas.warm_start else None
        if last is None:
            memory = blank_memory(mdp.n_states, mdp.n_actions, n_lanes)
            q = np.zeros((mdp.n_states, mdp.n_actions, n_lanes))
        else:
            memory = _for_next_task(last[0], n_lanes, ideas)
            q = np.ascontiguousarray(last[1][:, lanes.goal].swapaxes(1, 2))
        values = values_from(memory, lanes.goal, q, self._optimum(tasks, lanes))
        rules = Rules(
            explore=bool(ideas.explore),
            replay=bool(ideas.replay),
            warm=last is not None,
            one_reward_per_goal=bool(ideas.one_reward_per_goal),
            r_bar_min=self.r_bar_min,
            tolerance=self.tolerance,
            patience=self.patience,
            max_steps=max_steps,
        )
        simulator = Simulator(
            mdp.next_state, mdp.step_reward, mdp.goal_of_state, mdp.starts, lanes.reward
        )
        standing = at_the_start()
        while not interact(simulator, memory, values, rules, self.stream, standing, CHUNK):
            pass  # in parts, because a kernel does not listen for Ctrl-C
        steps, episodes, given_up, finished = standing[:4].tolist()
        self.tallies.append(Tally(steps, episodes, given_up, bool(finished)))
        if ideas.replay:
            _replay(memory, lanes, self.r_bar_min, q)
        for task, of in zip(tasks, lanes.of_task, strict=True):
            self.tables[task] = np.ascontiguousarray(q[:, :, of].swapaxes(1, 2))
        self.last = memory, self.tables[tasks[0]]
        return memory.known

    def _optimum(self, tasks: Sequence[Task], lanes: _Lanes) -> Array:
        """Q̄* by lanes, `[S, A, L]`, or an empty array."""
        if self.ideas.replay or not self.optimum:
            return np.empty((0, 0, 0))
        exact = np.empty((self.mdp.n_states, self.mdp.n_actions, lanes.goal.size))
        for task, of in zip(tasks, lanes.of_task, strict=True):
            exact[:, :, of] = self.optimum[task].swapaxes(1, 2)
        return exact


def _for_next_task(memory: Memory, n_lanes: int, ideas: Ideas) -> Memory:
    """What of the memory of one task holds for the next: all but how often its ends were tried.

    With replay the pairs that ended an episode must be tried again, to see what the next task pays.
    Without, nothing that was tried for one task is learned for another.
    """
    ends = memory.end_of >= 0
    again = ends if ideas.replay else np.ones_like(ends)
    return memory._replace(
        tried=np.where(again, 0, memory.tried), paid=np.zeros((n_lanes, ends.shape[1]))
    )


def _replay(memory: Memory, lanes: _Lanes, r_bar_min: float, q: Array) -> None:
    """Fill `q[S, A, L]` from the memory alone; see `replayed`."""
    states = np.arange(memory.met.size, dtype=np.int32)[:, None]
    stored = np.where(memory.known & (memory.end_of < 0), memory.next_of, states)
    reversed_graph = graph.predecessors(stored.astype(np.int32), with_edges=True)
    rising = replayed(memory, lanes.goal, r_bar_min, *reversed_graph, q)
    if rising >= 0:
        raise ValueError(
            f"the value of state {rising} rises forever: a cycle has a positive sum of rewards, "
            f"so going round it beats reaching any goal; lower the step rewards"
        )


def _checked_tasks(space: TaskSpace, base_tasks: Mapping[str, Task]) -> dict[str, Task]:
    mdp = instance(space, TaskSpace, "the space").mdp
    if not mdp.deterministic:
        raise ValueError(
            f"{mdp!r} has random outcomes; one try per pair is enough only in a deterministic "
            f"world: use QLearning"
        )
    if not isinstance(base_tasks, Mapping):
        raise TypeError(f"base_tasks must be given as {{name: task}}, got {base_tasks!r}")
    if not base_tasks:
        raise ValueError(
            "base_tasks is empty; give at least one task, or minimal_base_tasks(space)"
        )
    for name, task in base_tasks.items():
        instance(task, Task, f"task {name!r}")
        if task.space != space:
            raise ValueError(f"task {name!r} belongs to another space; use tasks of one TaskSpace")
        if task.step_reward is not None:
            raise ValueError(
                f"task {name!r} is dense: its step rewards are its own, so one stream and one "
                f"memory do not serve all tasks; use QLearning"
            )
    return dict(base_tasks)


def _checked_optimum(
    space: TaskSpace, tasks: Mapping[str, Task], ideas: Ideas, optimum: Mapping[Task, Array] | None
) -> Mapping[Task, Array]:
    if ideas.replay:
        return {}
    if optimum is None:
        raise ValueError(
            "without replay the agent cannot know that it is done; "
            "pass optimum={task: table}, or leave replay on"
        )
    shape = (space.mdp.n_states, space.mdp.n_goals, space.mdp.n_actions)
    for name, task in {**tasks, "true": space.universal, "false": space.empty}.items():
        if task not in optimum:
            raise ValueError(f"the optimum of task {name!r} is missing; give those of all tasks")
        if optimum[task].shape != shape:
            raise ValueError(
                f"the optimum of task {name!r} has shape {optimum[task].shape}, expected {shape}"
            )
    return optimum


def _default_patience(space: TaskSpace) -> int:
    """The n with S·(1 − 1/S)^n ≤ MISSED: no start stays hidden that is as likely as one in S."""
    n_states = space.mdp.n_states
    return math.ceil(n_states * math.log(n_states / MISSED))
