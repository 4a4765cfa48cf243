"""How evaluations show themselves in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taskalgebra.arrays import Array, BoolArray, LongArray
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


class ShownContinuing:
    """The figures of episodes that outlive goals, as a table."""

    if TYPE_CHECKING:
        returns: Array
        steps: LongArray
        avoided: BoolArray

        @property
        def episodes(self) -> int:
            """How many."""

        @property
        def mean_return(self) -> float:
            """Of the episodes."""

        @property
        def standard_error(self) -> float:
            """Of the mean return."""

        @property
        def quartiles(self) -> tuple[float, float, float]:
            """Of the returns."""

        @property
        def n_wanted(self) -> LongArray:
            """[N], how often wanted goals were entered."""

        @property
        def n_unwanted(self) -> LongArray:
            """[N], how often other goals were entered."""

        @property
        def violated(self) -> BoolArray:
            """[N], which episodes ended in a goal that was to be avoided."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how often episodes earned what, and their mean, with violations in another colour.

        Args:
            ax: where to draw; by default in a new figure.
        """
        from taskalgebra.drawing.plots.figures import plot_returns

        kept = "without violation" if self.avoided.any() else "episodes"
        title = f"{self.episodes:,} episodes, {self.n_wanted.mean():.1f} wanted goals in each"
        return plot_returns(
            self.returns,
            ~self.violated,
            self.mean_return,
            np.nan,
            title,
            ax,
            groups=(kept, "violated"),
        )

    def _repr_html_(self) -> str:
        """The figures, for notebooks."""
        low, median, high = self.quartiles
        error = self.standard_error
        pairs = [
            ("median return", f"{median:.4g} (quartiles {low:.4g} to {high:.4g})"),
            ("mean return", f"{self.mean_return:.4g}"),
            ("standard error", f"{error:.2g}" if error == error else ""),
            ("wanted goals", f"{self.n_wanted.mean():.2f} in each episode"),
            ("other goals", f"{self.n_unwanted.mean():.2f} in each episode"),
            ("steps", f"{self.steps.mean():.1f}"),
            ("violated", f"{self.violated.sum():,}" if self.avoided.any() else ""),
        ]
        known = [[html.soft(name), html.text(words, 600)] for name, words in pairs if words]
        return html.shown("Evaluation", html.soft(f"{self.episodes:,} episodes"), html.rows(known))
