"""From a formula over time to what an agent needs to act for it.

A formula is composed from the returns to goals (`planning.temporal`).  Where that is not the
optimum, and the world is finite and its values are exact, the product of the world and the
automaton is planned instead (`planning.product`).  The certificate of a plan says which.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.content import ByContent
from taskalgebra.logic.automaton import automaton
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import parse
from taskalgebra.logic.text import ExpressionError, known_names, token_end
from taskalgebra.planning.feasible import never
from taskalgebra.planning.layouts import LayoutPolicy
from taskalgebra.planning.product import Product, product
from taskalgebra.planning.temporal import (
    ComposedPolicy,
    EstimatedPolicy,
    FormulaPolicy,
    Labelled,
    PlannedPolicy,
    dearest,
    goal_rewards,
    values_to_come,
)
from taskalgebra.skills.ways import Ways
from taskalgebra.theory.certificate import Certificate, exact_values, not_known
from taskalgebra.theory.family import Family
from taskalgebra.theory.findings import Finding
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import listed


def parsed(
    text: str, tasks: Collection[str], goals: Collection[str], others: Collection[str] = ()
) -> Expression:
    """A formula over base tasks; over time it may name goals too, and other tasks.

    Raises:
        ExpressionError: the text is not a formula, or names something else.
    """
    try:
        return parse(text, tasks)
    except ExpressionError as error:
        if not parse(text).temporal:  # the first mistake is told as it is
            raise naming_goal(error, tasks, goals) from None
    return parse(text, tasks, [*others, *goals])


def naming_goal(
    error: ExpressionError, tasks: Collection[str], goals: Collection[str]
) -> ExpressionError:
    """The same error, or, where a name that is not known is that of a goal, how to write it."""
    text, start = error.text, error.position
    try:
        parse(text, tasks, goals)
    except ExpressionError as second:
        if second.position == start:
            return error
    written = text[start : token_end(text, start)]
    (name,) = parse(written).names
    reason = f"unknown task {name!r}; known: {known_names(tasks) or 'no tasks'}"
    return ExpressionError(f"{reason}. This is a goal: write F {written}.", text, start)


def labelled(formula: Expression, tasks: Mapping[str, Task], space: TaskSpace) -> Labelled:
    """The automaton of a formula over base tasks and goals, and what it reads on each goal."""
    truth = {}
    for name in formula.names:
        if name in tasks:
            truth[name] = tasks[name].desired
        else:
            truth[name] = np.arange(space.n_goals) == space.world.goal_index(name)
    sets = [frozenset(n for n in truth if truth[n][g]) for g in range(space.n_goals)]
    found = automaton(formula, sets)
    return Labelled(found, np.array([found.letter(each) for each in sets], np.int64))


@final
@dataclass(frozen=True, eq=False)
class Plan(ByContent):
    """All that an agent needs to act for a formula; agents share it, but not their memory."""

    labelled: Labelled
    certificate: Certificate
    ways: Ways
    success: float
    family: Family
    rewards: Array | None = None  # [U, G], what goals pay, if composed for one layout
    table: LongArray | None = None  # [U, S], the actions of a plan on the product
    toll: Array | None = None  # [G], below 0 for goals to be avoided if possible: their cost
    values: Array | None = None  # [U, S], of the table, if they are not those of the product

    def policy(self) -> FormulaPolicy:
        """A policy with a memory of its own."""
        if self.table is not None:
            values = self.product.values if self.values is None else self.values
            return PlannedPolicy(self.labelled, self.table, values)
        if self.rewards is not None:
            kind = EstimatedPolicy if self.ways.surveyed else ComposedPolicy
            return kind(self.labelled, self.family, self.ways.reach, self.rewards)
        scale = self.family.space.reward_scale
        ways = self.ways
        assert ways.standing is not None
        avoided = None if self.toll is None else self.toll < 0
        return LayoutPolicy(
            self.labelled, ways.reach, ways.standing, self.success, scale, ways.entry, avoided
        )

    @cached_property
    def product(self) -> Product:
        """The product with the world, which must be finite."""
        return product(self.family.space, self.labelled, self.toll)


def planned(
    formula: Expression,
    tasks: Mapping[str, Task],
    family: Family,
    ways: Ways,
    found: Labelled | None = None,
) -> Plan:
    """How to act for a formula.

    Args:
        formula: over base tasks and goals.
        tasks: the base tasks by name.
        family: their values.
        ways: the returns between goals.
        found: the automaton of the formula, where it is made already.

    Raises:
        ExpressionError: the automaton is too large.
        ValueError: the formula cannot be satisfied, or not with these values.
    """
    space = family.space
    found = labelled(formula, tasks, space) if found is None else found
    if not found.automaton.satisfiable:
        raise ValueError(never(formula, found, tasks, space.goal_names))
    success = float(space.r_universal.max())
    findings = _findings(found, family, ways)
    composable = all(finding.holds for finding in findings if finding.name != "exact values")
    if composable or not (space.finite and family.error_bound is not None):
        if not found.automaton.stutters:
            raise ValueError(_counts_steps(formula, space))
        certificate = Certificate(tuple(findings), "composed from the returns to goals")
        if ways.between is None:
            return Plan(found, certificate, ways, success, family)
        to_come = values_to_come(ways.between, found, success, ways.entry)
        rewards = goal_rewards(to_come, found, ways.entry)
        if ways.surveyed and not (rewards[found.automaton.start] > -np.inf).any():
            raise ValueError(_no_way_on(formula, ways.between, space))
        return Plan(found, certificate, ways, success, family, rewards)
    sampled = (exact_values(0.0, ways.row_error),) if ways.row_error else ()
    certificate = Certificate(sampled, "planned on the product of the world and the automaton")
    plan = Plan(found, certificate, ways, success, family)
    return replace(plan, table=plan.product.actions())


def _no_way_on(formula: Expression, between: Array, space: TaskSpace) -> str:
    """Why what was learned of an open world is not enough for a formula, and what to do."""
    on = between > -np.inf
    np.fill_diagonal(on, False)
    stuck = [space.goal_names[g] for g in np.flatnonzero(~on.any(axis=1) & space.wantable)]
    where = f"from {listed(stuck)} no way to another goal is known" if stuck else "it needs others"
    return (
        f"no known ways between goals satisfy {formula}: {where}. If no episode of learning began "
        f"there, learn(..., continuing=True) lets them. If the label stays true while the agent is "
        f"there, every step enters the goal again; explore(world, continuing=True) can tell such "
        f"steps apart"
    )


def _counts_steps(formula: Expression, space: TaskSpace) -> str:
    """Why a formula in which every step counts is refused, and what to do about it."""
    said = f"{formula} counts steps that enter no goal, and "
    later = "write F, U or X F for what comes later"
    if space.finite:
        return (
            f"{said}learned values compose only from goal to goal; {later}, or plan it: "
            f"solve(world)"
        )
    return (
        f"{said}in an open world values compose only from goal to goal; {later}, and say what is "
        f"to be reached beside what is to be avoided: F a & G !b"
    )


def sparing(
    formula: Expression, avoided: BoolArray, tasks: Mapping[str, Task], family: Family, ways: Ways
) -> Plan:
    """How to act for F of a Boolean formula with the fewest violations, and then the fewest steps.

    Entering an avoided goal costs more than any way, so that W is lexicographic.
    """
    found = labelled(formula, tasks, family.space)
    if not found.automaton.satisfiable:
        raise ValueError(never(formula, found, tasks, family.space.goal_names))
    success = float(family.space.r_universal.max())
    certificate = Certificate(
        tuple(_findings(found, family, ways)),
        "composed from the returns to goals: fewest violations, then fewest steps",
    )
    if ways.between is None:  # every layout has a toll of its own
        toll = np.where(avoided, -1.0, 0.0)
        return Plan(found, certificate, ways, success, family, toll=toll)
    ahead = 0.0
    if family.space.finite:
        mdp = family.space.mdp
        ahead = float(mdp.step_reward.min()) * mdp.n_states
    toll = np.where(avoided, -dearest(ways.between, ahead), 0.0)
    paid = toll if ways.entry is None else toll + ways.entry
    rewards = goal_rewards(values_to_come(ways.between, found, success, paid), found, paid)
    return Plan(found, certificate, ways, success, family, rewards, toll=toll)


def _findings(found: Labelled, family: Family, ways: Ways) -> list[Finding]:
    """What the composition needs to be optimal."""
    space = family.space
    where = "Assumption 1"
    if space.finite:
        one = space.mdp.deterministic
        detail = "every action has one outcome" if one else "actions have random outcomes"
        deterministic = Finding("deterministic", where, one, detail)
    else:
        deterministic = not_known(where)
    still = found.automaton.stutters
    stutters = Finding(
        "only goals move the automaton",
        "the theorem of Time and safety",
        still,
        "a step that enters no goal leaves the automaton where it is"
        if still
        else "a step that enters no goal changes the state of the automaton",
    )
    findings = [deterministic, stutters, exact_values(family.error_bound, ways.row_error)]
    if ways.remedy:
        detail = (
            f"values were learned with r̄_MIN = {family.r_bar_min:g}, with which a far goal is "
            f"given up for a near one; for formulas learn with {ways.remedy}"
        )
        findings.append(Finding("low penalty", "Definition 2", False, detail))
    return findings
