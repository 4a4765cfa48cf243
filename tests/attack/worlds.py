"""Random worlds against exact fractions: values, policies that are followed, and what `check` said.

Worlds are deterministic or stochastic, with walls, one-way steps, goals out of reach, steps that
cost nothing or pay, rewards of odd sizes, and several starts.  The oracle shares no code with the
library and rounds nothing.  Of each world some base tasks and an expression over them are drawn.

- Values of base tasks are the exact ones, always; those of the composed task are, in deterministic
  worlds and where base tasks have two values.  Elsewhere what a goal is worth is convex in what it
  pays, and ¬ gives at least the exact value.
- Where `check` says that Theorem 3 applies, the composed policy, evaluated in fractions, is optimal
  from every state.
- Where it says that desired goals are worth the way, the agent ends in one, if one can be reached;
  where it says that they are not, that is so, and the r_U that it names mends it.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import taskalgebra as ta
from attack.harness import Findings
from fractions_oracle import NEVER, ending, optimum, policy_value
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.planning.stochastic import ShortestPaths

SIZES = {"ci": 150, "full": 10_000}
OPERATORS = ("&", "|", "^", "->", "<->")
WORTH, APART = "wanted goals are worth the way", "rewards can be told apart"


class World(NamedTuple):
    """A world as plain lists of fractions, the same as the library holds it."""

    outcomes: list[list[dict[int, Fraction]]]
    rewards: list[list[Fraction]]
    goals: list[int]
    space: ta.TaskSpace


def attack(size: int, seed: int) -> Findings:
    """Compare `size` random worlds."""
    counts: Counter[str] = Counter()
    for i in range(size):
        rng = np.random.default_rng([seed, i])
        try:
            for trouble in _one(rng, counts):
                yield f"world {i}: {trouble}"
        except Exception as error:
            yield f"world {i}: {type(error).__name__}: {error}"
    seen = ", ".join(f"{counts[name]:,} {name}" for name in sorted(counts))
    return f"{size:,} worlds: {seen}"


def _drawn(rng: np.random.Generator) -> World:
    n_live, n_goals, n_actions = rng.integers(1, 7), rng.integers(1, 5), rng.integers(1, 4)
    n = int(n_live + n_goals)
    order = rng.permutation(n)
    goals = sorted(int(s) for s in order[:n_goals])
    stochastic = rng.random() < 0.4
    dense = np.zeros((n, n_actions, n))
    for s in range(n):
        for a in range(n_actions):
            draw = rng.random()
            if draw < 0.15:
                dense[s, a, s] = 1.0  # a wall
            elif stochastic and draw < 0.2:
                rare = 2.0 ** -rng.integers(4, 25)  # waited for
                dense[s, a, s] = 1 - rare
                dense[s, a, rng.integers(n)] += rare
            elif stochastic and draw < 0.7:
                eighths = rng.multinomial(8, rng.dirichlet(np.ones(min(n, 3))))
                dense[s, a, rng.choice(n, min(n, 3), replace=False)] = eighths / 8
            else:
                dense[s, a, rng.integers(n)] = 1.0
    live = [s for s in range(n) if s not in goals]
    if rng.random() < 0.4:  # a corridor: long ways, a goal at each end
        line = [goals[0], *live, goals[-1]]
        for before, s, after in zip(line, line[1:], line[2:], strict=False):
            dense[s] = np.eye(n)[[before, after, s][: int(n_actions)]]
    dense[live[0], 0] = 0.0
    dense[live[0], 0, goals[-1 if rng.random() < 0.5 else 0]] = 1.0  # some state can end
    steps, unit = _steps(rng, (n, int(n_actions)), stochastic)
    steps[goals] = 0.0
    for g in goals:
        dense[g] = np.eye(n)[g]
    low, high = np.sort(rng.choice(33, 2, replace=False) - 16) / 4 * unit
    if rng.random() < 0.5:
        high = float(low + rng.integers(1, 5) / 4 * unit)
    if rng.random() < 0.1:
        high = float(low + abs(high - low) * 10.0 ** rng.integers(-18, 19))
    starts = sorted(int(s) for s in rng.choice(live, rng.integers(1, len(live) + 1), replace=False))
    outcomes = [
        [{t: Fraction(p) for t, p in enumerate(row.tolist()) if p > 0} for row in rows]
        for rows in dense
    ]
    surely = ending(outcomes, goals)
    starts = [s for s in starts if s in surely] or [live[0]]
    given: Any = dense if stochastic else dense.argmax(axis=2)
    world = ta.from_arrays(given, steps, goals, starts=starts)
    space = ta.TaskSpace(world, r_universal=high, r_empty=min(low, np.nextafter(high, -np.inf)))
    rewards = [[Fraction(r) for r in row] for row in steps.tolist()]
    return World(outcomes, rewards, goals, space)


def _steps(
    rng: np.random.Generator, shape: tuple[int, int], stochastic: bool
) -> tuple[np.ndarray, float]:
    """[S, A] rewards of steps, and the unit in which all rewards are counted."""
    kind = rng.choice(["one", "many", "free", "paid", "spread"], p=[0.3, 0.3, 0.15, 0.1, 0.15])
    unit = float(rng.choice([1.0, 2.0 ** rng.integers(-80, 81), 10.0 ** rng.integers(-30, 31)]))
    if kind == "one":
        return np.full(shape, -rng.integers(1, 17) / 10 * unit), unit
    if kind == "many":
        return -rng.integers(1, 17, shape) / 10 * unit, unit
    if kind == "free":
        return -rng.integers(0, 4, shape) / 8 * unit, unit
    if kind == "paid" and not stochastic:
        unit = float(2.0 ** rng.integers(-80, 81))  # so that sums round nothing
        return rng.integers(-12, 3, shape) / 8 * unit, unit
    return -(10.0 ** -rng.integers(0, 17, shape)) * unit, unit


def _expression(rng: np.random.Generator, names: list[str], depth: int = 3) -> str:
    draw = rng.random()
    if depth == 0 or draw < 0.2:
        return str(rng.choice([*names, *names, "true", "false"]))
    if draw < 0.4:
        return f"~({_expression(rng, names, depth - 1)})"
    left, right = (_expression(rng, names, depth - 1) for _ in range(2))
    return f"({left}) {rng.choice(OPERATORS)} ({right})"


def _one(rng: np.random.Generator, counts: Counter[str]):
    world = _drawn(rng)
    space, n_goals = world.space, len(world.goals)
    mdp = space.mdp
    tasks = {}
    for name in "abc"[: rng.integers(1, 4)]:
        desired = rng.random(n_goals) < 0.5
        if rng.random() < 0.5:
            desired = np.eye(n_goals)[rng.integers(n_goals)] > 0
        tasks[name] = space.from_desired(desired)
        if rng.random() < 0.05:
            share = rng.integers(0, 5, n_goals) / 4
            paid = space.r_empty + share * (space.r_universal - space.r_empty)
            tasks[name] = space.from_rewards(np.clip(paid, space.r_empty, space.r_universal))
    report = space.check(tasks)
    counts["stochastic" if not mdp.deterministic else "deterministic"] += 1
    earning = mdp.deterministic and _earns(world)
    if earning == report["no positive cycle"].holds:
        yield f"a cycle earns: {earning}, but the finding is {report['no positive cycle']}"
    if earning:
        counts["with a cycle that earns"] += 1
        return
    if mdp.deterministic and report[APART].holds:
        yield from _any_task(world)
    text = _expression(rng, list(tasks))
    skills = ta.solve(space, tasks)
    agent = skills[text]
    rounding = _rounding(world, skills)
    yield from _values(world, skills, agent, rounding)
    yield from _policy(world, agent, report, rounding, counts)


def _earns(world: World) -> bool:
    """Whether a cycle that can still end has a positive sum, exactly."""
    alive = {s for s in range(len(world.outcomes)) if _reaches(world, s)}
    best = dict.fromkeys(alive, Fraction(0))
    for _ in range(len(alive) + 1):
        new = dict(best)
        for s in alive - set(world.goals):
            for a, o in enumerate(world.outcomes[s]):
                (t,) = o
                if t in alive:
                    new[s] = max(new[s], world.rewards[s][a] + best[t])
        if new == best:
            return False
        best = new
    return True


def _reaches(world: World, start: int, targets: set[int] | None = None) -> bool:
    targets = set(world.goals) if targets is None else targets
    seen, waiting = {start}, [start]
    while waiting:
        s = waiting.pop()
        if s in targets:
            return True
        if s in world.goals:
            continue
        for t in {t for o in world.outcomes[s] for t in o} - seen:
            seen.add(t)
            waiting.append(t)
    return False


def _best(world: World, terminal: dict[int, Fraction]) -> list[Fraction | None]:
    """V* in fractions; goals that `terminal` leaves out cannot be entered."""
    if not world.space.mdp.deterministic:
        return optimum(world.outcomes, world.rewards, terminal)[0]
    value: list[Fraction | None] = [terminal.get(s) for s in range(len(world.outcomes))]
    while True:
        changed = False
        for s, rows in enumerate(world.outcomes):
            if s in world.goals:
                continue
            for a, o in enumerate(rows):
                (t,) = o
                if value[t] is not None:
                    worth = world.rewards[s][a] + value[t]
                    if value[s] is None or worth > value[s]:
                        value[s], changed = worth, True
        if not changed:
            return value


def _rounding(world: World, skills: ta.Skills) -> Fraction:
    """What float64 may lose in a value: a few rounding errors of the largest numbers, each step."""
    space, family = world.space, skills.family
    n = len(world.outcomes)
    largest = max(abs(family.r_bar_min), space.reward_scale * (n + 1))
    return Fraction(2.0**-50 * largest * n) + 2 * Fraction(family.error_bound)


def _values(world: World, skills: ta.Skills, agent: ta.Agent, rounding: Fraction):
    """Extended values of the composed task against the definition."""
    states = np.arange(len(world.outcomes))
    penalty = Fraction(skills.family.r_bar_min)
    q_bar = agent.q_bar(states)
    used = [skills.family.tasks[name] for name in agent.expression.names]
    exact = world.space.mdp.deterministic or all(task.two_valued for task in used)
    paid = [Fraction(r) for r in agent.task.goal_reward.tolist()]
    for i, g in enumerate(world.goals):
        terminal = {other: paid[i] if other == g else penalty for other in world.goals}
        v_bar = _best(world, terminal)
        for s in states:
            for a, o in enumerate(world.outcomes[s]):
                if s in world.goals:
                    true = terminal[int(s)]
                elif any(v_bar[t] is NEVER for t in o):
                    true = NEVER
                else:
                    true = world.rewards[s][a] + sum(p * v_bar[t] for t, p in o.items())
                got = q_bar[s, i, a]
                if (true is NEVER) != (got == -np.inf):
                    yield f"{agent.expression}: Q̄({s}, {i}, {a}) is {got}, exactly {true}"
                elif true is not NEVER and _off(Fraction(float(got)) - true, rounding, exact):
                    yield f"{agent.expression}: Q̄({s}, {i}, {a}) is {got}, exactly {float(true)}"


def _off(excess: Fraction, rounding: Fraction, exact: bool) -> bool:
    """Whether a value is wrong that exceeds the exact one by so much."""
    return excess < -rounding or (exact and excess > rounding)


def _policy(world: World, agent: ta.Agent, report: Any, rounding: Fraction, counts: Counter[str]):
    """The composed policy, followed in fractions, against the optimum and what `check` said."""
    task, mdp = agent.task, world.space.mdp
    paid = {g: Fraction(r) for g, r in zip(world.goals, task.goal_reward.tolist(), strict=True)}
    best = _best(world, paid)
    optimal, error = ta.optimal_v(task), Fraction(0)
    if not mdp.deterministic:
        tolerance = 5e-11 * world.space.reward_scale
        found, bound = ShortestPaths(mdp, task.steps).solve(task.goal_reward, tolerance)
        error = Fraction(bound)
        if not np.array_equal(found, optimal):
            yield f"{agent.expression}: V* differs from one call to the next"
    choice = agent.actions.tolist()
    earned = policy_value(world.outcomes, world.rewards, paid, choice)
    played = policy_return(task, agent.actions)
    for s, true in enumerate(best):
        if (true is NEVER) != (optimal[s] == -np.inf):
            yield f"{agent.expression}: V*({s}) is {optimal[s]}, exactly {true}"
            continue
        if true is NEVER:
            continue
        if abs(Fraction(float(optimal[s])) - true) > rounding + error:
            yield f"{agent.expression}: V*({s}) is {optimal[s]}, exactly {float(true)}"
        if (earned[s] is NEVER) != (played[s] == -np.inf):
            yield f"{agent.expression}: from {s} the agent earns {earned[s]}, said {played[s]}"
        if earned[s] is not NEVER and earned[s] > true:
            yield f"{agent.expression}: from {s} the agent earns more than the optimum"
        if report.zero_shot_optimal and (earned[s] is NEVER or true - earned[s] > rounding):
            yield f"{agent.expression}: from {s} the agent earns {earned[s]}, the optimum is {true}"
    counts["where Theorem 3 applies"] += bool(report.zero_shot_optimal)
    if report.zero_shot_optimal and task.two_valued:
        yield from _worth(world, agent, paid, rounding, counts)
    elif not mdp.deterministic and task.worth_the_way().examined:
        yield "worth the way was examined in a stochastic world"


def _any_task(world: World):
    """Of all tasks, whether some goal is not worth the way from some start."""
    space = world.space
    finding = space.check()[WORTH]
    high, low = Fraction(float(space.r_universal[0])), Fraction(float(space.r_empty[0]))
    ways = [_best(world, {g: Fraction(0)}) for g in world.goals]
    least = None  # what is left of the best that a task can do, at its worst start
    for s in space.mdp.starts.tolist():
        reached = [way[s] for way in ways if way[s] is not NEVER]
        if len(reached) > 1:
            left = min(reached) + high - max(reached) - low
            least = left if least is None else min(least, left)
    close = Fraction(1e-9 * space.reward_scale)
    if least is not None and abs(least) > close and finding.holds != (least > 0):
        yield f"{float(least)} is left for a desired goal, but: {finding}"
    if least is not None and not finding.holds:
        exact = high - least
        if abs(Fraction(finding.offender["above"]) - exact) > close:
            yield f"r_U must be above {float(exact)}, but: {finding}"
        auto = ta.TaskSpace(space.mdp, r_universal="auto", r_empty=space.r_empty)
        if not auto.check()[WORTH].holds:
            yield f'"auto" chose {auto.r_universal[0]}, but above {float(exact)} is needed'


def _worth(
    world: World, agent: ta.Agent, paid: dict[int, Fraction], rounding: Fraction, counts: Counter
):
    task, mdp, actions = agent.task, world.space.mdp, agent.actions
    desired = {g for g, wanted in zip(world.goals, task.desired, strict=True) if wanted}
    finding = task.worth_the_way()
    counts["not worth the way"] += not finding.holds
    for s in mdp.starts.tolist():
        if finding.holds and desired and _reaches(world, s, desired):
            at = s
            for _ in world.outcomes:
                if at not in world.goals:
                    (at,) = world.outcomes[at][actions[at]]
            if at not in desired:
                yield f"{agent.expression}: from {s} the agent ends in {at}: {finding}"
    if finding.holds:
        return
    start = finding.offender["state"]
    inside = _best(world, {g: paid[g] for g in desired})[start]
    outside = _best(world, {g: r for g, r in paid.items() if g not in desired})[start]
    n = len(world.outcomes)  # ties of an episode count as not worth it
    rounding += Fraction(4e-14 * n * (n + 1) * world.space.reward_scale)
    if inside is NEVER or outside is NEVER or inside > outside + rounding:
        yield f"{agent.expression}: {start} can end where it should: {finding}"
    enough = finding.offender["r_universal"]
    other = ta.TaskSpace(mdp, r_universal=enough, r_empty=world.space.r_empty)
    if not other.from_desired(task.desired).worth_the_way().holds:
        yield f"{agent.expression}: r_U = {enough} does not mend it: {finding}"
