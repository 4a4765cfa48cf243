"""Theorem 1: under Assumption 2 the tasks form a Boolean algebra."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import broken_laws
from strategies import real_valued, spaces, two_valued
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.algebra import LAWS


@pytest.mark.parametrize("step_reward", [-0.125, -0.1], ids=["dyadic", "paper"])
def test_theorem_1_on_all_4096_triples_of_four_rooms(step_reward):
    space = FourRooms(step_reward=step_reward).space
    tasks = list(space.two_valued_tasks())
    for a, b, c in product(tasks, repeat=3):
        assert not broken_laws(a, b, c, space.empty, space.universal)


@given(st.data())
def test_theorem_1_on_random_worlds(data):
    space = data.draw(spaces())
    a, b, c = (data.draw(two_valued(space)) for _ in range(3))
    assert not broken_laws(a, b, c, space.empty, space.universal)


@given(st.data())
def test_theorem_1_without_assumption_2_keeps_all_laws_but_complements(data):
    space = data.draw(spaces())
    a, b, c = (data.draw(real_valued(space)) for _ in range(3))
    broken = broken_laws(a, b, c, space.empty, space.universal)
    assert broken <= {"complements"}


def test_complements_fail_without_assumption_2(space):
    half = space.from_rewards([2, 1, -0.125, -0.125])
    assert half & ~half != space.empty
    assert half | ~half != space.universal


def test_identity_fails_where_the_bounds_do_not_bound():
    """M_U must be the pointwise maximum: two fixed values do not bound a third."""
    from taskalgebra.logic.algebra import Bounds
    from taskalgebra.theory.values import ArrayElement

    bounds = Bounds(np.array([2.0, 2.0]), np.array([0.0, 0.0]))
    universal, empty = (ArrayElement(x, bounds) for x in (bounds.universal, bounds.empty))
    task = ArrayElement(np.array([3.0, -1.0]), bounds)
    identity = [law for law in LAWS if law.name == "identity"]
    broken = broken_laws(
        task, task, task, empty, universal, identity, lambda x, y: np.array_equal(x.array, y.array)
    )
    assert broken == {"identity"}


def test_the_laws_are_marked_by_what_they_need():
    needs = {law.name: law.needs for law in LAWS if law.needs}
    assert needs == {"identity": "bounds", "complements": "two values"}
