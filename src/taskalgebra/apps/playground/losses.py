"""What an agent loses, as numbers, and what made it optimal: a certificate for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

import taskalgebra as ta
from taskalgebra.apps.playground.cells import DECIMALS, Cells
from taskalgebra.arrays import Array, LongArray
from taskalgebra.learning.onward import Experience
from taskalgebra.planning.improvement import Improvement
from taskalgebra.planning.policy_iteration import ConvergenceError
from taskalgebra.skills.temporal import TemporalAgent
from taskalgebra.skills.trust import findings_of, loss_of_task
from taskalgebra.theory.certificate import Certificate, Loss, advised, blamed

NOTHING: dict[str, Any] = {
    "optimal": True,
    "mean": 0.0,
    "worst": 0.0,
    "worst_cell": None,
    "bound": 0.0,
    "because": [],
}
"""Of an agent that is optimal by proof."""


def loss_and_line(agent: ta.Agent, optimum: Array, cells: Cells) -> tuple[Any, str]:
    """What an agent loses from the starts of its world; None and "" where it is not known."""
    try:
        loss = loss_of_task(agent.task, agent.actions, optimum=optimum)
    except ConvergenceError:
        return None, ""
    findings = () if loss.none else findings_of(agent.task, agent.skills.family)
    return _answer(Certificate(findings, loss=loss), loss.starts, cells), advised(loss)


def loss_of_formula(agent: TemporalAgent, cells: Cells) -> Any:
    """The same for a formula over time: optimal by proof, or evaluated on the product."""
    certificate = agent.certificate()
    if certificate.loss is None:
        return dict(NOTHING) if certificate.optimal else None
    pairs = agent.plan.product
    starts = pairs.states[certificate.loss.starts % pairs.states.size]
    return _answer(certificate, starts, cells)


def _answer(certificate: Certificate, states: LongArray, cells: Cells) -> dict[str, Any]:
    """The numbers of a certificate; `states` are those of its starts."""
    loss = certificate.loss
    assert loss is not None
    optimal = certificate.optimal
    return {
        "optimal": optimal,
        "mean": 0.0 if loss.none else _number(certificate.mean_loss),
        "worst": 0.0 if loss.none else _number(certificate.worst_loss),
        "worst_cell": None if loss.none else cells.place(int(states[_worst(loss)])),
        "bound": _number(certificate.bound),
        "because": [blamed(finding) for finding in certificate.blame],
    }


def _worst(loss: Loss) -> int:
    """The place of the start that loses most."""
    lost = loss.bounds if loss.lost is None else loss.lost
    return int(lost.argmax())


def _number(value: float) -> float | None:
    return round(value, DECIMALS) if np.isfinite(value) else None


def improvement(took: Improvement | Experience | None) -> dict[str, Any] | None:
    """What it took to improve an agent."""
    if not isinstance(took, Improvement):
        return None
    return {"rounds": took.rounds, "sweeps": round(took.sweeps)}
