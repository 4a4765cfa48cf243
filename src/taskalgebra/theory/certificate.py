"""What is known of how good an agent is: its assumptions, what it loses, and who is to blame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from taskalgebra.arrays import Array, LongArray
from taskalgebra.content import ByContent
from taskalgebra.drawing import html
from taskalgebra.theory.findings import (
    APART,
    DETERMINISTIC,
    GOALS_ONLY,
    NO_FREE_STAY,
    NO_GAIN,
    SHARED,
    STATE_ONLY,
    Finding,
    Findings,
)
from taskalgebra.theory.tasks import TaskSpace

if TYPE_CHECKING:
    from taskalgebra.drawing.plots.paper import Axes

PENALTY, EXACT_VALUES = "mild penalty", "exact values"
PLAIN: Mapping[str, str] = {
    SHARED: "tasks do not share one world",
    DETERMINISTIC: "actions have random outcomes",
    GOALS_ONLY: "tasks also differ in what steps pay",
    STATE_ONLY: "what a goal pays depends on the action",
    NO_GAIN: "some steps gain",
    NO_FREE_STAY: "staying costs nothing",
    APART: "rewards are lost in rounding",
    PENALTY: "the penalty r̄_MIN is too low for it",
    EXACT_VALUES: "values are estimates",
}
"""What is to blame for a loss, in a few words."""
MENDED = "agent.improve() mends it"
LOST = 1e-9
"""A smaller share of the largest reward is not a loss but a rounding error."""


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
    elif error_bound:
        detail += f" to within {error_bound:.1g}"
    if row_error:
        detail += f", in a world that was sampled, with an error of {row_error:.2g} a row"
    offender = {"row_error": row_error} if row_error else {}
    return Finding(EXACT_VALUES, "Corollary 1", True, detail, offender, examined=exact)


def mild_penalty(space: TaskSpace, r_bar_min: float) -> Finding:
    """Whether the penalty for a wrong goal suits the world.

    In a stochastic world any r̄_MIN below r_∅ makes an agent pay for accidents that the task itself
    would accept.  In a deterministic one there are none, and Definition 2 asks for a low one.
    """
    low = float(space.r_empty.min())
    said = f"r̄_MIN = {r_bar_min:g}"
    if not space.finite and r_bar_min < low:
        detail = (
            f"{said} is right where nothing happens by accident, which is not known of an open "
            f"world; where something does, learn with learner=QLearning(r_bar_min={low:g})"
        )
        return Finding(PENALTY, "Definition 2", True, detail, examined=False)
    if space.finite and space.mdp.deterministic:
        return Finding(PENALTY, "Definition 2", True, f"{said}; nothing happens by accident")
    if r_bar_min >= low:
        return Finding(PENALTY, "Definition 2", True, f"{said} = r_∅, the mildest")
    detail = (
        f"{said} is below r_∅ = {low:g}, so the agent avoids risks that the task would accept; "
        f"leave r_bar_min out"
    )
    return Finding(PENALTY, "Definition 2", False, detail, {"r_bar_min": r_bar_min, "r_∅": low})


def not_known(paper: str) -> Finding:
    """Whether a world that can only be played is deterministic."""
    detail = "whether every action has one outcome is not known of an open world"
    return Finding(DETERMINISTIC, paper, True, detail, examined=False)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Loss(ByContent):
    """What an agent earns from every start of a finite world, and what it is short of at most."""

    starts: LongArray  # [N], states, each once
    weights: Array  # [N], how often episodes begin there
    returns: Array  # [N], what the agent earns: exact; −∞ where it may never end
    upper: Array  # [N], an upper bound on the optimum, found without planning
    optimum: Array | None  # [N], V*, if it was planned, or if the bound is met
    worst_start: str  # in words, where the agent is furthest from the optimum, or may be
    residual: float  # max δ: what one step could gain, at most
    sweeps: int  # over states and actions, for the bound; 0: the bound is the optimum itself
    scale: float  # the largest reward
    cells: LongArray | None = None  # [N, 2], of the starts on the map, if there is one
    violation: float = 0.0  # the return that a violation costs, where violations are counted

    @property
    def lost(self) -> Array | None:
        """[N], the optimum less what the agent earns; None if the optimum was not planned."""
        return None if self.optimum is None else _difference(self.optimum, self.returns)

    @property
    def bounds(self) -> Array:
        """[N], the most that the agent loses from each start; no optimum was planned for it."""
        most = _difference(self.upper, self.returns)
        return np.where(most <= LOST * self.scale, 0.0, most)

    @property
    def none(self) -> bool:
        """Whether the agent is known to lose nothing, from any start."""
        known = self.bounds if self.lost is None else self.lost
        return bool((known <= LOST * self.scale).all())

    @property
    def mean(self) -> float:
        """What the agent loses on average over episodes; NaN if the optimum was not planned."""
        return float("nan") if self.lost is None else float((self.lost * self.weights).sum())

    def __repr__(self) -> str:
        """The line."""
        return f"Loss({str(self)!r})"

    def __str__(self) -> str:
        """One line."""
        if self.none:
            n = self.starts.size
            return f"optimal from {f'all {n} starts' if n > 1 else 'its start'}"
        most, lost = _number(float(self.bounds.max())), self.lost
        if lost is None and np.isneginf(self.returns).any():
            return f"may never end, from {self.worst_start} for one"
        if lost is None:
            return f"loses a return of at most {most}, from {self.worst_start}{self._cost}"
        if np.isinf(lost.max()):
            n = int(np.isinf(lost).sum())
            return f"may never end from {n} of {lost.size} starts, {self.worst_start} among them"
        bound = f" (bound without planning: {most})" if self.sweeps else ""
        if self.starts.size == 1:
            return f"loses a return of {_number(self.mean)}{bound}{self._cost}"
        return (
            f"loses a return of {_number(self.mean)} on average, {_number(float(lost.max()))} from "
            f"{self.worst_start}, its worst start{bound}{self._cost}"
        )

    @property
    def _cost(self) -> str:
        """What one violation costs, in words, if they are counted."""
        return f", where a violation costs {self.violation:.4g}" if self.violation else ""


def _difference(high: Array, low: Array) -> Array:
    """High − low, at least 0; 0 where both are −∞."""
    with np.errstate(invalid="ignore"):
        found = np.where(high == low, 0.0, high - low)
    return np.maximum(found, 0.0)


@final
@dataclass(frozen=True, eq=False)
class Played(ByContent):
    """What an agent earns in an open world, by play, beside the best that is known."""

    episodes: int
    mean_return: float
    interval: tuple[float, float]  # 95 %, of the mean return
    best: str  # what it was compared with, in words; "" if nothing is known
    best_return: float
    lost: tuple[float, float]  # 95 %, of the mean of best − own over the same episodes


@final
@dataclass(frozen=True, repr=False)
class Certificate(Findings):
    """What is known of how good an agent is.

    `findings` are the assumptions that it rests on.  In a finite world `loss` says what it earns
    and loses from every start; in an open one `played` says what was seen.
    """

    method: str = ""
    """How its values were found, in words."""
    loss: Loss | None = None
    played: Played | None = None
    note: str = ""
    """What else a user should know, such as a limit of steps that was not planned for."""

    @property
    def optimal(self) -> bool:
        """Whether the agent is known to be optimal: by the theory, or because it loses nothing."""
        if self.loss is not None:
            return self.loss.none and not self._sampled
        return self.holds and all(finding.examined for finding in self.findings)

    @property
    def _sampled(self) -> bool:
        """Whether the world itself is an estimate."""
        return EXACT_VALUES in self and "row_error" in self[EXACT_VALUES].offender

    @property
    def bound(self) -> float:
        """The most that the agent loses from any start, found without planning; NaN if not known.

        At 0 the agent is optimal.  Where every step costs something, it is 0 for every agent that
        is optimal from everywhere.
        """
        return float("nan") if self.loss is None else float(self.loss.bounds.max())

    @property
    def worst_loss(self) -> float:
        """What the agent loses from its worst start; NaN if the optimum was not planned."""
        lost = None if self.loss is None else self.loss.lost
        return float("nan") if lost is None else float(lost.max())

    @property
    def mean_loss(self) -> float:
        """What the agent loses on average over episodes; NaN if the optimum was not planned."""
        return float("nan") if self.loss is None else self.loss.mean

    @property
    def blame(self) -> tuple[Finding, ...]:
        """What is to blame for a loss: assumptions that fail, and values that are estimates."""
        if self.optimal or (self.loss is not None and self.loss.none):
            return ()
        if self.loss is None:  # nothing was measured exactly, so nothing is known to be lost
            return tuple(f for f in self.findings if not f.holds)
        estimates = {f.name for f in self.findings if f.name == EXACT_VALUES and _estimated(f)}
        return tuple(f for f in self.findings if not f.holds or f.name in estimates)

    @property
    def line(self) -> str:
        """All of it in a line: the verdict, what is to blame, and what to do."""
        parts = [self._verdict]
        if self.blame:
            parts[0] += f", because {' and '.join(map(blamed, self.blame))}"
        if self._mendable:
            parts.append(MENDED)
        return "; ".join([*parts, *filter(None, [self.note])])

    @property
    def _mendable(self) -> bool:
        return self.loss is not None and not self.loss.none

    @property
    def _verdict(self) -> str:
        loss, played = self.loss, self.played
        if played is not None:
            low, high = played.interval
            less, more = played.lost
            said = (
                f"return {played.mean_return:.3f} (95 %: {low:.3f} to {high:.3f}) over "
                f"{played.episodes} episodes"
            )
            if not played.best:
                return f"{said}; nothing is known to compare it with"
            if more <= 0:
                return f"{said}; {played.best} earns no more"
            return f"{said}; {played.best} may earn {max(less, 0.0):.3f} to {more:.3f} more"
        if loss is None:
            return "optimal" if self.optimal else f"not known to be optimal{self._unknown}"
        return f"{loss}{', in the world that was sampled' if self._sampled else ''}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what the agent loses from each start: on the map, or sorted if there is none.

        If the optimum was not planned, it is the bound on the loss.

        Args:
            ax: where to draw; by default in a new figure.

        Raises:
            ValueError: nothing is known start by start, as in an open world.
        """
        from taskalgebra.drawing.plots.figures import plot_loss

        if self.loss is None:
            raise ValueError(
                f"this certificate knows no loss start by start, so that there is nothing to draw: "
                f"{self.line}"
            )
        known, words = self.loss.lost, "loss"
        if known is None:
            known, words = self.loss.bounds, "bound on the loss"
        return plot_loss(known, self.loss.cells, str(self.loss), words, ax)

    @property
    def _unknown(self) -> str:
        """What is open, where nothing is known to fail."""
        if not self.holds:
            return ""
        said = [f"{f.detail} ({f.paper})" for f in self.findings if not f.examined]
        return f": {' and '.join(said)}" if said else ""

    def __repr__(self) -> str:
        """The line."""
        return f"Certificate({self.line!r})"

    def _repr_html_(self) -> str:
        """The verdict, then a row per assumption, for notebooks."""
        known = [html.soft(self.method), *([html.text(self.note, 400)] if self.note else [])]
        if self._mendable:
            known.append(f"{html.code('agent.improve()')} makes it optimal")
        said = "".join(f"<div>{each}</div>" for each in known)
        return html.shown("Certificate", html.text(self._verdict, 400), said, self._in_rows)

    def __str__(self) -> str:
        """The verdict, then a line per assumption."""
        head = [f"{self._verdict}: {self.method}", *(f"  {each}" for each in self.findings)]
        if self.note:
            head.append(f"  {self.note}")
        if self._mendable:
            head.append("  agent.improve() makes it optimal")
        return "\n".join(head)


def blamed(finding: Finding) -> str:
    """An assumption that is to blame, in a few words."""
    return f"{PLAIN.get(finding.name, finding.detail)} ({finding.paper})"


def advised(loss: Loss) -> str:
    """What is lost, and what to do about it, in a line."""
    return str(loss) if loss.none else f"{loss}; {MENDED}"


def _estimated(finding: Finding) -> bool:
    """Whether values were learned, or their world was: a planner's rounding errors do not count."""
    return "estimates" in finding.detail or "row_error" in finding.offender


def _number(value: float) -> str:
    """Three digits that say something, however small."""
    return f"{value:.3f}" if value >= 0.1 else f"{value:.2g}"
