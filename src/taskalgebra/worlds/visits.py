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

from collections.abc import Collection, Mapping

import numpy as np

from taskalgebra.arrays import LongArray
from taskalgebra.validation import count, listed
from taskalgebra.worlds.build import from_rows
from taskalgebra.worlds.finite import FiniteMDP

Counted = Mapping[str, tuple[Collection[str], int]]


def counting(mdp: FiniteMDP, counted: Counted) -> tuple[FiniteMDP, dict[str, LongArray]]:
    """The world whose states hold the numbers of visits.

    Episodes begin with all counters at 0.

    Args:
        mdp: the world, whose episodes can go on after goals.
        counted: `{name: (goals, limit)}`: what is counted, the goals that raise it, and the number
            at which it stops.

    Returns:
        The world, and `[G]` for every name: the visits before each of its goals was entered.

    >>> from taskalgebra.worlds.grid import from_text
    >>> world, before = counting(from_text("A.B", touch=True), {"mail": ({"A"}, 1)})
    >>> world.goal_names
    ('A (mail 0)', 'B (mail 0)', 'A (mail 1)', 'B (mail 1)')
    >>> before["mail"].tolist()
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
    states = np.tile(live, n_layers), np.tile(mdp.goals, n_layers)
    said = [
        ", ".join(f"{name} {n}" for name, n in zip(counted, c, strict=True)) for c in counters.T
    ]
    world = from_rows(
        np.concatenate(([0], ends)).astype(np.int64),
        np.concatenate((successor.ravel(), np.repeat(goals, n_actions))),
        np.concatenate(
            (np.tile(mdp.probability[outcomes], n_layers), np.ones(n_goals * n_actions))
        ),
        step_reward=mdp.step_reward[np.concatenate(states)],
        goals=goals,
        shape=(n_layers * n_live + n_goals, n_actions),
        goal_names=[f"{name} ({layer})" for layer in said for name in mdp.goal_names],
        action_names=mdp.action_names,
        starts=place[mdp.starts],
        goal_reward=None if mdp.goal_reward is None else np.tile(mdp.goal_reward, n_layers),
        cells=None if mdp.cells is None else mdp.cells[np.concatenate(states)],
        resumes=(layer_after * n_live + place[mdp.resumes]).ravel(),
    )
    before = np.repeat(counters, mdp.n_goals, axis=1)
    return world, dict(zip(counted, before, strict=True))
