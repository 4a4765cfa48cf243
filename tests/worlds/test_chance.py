"""Chance: the stream is the published one, and every number chooses the outcome it should."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskalgebra.worlds.chance import Stream, outcome, outcomes, sampled, seeded

OFFSET = np.array([0, 1, 4, 6])
PROBABILITY = np.array([1.0, 0.2, 0.5, 0.3, 0.9, 0.1])
MASK = 2**64 - 1


def by_hand(seed, n):
    """Numbers of xoroshiro128+ in Python's own integers, from the state that the seed starts."""
    s0, s1 = (int(word) for word in seeded(seed))
    for _ in range(n):
        yield ((s0 + s1 & MASK) >> 11) / 2**53
        s1 ^= s0
        s0, s1 = (
            ((s0 << 24 | s0 >> 40) ^ s1 ^ s1 << 16) & MASK,
            (s1 << 37 | s1 >> 27) & MASK,
        )


def test_the_stream_is_xoroshiro128_plus():
    stream = Stream(7)
    assert [stream.random() for _ in range(50)] == list(by_hand(7, 50))


def test_the_state_of_seed_0_is_that_of_splitmix64():
    assert [int(word) for word in seeded(0)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


@pytest.mark.parametrize("seed", [-1, 0.5, None, True, "0"])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ValueError, match=r"seed is .*, expected a whole number of at least 0"):
        seeded(seed)


@pytest.mark.parametrize(
    ("number", "chosen"),
    [(0.0, 1), (0.1999, 1), (0.2, 2), (0.6999, 2), (0.7001, 3), (1 - 2**-53, 3)],
)
def test_a_number_chooses_the_outcome_whose_share_it_falls_in(number, chosen):
    assert outcome(1, 3, PROBABILITY, number) == chosen


def test_rounding_never_leads_out_of_the_row():
    tenths = np.full(10, 0.1)
    assert outcome(0, 9, tenths * (1 - 1e-15), 1 - 2**-53) == 9


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 1, exclude_max=True)), min_size=1))
def test_many_outcomes_are_chosen_as_each_would_be(rows):
    pairs = np.array([pair for pair, _ in rows])
    numbers = np.array([number for _, number in rows])
    single = [outcome(OFFSET[p], OFFSET[p + 1] - 1, PROBABILITY, x) for p, x in rows]
    assert outcomes(OFFSET, PROBABILITY, pairs, numbers).tolist() == single


def test_a_certain_outcome_draws_no_number_and_a_random_one_draws_one():
    state, stream = seeded(3), Stream(3)
    assert sampled(OFFSET, PROBABILITY, 0, state) == 0
    assert np.array_equal(state, stream.state)
    assert sampled(OFFSET, PROBABILITY, 1, state) == outcome(1, 3, PROBABILITY, stream.random())
    assert np.array_equal(state, stream.state)
