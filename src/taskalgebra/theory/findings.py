"""What `TaskSpace.check` takes and returns: tasks to be examined; findings by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array
from taskalgebra.drawing import html
from taskalgebra.validation import finite
from taskalgebra.worlds.finite import FiniteMDP

Offender = Mapping[str, object]


@dataclass(frozen=True)
class Finding:
    """One assumption, whether it holds, and if not, where it first fails."""

    name: str
    paper: str
    holds: bool
    detail: str
    offender: Offender = field(default_factory=dict)
    examined: bool = True  # if not, `holds` only says that nothing is known against it

    @property
    def word(self) -> str:
        """In a word: holds, FAILS, or open if it was not examined."""
        return ("holds" if self.holds else "FAILS") if self.examined else "open"

    def __str__(self) -> str:
        """One line: holds or fails, the name, the place in the paper, the detail."""
        return f"{self.word:5}  {self.name} ({self.paper}): {self.detail}"


@dataclass(frozen=True, repr=False)
class Findings(Mapping[str, Finding]):
    """Findings by name."""

    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against it: no finding fails."""
        return all(finding.holds for finding in self.findings)

    def __getitem__(self, name: str) -> Finding:
        """The finding of this name."""
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise KeyError(f"no finding {name!r}; there are {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        """The names of the findings, in their order."""
        return (finding.name for finding in self.findings)

    def __len__(self) -> int:
        """The number of findings."""
        return len(self.findings)

    def __repr__(self) -> str:
        """What fails, by name."""
        failed = ", ".join(finding.name for finding in self.findings if not finding.holds)
        return f"{type(self).__name__}({f'fails: {failed}' if failed else 'nothing fails'})"

    @property
    def _in_rows(self) -> str:
        """A row for each finding, as HTML."""
        return html.rows(
            [
                html.sign(finding.word),
                f"{html.text(finding.name)} {html.soft(f'({finding.paper})')}",
                html.text(finding.detail, 400),
            ]
            for finding in self.findings
        )


@dataclass(frozen=True, repr=False)
class AssumptionReport(Findings):
    """The findings of `TaskSpace.check`, by name."""

    @property
    def zero_shot_optimal(self) -> bool:
        """Whether Theorem 3 applies: composed policies are optimal for any expression."""
        return all(finding.holds for finding in self.for_optimality)

    @property
    def for_optimality(self) -> tuple[Finding, ...]:
        """What Theorem 3 and Lemma 1 need."""
        others = {TWO_VALUES, REACHABLE, WORTH}
        return tuple(finding for finding in self.findings if finding.name not in others)

    @property
    def boolean_algebra(self) -> bool:
        """Whether Theorems 1 and 2 apply: tasks and values obey all Boolean axioms."""
        return self.zero_shot_optimal and self[TWO_VALUES].holds

    def as_dict(self) -> dict[str, object]:
        """Plain data, for JSON."""
        return {
            "holds": self.holds,
            "boolean_algebra": self.boolean_algebra,
            "zero_shot_optimal": self.zero_shot_optimal,
            "findings": [{**vars(f), "offender": dict(f.offender)} for f in self.findings],
        }

    @property
    def verdict(self) -> str:
        """What follows from the findings."""
        if self.boolean_algebra:
            verdict = "Theorems 1 to 3 apply: any expression is solved optimally, without learning."
        elif self.zero_shot_optimal:
            verdict = (
                "Theorem 3 applies: negation, disjunction and conjunction are optimal; "
                "the complement laws of a Boolean algebra do not hold."
            )
        elif all(self[name].holds for name in set(self) - {DETERMINISTIC, REACHABLE, WORTH}):
            verdict = (
                "Values compose exactly (Theorem 3), but Lemma 1 needs certain outcomes: composed "
                "policies may fall short of the optimum."
            )
        else:
            verdict = "Theorem 3 does not apply: composed policies may fall short of the optimum."
            if not self[APART].holds:
                verdict += " Theorems speak of exact numbers, and these are lost in rounding."
        if not self[DETERMINISTIC].holds:
            verdict += (
                " In a stochastic world so may those of base tasks: an agent that must not end in "
                "a wrong goal avoids risks that the task itself would accept."
            )
        if not self[REACHABLE].holds:
            verdict += " Where a goal cannot be reached, it counts as absent."
        if not self[WORTH].holds:
            verdict += (
                " An optimal agent does not always go to a desired goal: from some start another "
                "one pays more, counting the way."
            )
        return verdict

    def _repr_html_(self) -> str:
        """What holds and what fails, and what follows, for notebooks."""
        return html.shown("Assumptions", html.text(self.verdict, 2000), self._in_rows)

    def __str__(self) -> str:
        """One line per finding, then what follows from them."""
        return "\n".join([*(str(finding) for finding in self.findings), self.verdict])


@dataclass(frozen=True)
class Candidate:
    """A task to be examined, with its own dynamics and rewards for every state and action."""

    name: str
    mdp: FiniteMDP
    step_reward: Array  # [S, A]
    terminal_reward: Array  # [G, A]


SHARED, DETERMINISTIC, GOALS_ONLY = "shared dynamics", "deterministic", "rewards differ on goals"
TWO_VALUES, STATE_ONLY = "two terminal rewards", "r(g, a) = r(g)"
NO_GAIN, NO_FREE_STAY, REACHABLE = "no positive cycle", "endless stay loses", "goals reachable"
LIMIT = "episodes have no limit"
APART, WORTH = "rewards can be told apart", "wanted goals are worth the way"


def candidate(name: str, mdp: FiniteMDP, step_reward: Array, goal_reward: Array) -> Candidate:
    """A task from its rewards: `[S, A]` outside goals, `[G]` or `[G, A]` in them."""
    if goal_reward.ndim == 1:
        goal_reward = np.repeat(goal_reward[:, None], mdp.n_actions, axis=1)
    terminal = finite(goal_reward, name, (mdp.n_goals, mdp.n_actions))
    return Candidate(name, mdp, step_reward, terminal)


def candidate_of(name: str, mdp: FiniteMDP, task: FiniteMDP | ArrayLike) -> Candidate:
    """A task from a world with rewards of its own, or from a table of rewards in this world."""
    if isinstance(task, FiniteMDP):
        if task.goal_reward is None:
            raise ValueError(f"{name!r} is a world without terminal rewards; nothing to check")
        return candidate(name, task, task.step_reward, task.goal_reward)
    try:
        given = np.asarray(task, np.float64)
        if given.ndim == 0:
            raise ValueError
    except (TypeError, ValueError):
        raise TypeError(
            f"{name!r} must be a Task, a world or a table of rewards, got {task!r}"
        ) from None
    if given.shape == mdp.step_reward.shape:
        return candidate(name, mdp, given, given[mdp.goals])
    return candidate(name, mdp, mdp.step_reward, given)
