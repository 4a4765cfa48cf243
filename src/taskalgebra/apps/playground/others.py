"""What other methods do with the same base tasks: their exact plain values, put together.

A formula is first brought to its shortest sum of products, as the baselines do.  Only formulas that
need no negation have a meaning for plain values: the products are then the smallest sets of tasks
that make the formula true.  ∧ by the minimum is what is left of ours without goals, and the paper
on ∨ does not define it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import taskalgebra as ta
from taskalgebra.apps.playground.cells import DECIMALS, Cells
from taskalgebra.arrays import Array, LongArray
from taskalgebra.baselines.plain import AverageOfTasks
from taskalgebra.evaluation.exact import chance_of
from taskalgebra.logic.expression import Name
from taskalgebra.logic.steps import steps
from taskalgebra.planning.policies import may_miss, transitions
from taskalgebra.theory.policy import greedy

LARGEST_SLIPPERY = 2_000
"""States up to which policies are evaluated directly: a bad one where moves slip may go on for so
long that sweeps would not end."""
HOW = {
    "extended": "one value for every goal, composed by min, max and ¬ (this paper)",
    "max": "∨ is the maximum of plain values (van Niekerk et al. 2019), which is exact; ∧ is "
    "their minimum, for which nobody vouches",
    "average": "∧ is the average of plain values (Haarnoja et al. 2018), ∨ their maximum",
}
TITLES = {
    "extended": "Extended values",
    "max": "Max and min of plain values",
    "average": "Average of plain values",
}


def others(
    skills: ta.Skills, agent: ta.Agent, optimum: Array, cells: Cells
) -> tuple[list[dict[str, Any]] | None, str]:
    """What each method believes, does and earns, ours first; or None, and why, in a sentence."""
    mdp = agent.task.space.mdp
    if not mdp.deterministic and mdp.n_states > LARGEST_SLIPPERY:
        return None, (
            f"Other methods are compared in worlds with random outcomes of up to "
            f"{LARGEST_SLIPPERY:,} states; this one has {mdp.n_states:,}."
        )
    products = _products(agent.expression)
    if isinstance(products, str):
        return None, f"No other method applies: plain values {products}."
    try:
        found = [_method("extended", agent, agent.v, agent.actions, optimum, cells)]
        learned = AverageOfTasks().solve(skills.space, skills.tasks)
        for name, joined in (("max", np.min), ("average", np.mean)):
            terms = [
                joined([learned.table(learned.base_tasks[task]) for task in product], axis=0)
                for product in products
            ]
            q: Array = np.max(terms, axis=0)
            actions = greedy(q[:, None, :], skills.space.reward_scale)
            found.append(_method(name, agent, q.max(axis=1), actions, optimum, cells))
    except ValueError as error:  # steps that gain, or episodes that are too long
        return None, f"Other methods cannot be compared here: {error}."
    return found, ""


def _products(expression: ta.Expression) -> list[list[str]] | str:
    """The products of the shortest sum, if it has no negation; else what plain values lack."""
    names = expression.names
    table = expression.truth_table(names)
    true = [row for row in range(1 << len(names)) if table >> row & 1]
    if len(true) in (0, 1 << len(names)):
        what = "every goal" if true else "no goal"
        return f"of base tasks do not tell what {what} is worth, which this task means"
    for j, name in enumerate(names):
        if any(not table >> (row | 1 << j) & 1 for row in true):
            return f"have no negation, and {_negated(expression, name)}"
    least = [row for row in true if not any(row & other == other != row for other in true)]
    return [[name for j, name in enumerate(names) if row >> j & 1] for row in least]


def _negated(expression: ta.Expression, name: str) -> str:
    """Which negation a formula needs, and where it hides if none is written."""
    needs = f"this task needs {~Name(name)}"
    kinds = {kind for kind, _, _ in steps(expression)}
    hides = "xor" in kinds and "not" not in kinds
    return f"{needs}, as a ^ b is a & ~b | ~a & b" if hides else needs


def _method(
    name: str, agent: ta.Agent, values: Array, actions: LongArray, optimum: Array, cells: Cells
) -> dict[str, Any]:
    """A method on one task, with exact figures over all starts, as often as they are listed."""
    task, mdp = agent.task, agent.task.space.mdp
    starts = mdp.starts
    returns = ta.policy_return(task, actions)[starts]
    row, column, _ = transitions(mdp, actions)
    surely = ~may_miss(row, column, mdp.goals[task.desired], mdp.n_states)
    earned = float(returns.mean())
    lost = float((optimum[starts] - returns).mean()) if np.isfinite(earned) else np.inf
    shown = cells.values(values)
    return {
        "id": name,
        "title": TITLES[name],
        "how": HOW[name],
        "values": shown,
        "actions": cells.choices(actions, shown),
        "desired_reached": round(float(chance_of(task, actions)[starts].mean()), DECIMALS),
        "mean_return": round(earned, DECIMALS) if np.isfinite(earned) else None,
        "mean_loss": round(max(lost, 0.0), DECIMALS) if np.isfinite(lost) else None,
        "failures": round(1.0 - float(surely[starts].mean()), DECIMALS),
    }
