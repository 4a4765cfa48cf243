"""Random worlds and tasks for property tests.  Rewards are dyadic, so that sums are exact."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays

eighths = st.integers(-24, 24).map(lambda n: n / 8)
free_or_costly = st.integers(-16, 0).map(lambda n: n / 8)
costly = st.integers(-16, -1).map(lambda n: n / 8)


@st.composite
def worlds(draw, step_rewards=free_or_costly, max_states=9):
    """A deterministic world: any graph, so dead ends, unreachable goals and self-loops occur."""
    n_states = draw(st.integers(2, max_states))
    n_actions = draw(st.integers(1, 3))
    n_goals = draw(st.integers(1, min(4, n_states - 1)))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    next_state = rng.integers(0, n_states, (n_states, n_actions))
    goals = rng.choice(n_states, n_goals, replace=False)
    start = draw(st.sampled_from([s for s in range(n_states) if s not in goals]))
    next_state[start, draw(st.integers(0, n_actions - 1))] = draw(st.sampled_from(goals.tolist()))
    cells = st.lists(step_rewards, min_size=n_states * n_actions, max_size=n_states * n_actions)
    step_reward = np.array(draw(cells)).reshape(n_states, n_actions)
    return from_arrays(next_state, step_reward, goals)


@st.composite
def spaces(draw, **options):
    """A task space over a random world, with two dyadic terminal rewards."""
    low, high = sorted(draw(st.lists(eighths, min_size=2, max_size=2, unique=True)))
    return TaskSpace(draw(worlds(**options)), r_empty=low, r_universal=high)


def two_valued(space):
    """A strategy for two-valued tasks of a space."""
    return st.lists(st.booleans(), min_size=space.mdp.n_goals, max_size=space.mdp.n_goals).map(
        space.from_desired
    )


def real_valued(space):
    """A strategy for tasks with any terminal rewards between r_∅ and r_U."""

    def weigh(weights):
        share = np.array(weights) / 4
        return space.from_rewards(space.r_empty + share * (space.r_universal - space.r_empty))

    n_goals = space.mdp.n_goals
    return st.lists(st.integers(0, 4), min_size=n_goals, max_size=n_goals).map(weigh)
