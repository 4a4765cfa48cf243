"""How evaluations show themselves in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.drawing import html

if TYPE_CHECKING:
    from taskalgebra.drawing.plots.paper import Axes


class ShownEvaluation:
    """The figures of some episodes, as a table."""

    if TYPE_CHECKING:
        episodes: int
        mean_return: float
        standard_error: float
        optimal_return: float
        success_rate: float
        unfinished: int
        mean_steps: float
        note: str
        exact: bool
        violations: float
        certificate: str
        returns: Array
        success: BoolArray

        @property
        def success_interval(self) -> tuple[float, float]:
            """95 %, of the probability of success."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how often episodes earned what, beside their mean and the optimum.

        Of exact figures, which have no episodes, only these two are drawn.

        Args:
            ax: where to draw; by default in a new figure.
        """
        from taskalgebra.drawing.plots.figures import plot_returns

        played = "exact" if self.exact else f"{self.episodes:,} episodes"
        title = f"{played}, {100 * self.success_rate:.1f} % success, {self.mean_steps:.1f} steps"
        return plot_returns(
            self.returns, self.success, self.mean_return, self.optimal_return, title, ax
        )

    def _repr_html_(self) -> str:
        """The figures, for notebooks."""
        low, high = self.success_interval
        success = f"{100 * self.success_rate:.1f} %"
        played = "exact" if self.exact else f"{self.episodes:,} episodes"
        error = self.standard_error
        pairs = [
            ("return", f"{self.mean_return:.4g}"),
            ("standard error", f"{error:.2g}" if error == error and not self.exact else ""),
            ("optimum", f"{self.optimal_return:.4g}" if self._optimum_known else "not known"),
            (
                "success",
                success if self.exact else f"{success} ({100 * low:.1f} to {100 * high:.1f})",
            ),
            ("steps", f"{self.mean_steps:.1f}"),
            ("cut off", f"{self.unfinished:,}" if self.unfinished else ""),
            ("violations", f"{self.violations:.2f}" if self.violations else ""),
            ("loss", self.certificate),
            ("note", self.note),
        ]
        known = [[html.soft(name), html.text(words, 600)] for name, words in pairs if words]
        return html.shown("Evaluation", html.soft(played), html.rows(known))

    @property
    def _optimum_known(self) -> bool:
        return self.optimal_return == self.optimal_return
