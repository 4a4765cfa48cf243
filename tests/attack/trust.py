"""Random worlds where the theory ends: what agents lose, its bounds, and repair, by an oracle.

Worlds have slips, steps that cost nothing, goals out of reach and states without a way on; tasks
are two-valued, of several levels, or dense; values are planned with either penalty, damaged by
noise, or learned where tasks end in different goals.  In each of them

- the certificate's returns are those of an evaluation that shares no code with the library;
- the optimum that it names is that of a policy which satisfies the equation of the optimum;
- no bound is below the loss, and a bound of 0 means optimal; where every step costs something,
  an agent that is optimal from everywhere has a bound of 0;
- the optimum is between the two-sided bounds of the expression;
- `improve` ends at the optimum.

The figures say how wide the bound is, and how often improving took fewer sweeps than planning anew.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

import taskalgebra as ta
import trust_oracle as oracle
from attack.harness import CI, FULL, Findings
from taskalgebra.planning.improvement import improved
from taskalgebra.planning.policies import made_proper
from taskalgebra.theory.family import TableFamily
from taskalgebra.theory.rewards import r_bar_min_of

SIZES = {CI: 60, FULL: 5_000}
EXPRESSIONS = ("a", "a | b", "a & b", "a ^ b", "~a", "(a | b) & ~c")
CLOSE = 1e-8
ENOUGH = 100
"""Cases from which on medians and shares are judged."""
KINDS = ("planned", "by the letter", "levels", "dense", "noisy", "absorbing")


def attack(size: int, seed: int) -> Findings:
    """Certify and improve agents in `size` random worlds."""
    counts: Counter[str] = Counter()
    ratios: list[float] = []
    fewer: list[bool] = []
    for i in range(size):
        rng = np.random.default_rng([seed, i])
        kind = KINDS[i % len(KINDS)]
        try:
            for trouble in _one(rng, kind, counts, ratios, fewer):
                yield f"seed [{seed}, {i}], {kind}: {trouble}"
        except Exception as error:
            yield f"seed [{seed}, {i}], {kind}: {type(error).__name__}: {error}"
    wide = float(np.median(ratios)) if ratios else np.nan
    if wide > 3.0 and len(ratios) >= ENOUGH:
        yield f"the median bound is {wide:.2f} times the loss"
    share = float(np.mean(fewer)) if fewer else np.nan
    if share < 0.9 and len(fewer) >= ENOUGH:
        yield f"improving took fewer sweeps in {100 * share:.1f} % of cases only"
    return (
        f"{size:,} worlds, {counts['agents']:,} agents, {counts['short']:,} short of the optimum, "
        f"{counts['free']:,} with steps at no cost; "
        f"the bound is {wide:.2f} times the loss (median; 90 %: {np.quantile(ratios, 0.9):.2f}); "
        f"at most {counts['rounds']} rounds; fewer sweeps than anew in {100 * share:.1f} %"
    )


def drawn(rng: np.random.Generator):
    """p[S, A, S], r[S, A] and goals of a random world, often a ring or a grid with slips."""
    n, n_actions, n_goals = rng.integers(5, 25), rng.integers(2, 5), rng.integers(2, 5)
    slip = rng.choice([0.0, 0.1, 0.3, 0.6])
    p = np.zeros((n, n_actions, n))
    local = rng.random() < 0.7
    for s in range(n):
        for a in range(n_actions):
            near = (s + rng.integers(-3, 4, 3)) % n if local else rng.integers(0, n, 3)
            np.add.at(p[s, a], near, [1 - slip, slip / 2, slip / 2])
    unit = rng.choice([0.05, 0.25, 1.0])
    r = -rng.integers(0 if rng.random() < 0.2 else 1, 9, (n, n_actions)) / 8 * unit
    goals = rng.choice(n, n_goals, replace=False)
    if rng.random() < 0.2:  # a goal that nothing leads to
        closed = goals[0]
        p[:, :, (closed + 1) % n] += p[:, :, closed]
        p[:, :, closed] = 0.0
    return p, r, goals


def _one(rng, kind, counts, ratios, fewer):
    p, r, goals = drawn(rng)
    while not oracle.surely_ending(p, goals.tolist())[
        np.isin(np.arange(len(p)), goals, invert=True)
    ].any():
        p, r, goals = drawn(rng)  # no goal can be reached at all
    world = ta.from_arrays(p, r, goals)
    space = ta.TaskSpace(world)
    tasks = {name: _task(rng, space, kind) for name in "abc"}
    skills = _skills(rng, space, tasks, kind)
    expression = str(rng.choice(EXPRESSIONS if kind != "absorbing" else EXPRESSIONS[:3]))
    agent = skills[expression]
    task, actions = agent.task, np.asarray(agent.actions)
    steps = task.steps
    ends = dict(zip(world.goals.tolist(), task.goal_reward.tolist(), strict=True))
    dense = np.zeros_like(p)
    for pair in range(world.n_states * world.n_actions):
        rows = slice(world.offset[pair], world.offset[pair + 1])
        s, a = divmod(pair, world.n_actions)
        np.add.at(dense[s, a], world.successor[rows], world.probability[rows])
    counts["agents"] += 1
    certificate = agent.certificate()
    loss = certificate.loss
    own = oracle.policy_value(dense, steps, ends, actions)[loss.starts]
    if not _same(own, loss.returns):
        yield f"{expression}: returns {loss.returns} of the certificate, evaluated {own}"
    better = agent.improve()
    scale = space.reward_scale
    if not oracle.is_optimal(dense, steps, ends, better.actions, CLOSE * scale):
        yield f"{expression}: the improved policy is not optimal"
        return
    best = oracle.policy_value(dense, steps, ends, better.actions)[loss.starts]
    if not _same(best, loss.optimum):
        yield f"{expression}: the certificate's optimum is {loss.optimum}, the improved {best}"
    free = not world.deterministic and (steps[~world.is_goal] == 0.0).any()
    counts["free"] += bool(free)
    certified = better.certificate().optimal and better.improvement.optimal
    if not certified or not (free or better.certificate(exact=False).bound <= CLOSE * scale):
        yield f"{expression}: the improved agent is not certified"
    with np.errstate(invalid="ignore"):
        lost = np.where(best == own, 0.0, best - own)
    bounds = agent.certificate(exact=False).loss.bounds
    if (bounds < lost - CLOSE * scale).any():
        yield f"{expression}: bound {bounds}, loss {lost}"
    if not free and (lost.max() <= CLOSE * scale) != (bounds.max() <= CLOSE * scale):
        everywhere = oracle.is_optimal(dense, steps, ends, actions, CLOSE * scale)
        if everywhere or bounds.max() <= CLOSE * scale:
            yield f"{expression}: the bound is {bounds.max()}, the loss {lost.max()}"
    bracket = skills.bounds(expression)
    low, high = (each[loss.starts] for each in (bracket.lower, bracket.upper))
    if (low > best + CLOSE * scale).any() or (high < best - CLOSE * scale).any():
        yield f"{expression}: V* is {best}, not between {low} and {high}"
    if CLOSE * scale < lost.max() < np.inf:
        counts["short"] += 1
        ratios.append(float(bounds.max() / lost.max()))
    if kind == "planned" and not world.deterministic:
        nothing = made_proper(world, task.goal_reward, np.zeros(world.n_states, np.int64))
        anew = improved(world, steps, task.goal_reward, nothing)
        fewer.append(better.improvement.sweeps < anew.sweeps)
    counts["rounds"] = max(counts["rounds"], better.improvement.rounds)


def _same(one, other) -> bool:
    return bool(np.allclose(one, other, rtol=CLOSE, atol=CLOSE))


def _task(rng, space, kind) -> ta.Task:
    desired = rng.random(space.n_goals) < 0.5
    if not desired.any():
        desired[rng.integers(space.n_goals)] = True
    if kind == "levels":
        levels = rng.choice([0.0, 0.25, 0.5, 1.0], space.n_goals)
        return space.from_rewards(space.r_empty + levels * (space.r_universal - space.r_empty))
    if kind == "dense":
        steps = space.mdp.step_reward * rng.choice([0.5, 1.0, 2.0], space.mdp.step_reward.shape)
        return space.from_rewards(np.where(desired, space.r_universal, space.r_empty), steps)
    return space.from_desired(desired)


def _skills(rng, space, tasks, kind) -> ta.Skills:
    if kind == "by the letter":
        return ta.solve(space, tasks, r_bar_min=r_bar_min_of(space))
    if kind == "noisy":
        family = ta.solve(space, tasks).family
        assert isinstance(family, TableFamily)
        tables = [family.bounds.tables.universal, family.bounds.tables.empty]
        tables += [values.table for values in family.values]
        size = rng.choice([0.01, 0.3, 2.0])
        noisy = [table + rng.normal(0.0, size, table.shape) for table in tables]
        low = family.r_bar_min
        made = TableFamily.of(space, tasks, noisy, r_bar_min=low, error_bound=None)
        return ta.Skills(made)
    if kind == "absorbing" and space.mdp.ending.all():
        env = ta.FiniteEnv(space, tasks, shared_absorbing=False)
        learner = ta.QLearning(steps=int(rng.choice([300, 5_000])))
        try:
            return ta.learn(env, tasks, learner=learner, seed=int(rng.integers(1000)))
        except ValueError:  # some goal was never met
            pass
    return ta.solve(space, tasks)
