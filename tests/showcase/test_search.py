"""The search by which judges find the fewest steps, on graphs and boards counted by hand."""

from functools import partial

import gymnasium as gym
import minigrid
import pytest

from taskalgebra.showcase import minigrid_fixed
from taskalgebra.showcase.search import fewest_steps

gym.register_envs(minigrid)

WAYS = {"a": "bc", "b": "ad", "c": "e", "d": "f", "e": "f", "f": "", "g": "g"}


@pytest.mark.parametrize(
    ("start", "ends", "at_once", "fewest"),
    [
        ("a", {"f": True}, False, 3),
        ("a", {"f": True, "d": False}, False, 3),  # by the other way
        ("a", {"f": True, "d": False, "e": False}, False, None),
        ("a", {"a": True}, True, 0),
        ("a", {"a": True}, False, 2),  # there and back
        ("a", {"a": False, "f": True}, True, 3),  # episodes begin there all the same
        ("g", {"f": True}, False, None),
        ("g", {"g": True}, False, 1),
    ],
)
def test_the_fewest_steps_are_counted(start, ends, at_once, fewest):
    assert fewest_steps(start, WAYS.get, ends.get, at_once=at_once) == fewest


def test_walking_into_a_wanted_object_ends_an_episode_that_began_before_it():
    """The label is asked after an action, and the agent stays where it is, facing the object."""
    env = gym.make(minigrid_fixed.LOCAL)
    inner = env.unwrapped
    env.reset(seed=0)
    x, y = next(  # an object with nothing to its left
        (x, y)
        for x in range(2, inner.width - 1)
        for y in range(1, inner.height - 1)
        if inner.grid.get(x, y) is not None and inner.grid.get(x - 1, y) is None
    )
    inner.agent_pos, inner.agent_dir = (x - 1, y), 0
    there = minigrid_fixed._faced(inner)
    assert there is not None
    this = there.color, there.type
    ends = partial(minigrid_fixed.at_object, lambda colour, kind: (colour, kind) == this, True)
    assert minigrid_fixed.fewest_steps(inner, ends, things=False) == 1
    env.step(inner.actions.forward)
    assert minigrid_fixed._faced(inner) is there


@pytest.mark.parametrize("seed", range(20))
def test_an_object_is_picked_up_with_as_few_steps_as_a_search_over_the_environment(seed):
    """By trying the environment's own actions, with the agent put back after each."""
    env = gym.make(minigrid_fixed.FETCH, disable_env_checker=True).unwrapped
    env.reset(seed=seed)

    def wanted(colour, kind):
        return kind == "ball"

    ends = partial(minigrid_fixed.at_object, wanted, False)
    found = minigrid_fixed.fewest_steps(env, ends, things=False, at_once=True)
    near, seen, n = [(tuple(map(int, env.agent_pos)), env.agent_dir)], set(), 0
    by_playing = None
    while near and by_playing is None:
        n, after = n + 1, []
        for place, heading in near:
            for action in range(4):  # left, right, forward, pick up
                env.agent_pos, env.agent_dir, env.step_count = place, heading, 0
                env.step(action)
                held = env.carrying
                if held is not None:
                    env.grid.set(*env.front_pos, held)
                    env.carrying = None
                    by_playing = n if held.type == "ball" else by_playing
                state = (tuple(map(int, env.agent_pos)), int(env.agent_dir))
                if state not in seen:
                    seen.add(state)
                    after.append(state)
        near = after
    assert (None if found is None else found + 1) == by_playing
