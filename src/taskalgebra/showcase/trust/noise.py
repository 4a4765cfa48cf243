"""Noise on base tasks, by the depth of the expression, after Terrés-Caballero and van Hoof (2026).

Exact values of base tasks get noise on every entry, and are composed by random expressions of ever
more levels.  By De Morgan's laws, which hold for any Q̄_U and Q̄_∅, every negation can be moved down
to the names, so that a composed value is made of maxima and minima of some Q̄ and (Q̄_U + Q̄_∅) − Q̄.
Maxima and minima do not expand errors.  So a composed value errs by no more than its worst part,

    e(x) = max |noise|,    e(¬x) = e(x) + e(U) + e(∅),

at any depth: ε if the bounds are exact, and 3ε if they have as much noise as the base tasks.  Four
Rooms is deterministic: agents without noise are optimal, and all that is lost is lost to noise.
Noise can lead an agent in circles, so episodes are cut off after 100 steps, as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.logic.algebra import Bounds
from taskalgebra.logic.expression import Expression, Name, Not
from taskalgebra.paper.claims.verdicts import Claim, Verdict, judged
from taskalgebra.paper.results.record import Result, Table
from taskalgebra.planning.exact import optimal_v, plan
from taskalgebra.showcase.trust.measures import EXACT, earned
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.values import compose

NAME = "noise"
UNIFORM, NORMAL = "uniform", "normal"
EXACT_BOUNDS, NOISY_BOUNDS = "exact", "noisy"
MAX_STEPS = 100
"""Steps after which episodes that may never end are cut off."""
STEP = 0.1
"""What a step costs."""
COLUMNS = (
    *("goals", "kind", "scale", "bounds", "depth", "number", "optimum"),
    *("mean_loss", "worst_loss", "optimal", "endless", "error", "allowed", "ratio"),
)


@dataclass(frozen=True)
class Config:
    """How much noise, and how deep."""

    goals: tuple[int, ...] = (4, 40)
    """Goals of Four Rooms."""
    kinds: tuple[str, ...] = (UNIFORM, NORMAL)
    """Uniform in [−ε, ε], or normal with standard deviation ε."""
    scales: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2)
    """ε; a step costs 0.1."""
    depths: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6)
    """Levels of conjunctions and disjunctions: 2^depth names."""
    expressions: int = 6
    """Random expressions of each depth."""
    seeds: int = 6
    """Draws of the noise, for each expression."""
    seed: int = 0
    """Of expressions and noise."""


QUICK = Config(goals=(4,), scales=(0.02, 0.2), depths=(0, 2, 4), expressions=2, seeds=2)


@dataclass(frozen=True)
class Job:
    """All noise of one depth."""

    goals: int
    kind: str
    scale: float
    bounds: str
    depth: int


def jobs(config: Config) -> Iterator[Job]:
    """All that are run."""
    for goals in config.goals:
        for kind in config.kinds:
            for scale in config.scales:
                for bounds in (EXACT_BOUNDS, NOISY_BOUNDS):
                    yield from (Job(goals, kind, scale, bounds, each) for each in config.depths)


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment: one row for each expression, over all draws of the noise."""
    done = sweep.map(_rows, [(config, job) for job in jobs(config)])
    return Result.of_rows(NAME, config, COLUMNS, [row for rows in done for row in rows])


@dataclass(frozen=True)
class Known:
    """A world with the exact values of its base tasks."""

    world: FourRooms
    tables: Mapping[str, Array]
    bounds: Bounds

    @classmethod
    def of(cls, goals: int) -> Known:
        """Four Rooms with this number of goals."""
        world = FourRooms(goals)
        family = plan(world.space, world.tasks)
        states = np.arange(world.mdp.n_states)
        tables = {n: v.q_bar(states) for n, v in zip(family.tasks, family.values, strict=True)}
        bounds = family.bounds.at(states)
        return cls(world, tables, Bounds(bounds.universal, bounds.empty))


def random_expression(names: Sequence[str], depth: int, rng: np.random.Generator) -> Expression:
    """A full tree of so many levels of ∧ and ∨; half of its nodes and leaves are negated."""
    if depth == 0:
        made: Expression = Name(str(rng.choice(list(names))))
    else:
        one, other = (random_expression(names, depth - 1, rng) for _ in range(2))
        made = one & other if rng.random() < 0.5 else one | other
    return ~made if rng.random() < 0.5 else made


def allowed_error(
    expression: Expression, errors: Mapping[str, float], of_bounds: float, negated: bool = False
) -> float:
    """How far a composed value may be off, from what its parts are off; see above.

    Args:
        expression: of names, ∧, ∨ and ¬.
        errors: of the values of each name, at most.
        of_bounds: of Q̄_U and of Q̄_∅ together, at most.
        negated: whether it stands below an odd number of negations.
    """
    if isinstance(expression, Name):
        return errors[expression.name] + (of_bounds if negated else 0.0)
    odd = negated != isinstance(expression, Not)
    return max(allowed_error(part, errors, of_bounds, odd) for part in expression.operands)


@lru_cache(4)
def _known(goals: int) -> Known:
    """Planned once in each process."""
    return Known.of(goals)


def _rows(cell: tuple[Config, Job]) -> list[tuple[Any, ...]]:
    config, job = cell
    exact = _known(job.goals)
    numbers = (config.seed, job.goals, job.depth)
    rng = np.random.default_rng(seed_of(*numbers))
    rows = []
    for number in range(config.expressions):
        expression = random_expression(list(exact.tables), job.depth, rng)
        task = exact.world.find_task(expression)
        starts = task.space.mdp.starts
        best = optimal_v(task)[starts]
        right = compose(expression, exact.tables, exact.bounds)
        found = []
        for seed in range(config.seeds):
            draw = np.random.default_rng(seed_of(*numbers, number, seed))
            tables, bounds, errors, of_bounds = noisy(exact, job, draw)
            wrong = compose(expression, tables, bounds)
            actions = greedy(wrong)
            lost = best - earned(task, actions, MAX_STEPS)[starts]
            endless = np.isneginf(policy_return(task, actions)[starts]).mean()
            error = np.abs(wrong - right).max()
            allowed = allowed_error(expression, errors, of_bounds)
            found.append((lost.mean(), lost.max(), (lost <= EXACT).mean(), endless, error, allowed))
        means, worst, optimal, endless, error, allowed = np.array(found).T
        what = (job.goals, job.kind, job.scale, job.bounds, job.depth, number)
        shares = (float(each.mean()) for each in (optimal, endless))
        most = (float(each.max()) for each in (error, allowed, error / allowed))
        losses = (float(means.mean()), float(worst.max()))
        rows.append((*what, float(best.mean()), *losses, *shares, *most))
    return rows


def noisy(
    exact: Known, job: Job, rng: np.random.Generator
) -> tuple[dict[str, Array], Bounds, dict[str, float], float]:
    """Tables with noise, the largest error of each, and that of both bounds together."""

    def drawn(table: Array) -> Array:
        if job.kind == UNIFORM:
            return rng.uniform(-job.scale, job.scale, table.shape)
        return rng.normal(0.0, job.scale, table.shape)

    noise = {name: drawn(table) for name, table in exact.tables.items()}
    tables = {name: table + noise[name] for name, table in exact.tables.items()}
    errors = {name: float(np.abs(each).max()) for name, each in noise.items()}
    if job.bounds == EXACT_BOUNDS:
        return tables, exact.bounds, errors, 0.0
    high, low = drawn(exact.bounds.universal), drawn(exact.bounds.empty)
    bounds = Bounds(exact.bounds.universal + high, exact.bounds.empty + low)
    return tables, bounds, errors, float(np.abs(high).max() + np.abs(low).max())


def judge(result: Result) -> Iterator[Claim]:
    """Errors keep to the bound at any depth; little noise costs nothing."""
    table = result.table
    yield _bound(table)
    yield _depth(table)
    yield _little(table)


def _bound(table: Table) -> Claim:
    ratio = table["ratio"]
    within = int((ratio <= 1 + EXACT).sum())
    deep = table.where(depth=max(table.distinct("depth"), default=0))["ratio"]
    return judged(
        "Ours",
        "At any depth a composed value errs by no more than its worst part: by the error of a base "
        "task, and where it is negated that of both bounds more.",
        f"{within:,} of {ratio.size:,} expressions, over all draws; the largest error is "
        f"{ratio.max(initial=0.0):.3f} of what is allowed, and {deep.max(initial=0.0):.3f} at the "
        f"largest depth",
        bool(ratio.size and within == ratio.size),
        "Some errors are larger.",
    )


def _depth(table: Table) -> Claim:
    depths = sorted(table.distinct("depth"))
    shallow, deep = (table.where(depth=d) for d in (depths[0], depths[-1]))
    scales = [float((each["error"] / each["scale"]).mean()) for each in (shallow, deep)]
    losses = [float(each["mean_loss"].mean()) for each in (shallow, deep)]
    optimal = [float(each["optimal"].mean()) for each in (shallow, deep)]
    return judged(
        "Ours",
        "Agents of the deepest expressions lose no more than those of base tasks with the same "
        "noise.",
        f"mean loss {losses[0]:.3f} at depth {depths[0]} and {losses[1]:.3f} at depth "
        f"{depths[-1]}; optimal from {optimal[0]:.1%} and {optimal[1]:.1%} of starts; largest "
        f"error {scales[0]:.2f} and {scales[1]:.2f} times the scale of the noise",
        bool(len(depths) > 1 and losses[1] <= losses[0] + EXACT),
        "They lose more.",
    )


def _little(table: Table) -> Claim:
    rows = [row for row in table.rows() if row["allowed"] < STEP / 2]
    none = sum(row["worst_loss"] <= EXACT for row in rows)
    return judged(
        "Ours",
        "Errors below half of what a step costs lose nothing.",
        f"{none:,} of {len(rows):,} expressions whose values err by less in all draws",
        Verdict.of(none, len(rows)),
        "Some lose, or there are none.",
    )
