"""Worlds that remember how often some of their goals were visited.

"Until no mail is left" depends on the past of an episode, and a state must hold all of it that
matters.  `counting` makes it so: a state becomes a state and one counter per counted place, which
its goals raise and which stops at a limit; a goal becomes a goal and the counters *before* it was
entered.

    s' = (s, n₁ … n_K)        g' = (g, n₁ … n_K)        after g' the episode goes on in
    (resumes(g), n₁ … n_K)    with n_k + 1, but at most the limit, in place of n_k if g is one of
                              the goals that k counts
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, LongArray
from taskalgebra.validation import count, listed
from taskalgebra.worlds.build import from_rows
from taskalgebra.worlds.finite import FiniteMDP

Counted = Mapping[str, tuple[Collection[str], int]]


@final
@dataclass(frozen=True, eq=False)
class Visits:
    """A world that counts visits, and how it comes from the world that does not."""

    mdp: FiniteMDP
    before: dict[str, LongArray]  # [G], the visits before each goal was entered
    plain: LongArray  # [S], each state without its counters
    layer: LongArray  # [S], a number for its counters

    def returns(self, of_plain: Callable[[Any], ArrayLike]) -> Callable[[Any], Array]:
        """Returns that were found without counters, as those of this world.

        Counters change what goals mean, and not the way there: G((s, n):(g, n), a) = G(s:g, a).
        No way leads to goals with other counters, −∞.

        Args:
            of_plain: `of_plain(states) → [B, G, A]`, the returns of the world that does not count.
        """

        def returns(states: Any) -> Array:
            at = np.asarray(states)
            known = np.asarray(of_plain(self.plain[at]), np.float64)
            n_layers = self.mdp.n_goals // known.shape[1]
            found = np.full((len(at), n_layers, *known.shape[1:]), -np.inf)
            found[np.arange(len(at)), self.layer[at]] = known
            return found.reshape(len(at), self.mdp.n_goals, -1)

        return returns


def counting(mdp: FiniteMDP, counted: Counted) -> Visits:
    """The world whose states hold the numbers of visits.

    Episodes begin with all counters at 0.

    Args:
        mdp: the world, whose episodes can go on after goals.
        counted: `{name: (goals, limit)}`: what is counted, the goals that raise it, and the number
            at which it stops.

    >>> from taskalgebra.worlds.grid import from_text
    >>> visits = counting(from_text("A.B", touch=True), {"mail": ({"A"}, 1)})
    >>> visits.mdp.goal_names
    ('A (mail 0)', 'B (mail 0)', 'A (mail 1)', 'B (mail 1)')
    >>> visits.before["mail"].tolist()
    [0, 0, 1, 1]
    """
    if mdp.resumes is None:
        raise ValueError(
            "episodes of this world end in their first goal, so that nothing is visited twice; "
            "give a world with resumes, such as from_text makes"
        )
    if not counted:
        raise ValueError("nothing is counted; give {name: (goals, limit)}, or the world as it is")
    limits = [count(limit, f"the limit of {name!r}") for name, (_, limit) in counted.items()]
    raises = np.array([[g in goals for g in mdp.goal_names] for goals, _ in counted.values()])
    for name, found in zip(counted, raises, strict=True):
        if not found.any():
            raise ValueError(
                f"no goal raises {name!r}; this world has the goals {listed(mdp.goal_names)}"
            )
    shape = tuple(limit + 1 for limit in limits)
    counters = np.indices(shape).reshape(len(shape), -1)  # [K, layers]
    raised = np.minimum(counters[:, :, None] + raises[:, None], np.array(limits)[:, None, None])
    layer_after = np.ravel_multi_index(tuple(raised), shape)  # [layers, G]

    live = np.flatnonzero(~mdp.is_goal)
    n_layers, n_live, n_actions = counters.shape[1], live.size, mdp.n_actions
    place = np.empty(mdp.n_states, np.int64)  # of a state in its layer, of a goal among goals
    place[live], place[mdp.goals] = np.arange(n_live), np.arange(mdp.n_goals)
    layers = np.arange(n_layers)[:, None]
    n_goals = n_layers * mdp.n_goals
    goals = n_layers * n_live + np.arange(n_goals)

    rows = (live[:, None] * n_actions + np.arange(n_actions)).ravel()
    lengths = np.diff(mdp.offset)[rows]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    outcomes = np.repeat(mdp.offset[rows], lengths) + within
    after = mdp.successor[outcomes]
    successor = np.where(
        mdp.is_goal[after],
        n_layers * n_live + layers * mdp.n_goals + place[after],
        layers * n_live + place[after],
    )
    ends = np.cumsum(np.concatenate((np.tile(lengths, n_layers), np.ones(n_goals * n_actions))))
    plain: LongArray = np.concatenate((np.tile(live, n_layers), np.tile(mdp.goals, n_layers)))
    layer = np.concatenate([np.repeat(layers, n) for n in (n_live, mdp.n_goals)])
    said = [
        ", ".join(f"{name} {n}" for name, n in zip(counted, c, strict=True)) for c in counters.T
    ]
    world = from_rows(
        np.concatenate(([0], ends)).astype(np.int64),
        np.concatenate((successor.ravel(), np.repeat(goals, n_actions))),
        np.concatenate(
            (np.tile(mdp.probability[outcomes], n_layers), np.ones(n_goals * n_actions))
        ),
        step_reward=mdp.step_reward[plain],
        goals=goals,
        shape=(n_layers * n_live + n_goals, n_actions),
        goal_names=[f"{name} ({layer})" for layer in said for name in mdp.goal_names],
        action_names=mdp.action_names,
        starts=place[mdp.starts],
        goal_reward=None if mdp.goal_reward is None else np.tile(mdp.goal_reward, n_layers),
        cells=None if mdp.cells is None else mdp.cells[plain],
        resumes=(layer_after * n_live + place[mdp.resumes]).ravel(),
    )
    before = np.repeat(counters, mdp.n_goals, axis=1)
    return Visits(world, dict(zip(counted, before, strict=True)), plain, layer)
