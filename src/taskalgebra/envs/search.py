"""A search for all states of an environment, breadth first, and for what contradicts the table."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, final

import numpy as np

from taskalgebra.envs.simulate import Copied, Outcome, Simulator
from taskalgebra.progress import Event, Listener
from taskalgebra.worlds.finite import NO_GOAL

ALL_AGAIN = 1_000
"""Pairs of a state and an action up to which each is looked at twice; beyond, one per state."""
REPORTED_EVERY = 100
"""States between two reports of progress."""
FEWEST, MOST = 1_000, 10_000
"""Steps that are walked at random through the environment itself, per seed."""
AGAIN = 0.02
"""The share of these at which a walk starts anew."""

Ends = dict[tuple[int, int], int]
"""Where actions led: by state and action, a state, or −1 − g for goal g."""


@final
class Search:
    """States that were found, in the order in which they were found, and what actions do there."""

    def __init__(
        self, simulator: Simulator, limit: int, samples: int, continuing: bool = False
    ) -> None:
        """Nothing is found yet.

        With `continuing`, episodes outlive goals: every state in which the label gives a goal is a
        goal of its own, and a state from which the search goes on.
        """
        self.simulator, self.limit, self.samples = simulator, limit, samples
        self.continuing = continuing
        self.kinds: list[int] = []  # what the label gave in each goal, if they are told apart
        self.n_actions = len(simulator.rules.hands.names)
        self.number: dict[Hashable, int] = {}
        self.goal_at: dict[Hashable, int] = {}  # where episodes ended
        self.rows: list[tuple[int, int, int, float, float]] = []  # goals g as −1 − g
        self.starts: list[int] = []
        self._saved: list[Any] = []
        self._rng = np.random.default_rng(0) if isinstance(simulator, Copied) else None

    def from_start(self, seed: int, listener: Listener) -> None:
        """Find all states of the episodes of a seed, whose layout the environment then has."""
        start = self.simulator.start(seed)
        first = len(self._saved)
        self.starts.append(self._known(start))
        s = first
        while s < len(self._saved):
            for a in range(self.n_actions):
                self._try(s, a)
            s += 1
            if s % REPORTED_EVERY == 0:
                listener(Event(f"{len(self._saved):,} states", s / len(self._saved)))
        if self.samples == 1:
            end = {(s, a): end for s, a, end, _, _ in self.rows}
            self._look_again(end, first)
            self._walk(end, seed)
        self._saved[first:] = [None] * (len(self._saved) - first)

    def _try(self, s: int, a: int) -> None:
        seen: dict[int, int] = {}
        paid: dict[int, float] = {}
        for _ in range(self.samples):
            found = self.simulator.outcome(
                self._saved[s], a, self._rng if self.samples > 1 else None
            )
            end = self._end(found)
            seen[end] = seen.get(end, 0) + 1
            paid[end] = paid.get(end, 0.0) + found.paid
        for end, n in seen.items():
            self.rows.append((s, a, end, n / self.samples, paid[end] / n))

    def _end(self, found: Outcome) -> int:
        """The state that an action led to, or −1 − g."""
        if found.goal == NO_GOAL:
            return self._known(found)
        if self.continuing and found.key not in self.goal_at:
            self.goal_at[found.key] = len(self.kinds)
            self.kinds.append(found.goal)
            if not found.ended:
                self._known(found)
        elif not self.continuing:
            self.goal_at[found.key] = found.goal
        return -1 - self.goal_at[found.key]

    def _known(self, found: Outcome) -> int:
        """The number of a state, a new one if it was not met before."""
        s = self.number.get(found.key)
        if s is None:
            if len(self._saved) == self.limit:
                raise ValueError(
                    f"there are more than {self.limit:,} states; use fewer actions, those that "
                    f"matter: wrap(..., actions={{name: action}}), give fewer seeds, or allow more "
                    f"states: explore(..., limit=...)"
                )
            s = self.number[found.key] = len(self._saved)
            self._saved.append(found.saved)
        return s

    def _look_again(self, end: Ends, first: int) -> None:
        """Try actions once more in the same states, all of them or one in each."""
        few = len(end) <= ALL_AGAIN
        for (s, a), before in end.items():
            if s >= first and (few or a == s % self.n_actions):
                self._compare(s, a, before, self.simulator.outcome(self._saved[s], a, self._rng))

    def _walk(self, end: Ends, seed: int) -> None:
        """Act at random in the environment itself, which must do what the table says.

        That shows what no second look from the same state can: parts of a state that are neither
        saved nor seen, such as a count of steps.
        """
        rng = np.random.default_rng(seed)
        actions = rng.integers(self.n_actions, size=min(max(FEWEST, len(self._saved)), MOST))
        s = NO_GOAL
        for a in map(int, actions):
            if s < 0 or rng.random() < AGAIN:
                s = self._start_again(seed)
            self._compare(s, a, end[s, a], self.simulator.on(a))
            s = end[s, a]

    def _start_again(self, seed: int) -> int:
        """The state in which the episodes of a seed begin."""
        if self.number.get(self.simulator.start(seed).key) != self.starts[-1]:
            raise ValueError(
                f"two episodes with seed {seed} began in different states; an environment that is "
                f"explored begins equal episodes for equal seeds: let reset(seed=...) seed all of "
                f"its chance"
            )
        return self.starts[-1]

    def _compare(self, s: int, a: int, before: int, found: Outcome) -> None:
        """Refuse an outcome that differs from the one before."""
        after = self.number.get(found.key, self.limit)
        if found.goal != NO_GOAL:
            goal = self.goal_at.get(found.key) if self.continuing else found.goal
            after = self.limit if goal is None else -1 - goal
        if after == before:
            return
        names = self.simulator.rules.goals.names
        if self.continuing:
            names = tuple(names[kind] for kind in self.kinds)
        here, there = (
            f"goal {names[-1 - end]!r}" if end < 0 else f"state {end}" for end in (before, after)
        )
        there = "a new state" if after == self.limit else there
        more = (
            "observations do not tell states apart: give save= and restore="
            if isinstance(self.simulator, Copied)
            else "save does not give all of its state"
        )
        raise ValueError(
            f"action {self.simulator.rules.hands.names[a]!r} in state {s} led to {here} and then "
            f"to {there}; the environment is not deterministic: estimate what actions do, "
            f"explore(..., samples=1000); or {more}"
        )
