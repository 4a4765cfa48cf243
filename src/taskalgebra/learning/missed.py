"""Goals that learning cannot meet, or has not met, and what to do about them.

A goal joins the tables when an episode ends in it, so values of a goal that was never met are
unknown.  In a finite world the tables say whether an episode can end there at all.  A world that is
only played does not say it: there a goal that is rare and one that is out of reach look alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from taskalgebra.arrays import LongArray
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.validation import listed
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.open_world import OpenWorld


def out_of_reach(mdp: FiniteMDP) -> LongArray:
    """The goals in which no episode can end, whatever it does."""
    met = np.zeros(mdp.n_states, np.bool_)
    front = mdp.starts
    while front.size:
        met[front] = True
        ahead = np.unique(mdp.support[front])
        front = ahead[~met[ahead]]
    return np.flatnonzero(~met[mdp.goals])


def require_ways(mdp: FiniteMDP) -> None:
    """Refuse worlds with goals in which no episode can end: learning would never meet them."""
    goals = out_of_reach(mdp)
    if goals.size:
        few = ", or learner=FewSteps(), which finds that out" if mdp.deterministic else ""
        raise ValueError(
            f"no episode can end in these goals, since no way leads there from any start: "
            f"{_names(mdp, goals)}; let episodes start where one does, or plan this world: "
            f"solve(world){few}"
        )


def never_met(space: TaskSpace, missed: Sequence[int], after: str, longer: str) -> str:
    """What is said of goals that were never met.

    Args:
        space: of the world.
        missed: the goals.
        after: how long learning took, in words.
        longer: how to learn longer, in words.
    """
    said = f"in {after} these goals were never met: {_names(space.world, missed)}"
    if not space.finite:
        return (
            f"{said}; goals that are only rare are met if you {longer}, or if episodes begin "
            f"nearer to them. Playing cannot tell whether an episode can end in them at all: leave "
            f"those in which none can out of the goals of the environment"
        )
    hopeless = np.intersect1d(missed, out_of_reach(space.mdp))
    if hopeless.size:
        return f"{said}; no way leads from any start to {_names(space.world, hopeless)}"
    return f"{said}; an episode can end in each of them, so they are only rare: {longer}"


def _names(world: FiniteMDP | OpenWorld, goals: Iterable[int]) -> str:
    return listed([world.goal_names[g] for g in goals])


def require_no_traps(mdp: FiniteMDP) -> None:
    """Refuse worlds in which an episode of learning might never end."""
    lost = np.flatnonzero(~mdp.ending[mdp.successor])
    pairs = np.searchsorted(mdp.offset, lost, side="right") - 1
    live = pairs[mdp.ending[pairs // mdp.n_actions]]
    if live.size:
        s, a = divmod(int(live[0]), mdp.n_actions)
        raise ValueError(
            f"{mdp.action_names[a]} in {mdp.state_name(s)} may lead to where no goal can be "
            f"reached, so an episode might never end; use solve, or learner=FewSteps(), which "
            f"gives such episodes up"
        )
