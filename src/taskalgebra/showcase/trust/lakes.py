"""Worlds where the theory ends: slippery lakes, slippery rooms, dense rewards, different goals.

FrozenLake is taken as Gymnasium has it, slippery, with the steps of `showcase.toy_text`: a small
cost for each, so that episodes want to end.  Its goals are the gift and every hole; base tasks are
the gift and what lies in the west.  The environment's own task is `gift`; the others are composed.

Dense rewards are planned, and judged by their own dense task.  They are also learned, with and
without absorbing states that all tasks share, as in the supplement of the paper
(`paper.experiments.relaxed`), and judged there by sparse rewards and all goals.

Episodes of FrozenLake end after 100 steps.  How often one succeeds within them is exact; so is the
loss of agents that were planned for that limit, `solve(world, horizon=100)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
from gymnasium.envs.toy_text.frozen_lake import generate_random_map

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.evaluation.horizon import expected
from taskalgebra.paper.claims.verdicts import Claim, Verdict, judged
from taskalgebra.paper.experiments.relaxed import VARIANTS
from taskalgebra.paper.experiments.rooms import BASE, R_BAR_MIN, SIXTEEN, Learning, Setting
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.planning.timed import TimedPolicy, TimedTable
from taskalgebra.showcase import toy_text
from taskalgebra.showcase.trust.claims import bound_claim, improved_claim, sweeps_claim
from taskalgebra.showcase.trust.measures import EXACT, NAMES, measured, row_of
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.making import solve
from taskalgebra.skills.skills import Skills
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.family import TableFamily
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.rewards import r_bar_min_of
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.gym_table import from_gymnasium

NAME = "lakes"
OWN_LIMITED = "lakes_within_limit"
"""The table of lakes whose episodes are cut off."""
HORIZON = 100
STEP_COST = 0.001
LAKE_4, LAKE_8, RANDOM = "FrozenLake 4×4", "FrozenLake 8×8", "random lakes 8×8"
SLIPPERY, DENSE, LEARNED = "Four Rooms, slips .3", "Four Rooms, dense", "Four Rooms learned: "
COLUMNS = ("world", "seed", "task", *NAMES)
LIMITED = (
    *("world", "seed", "task", "possible", "letter", "composed", "improved"),
    *("planned", "planned_improved", "planned_loss", "planned_after"),
)


@dataclass(frozen=True)
class Config:
    """Which lakes, and how many learnings."""

    random_lakes: int = 10
    """Random maps, with seeds from 0 on."""
    runs: int = 5
    """Learnings of each of the four variants of the supplement."""
    learning_episodes: int = 500
    """Episodes of each learned table, as in the supplement."""
    slip_probability: float = 0.3
    """Of the slippery rooms."""
    expressions: int = 16
    """Tasks of Four Rooms, out of 16."""
    seed: int = 0
    """Of learning."""


QUICK = Config(random_lakes=1, runs=1, expressions=4)


@dataclass(frozen=True)
class Job:
    """One world, or one learning."""

    world: str
    seed: int = 0
    setting: Setting | None = None


def jobs(config: Config) -> Iterator[Job]:
    """All that are run."""
    yield Job(LAKE_4)
    yield Job(LAKE_8)
    yield from (Job(RANDOM, seed) for seed in range(config.random_lakes))
    yield Job(SLIPPERY, 0, Setting(slip_probability=config.slip_probability))
    yield Job(DENSE, 0, Setting(dense=True))
    for name, setting in VARIANTS.items():
        yield from (Job(LEARNED + name, run, setting) for run in range(config.runs))


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment: one row for each task of each world."""
    done = sweep.map(_rows, [(config, job) for job in jobs(config)])
    tables = {
        NAME: Table.of_rows(COLUMNS, [row for all_rows, _ in done for row in all_rows]),
        OWN_LIMITED: Table.of_rows(LIMITED, [row for _, some in done for row in some]),
    }
    return Result(NAME, as_json(config), tables)


def _rows(cell: tuple[Config, Job]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    config, job = cell
    return _of_lake(job) if job.setting is None else (_of_rooms(config, job), [])


def lake(job: Job) -> tuple[dict[str, Any], int]:
    """What Gymnasium makes the lake of, and its side."""
    if job.world == RANDOM:
        return {"desc": generate_random_map(8, seed=job.seed), "is_slippery": True}, 8
    side = 4 if job.world == LAKE_4 else 8
    return {"map_name": f"{side}x{side}", "is_slippery": True}, side


def lake_tasks(goal_names: Sequence[str], side: int) -> dict[str, list[str]]:
    """The base tasks of a lake: the gift, and all that is in the west."""
    west = [name for name in goal_names if int(name[1:]) % side < side // 2]
    return {"gift": [goal_names[-1]], "west": west}


def _of_lake(job: Job) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    kwargs, side = lake(job)
    env = gym.make("FrozenLake-v1", **kwargs)
    world = from_gymnasium(env, step_cost=STEP_COST)
    tasks = lake_tasks(world.goal_names, side)
    skills, letter = both(world, tasks)
    planned = solve(world, tasks, horizon=HORIZON)
    table = env.unwrapped.P  # type: ignore[attr-defined]
    start = int(world.starts[0])
    rows, limited = [], []
    for text in toy_text.LAKES:
        agent, other, timed = (each.for_task(text) for each in (skills, letter, planned))
        rows.append((job.world, job.seed, text, *row_of(measured(agent, other))))
        goals = zip(world.goal_names, agent.task.desired, strict=True)
        wanted = {int(name[1:]) for name, desired in goals if desired}
        chance, _ = toy_text.best_within(table, wanted, HORIZON)
        better = timed.improve()
        shares = [success_within(one) for one in (other, agent, agent.improve(), timed, better)]
        losses = [one.certificate().worst_loss for one in (timed, better)]
        limited.append((job.world, job.seed, text, float(chance[start]), *shares, *losses))
    return rows, limited


def both(
    world: GoalEnv | FiniteMDP, tasks: dict[str, list[str]] | None = None
) -> tuple[Skills, Skills]:
    """Skills with the default penalty, and with that of Definition 2 by its letter."""
    space = TaskSpace(world) if isinstance(world, FiniteMDP) else world.space
    skills = solve(world, tasks)
    return skills, solve(world, tasks, r_bar_min=r_bar_min_of(space))


def success_within(agent: Agent, steps: int = HORIZON) -> float:
    """How often an episode ends in a wanted goal within a number of steps: exact."""
    policy = agent.policy
    if not isinstance(policy, TimedPolicy):
        policy = TimedTable(agent.actions[None, :], steps)
    return expected(agent.task, policy, episodes=1).success_rate


def _of_rooms(config: Config, job: Job) -> list[tuple[Any, ...]]:
    setting = job.setting or Setting()
    if job.world.startswith(LEARNED):
        skills, letter = learned(config, job, setting), None
    elif setting.dense:
        skills, letter = solve(setting.world()), None
    else:
        skills, letter = both(setting.world())
    rows = []
    for expression in SIXTEEN[-config.expressions :]:
        other = None if letter is None else letter.for_task(expression)
        found = measured(skills.for_task(expression), other)
        rows.append((job.world, job.seed, str(expression), *row_of(found)))
    return rows


def learned(config: Config, job: Job, setting: Setting) -> Skills:
    """Tables of the supplement's protocol, as skills of the world in which they are judged."""
    world = FourRooms()
    number = list(VARIANTS).index(job.world.removeprefix(LEARNED))
    how = Learning(learning_episodes=config.learning_episodes)
    tables = [
        how.learn(setting, name, seed_of(config.seed, number, job.seed, i)).q
        for i, name in enumerate(("true", "false", *BASE))  # M_U and M_∅ first
    ]
    family = TableFamily.of(world.space, world.tasks, tables, r_bar_min=R_BAR_MIN, error_bound=None)
    return Skills(family, world)


def judge(result: Result) -> Iterator[Claim]:
    """What is lost, and that all of it is got back."""
    table, limited = result.table, result.tables[OWN_LIMITED]
    yield _own_task(table)
    yield _composed(table)
    yield improved_claim(table, "of lakes and relaxed rooms")
    yield bound_claim(table)
    yield sweeps_claim(table, "world")
    yield _limit(limited)


def _own_task(table: Table) -> Claim:
    own = table.where(task="gift")
    lost, letter = own["mean_loss"], own["letter_mean"]
    good = int((lost <= EXACT).sum())
    return judged(
        "Ours",
        "The environment's own task of every slippery lake is optimal with r̄_MIN = r_∅, and with "
        "the penalty of Definition 2 by its letter it is not.",
        f"{good} of {lost.size} lakes at the optimum with r_∅, "
        f"{int((letter <= EXACT).sum())} with the letter, which loses up to "
        f"{letter.max(initial=0.0):.3f} of an optimum of {own['optimum'].max(initial=0.0):.3f}",
        bool(lost.size and good == lost.size and (letter > EXACT).any()),
        "Some lake is not solved with r_∅, or all are by the letter.",
    )


def _composed(table: Table) -> Claim:
    lakes = [LAKE_4, LAKE_8, RANDOM]
    rows = [row for row in table.rows() if row["world"] in lakes and row["task"] != "gift"]
    worst = max((row["worst_loss"] for row in rows), default=0.0)
    optimal = sum(row["worst_loss"] <= EXACT for row in rows)
    return judged(
        "Ours",
        "Agents composed over slippery lakes lose less than 0.02 of a goal that is worth 1.",
        f"{worst:.4f} at most; {optimal} of {len(rows)} lose nothing",
        bool(rows and worst < 0.02),
        "Some lose more.",
    )


def _limit(table: Table) -> Claim:
    best, first, last = table["possible"], table["planned"], table["planned_improved"]
    own = table["task"] == "gift"
    good = int((table["planned_after"] <= EXACT).sum())
    plain = float((best - table["improved"])[own].max(initial=0.0))
    short = float((best - first)[own].max(initial=0.0))
    return judged(
        "Ours",
        f"Agents that are planned for the {HORIZON} steps of FrozenLake, then improved, are "
        f"optimal within them.",
        f"{good} of {best.size}, and none is short of the largest success by more than "
        f"{float((best - last).max(initial=0.0)):.3f}; for the gift, agents without a horizon are "
        f"short by up to {plain:.3f}, those composed for the horizon by up to {short:.3f}",
        Verdict.of(good, best.size),
        "Some are not.",
    )
