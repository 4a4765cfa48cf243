"""What an agent that plans for the steps left is worth: exact expectations, no episode is played.

The share of episodes that stand in each state is followed from the starts to the end of the time.
"""

from __future__ import annotations

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.evaluation.record import Evaluation
from taskalgebra.limits import MOST_EPISODES
from taskalgebra.planning.horizon import optimal_within
from taskalgebra.planning.timed import TimedPolicy
from taskalgebra.progress import Event, Listener, silent
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count


def expected(
    task: Task,
    policy: TimedPolicy,
    *,
    episodes: int,
    max_steps: int | None = None,
    listener: Listener = silent,
) -> Evaluation:
    """The expected outcome of episodes from random starts, each cut off after the horizon.

    Args:
        task: what is paid.
        policy: what acts.
        episodes: of which the figures are expectations.
        max_steps: an episode is cut off after this many steps, of which the action that is paid in
            a goal is one; by default the horizon leaves time for all moves and that action.  The
            optimum is that of episodes which are cut off there.
        listener: receives progress.
    """
    mdp, horizon = task.space.mdp, policy.horizon
    episodes = count(episodes, "episodes", most=MOST_EPISODES)
    n_steps = horizon + 1
    if max_steps is not None:
        n_steps = min(n_steps, count(max_steps, "max_steps"))
    share: Array = np.zeros(mdp.n_states)  # of the episodes that are under way, by the state
    np.add.at(share, mdp.starts, 1 / mdp.starts.size)
    earned = success = taken = 0.0
    for step in range(n_steps):
        taken += share.sum()
        ended = share[mdp.goals]
        earned += float(ended @ task.goal_reward)
        success += ended[task.wanted].sum()
        share[mdp.goals] = 0.0
        states = np.flatnonzero(share)
        if not states.size or step == horizon:
            break
        actions = policy.with_left(states, np.full(states.size, horizon - step))
        earned += float(share[states] @ task.steps[states, actions])
        pair = states * mdp.n_actions + actions
        counts = mdp.offset[pair + 1] - mdp.offset[pair]
        k = np.repeat(mdp.offset[pair] - np.cumsum(counts) + counts, counts) + np.arange(
            counts.sum()
        )
        flow = np.repeat(share[states], counts) * mdp.probability[k]
        share = np.bincount(mdp.successor[k], flow, mdp.n_states).astype(np.float64)
        listener(Event("steps", (step + 1) / n_steps))
    cut = n_steps <= horizon
    best = optimal_within(task, n_steps if cut else horizon, counted=cut)
    return Evaluation(
        episodes=episodes,
        mean_return=float(earned),
        standard_error=0.0,
        optimal_return=float(best[mdp.starts].mean()),
        success_rate=min(float(success), 1.0),
        unfinished=round(float(share.sum()) * episodes),
        mean_steps=float(taken),
        exact=True,
    )
