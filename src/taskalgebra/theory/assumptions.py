"""Which assumptions of the paper hold for a set of tasks, in words and as data.

The theorems are exact under stated assumptions and say nothing otherwise.  `examine` tests each
assumption for a given world and set of tasks, and names the first offender of each that fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray
from taskalgebra.worlds import cycles, graph
from taskalgebra.worlds.finite import FiniteMDP

Offender = Mapping[str, object]


@dataclass(frozen=True)
class Finding:
    """One assumption, whether it holds, and if not, where it first fails."""

    name: str
    paper: str
    holds: bool
    detail: str
    offender: Offender = field(default_factory=lambda: MappingProxyType({}))

    def __str__(self) -> str:
        """One line: holds or fails, the name, the place in the paper, the detail."""
        return f"{'holds' if self.holds else 'FAILS'}  {self.name} ({self.paper}): {self.detail}"


@dataclass(frozen=True)
class AssumptionReport(Mapping[str, Finding]):
    """The findings of `TaskSpace.check`, by name."""

    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether every assumption holds."""
        return all(finding.holds for finding in self.findings)

    @property
    def zero_shot_optimal(self) -> bool:
        """Whether Theorem 3 applies: composed policies are optimal for any expression."""
        needed = set(self) - {TWO_VALUES, REACHABLE}
        return all(self[name].holds for name in needed)

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
        elif all(self[name].holds for name in set(self) - {DETERMINISTIC, REACHABLE}):
            verdict = (
                "Values compose exactly (Theorem 3), but Lemma 1 needs certain outcomes: composed "
                "policies may fall short of the optimum."
            )
        else:
            verdict = "Theorem 3 does not apply: composed policies may fall short of the optimum."
        if not self[DETERMINISTIC].holds:
            verdict += (
                " In a stochastic world so may those of base tasks: an agent that must not end in "
                "a wrong goal avoids risks that the task itself would accept."
            )
        if not self[REACHABLE].holds:
            verdict += " Where a goal cannot be reached, it counts as absent."
        return verdict

    def __str__(self) -> str:
        """One line per finding, then what follows from them."""
        return "\n".join([*(str(finding) for finding in self.findings), self.verdict])

    def __getitem__(self, name: str) -> Finding:
        """The finding of this name."""
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise KeyError(f"no finding {name!r}; there are {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        """The names of the findings, in the order of the paper."""
        return (finding.name for finding in self.findings)

    def __len__(self) -> int:
        """The number of findings."""
        return len(self.findings)


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


def examine(
    mdp: FiniteMDP, candidates: Sequence[Candidate], r_empty: Array, r_universal: Array
) -> AssumptionReport:
    """Test every assumption for a world and the tasks to be composed in it."""
    return AssumptionReport(
        (
            _shared_dynamics(mdp, candidates),
            _deterministic(mdp),
            _goals_only(mdp, candidates),
            _state_only(mdp, candidates),
            _two_values(mdp, candidates, r_empty, r_universal),
            _no_positive_cycle(mdp),
            _no_free_stay(mdp),
            _reachable(mdp),
        )
    )


def _shared_dynamics(mdp: FiniteMDP, candidates: Sequence[Candidate]) -> Finding:
    paper = "Assumption 1(i)"
    for c in candidates:
        if c.mdp is mdp:
            continue
        if (c.mdp.n_states, c.mdp.n_actions) != (mdp.n_states, mdp.n_actions):
            detail = (
                f"task {c.name!r} has {c.mdp.n_states} states and {c.mdp.n_actions} actions, "
                f"the world has {mdp.n_states} and {mdp.n_actions}"
            )
            return Finding(SHARED, paper, False, detail, {"task": c.name})
        if not np.array_equal(c.mdp.goals, mdp.goals):
            same = np.array_equal(np.sort(c.mdp.goals), np.sort(mdp.goals))
            does = "lists the goals in another order" if same else "ends in other states"
            detail = f"task {c.name!r} {does} than the world"
            return Finding(SHARED, paper, False, detail, {"task": c.name})
        differing = _first_different_pair(mdp, c.mdp)
        if differing is not None:
            s, a = differing
            detail = (
                f"task {c.name!r} moves differently in {mdp.state_name(s)} by {mdp.action_names[a]}"
            )
            return Finding(SHARED, paper, False, detail, {"task": c.name, "state": s, "action": a})
    return Finding(SHARED, paper, True, "all tasks move alike and end in the same states")


def _first_different_pair(one: FiniteMDP, other: FiniteMDP) -> tuple[int, int] | None:
    arrays = ("offset", "successor", "probability")
    if all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays):
        return None
    for s in range(one.n_states):
        for a in range(one.n_actions):
            if _distribution(one, s, a) != _distribution(other, s, a):
                return s, a
    return None


def _distribution(mdp: FiniteMDP, s: int, a: int) -> dict[int, float]:
    first, last = mdp.offset[s * mdp.n_actions + a : s * mdp.n_actions + a + 2]
    total: dict[int, float] = {}
    for k in range(first, last):
        t = int(mdp.successor[k])
        total[t] = total.get(t, 0.0) + float(mdp.probability[k])
    return {t: round(p, 12) for t, p in total.items()}


def _deterministic(mdp: FiniteMDP) -> Finding:
    paper = "Assumption 1(ii)"
    if mdp.deterministic:
        return Finding(DETERMINISTIC, paper, True, "every action has one outcome")
    pair = int(np.flatnonzero(np.diff(mdp.offset) > 1)[0])
    s, a = divmod(pair, mdp.n_actions)
    detail = (
        f"{mdp.action_names[a]} in {mdp.state_name(s)} has {len(_distribution(mdp, s, a))} outcomes"
    )
    return Finding(DETERMINISTIC, paper, False, detail, {"state": s, "action": a})


def _goals_only(mdp: FiniteMDP, candidates: Sequence[Candidate]) -> Finding:
    paper = "Assumption 1(iii)"
    for c in candidates:
        if c.step_reward.shape != mdp.step_reward.shape:
            continue  # another state space, reported under shared dynamics
        differ = (c.step_reward != mdp.step_reward) & ~mdp.is_goal[:, None]
        if differ.any():
            s, a = _first(differ)
            detail = (
                f"task {c.name!r} pays {c.step_reward[s, a]:g} for {mdp.action_names[a]} in "
                f"{mdp.state_name(s)}, the world {mdp.step_reward[s, a]:g}"
            )
            offender = {"task": c.name, "state": s, "action": a}
            return Finding(GOALS_ONLY, paper, False, detail, offender)
    return Finding(GOALS_ONLY, paper, True, "outside goals all tasks pay the same")


def _state_only(mdp: FiniteMDP, candidates: Sequence[Candidate]) -> Finding:
    paper = "needed by Theorems 2 and 3, not stated"
    for c in candidates:
        differ = c.terminal_reward != c.terminal_reward[:, :1]
        if differ.any():
            g, a = _first(differ)
            detail = (
                f"task {c.name!r} pays {c.terminal_reward[g, 0]:g} or {c.terminal_reward[g, a]:g} "
                f"in goal {c.mdp.goal_names[g]!r}, depending on the action"
            )
            offender = {"task": c.name, "goal": c.mdp.goal_names[g], "action": a}
            return Finding(STATE_ONLY, paper, False, detail, offender)
    return Finding(STATE_ONLY, paper, True, "terminal rewards do not depend on the action")


def _two_values(
    mdp: FiniteMDP, candidates: Sequence[Candidate], r_empty: Array, r_universal: Array
) -> Finding:
    paper = "Assumption 2"
    if np.unique(r_empty).size > 1 or np.unique(r_universal).size > 1:
        detail = "the bounds r_∅ and r_U differ from goal to goal"
        return Finding(TWO_VALUES, paper, False, detail)
    low, high = float(r_empty[0]), float(r_universal[0])
    for c in candidates:
        differ = (c.terminal_reward != low) & (c.terminal_reward != high)
        if differ.any():
            g, a = _first(differ)
            detail = (
                f"task {c.name!r} pays {c.terminal_reward[g, a]:g} in goal "
                f"{c.mdp.goal_names[g]!r}, neither r_∅ = {low:g} nor r_U = {high:g}"
            )
            offender = {"task": c.name, "goal": c.mdp.goal_names[g]}
            return Finding(TWO_VALUES, paper, False, detail, offender)
    return Finding(TWO_VALUES, paper, True, f"every goal pays r_∅ = {low:g} or r_U = {high:g}")


def _no_positive_cycle(mdp: FiniteMDP) -> Finding:
    paper = "Section 2"
    positive = (mdp.step_reward > 0) & ~mdp.is_goal[:, None]
    if not positive.any():
        return Finding(NO_GAIN, paper, True, "no step outside goals pays more than 0")
    if not mdp.deterministic:
        s, a = _first(positive)
        detail = (
            f"{mdp.action_names[a]} in {mdp.state_name(s)} pays {mdp.step_reward[s, a]:g}; "
            f"with random outcomes, steps that pay more than 0 are not supported"
        )
        return Finding(NO_GAIN, paper, False, detail, {"state": s, "action": a})
    cycle = positive_cycle(mdp, mdp.step_reward)[1]
    if cycle:
        detail = f"{describe_cycle(mdp, cycle)} earns more each time round"
        return Finding(NO_GAIN, paper, False, detail, {"states": cycle})
    return Finding(NO_GAIN, paper, True, "no cycle has a positive sum of rewards")


def _first(where: BoolArray) -> tuple[int, int]:
    """The indices of the first true entry."""
    row, column = np.argwhere(where)[0]
    return int(row), int(column)


def positive_cycle(mdp: FiniteMDP, step_reward: Array) -> tuple[Array, list[int]]:
    """The best walk from each state, and the states of a positive cycle that can still end."""
    tolerance = 1e-12 * float(np.abs(step_reward).max())
    h, cycle = cycles.best_walks(mdp.next_state, step_reward, mdp.ending, tolerance)
    return h, [int(s) for s in cycle]


def _no_free_stay(mdp: FiniteMDP) -> Finding:
    paper = "Section 2, improper policies"
    if _no_positive_cycle(mdp).holds:
        component = free_components(mdp, mdp.step_reward)[0]
        if (component < 0).all():
            return Finding(NO_FREE_STAY, paper, True, "staying forever costs without bound")
        s = int(np.flatnonzero(component >= 0)[0])
        detail = (
            f"an agent can stay around {mdp.state_name(s)} forever at no cost; values are right, "
            f"but a greedy policy may idle there: let every step cost something"
        )
    else:
        s, detail = -1, "there is a cycle that earns"
    return Finding(NO_FREE_STAY, paper, False, detail, {"state": s} if s >= 0 else {})


def free_components(mdp: FiniteMDP, step_reward: Array) -> tuple[IntArray, BoolArray]:
    """Sets of states in which an agent can stay forever at no cost; see `end_components`.

    In a deterministic world with rewards above 0, rewards are first lowered by the best walk h, so
    that r(s, a) + h(s') − h(s) ≤ 0, with equality on cycles that cost nothing.
    """
    cost, rounding = -step_reward, 0.0
    if mdp.deterministic and (step_reward > 0).any():
        h, _ = positive_cycle(mdp, step_reward)
        cost = h[:, None] - h[mdp.next_state] - step_reward
        rounding = 1e-12 * float(np.abs(step_reward).max())
    free = (cost <= rounding) & mdp.ending[:, None] & ~mdp.is_goal[:, None]
    shape = mdp.n_states, mdp.n_actions
    return cycles.end_components(mdp.offset, mdp.successor, *shape, free.ravel())


def _reachable(mdp: FiniteMDP) -> Finding:
    paper = "Lemma 2"
    steps = graph.steps_to(mdp.predecessors, mdp.goals)
    missed = np.argwhere(steps[:, mdp.starts] == graph.UNREACHED)
    if missed.size:
        g, s = int(missed[0][0]), int(mdp.starts[missed[0][1]])
        detail = f"goal {mdp.goal_names[g]!r} cannot be reached from {mdp.state_name(s)}"
        offender = {"goal": mdp.goal_names[g], "state": s}
        return Finding(REACHABLE, paper, False, detail, offender)
    return Finding(REACHABLE, paper, True, "every goal can be reached from every start")


def describe_cycle(mdp: FiniteMDP, states: Sequence[int], most: int = 6) -> str:
    """A cycle in words: its states, or their number when there are many."""
    shown = " → ".join(mdp.state_name(s) for s in [*states[:most], states[0]])
    return f"the cycle {shown}" if len(states) <= most else f"a cycle of {len(states)} states"
