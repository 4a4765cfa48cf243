"""What is known of how good an agent is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from taskalgebra.theory.findings import Finding, Findings


def exact_values(error_bound: float | None, row_error: float = 0.0) -> Finding:
    """Whether values are those of the world.

    Args:
        error_bound: of the values; None if they were learned.
        row_error: of the outcomes of actions, if the world itself was estimated.
    """
    exact = error_bound == 0.0 and row_error == 0.0
    detail = "the returns to goals were planned"
    if error_bound is None:
        detail = "the returns to goals are estimates"
    elif row_error:
        detail += f", in a world that was sampled, with an error of {row_error:.2g} a row"
    elif error_bound:
        detail += f" to within {error_bound:.1g}"
    return Finding("exact values", "Corollary 1", True, detail, examined=exact)


def not_known(name: str, paper: str) -> Finding:
    """An assumption that is not known of a world that can only be played."""
    return Finding(name, paper, True, "not known of an open world", examined=False)


@final
@dataclass(frozen=True)
class Certificate(Findings):
    """What is known of how good an agent is: its assumptions, and whether they hold."""

    method: str = ""
    """How its values were found, in words."""

    @property
    def optimal(self) -> bool:
        """Whether the agent is known to be optimal."""
        return self.holds and all(finding.examined for finding in self.findings)

    def __str__(self) -> str:
        """The verdict, then a line per assumption."""
        verdict = "optimal" if self.optimal else "not known to be optimal"
        return "\n".join([f"{verdict}: {self.method}", *(f"  {each}" for each in self.findings)])
