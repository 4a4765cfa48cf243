"""Samples that it takes to mend an agent of learned values, against learning its task from nothing.

Base tasks are learned by Algorithm 1 in slippery Four Rooms, and composed.  The agent then plays a
few episodes of its task and learns on, `agent.improve(episodes=N)`.  From nothing, the same learner
begins with values of 0, and plain Q-learning with a table of 0 is given ever more steps until it
loses no more than the agent that learned on.  Learners are judged exactly, by what their greedy
policy loses from every start; where it may never end, episodes are cut off (`measures.LIMIT`).

Steps are those of learning.  `improve` also plays both policies at last, to see whether it gained:
these steps are counted on their own.  The steps of base tasks are not counted: they are learned
once for all tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from taskalgebra.arrays import Array, LongArray
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning.onward import Experience, learn_onward
from taskalgebra.learning.q_learning import Run, Stop, q_learning
from taskalgebra.learning.q_learning import Settings as Rates
from taskalgebra.learning.tabular import QLearning
from taskalgebra.paper.claims.verdicts import Claim, Verdict, judged
from taskalgebra.paper.results.record import Table
from taskalgebra.planning.exact import optimal_v
from taskalgebra.progress import silent
from taskalgebra.showcase.trust.measures import earned
from taskalgebra.skills.making import learn
from taskalgebra.skills.skills import Skills
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import Sweep
from taskalgebra.theory.family import TableFamily
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.tasks import Task

CONSTANT = Rates(learning_rate=0.1, epsilon=0.5)
"""α and ε of all tables."""
COLUMNS = (
    *("slip", "task", "seed", "episodes", "base_steps", "composed_loss", "steps", "judged"),
    *("kept", "loss", "again_steps", "again_loss", "plain_steps", "plain_loss", "plain_reached"),
)
FIRST_STEPS = 1_000
"""Steps of the first table of plain Q-learning; each has half as many again as the one before."""


@dataclass(frozen=True)
class Settings:
    """What is learned, and how long."""

    sample_slips: tuple[float, ...] = (0.1, 0.3, 0.5)
    """How often a move goes astray."""
    sample_tasks: tuple[str, ...] = ("top & ~left", "top ^ left")
    """Expressions."""
    seeds: int = 4
    """Learnings of all base tasks."""
    episodes: tuple[int, ...] = (100, 300)
    """Episodes to learn on from."""
    plain_steps: int = 1_000_000
    """The most steps of plain Q-learning."""
    seed: int = 0
    """Of all random numbers."""


def table(settings: Settings, sweep: Sweep) -> Table:
    """One row for each slip, seed, task and number of episodes."""
    jobs = [(slip, seed) for slip in settings.sample_slips for seed in range(settings.seeds)]
    done = sweep.map(_rows, [(settings, *job) for job in jobs])
    return Table.of_rows(COLUMNS, [row for rows in done for row in rows])


def _rows(cell: tuple[Settings, float, int]) -> list[tuple[Any, ...]]:
    settings, slip, seed = cell
    world = FourRooms(slip_probability=slip)
    mixed = seed_of(settings.seed, round(1000 * slip), seed) % 2**31
    steps = 1_000 * world.mdp.n_states * world.mdp.n_actions
    learner = QLearning(steps=steps, settings=CONSTANT)
    skills = learn(world, learner=learner, seed=mixed, listener=silent)
    n_tables = 2 + len(skills.tasks)
    blank = untaught(skills)
    rows = []
    for text in settings.sample_tasks:
        agent = skills.for_task(text)
        loss_of = partial(mean_loss, agent.task, optimal_v(agent.task))
        plain = plain_learning(agent.task, loss_of, settings.plain_steps, mixed)
        before = loss_of(agent.actions)
        for episodes in settings.episodes:
            better = agent.improve(episodes=episodes, seed=mixed, listener=silent)
            took = better.improvement
            if not isinstance(took, Experience):
                raise TypeError(f"{better!r} did not learn")
            loss = loss_of(better.actions)
            policy, again = learn_onward(
                world, agent.task, blank.for_task(text).values, episodes=episodes, seed=mixed
            )
            other = loss_of(policy.first_actions(np.arange(world.mdp.n_states)))
            steps_taken, own = next((look for look in plain if look[1] <= loss), plain[-1])
            rows.append(
                (
                    *(slip, text, seed, episodes, n_tables * steps, before),
                    *(took.steps, took.judged, int(took.kept), loss, again.steps, other),
                    *(steps_taken, own, int(own <= loss)),
                )
            )
    return rows


def untaught(skills: Skills) -> Skills:
    """The same base tasks with tables of 0."""
    space = skills.family.space
    mdp = space.mdp
    zeros = [np.zeros((mdp.n_states, mdp.n_goals, mdp.n_actions)) for _ in range(2 + len(skills))]
    low = float(space.r_empty.min())
    return Skills(
        TableFamily.of(space, skills.tasks, zeros, r_bar_min=low, error_bound=None), skills.env
    )


def mean_loss(task: Task, best: Array, actions: LongArray) -> float:
    """What a policy is short of the optimum, `[S]`, on average over all starts."""
    starts = task.space.mdp.starts
    return float((best - earned(task, actions.astype(np.int64)))[starts].mean())


def plain_learning(
    task: Task, loss_of: Callable[[LongArray], float], most: int, seed: int
) -> list[tuple[int, float]]:
    """Steps of plain Q-learning and the loss then: after 1,000, then after half as many again."""
    run: Run | None = None
    looks: list[tuple[int, float]] = []
    steps = FIRST_STEPS
    while not looks or looks[-1][0] < most:
        run = q_learning(task, Stop(steps=steps), settings=CONSTANT, seed=seed, run=run)
        looks.append((run.n_steps, loss_of(greedy(run.q))))
        steps = min(most, steps * 3 // 2)
    return looks


def judge(table: Table) -> Iterator[Claim]:
    """Fewer samples than plain Q-learning, and than the same learner from nothing."""
    own, plain, kept = table["steps"], table["plain_steps"], table["kept"] == 1
    good, times = int((own < plain).sum()), plain / own
    missed = int((table["plain_reached"] == 0).sum())
    yield judged(
        "Ours",
        "Learning on from composed values takes fewer steps than plain Q-learning from nothing "
        "takes to lose as little; the steps of base tasks are not counted.",
        f"{good} of {own.size} runs, {np.median(times):.0f} times fewer in the median "
        f"({np.quantile(times, 0.1):.0f} to {np.quantile(times, 0.9):.0f} in 80 % of them); in "
        f"{int((~kept).sum())} runs the composed agent stayed as it was; in {missed} plain "
        f"Q-learning did not get there in {plain.max():,} steps; base tasks took "
        f"{int(table['base_steps'].max()):,} steps, once for all tasks",
        Verdict.of(good, own.size),
        "Not in all runs.",
    )
    lost, again, before = table["loss"], table["again_loss"], table["composed_loss"]
    less = int((lost < again).sum())
    yield judged(
        "Ours",
        "After as many episodes, who learned on from composed values loses less than who learned "
        "from nothing in the same way.",
        f"{less} of {own.size} runs, {np.median(lost):.4f} against {np.median(again):.4f} in the "
        f"median; the composed agents lost {np.median(before):.4f}; {int(kept.sum())} were "
        f"replaced by what was learned, {int((lost > before).sum())} of them by something worse",
        Verdict.of(less, own.size),
        "Not in all runs.",
    )
