"""Whether desired goals are worth the way.

An optimal agent weighs what a goal pays against the way there.  With the paper's rewards a desired
goal pays r_U − r_∅ = 2.1 more than any other, and a step costs 0.1: a desired goal more than 21
steps farther than another one is not worth the way, and the agent rightly ends in the other.  The
theorems do not mind, but users do.  With G(s:g) the best sum of rewards up to g, a task that
desires D ends in D from s if

    max_{g ∈ D} G(s:g) + r_U  >  max_{h ∉ D} G(s:h) + r_∅ .

The worst of all two-valued tasks desires only the farthest goal that can be reached.  In stochastic
worlds a policy ends in several goals, each with some probability, and no r_U excludes the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.theory.findings import WORTH, Candidate, Finding
from taskalgebra.theory.rounding import lost, of_episode, scale_of, tie, told_apart
from taskalgebra.worlds import graph
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.held import Held
from taskalgebra.worlds.open_world import OpenWorld
from taskalgebra.worlds.returns import known_returns

PAPER = "not an assumption"
MOST_RETURNS = 2**27
"""States times goals up to which the ways to all goals are compared: 1 GB."""


class Shortfall(NamedTuple):
    """How far desired goals fall short of being worth the way, over all starts.

    `need` is what a desired goal must pay more than, counted from r_U of that goal if goals differ
    in it; −∞ if no start has a choice.
    """

    need: float
    n_starts: int  # starts from which an optimal agent may end elsewhere
    start: int  # the first of them, a state; −1 if there is none
    desired: int  # the best desired goal from there
    other: int  # where the agent ends instead
    longer: float  # what the way to the desired goal costs more
    more: float  # what the desired goal pays more


NO_SHORTFALL = Shortfall(-np.inf, 0, -1, -1, -1, 0.0, 0.0)


class Ways(NamedTuple):
    """The returns to goals from the starts of a world, and what is taken as equal."""

    mdp: FiniteMDP
    held: Held
    largest: float  # the size of the largest return
    tie: float

    @property
    def margin(self) -> float:
        """What an agent may lose to ties in an episode."""
        return of_episode(self.mdp, self.tie)

    def of_task(self, paid: Array, desired: BoolArray, r_universal: Array) -> Shortfall:
        """A task that pays `paid[G]`, and desires some goals for r_U."""
        if desired.all() or not desired.any():
            return NO_SHORTFALL
        base, bonus = _base(r_universal)
        own, best = self.held.best_of(self.mdp.starts, bonus, desired)
        others, instead = self.held.best_of(self.mdp.starts, paid, ~desired)
        with np.errstate(invalid="ignore"):  # −∞ − −∞ where nothing is reached
            need = others - own
        return self._shortfall(base, need, (best, instead), r_universal, paid)

    def of_any_task(self, r_empty: Array, r_universal: Array) -> Shortfall:
        """The worst two-valued task, which desires one goal: the farthest."""
        base, bonus = _base(r_universal)
        reached = self.held.rows(self.mdp.starts).T
        n = np.arange(reached.shape[1])
        others = reached + r_empty[:, None]
        nearest = others.argmax(axis=0)
        first = others[nearest, n]
        others[nearest, n] = -np.inf
        next_ = others.argmax(axis=0)
        second = others[next_, n]
        worst = np.full(n.size, -np.inf)
        own, other = np.zeros(n.size, np.int64), np.zeros(n.size, np.int64)
        for g, row in enumerate(reached):
            best = nearest == g
            with np.errstate(invalid="ignore"):
                need = np.where(best, second, first) - (row + bonus[g])
            more = np.isfinite(need) & (need > worst)
            worst[more], own[more], other[more] = (
                need[more],
                g,
                np.where(best, next_, nearest)[more],
            )
        return self._shortfall(base, worst, (own, other), r_universal, r_empty)

    def _shortfall(
        self,
        base: float,
        need: Array,
        found: tuple[LongArray, LongArray],
        r_universal: Array,
        paid: Array,
    ) -> Shortfall:
        need = np.where(np.isfinite(need), need, -np.inf)
        short = np.flatnonzero(need >= base - self.margin)
        highest = float(need.max(initial=-np.inf))
        if not short.size:
            return NO_SHORTFALL._replace(need=highest)
        i = short[0]
        g, h = int(found[0][i]), int(found[1][i])
        start = int(self.mdp.starts[i])
        reached = self.held.rows(self.mdp.starts[i : i + 1])[0]
        longer, more = reached[h] - reached[g], r_universal[g] - paid[h]
        return Shortfall(highest, short.size, start, g, h, float(longer), float(more))


def _base(r_universal: Array) -> tuple[float, Array]:
    """r_U if all goals share it, else 0; and what each goal pays more than that."""
    same = bool((r_universal == r_universal[0]).all())
    base = float(r_universal[0]) if same else 0.0
    return base, np.asarray(r_universal - base)


def comfortable(ways: Ways, need: float, least: float) -> float:
    """A round r_U that is enough: what is needed, or `least` if that is more, and one step's cost.

    The cost of the cheapest step that costs anything, but enough to be told apart.
    """
    steps = ways.mdp.step_reward  # 0 in goals
    step = float(np.abs(steps).min(initial=np.inf, where=steps != 0))
    above = max(need, least)
    room = max(step if np.isfinite(step) else 1.0, 4 * ways.margin, 1e-9 * abs(above))
    exact = above + room
    rounded = float(f"{exact:.9g}")
    return rounded if rounded - above >= room / 2 else exact


def worthwhile(world: object, given: str, default: float, r_empty: Array) -> float:
    """r_U of "auto": the default, or what makes every goal worth the way from every start."""
    if given != "auto":
        raise ValueError(f'r_universal is {given!r}, expected a number, one per goal, or "auto"')
    highest = float(r_empty.max())
    ways = ways_of(world, r_empty, r_empty) if isinstance(world, FiniteMDP) else "it is open"
    if isinstance(ways, str):
        raise ValueError(
            f'r_universal="auto" compares the ways to all goals of a world, and {ways}; give a '
            f"number"
        )
    need = ways.of_any_task(r_empty, np.full(r_empty.size, highest)).need
    enough = default > max(highest, need + ways.margin)
    if enough and lost(ways.mdp, r_empty, np.full(r_empty.size, default), ways.largest) is None:
        return default
    return comfortable(ways, need, highest)


def ways_of(mdp: FiniteMDP, r_empty: Array, r_universal: Array) -> Ways | str:
    """The returns from every state to every goal, or why they are not compared."""
    if not mdp.deterministic:
        return "in a stochastic world a policy may end in several goals, whatever they pay"
    if mdp.n_states * mdp.n_goals > MOST_RETURNS:
        return f"it has more than {MOST_RETURNS:,} states times goals"
    with np.errstate(over="ignore", invalid="ignore"):  # out of range is a finding of its own
        held, _ = known_returns(mdp)
        scale = scale_of(mdp, r_empty, r_universal)
        if held is None:
            return "a cycle earns more each time round"
        largest = held.largest
        return Ways(mdp, held, largest, tie(mdp, scale, largest))


def worth_the_way(
    ways: Ways | str,
    candidates: Sequence[Candidate] | None,
    r_empty: Array,
    r_universal: Array,
) -> Finding:
    """Whether these tasks, or without any all two-valued ones, end in desired goals."""
    if candidates is None:
        return _open("the tasks differ in more than what goals pay")
    if isinstance(ways, str):
        return _open(ways)
    if not candidates:
        found = ways.of_any_task(r_empty, r_universal)
        if found.n_starts:  # of this goal alone; what is needed is that of all goals
            desired = np.arange(r_empty.size) == found.desired
            paid = np.where(desired, r_universal, r_empty)
            found = ways.of_task(paid, desired, r_universal)._replace(need=found.need)
        return _worth_finding(ways, found, None, r_universal)
    first, name, need, skipped = NO_SHORTFALL, "", -np.inf, 0
    for c in candidates:
        paid = c.terminal_reward
        desired = (paid == r_universal[:, None]).all(axis=1)
        if not (desired | (paid == r_empty[:, None]).all(axis=1)).all():
            skipped += 1
            continue
        found = ways.of_task(np.where(desired, r_universal, r_empty), desired, r_universal)
        need = max(need, found.need)
        if found.n_starts and not first.n_starts:
            first, name = found, c.name
    if skipped and not first.n_starts:
        return _open("some task pays its goals neither r_∅ nor r_U")
    return _worth_finding(ways, first._replace(need=need), name, r_universal)


def of_task(task: Candidate, r_empty: Array, r_universal: Array) -> Finding:
    """Whether one task ends in desired goals."""
    return _of_task(task, ways_of(task.mdp, r_empty, r_universal), r_empty, r_universal)


def _of_task(task: Candidate, ways: Ways | str, r_empty: Array, r_universal: Array) -> Finding:
    dense = task.step_reward is not task.mdp.step_reward
    return worth_the_way(ways, None if dense else [task], r_empty, r_universal)


def remarks(task: Candidate, r_empty: Array, r_universal: Array) -> list[str]:
    """What a user of a task should know, in sentences: why it may not end where it should."""
    mdp, ways = task.mdp, ways_of(task.mdp, r_empty, r_universal)
    largest = None if isinstance(ways, str) else ways.largest
    told = (
        told_apart(mdp, r_empty, r_universal, largest),
        _of_task(task, ways, r_empty, r_universal),
    )
    found = [finding.detail for finding in told if not finding.holds]
    desired = (task.terminal_reward == r_universal[:, None]).all(axis=1)
    if desired.any():
        offset, state, _ = mdp.predecessors
        cut_off = ~graph.can_reach(offset, state, mdp.goals[desired])[mdp.starts]
        if cut_off.any():
            first = mdp.state_name(int(mdp.starts[cut_off.argmax()]))
            found.append(
                f"from {cut_off.sum()} of {cut_off.size} starts no desired goal can be reached, "
                f"first from {first}"
            )
    return found


def _open(why: str) -> Finding:
    return Finding(WORTH, PAPER, True, f"not examined: {why}", {}, examined=False)


def _up(number: float) -> str:
    """A number in few digits, not below it."""
    for digits in range(6, 17):
        text = f"{number:.{digits}g}"
        if float(text) >= number:
            return text
    return repr(number)


def _worth_finding(ways: Ways, found: Shortfall, name: str | None, r_universal: Array) -> Finding:
    mdp = ways.mdp
    if not found.n_starts:
        which = "every goal" if name is None else "a desired goal"
        detail = f"from every start {which} that can be reached is worth the way"
        return Finding(WORTH, PAPER, True, detail)
    desired, other = mdp.goal_names[found.desired], mdp.goal_names[found.other]
    who = f"task {name!r}" if name else "the task"
    who = f"a task that desires only {desired!r}" if name is None else who
    same = bool((r_universal == r_universal[0]).all())
    take = comfortable(ways, found.need, -np.inf)
    mend = (
        f'r_U above {_up(found.need)} mends it from every start: r_universal={take!r}, or "auto"'
        if same
        else f"each r_U raised by more than {_up(found.need)} mends it from every start"
    )
    detail = (
        f"{who} may end in a goal that it does not desire from {found.n_starts} of "
        f"{mdp.starts.size} starts, first from {mdp.state_name(found.start)}, in {other!r}: "
        f"{desired!r} pays {found.more:.6g} more, and the way there costs {found.longer:.6g} more; "
        f"{mend}"
    )
    offender = {
        "task": name,
        "state": found.start,
        "goal": desired,
        "instead": other,
        "above": found.need,
        "r_universal": take,
    }
    return Finding(WORTH, PAPER, False, detail, offender)


def usual_rewards(world: FiniteMDP | OpenWorld) -> tuple[float, float]:
    """r_∅ and r_U of a world: those of its own task, or the paper's, −0.1 and 2."""
    if not isinstance(world, FiniteMDP) or world.goal_reward is None:
        return -0.1, 2.0
    low, high = float(world.goal_reward.min()), float(world.goal_reward.max())
    return (low if low < high else min(high - 1.0, float(world.step_reward.min()))), high
