"""Returns as they are held: the smallest type, the same float64, and what is read off them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import costly, worlds
from taskalgebra.worlds.held import Held, step_type
from taskalgebra.worlds.returns import held_returns, known_returns
from ways import by_scipy, corridor

uniform = st.sampled_from([-0.1, -0.125, 0.0])


@pytest.mark.parametrize(
    ("n", "kind"),
    [(255, "uint8"), (256, "uint16"), (65535, "uint16"), (65536, "uint32"), (65540, "uint32")],
)
def test_steps_are_held_in_the_smallest_type_that_suffices(n, kind):
    """The longest way has n − 1 steps, and the largest number of a type says that there is none."""
    mdp = corridor(n)
    held, cycle = held_returns(mdp, mdp.step_reward)
    assert not cycle
    assert [block.dtype for block in held.blocks] == [kind]
    assert held.to(0)[:n].tolist() == [-0.1 * k for k in range(n - 1, -1, -1)]
    assert held.to(0)[n] == -np.inf
    assert held.largest == max(abs(-0.1 * (n - 1)), 0.0)


def test_a_type_has_room_for_the_number_that_means_no_way():
    assert [step_type(n) for n in (0, 254, 255, 65534, 65535)] == [
        np.uint8,
        np.uint8,
        np.uint16,
        np.uint16,
        np.uint32,
    ]


@given(worlds(step_rewards=st.shared(uniform, key="reward")))
def test_uniform_steps_give_the_floats_of_a_product(mdp):
    held, _ = held_returns(mdp, mdp.step_reward)
    assert held.blocks[0].dtype == np.uint8
    assert np.array_equal(held.table(), by_scipy(mdp))


@given(
    worlds(step_rewards=st.shared(uniform, key="reward")) | worlds(step_rewards=costly), st.data()
)
def test_what_is_read_off_is_what_the_whole_table_says(mdp, data):
    held, _ = held_returns(mdp, mdp.step_reward)
    table = held.table()
    some = st.lists(st.integers(0, mdp.n_states - 1), min_size=1, max_size=6)
    states = np.array(data.draw(some))
    assert np.array_equal(held.rows(states), table[:, states].T)
    assert all(np.array_equal(held.to(g), table[g]) for g in range(mdp.n_goals))
    paid = np.array(data.draw(st.lists(costly, min_size=mdp.n_goals, max_size=mdp.n_goals)))
    assert np.array_equal(held.best(states, paid), (table[:, states] + paid[:, None]).max(axis=0))
    flags = st.lists(st.booleans(), min_size=mdp.n_goals, max_size=mdp.n_goals)
    among = np.array(data.draw(flags))
    value, goal = held.best_of(states, paid, among)
    expected = np.where(among[:, None], table[:, states] + paid[:, None], -np.inf)
    assert np.array_equal(value, expected.max(axis=0))
    assert goal.tolist() == expected.argmax(axis=0).tolist()
    nearest, best, second = held.best_two()
    assert np.array_equal(best, table.max(axis=0))
    assert nearest.tolist() == table.argmax(axis=0).tolist()
    others = np.where(np.arange(mdp.n_goals)[:, None] == nearest, -np.inf, table)
    assert np.array_equal(second, others.max(axis=0))
    assert held.largest == np.abs(table[np.isfinite(table)]).max(initial=0.0)
    missed = np.argwhere(table[:, states] == -np.inf)
    found = None if not missed.size else (missed[0][0], states[missed[0][1]])
    assert held.first_missed(states) == found


def test_blocks_of_different_types_are_one_family():
    near, far = np.array([[1, 255], [0, 3]], np.uint8), np.array([[300], [65535]], np.uint16)
    held = Held((near, far), -0.5)
    inf = np.inf
    assert held.table().tolist() == [[-0.5, 0.0], [-inf, -1.5], [-150.0, -inf]]
    assert (held.n_goals, held.n_states, held.nbytes) == (3, 2, 8)
    assert held.best_two()[0].tolist() == [0, 0]
    with pytest.raises(IndexError, match="no goal 3; there are 3"):
        held.to(3)


def test_returns_of_a_world_are_searched_for_once_and_go_with_it():
    mdp = corridor(20)
    first, _ = known_returns(mdp)
    assert known_returns(mdp)[0] is first
    assert known_returns(corridor(20))[0] is first  # an equal world
    assert known_returns(corridor(21))[0] is not first
