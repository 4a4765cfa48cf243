"""Which assumptions of the paper hold for a set of tasks, in words and as data.

The theorems are exact under stated assumptions and say nothing otherwise.  `examine` tests each
assumption for a given world and set of tasks, and names the first offender of each that fails.  Two
findings are none of the paper's assumptions: whether float64 can tell the rewards apart
(`theory.rounding`), and whether desired goals are worth the way (`theory.worth`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray
from taskalgebra.theory.findings import (
    DETERMINISTIC,
    GOALS_ONLY,
    LIMIT,
    NO_FREE_STAY,
    NO_GAIN,
    REACHABLE,
    SHARED,
    STATE_ONLY,
    TWO_VALUES,
    AssumptionReport,
    Candidate,
    Finding,
)
from taskalgebra.theory.rounding import told_apart
from taskalgebra.theory.worth import Ways, ways_of, worth_the_way
from taskalgebra.worlds import cycles, graph
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.returns import costs, positive_cycle


def examine(
    mdp: FiniteMDP, candidates: Sequence[Candidate], r_empty: Array, r_universal: Array
) -> AssumptionReport:
    """Test every assumption for a world and the tasks to be composed in it."""
    ways = ways_of(mdp, r_empty, r_universal)
    shared, alike = _shared_dynamics(mdp, candidates), _goals_only(mdp, candidates)
    own = candidates if shared.holds and alike.holds else None
    return AssumptionReport(
        (
            shared,
            _deterministic(mdp),
            alike,
            _state_only(mdp, candidates),
            _two_values(mdp, candidates, r_empty, r_universal),
            _no_positive_cycle(mdp),
            _no_free_stay(mdp),
            _reachable(mdp, ways),
            told_apart(mdp, r_empty, r_universal, None if isinstance(ways, str) else ways.largest),
            worth_the_way(ways, own, r_empty, r_universal),
            *_limit(mdp),
        )
    )


def _limit(mdp: FiniteMDP) -> list[Finding]:
    """Of an environment with a limit: values without a horizon know nothing of it."""
    if mdp.max_episode_steps is None:
        return []
    return [Finding(LIMIT, "Section 2", True, mdp.limit_ignored, examined=False)]


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
    """Sets of states in which an agent can stay forever at no cost; see `end_components`."""
    cost, rounding = costs(mdp, step_reward)
    free = (cost <= rounding) & mdp.ending[:, None] & ~mdp.is_goal[:, None]
    shape = mdp.n_states, mdp.n_actions
    return cycles.end_components(mdp.offset, mdp.successor, *shape, free.ravel())


def _reachable(mdp: FiniteMDP, ways: Ways | str) -> Finding:
    paper = "Lemma 2"
    missed = _missed(mdp, ways)
    if missed is not None:
        g, s = missed
        detail = f"goal {mdp.goal_names[g]!r} cannot be reached from {mdp.state_name(s)}"
        offender = {"goal": mdp.goal_names[g], "state": s}
        return Finding(REACHABLE, paper, False, detail, offender)
    return Finding(REACHABLE, paper, True, "every goal can be reached from every start")


def _missed(mdp: FiniteMDP, ways: Ways | str) -> tuple[int, int] | None:
    """The first goal, and the first start from which there is no way to it."""
    if not isinstance(ways, str):
        return ways.held.first_missed(mdp.starts)
    offset, state, _ = mdp.predecessors
    for g in range(mdp.n_goals):
        able = graph.can_reach(offset, state, mdp.goals[g : g + 1])[mdp.starts]
        if not able.all():
            return g, int(mdp.starts[able.argmin()])
    return None


def describe_cycle(mdp: FiniteMDP, states: Sequence[int], most: int = 6) -> str:
    """A cycle in words: its states, or their number when there are many."""
    shown = " → ".join(mdp.state_name(s) for s in [*states[:most], states[0]])
    return f"the cycle {shown}" if len(states) <= most else f"a cycle of {len(states)} states"
