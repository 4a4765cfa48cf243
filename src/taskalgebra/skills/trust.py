"""How good agents are, and how they are made optimal.

In a finite world all is exact: what an agent earns from every start, what it loses, and a bound on
the loss that needs no optimum (`planning.bounds`).  The composed policy is made optimal by policy
iteration (`planning.improvement`).  An open world is known by playing it: there a certificate holds
confidence intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from taskalgebra.arrays import Array, LongArray
from taskalgebra.evaluation.record import NORMAL_95, Episodes
from taskalgebra.evaluation.rollout import episodes_of
from taskalgebra.learning.onward import Experience, OnwardPolicy, learn_onward
from taskalgebra.planning.exact import optimal_v
from taskalgebra.planning.horizon import optimal_within
from taskalgebra.planning.improvement import MOST_ROUNDS, Improvement, improved
from taskalgebra.planning.losses import at_starts, loss_of
from taskalgebra.planning.policies import able
from taskalgebra.planning.policy_iteration import ConvergenceError
from taskalgebra.planning.product import VIOLATED, Product, TooLargeError
from taskalgebra.planning.timed import TimedPolicy, best_within, returns_within
from taskalgebra.progress import Listener, Meter, require_listener
from taskalgebra.skills.plans import Plan
from taskalgebra.theory.certificate import (
    Certificate,
    Loss,
    Played,
    advised,
    exact_values,
    mild_penalty,
    not_known,
)
from taskalgebra.theory.family import Family, TableFamily
from taskalgebra.theory.findings import LIMIT, Finding
from taskalgebra.theory.goal_env import MAX_EPISODE_STEPS, GoalEnv
from taskalgebra.theory.policy import GreedyPolicy, Policy, TablePolicy
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import ExtendedQ, GoalSetQ
from taskalgebra.validation import checked_seed, count, number

LARGEST_LINE = 50_000
"""States up to which an evaluation also says what is lost, exactly."""
MOST_COMPARED = 8
"""Agents that go for one goal each, beside which another one is played."""
PLAYED = 200
"""Episodes of a certificate in an open world, if none are given."""


def findings_of(task: Task, family: Family) -> tuple[Finding, ...]:
    """What a composed agent needs to be optimal, and whether it has it."""
    space = task.space
    if space.finite:
        found = [f for f in space.check([*family.tasks.values(), task]).for_optimality]
        found = [f for f in found if f.name != LIMIT]
    else:
        found = [not_known("Assumption 1(ii)")]
    low = family.r_bar_min
    if low is not None and (space.finite or isinstance(family, TableFamily)):
        found.append(mild_penalty(space, low))
    row_error = space.mdp.row_error if space.finite else 0.0
    return (*found, exact_values(family.error_bound, row_error))


def loss_of_task(
    task: Task, actions: LongArray, *, exact: bool = True, optimum: Array | None = None
) -> Loss:
    """What a policy loses, from every start of a finite world.

    Args:
        task: what is paid.
        actions: `[S]`, the policy.
        exact: whether to plan the optimum, where the bound leaves a loss possible.
        optimum: `[S]`, V*, if it is known.
    """
    space = task.space
    return loss_of(
        space.mdp,
        task.steps,
        task.goal_reward,
        actions,
        scale=space.reward_scale,
        optimum=(lambda: optimal_v(task) if optimum is None else optimum) if exact else None,
    )


def with_loss(certificate: Certificate, loss: Callable[[], Loss | None]) -> Certificate:
    """A certificate with what is lost; without, where episodes are too long to be evaluated."""
    try:
        return replace(certificate, loss=loss())
    except ConvergenceError as error:
        return replace(certificate, note="; ".join(filter(None, [certificate.note, str(error)])))


def in_a_line(task: Task, actions: LongArray, optimum: Array) -> str:
    """What a policy loses, in a line; "" in a world too large to be gone through for it."""
    if task.space.mdp.n_states > LARGEST_LINE:
        return ""
    try:
        return advised(loss_of_task(task, actions, optimum=optimum))
    except ConvergenceError:
        return ""


def line_within(task: Task, policy: TimedPolicy) -> str:
    """What a policy for the time left loses, in a line."""
    return advised(loss_within(task, policy))


def loss_within(task: Task, policy: TimedPolicy) -> Loss:
    """What a policy for the time left loses, from every start, in episodes of its horizon."""
    mdp = task.space.mdp
    best = optimal_within(task, policy.horizon)
    scale = task.space.reward_scale
    own = returns_within(task, policy)
    return at_starts(
        mdp.starts, own, best, lambda: best, mdp.state_name, scale=scale, cells=mdp.cells
    )


def refuse_episodes(episodes: int | None) -> None:
    """Reject a number of episodes for a certificate of a finite world."""
    if episodes is not None:
        raise ValueError(
            f"episodes is {episodes}, but in a finite world a certificate is exact, and nothing is "
            f"played for it; leave episodes out, or play them with agent.evaluate(episodes)"
        )


def limit_note(task: Task) -> str:
    """What is said of an environment's own limit, where it was not planned for."""
    return task.space.mdp.limit_ignored


def compared(
    task: Task, family: Family, env: GoalEnv, policy: Policy, episodes: int | None, seed: int
) -> Played:
    """What a policy earns by play in an open world, beside the best that is known.

    That is the optimum, if the environment tells it.  Else the agents that go for one wanted goal
    each play the same episodes, and the best of them counts.
    """
    episodes = PLAYED if episodes is None else count(episodes, "episodes", least=2)
    seed = checked_seed(seed)
    limit = env.max_episode_steps or MAX_EPISODE_STEPS
    copies = env.vector(min(episodes, env.max_copies), task=task)

    def by(policy: Policy) -> Episodes:
        with Meter("playing") as meter:
            return episodes_of(
                task,
                copies,
                policy,
                episodes=episodes,
                max_steps=limit,
                seed=seed,
                listener=meter,
            )

    try:
        own = by(policy)
        best, name = None, ""
        if np.isnan(own.optimal_returns).any():
            names = task.space.goal_names
            wanted = np.flatnonzero(task.wanted)
            for goal in wanted[:MOST_COMPARED] if wanted.size > 1 else ():
                one = family.policy(GoalSetQ(np.arange(len(names)) == goal, family.bounds))
                other = by(one)
                if other.returns.mean() > (own if best is None else best).returns.mean():
                    best, name, winner = other, f"always going to {names[goal]!r}", one
            if wanted.size > 1 and best is None:
                which = "wanted goal"
                if wanted.size > MOST_COMPARED:
                    which = f"one of {MOST_COMPARED} wanted goals"
                name = f"the best agent that always goes to the same {which}"
            if best is not None:  # it was chosen on these episodes, so others judge it
                seed += episodes
                own, best = by(policy), by(winner)
        return played(own, best, name)
    finally:
        copies.close()


def improve_task(
    task: Task,
    policy: Policy,
    actions: LongArray,
    guess: Array,
    *,
    gap: float = 0.0,
    rounds: int | None = None,
) -> tuple[Policy, Improvement]:
    """A better policy of a finite world, and what it took."""
    if isinstance(policy, TimedPolicy):
        if gap or rounds is not None:
            raise ValueError(
                "an agent with a horizon is improved by backward induction, all at once; leave "
                "gap and rounds out"
            )
        table, returns = best_within(task, policy.horizon)
        first = table.table[-1]
        return table, Improvement(first, returns, 1, float(len(table.table)), 0.0)
    gap, rounds = _checked(gap, rounds)
    mdp = task.space.mdp
    found = improved(
        mdp, task.steps, task.goal_reward, actions, guess=guess, gap=gap, rounds=rounds
    )
    return TablePolicy(found.actions), found


def improve_by_playing(
    env: GoalEnv,
    task: Task,
    policy: Policy,
    values: ExtendedQ,
    episodes: int,
    seed: int,
    listener: Listener | None,
) -> tuple[Policy, Experience]:
    """A policy that learned on from composed values, and what it took."""
    require_listener(listener)
    if isinstance(policy, OnwardPolicy | TablePolicy):
        raise ValueError(
            "this agent was improved already; improve the composed one with more episodes"
        )
    if not isinstance(policy, GreedyPolicy):
        raise TypeError(
            f"learning on needs values of numbered actions, and this agent acts by "
            f"{type(policy).__name__}, which has none"
        )
    with Meter("learning", shown=listener is None) as meter:
        return learn_onward(
            env, task, values, episodes=episodes, seed=seed, listener=listener or meter
        )


def _checked(gap: float, rounds: int | None) -> tuple[float, int]:
    least = number(gap, "gap", "a number of at least 0", least=0.0)
    return least, MOST_ROUNDS if rounds is None else count(rounds, "rounds", most=MOST_ROUNDS)


def play_it(env: GoalEnv | None) -> str:
    """What is said of a formula where nothing is exact: play it, if its episodes can go on."""
    goes_on = env is not None and type(env).continuing is not GoalEnv.continuing
    return "agent.evaluate() says how often it succeeds" if goes_on else ""


def product_of(plan: Plan) -> Product | None:
    """The product of a plan's world and automaton; None if there is none, or it is too large."""
    if not plan.family.space.finite:
        return None
    try:
        return plan.product
    except TooLargeError:
        return None


def on_product(plan: Plan) -> LongArray:
    """[U, S], the action of a plan in every pair of the product."""
    pairs, policy = plan.product, plan.policy()
    table = np.zeros((plan.labelled.automaton.n_states, pairs.world.n_states), np.int64)
    for u in pairs.live:
        table[u, pairs.states] = policy.in_state(int(u), pairs.states)
    return table


def loss_of_formula(plan: Plan, table: LongArray, *, exact: bool) -> Loss | None:
    """What a policy `[U, S]` of a formula loses, from every start that can satisfy it."""
    pairs = product_of(plan)
    if pairs is None:
        return None
    starts, terminal = _able(pairs), _terminal(pairs)
    if not starts.size:
        return None
    u = int(plan.labelled.automaton.start)
    numbers = pairs.number(starts, u)
    state_of = dict(zip(numbers.tolist(), starts.tolist(), strict=True))
    cells = None
    if pairs.world.cells is not None:
        cells = np.zeros((pairs.mdp.n_states, 2), np.int64)
        cells[numbers] = pairs.world.cells[starts]
    found = loss_of(
        pairs.mdp,
        pairs.task.steps,
        terminal,
        pairs.flat(table),
        scale=pairs.task.space.reward_scale,
        starts=numbers,
        optimum=(lambda: pairs.q.max(axis=1)) if exact else None,
        name=lambda pair: pairs.world.state_name(state_of[pair]),
        cells=cells,
    )
    return replace(found, violation=0.0 if plan.toll is None else float(-plan.toll.min()))


def improve_formula(
    plan: Plan, table: LongArray, *, gap: float = 0.0, rounds: int | None = None
) -> tuple[Plan, Improvement]:
    """A plan on the product that starts from a policy `[U, S]`, and what it took.

    Raises:
        ValueError: the world is open, or the product is too large.
    """
    gap, rounds = _checked(gap, rounds)
    if not plan.family.space.finite:
        raise ValueError(_OPEN)
    pairs = plan.product
    found = improved(
        pairs.mdp, pairs.task.steps, _terminal(pairs), pairs.flat(table), gap=gap, rounds=rounds
    )
    better = pairs.table(found.actions, 0).astype(np.int64)
    method = "improved on the product of the world and the automaton"
    known = [exact_values(0.0, plan.ways.row_error)] if plan.ways.row_error else []
    if not found.optimal:
        said = f"improving was stopped {found}, at most {found.gap:.2g} from the optimum"
        known.append(Finding("improved to the end", "gap, rounds", False, said))
    made = replace(
        plan,
        table=better,
        values=pairs.table(found.returns, -np.inf),
        certificate=Certificate(tuple(known), method),
    )
    return made, found


_OPEN = (
    "an open world has no states to plan with: its values are improved by learning; for a Boolean "
    "task, agent.improve(episodes=...), and for a formula, learn its base tasks longer"
)


def _terminal(pairs: Product) -> Array:
    """What the ends of a product pay: in a deterministic world a violation is never chosen."""
    terminal = pairs.task.goal_reward.copy()
    if pairs.mdp.deterministic:
        terminal[VIOLATED] = -np.inf
    return terminal


def _able(pairs: Product) -> LongArray:
    """The starts from which the formula can be satisfied."""
    starts = pairs.world.starts.astype(np.int64)
    numbers = pairs.number(starts, int(pairs.labelled.automaton.start))
    return starts[able(pairs.mdp, _terminal(pairs))[numbers] & ~pairs.stuck[numbers]]


def played(own: Episodes, best: Episodes | None, name: str) -> Played:
    """Episodes of an agent beside those of the best known, from the same seeds."""
    if best is not None:
        reference = best.returns
    elif np.isnan(own.optimal_returns).any():
        reference = own.returns
    else:
        reference, name = own.optimal_returns, "the best policy"
    middle, half = _mean(own.returns)
    lost, more = _mean(reference - own.returns)
    return Played(
        own.returns.size,
        middle,
        (middle - half, middle + half),
        name,
        float(reference.mean()),
        (lost - more, lost + more),
    )


def _mean(values: Array) -> tuple[float, float]:
    """The mean, and half the width of its 95 % interval."""
    n = values.size
    deviation = float(values.std(ddof=1)) if n > 1 else 0.0
    return float(values.mean()), NORMAL_95 * deviation / float(np.sqrt(n))
