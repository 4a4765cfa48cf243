"""What an agent for a formula does in a finite world: step by step, and on the map."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol, final

import numpy as np

from taskalgebra.arrays import Array, LongArray
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.evaluation.exact import rollouts, rollouts_on_the_way
from taskalgebra.evaluation.record import Evaluation
from taskalgebra.evaluation.rows import kept
from taskalgebra.planning.exact import optimal_v
from taskalgebra.planning.planned import PlannedFamily
from taskalgebra.planning.policy_iteration import ConvergenceError
from taskalgebra.progress import Listener
from taskalgebra.skills.plans import Plan
from taskalgebra.skills.trust import LARGEST_LINE, in_a_line, loss_of_formula
from taskalgebra.theory.certificate import advised
from taskalgebra.theory.family import Family
from taskalgebra.theory.policy import Policy
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import checked_seed, count

ELSEWHERE = (
    "where actions slip, episodes may end in other goals through no fault of the agent: accidents "
    "happen"
)
"""Said of agents that do not always end in a wanted goal of a stochastic world."""
LONG_WAYS = (
    ", and another goal may pay more than a long way; a higher r_universal makes longer ways worth "
    "it"
)
"""Added where steps cost something."""
RISKS = (
    "where actions slip, some violations are accidents, and some are risks that are taken to save "
    "steps; a higher r_universal makes agents take fewer"
)
"""Said of agents for formulas that do not always succeed in a stochastic world."""


@final
@dataclass(frozen=True)
class Walk:
    """One episode in a finite world, step by step."""

    states: tuple[int, ...]  # of the world, one more than actions
    actions: tuple[int, ...]
    goals: tuple[int, ...]  # that each step entered, −1 for none
    progress: tuple[int, ...]  # the states of the automaton, one more than actions
    total: float  # the return
    satisfied: bool


def walk(space: TaskSpace, plan: Plan, start: int, *, seed: int, max_steps: int) -> Walk:
    """One episode from a state, up to its end or the limit."""
    automaton = plan.labelled.automaton
    start = count(start, "start", least=0, most=space.mdp.n_states - 1)
    max_steps = count(max_steps, "max_steps")
    env = FiniteEnv(space).continuing(1)
    env.reset(seed=checked_seed(seed), options={"state": start})
    policy = plan.policy()
    states, progress, total = [start], [int(automaton.start)], 0.0
    actions: list[int] = []
    goals: list[int] = []
    satisfied = False
    while len(actions) < max_steps:
        actions.append(int(policy.actions(np.array(states[-1:]))[0]))
        after, reward, _, _, infos = env.step(actions[-1:])
        policy.observe(infos["goal"])
        goals.append(int(infos["goal"][0]))
        states.append(int(after[0]))
        progress.append(int(policy.states[0]))
        total += float(reward[0])
        satisfied = bool(automaton.accepting[progress[-1]])
        if satisfied or automaton.dead[progress[-1]]:
            break
    total += plan.success * satisfied
    return Walk(tuple(states), tuple(actions), tuple(goals), tuple(progress), total, satisfied)


class Source(Protocol):
    """The skills of an agent."""

    @property
    def family(self) -> Family:
        """Its values."""


class Playing(Protocol):
    """An agent that is played in a finite world."""

    @property
    def skills(self) -> Source:
        """Where it comes from."""

    @property
    def task(self) -> Task:
        """What is paid."""

    @property
    def policy(self) -> Policy:
        """How it acts."""

    @property
    def improvement(self) -> object | None:
        """What made its policy another than the greedy one, if anything did."""

    @property
    def actions(self) -> LongArray:
        """[S], its action in every state."""


def in_tables(
    agent: Playing, episodes: int, seed: int, max_steps: int | None, listener: Listener
) -> Evaluation:
    """Episodes of an agent, beside the optimum of its task, and what it loses in a line.

    In a world too large for that line, an agent of planned returns is asked only in states that
    are met, and the optimum of the starts is read off the returns.
    """
    task, family = agent.task, agent.skills.family
    rng = np.random.default_rng(seed)
    many = task.space.mdp.n_states > LARGEST_LINE
    if many and isinstance(family, PlannedFamily) and agent.improvement is None:
        returns = family.reach.to_goals
        found = rollouts_on_the_way(
            task,
            agent.policy.actions,
            lambda states: returns.best(states, task.goal_reward),
            episodes=episodes,
            rng=rng,
            max_steps=max_steps,
            listener=listener,
        )
        return _noted(task, found, "")
    best = optimal_v(task)
    found = rollouts(
        task,
        agent.actions,
        best,
        episodes=episodes,
        rng=rng,
        max_steps=max_steps,
        listener=listener,
    )
    return _noted(task, found, in_a_line(task, agent.actions, best))


def _noted(task: Task, found: Evaluation, certificate: str) -> Evaluation:
    """An evaluation with what keeps the agent from desired goals, if anything does."""
    notes = task.remarks()
    if not notes and found.success_rate < 1.0 and task.wanted.any():
        worth = task.worth_the_way()
        if not worth.examined:
            notes = [worth.detail if task.space.mdp.deterministic else _accidents(task)]
    note = "; ".join(filter(None, [*notes, found.note]))
    return replace(found, note=note, certificate=certificate)


def _accidents(task: Task) -> str:
    """Why episodes in a stochastic world end in goals that are not wanted."""
    mdp = task.space.mdp
    costs = bool((mdp.step_reward[~mdp.is_goal] < 0).any())
    return ELSEWHERE + LONG_WAYS * costs


def in_product(
    plan: Plan,
    table: LongArray,
    episodes: int,
    seed: int,
    max_steps: int | None,
    listener: Listener,
) -> Evaluation | None:
    """Episodes of a policy `[U, S]` on the product, beside its optimum; None if no start is able.

    Starts from which the formula cannot be satisfied are left out.
    """
    pairs, u = plan.product, int(plan.labelled.automaton.start)
    world = pairs.world
    v_star = pairs.values[u]
    able = world.starts[v_star[world.starts] > -np.inf]
    if not able.size:
        return None
    starts = pairs.number(able, u)
    chosen = np.zeros(pairs.mdp.n_states)
    chosen[starts] = v_star[able]
    found = rollouts(
        pairs.task,
        pairs.flat(table),
        chosen,
        episodes=episodes,
        rng=np.random.default_rng(seed),
        max_steps=max_steps,
        starts=starts.astype(np.int32),
        listener=listener,
    )
    left_out = world.starts.size - able.size
    # The product pays for success by an action of its own, which is no step of an episode.
    ended = 1 - found.unfinished / found.episodes
    notes = []
    if left_out:
        notes.append(
            f"{left_out} of {world.starts.size} starts are left out: from there the formula cannot "
            f"be satisfied"
        )
    if found.success_rate < ended and not world.deterministic:
        notes.append(RISKS)
    loss = None
    if pairs.mdp.n_states <= LARGEST_LINE:
        with suppress(ConvergenceError):
            loss = loss_of_formula(plan, table, exact=True)
    return replace(
        found,
        mean_steps=found.mean_steps - ended,
        steps=kept(found.steps - ~found.cut_off),
        goals=kept(found.goals[:0]),  # those of the product, which are not the world's
        goal_names=(),
        note="; ".join(notes),
        violations=max(0.0, ended - found.success_rate),
        certificate="" if loss is None else advised(loss),
    )


def table_of(space: TaskSpace, plan: Plan, u: int) -> tuple[Array, LongArray]:
    """[S] values and [S] actions, with the automaton in state u."""
    mdp = space.mdp
    cells = np.flatnonzero(~mdp.is_goal)
    values, actions = np.full(mdp.n_states, -np.inf), np.zeros(mdp.n_states, np.int64)
    policy = plan.policy()
    values[cells] = policy.value(cells, u)
    actions[cells] = policy.in_state(u, cells)
    return values, actions


def signs_of(plan: Plan, u: int) -> list[str]:
    """[G], what entering each goal does with the automaton in state u.

    ◆ leads on, × violates the formula, ◇ changes nothing.
    """
    found, automaton = plan.labelled, plan.labelled.automaton
    return [
        "×" if automaton.dead[v] else "◇" if v == u and not automaton.accepting[v] else "◆"
        for v in found.at_goal[u].tolist()
    ]
