"""Automata of temporal formulas: right on every trace, small, and refused in time."""

from __future__ import annotations

import random

from logic.traces import holds, random_formula, random_trace
from taskalgebra.logic.automaton import automaton


def test_random_formulas_accept_the_traces_that_satisfy_them() -> None:
    rng = random.Random(0)
    for _ in range(2_000):
        names = ["a", "b", "c"][: rng.randint(1, 3)]
        tree = random_formula(rng, rng.randint(1, 12), names)
        found = automaton(tree)
        for _ in range(5):
            trace = random_trace(rng, rng.randint(1, 6), names)
            assert found.accepts(trace) == holds(tree, trace), (str(tree), trace)
