"""Agents for tasks with time: "coffee, then the office, never a decoration".

    agent = skills["F(coffee & F office) & G !decoration"]

Nothing is learned or planned for the formula but a small graph (`skills.plans`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import and_, invert, or_, xor
from typing import Any, Protocol, final

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.evaluation.record import Evaluation
from taskalgebra.evaluation.temporal import play_formula, play_real
from taskalgebra.logic.algebra import BooleanElement
from taskalgebra.logic.expression import Expression
from taskalgebra.planning.feasible import from_here
from taskalgebra.planning.improvement import Improvement
from taskalgebra.planning.layouts import LayoutPolicy
from taskalgebra.planning.product import TooLargeError
from taskalgebra.planning.temporal import violations_in
from taskalgebra.progress import Listener, Meter, require_listener
from taskalgebra.skills import trust
from taskalgebra.skills.plans import Plan
from taskalgebra.skills.shown.formula import ShownFormula
from taskalgebra.skills.walks import Walk, in_product, walk
from taskalgebra.theory.certificate import Certificate
from taskalgebra.theory.family import Family
from taskalgebra.theory.goal_env import MAX_EPISODE_STEPS, GoalEnv, goals_entered
from taskalgebra.validation import checked_seed, count


class Source(Protocol):
    """The skills that an agent comes from."""

    family: Family
    env: GoalEnv | None

    def __getitem__(self, key: Expression) -> Any:
        """The agent for an expression."""


@final
class TemporalAgent(ShownFormula):
    """An agent for a formula over time; it keeps the state of the automaton in mind.

    `reset` begins an episode, `act` chooses an action, `observe` is told what the step led to.
    """

    _held = ("skills", "expression", "plan", "avoided", "improvement")  # not the episode

    def __init__(
        self,
        skills: Source,
        formula: Expression,
        plan: Plan,
        avoided: BoolArray | None = None,
        improvement: Improvement | None = None,
    ) -> None:
        """Begin an episode; `avoided`, `[G]`, are goals that count as violations."""
        self.skills, self.expression, self.plan, self.avoided = skills, formula, plan, avoided
        self.policy, self.improvement = plan.policy(), improvement

    @property
    def states(self) -> LongArray:
        """[B], the state of the automaton in each episode of the batch."""
        return self.policy.states

    def certificate(self, *, exact: bool = True) -> Certificate:
        """How good the agent is, by which construction, and which assumption is to blame.

        In a finite world all figures are exact, on the product with the automaton, from every start
        that can satisfy the formula.  Elsewhere only the assumptions are known.

        Args:
            exact: whether to plan the optimum where the bound leaves a loss possible.
        """
        plan, certificate = self.plan, self.plan.certificate
        if certificate.optimal:
            return certificate
        if trust.product_of(plan) is None:
            return replace(certificate, note=trust.play_it(self.skills.env))
        return trust.with_loss(
            certificate, lambda: trust.loss_of_formula(plan, trust.on_product(plan), exact=exact)
        )

    def improve(self, *, gap: float = 0.0, rounds: int | None = None) -> TemporalAgent:
        """The optimal agent of the formula, by policy iteration on the product from this one.

        Args:
            gap: how far from the optimum the agent may stay, from any start.
            rounds: the most rounds.

        Raises:
            TypeError: the world is open.
        """
        self._finite("improve()")
        product = trust.on_product(self.plan)
        plan, took = trust.improve_formula(self.plan, product, gap=gap, rounds=rounds)
        return TemporalAgent(self.skills, self.expression, plan, self.avoided, took)

    def reset(self, begins: ArrayLike = (True,)) -> None:
        """Episodes begin in these places of a batch."""
        given = np.atleast_1d(np.asarray(begins))
        if given.ndim != 1 or not given.size or not np.isin(given, (0, 1)).all():
            raise ValueError(
                f"begins is {begins!r}, expected one truth value for each episode of the batch"
            )
        self.policy.reset(given.astype(np.bool_))

    def act(self, observations: Any, env: Any = None) -> Any:
        """The action for one observation, or the actions for a batch, one for each episode."""
        world = self.skills.env
        if world is None:
            return self.policy.act(observations)
        return world.own_actions(self.policy.act(world.see(observations, env)), env)

    def observe(self, reached: Any) -> None:
        """Take note of a step.

        Args:
            reached: the info of the step, where `info["goal"]` is the goal that it entered; or that
                number itself, or one for each episode of a batch; −1 for no goal.
        """
        n = self.policy.states.size
        infos = reached if isinstance(reached, Mapping) else {"goal": reached}
        if "goal" not in infos:
            raise ValueError(
                'the info of the step has no "goal", so that nothing is known of what it entered; '
                "copies of skills.env.continuing(n) say it. In an environment of your own give its "
                "number: agent.observe(skills.env.entered(observation, info, env))"
            )
        goals = goals_entered(infos, n, self.skills.family.space.n_goals)
        self.policy.observe(goals)

    def v(self, observations: ArrayLike) -> Array:
        """[B], the value of beginning an episode there; −∞ where it cannot be satisfied.

        Of one observation it is one number.
        """
        given, one = self._batch(observations)
        values = self.policy.value(given)
        return values[0] if one else values

    def _batch(self, observations: ArrayLike) -> tuple[NDArray[Any], bool]:
        """A batch of observations, and whether only one was given."""
        given, n = np.asarray(observations), self.policy.observation_ndim
        if given.ndim not in (n, n + 1) or not given.size:
            raise ValueError(
                f"observations have shape {given.shape}, expected one observation, which has {n} "
                f"axes here, or a batch of at least one"
            )
        return (given[None], True) if given.ndim == n else (given, False)

    def violations(self, observations: ArrayLike) -> LongArray:
        """[B], the fewest violations from there, of an agent that counts them; −1 for no way.

        Raises:
            TypeError: it is the agent of a formula, which does not count violations.
        """
        given, one = self._batch(observations)
        if self.avoided is None:
            raise TypeError(
                f"the agent for {self.expression} counts no violations; those of "
                f"skills.fewest_violations(...) and skills.avoiding(...) do"
            )
        if isinstance(self.policy, LayoutPolicy):
            found = self.policy.violations(given)
        else:
            toll = self.plan.toll
            cost = 0.0 if toll is None else -float(toll.min(initial=0.0))
            lost = self.plan.success - self.policy.value(given)
            found = violations_in(lost, cost, self.skills.family.space.n_goals)
        return found[0] if one else found

    def why_not(self, observation: Any) -> str:
        """Why the formula cannot be satisfied from there, in a sentence; "" if it can."""
        given, _ = self._batch(observation)
        if len(given) != 1:
            raise ValueError(f"why_not takes one observation, got {len(given)}")
        if self.policy.value(given)[0] > -np.inf:
            return ""
        space, ways = self.skills.family.space, self.plan.ways
        between = ways.between
        if isinstance(self.policy, LayoutPolicy):
            between = self.policy.between(given)[0]
        assert between is not None
        ahead = np.asarray(ways.reach.returns(given)).max(axis=2)[0]
        place = space.mdp.state_name(int(given[0])) if space.finite else "this observation"
        if self.skills.family.error_bound is None and not (ahead > -np.inf).any():
            return f"from {place} no way to any goal was learned"
        return from_here(place, ahead, between, self.plan.labelled, space.goal_names)

    def evaluate(
        self,
        episodes: int = 1000,
        *,
        seed: int = 0,
        max_steps: int | None = None,
        listener: Listener | None = None,
    ) -> Evaluation:
        """Play episodes from random starts, and compare with the optimum.

        An episode ends at the first step after which the formula is satisfied, or can no longer be.
        In a finite world the optimum is that of the product with the automaton, and starts from
        which the formula cannot be satisfied are left out; `note` says how many.  In an open one
        the agent plays in `skills.env`.

        Args:
            episodes: how many.
            seed: equal seeds play equal episodes.
            max_steps: an episode is cut off after this many steps.
            listener: receives progress; by default a terminal or the log shows it.
        """
        seed = checked_seed(seed)
        require_listener(listener)
        with Meter("playing", shown=listener is None) as meter:
            told = listener or meter
            if self.skills.family.space.finite and self.plan.toll is None:
                try:
                    return self._in_product(episodes, seed, max_steps, told)
                except TooLargeError:
                    pass
            env, space = self.skills.env, self.skills.family.space
            if env is None and space.finite:
                env = FiniteEnv(space)
            if env is None:
                raise ValueError("these skills have no environment to play in; give one to load")
            limit = self._limit(max_steps, env)
            copies = env.continuing(min(count(episodes, "episodes"), env.max_copies))
            try:
                return play_formula(
                    copies,
                    self.plan.policy(),
                    self.plan.success,
                    episodes=episodes,
                    max_steps=limit,
                    seed=seed,
                    avoided=self.avoided,
                    listener=told,
                )
            finally:
                copies.close()

    def _in_product(
        self, episodes: int, seed: int, max_steps: int | None, listener: Listener
    ) -> Evaluation:
        found = in_product(
            self.plan, trust.on_product(self.plan), episodes, seed, max_steps, listener
        )
        if found is None:
            start = int(self.plan.product.world.starts[0])
            raise ValueError(
                f"{self.expression} cannot be satisfied from any start: {self.why_not(start)}"
            )
        return found

    def play(
        self,
        env: gym.Env[Any, Any] | None = None,
        *,
        episodes: int = 10,
        seed: int = 0,
        max_steps: int | None = None,
    ) -> Evaluation:
        """Play episodes in a real environment, one that a world was made from.

        An episode ends when the formula is satisfied or violated, or when the environment ends it.
        Returns are what the environment itself pays.

        Args:
            env: the environment, with any wrappers; it is not closed.  By default one is made.
            episodes: how many.
            seed: equal seeds play equal episodes; an explored world has seeds of its own.
            max_steps: an episode is cut off after this many steps.
        """
        world = self.skills.env
        if world is None:
            raise ValueError("these skills have no environment to play in; give one to load")
        played = world.make() if env is None else env
        limit = self._limit(max_steps, world)
        try:
            return play_real(
                world,
                played,
                self.plan.policy(),
                episodes=episodes,
                max_steps=limit,
                seed=checked_seed(seed),
            )
        finally:
            if env is None:
                played.close()

    @staticmethod
    def _limit(max_steps: int | None, env: GoalEnv) -> int:
        if max_steps is None:
            return env.max_episode_steps or MAX_EPISODE_STEPS
        return count(max_steps, "max_steps")

    def walk(self, start: int, *, seed: int = 0, max_steps: int = MAX_EPISODE_STEPS) -> Walk:
        """One episode of a finite world from a state, up to its end or the limit."""
        return walk(self._finite("walk"), self.plan, start, seed=seed, max_steps=max_steps)

    def __and__(self, other: BooleanElement) -> TemporalAgent:
        """The agent for both formulas."""
        return self._apply(and_, other)

    def __or__(self, other: BooleanElement) -> TemporalAgent:
        """The agent for either formula."""
        return self._apply(or_, other)

    def __xor__(self, other: BooleanElement) -> TemporalAgent:
        """The agent for exactly one of the formulas."""
        return self._apply(xor, other)

    def __invert__(self) -> TemporalAgent:
        """The agent for all other traces."""
        return self._apply(invert)

    def _apply(self, operation: Callable[..., Any], *others: BooleanElement) -> TemporalAgent:
        agents = [self]
        for other in others:
            if not isinstance(other, TemporalAgent):
                raise TypeError(
                    f"cannot compose an agent for a formula over time with {other!r}; write one "
                    f"formula: skills[...]"
                )
            if other.skills is not self.skills:
                raise ValueError("these agents come from different skills; compose agents of one")
            agents.append(other)
        if any(agent.plan.toll is not None for agent in agents):
            raise ValueError(
                "agents with the fewest violations compose by their tasks, not by their formulas; "
                'write skills.fewest_violations("a & b")'
            )
        found: TemporalAgent = self.skills[operation(*(agent.expression for agent in agents))]
        return found

    def __repr__(self) -> str:
        """The formula, and the size of its automaton."""
        counts = "" if self.plan.toll is None else ", fewest violations"
        return f"TemporalAgent({str(self.expression)!r}, {self.automaton.n_states} states{counts})"
