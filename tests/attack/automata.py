"""Automata of temporal formulas against the definition of finite traces (`logic.traces`).

All formulas of up to five nodes over two names and the constants, on all traces of up to five
steps; then as many random formulas as the size says, each with random traces, its automaton over
all letters or over some, its simplified form and its text.
"""

from __future__ import annotations

import random

from attack.harness import Findings
from logic.traces import Exhaustive, all_formulas, holds, random_formula, random_trace
from taskalgebra.logic.automaton import automaton
from taskalgebra.logic.expression import FALSE, TRUE, Expression, Name
from taskalgebra.logic.formulas import parse

SIZES = {"ci": 300, "full": 100_000}
NODES = {True: 5, False: 3}
"""How large the formulas are of which all are tried, at full size and below."""
TRACES = 10


def random_problem(rng: random.Random, tree: Expression, names: list[str]) -> str:
    """What is wrong with a formula, or nothing."""
    if parse(str(tree)) != tree:
        return "reads back as another formula"
    traces = [random_trace(rng, rng.randint(1, 10), names) for _ in range(TRACES)]
    letters = None if rng.random() < 0.5 else [letter for trace in traces for letter in trace]
    found = automaton(tree, letters)
    short = tree.simplify()
    for trace in traces:
        expected = holds(tree, trace)
        if found.accepts(trace) != expected:
            return f"accepts {not expected} for {trace}"
        if holds(short, trace) != expected:
            return f"{short} is another formula, by {trace}"
    ends = [
        found.accepting[found.run(trace)] or not found.dead[found.run(trace)] for trace in traces
    ]
    if not all(alive for alive, trace in zip(ends, traces, strict=True) if holds(tree, trace)):
        return "a satisfying trace is dead"
    return ""


def attack(size: int, seed: int) -> Findings:
    """All small formulas, and a size of random ones."""
    rng = random.Random(seed)
    exhaustive = Exhaustive("ab")
    small = 0
    for nodes in range(1, NODES[size >= SIZES["full"]] + 1):
        for tree in all_formulas(nodes, [Name("a"), Name("b"), TRUE, FALSE]):
            small += 1
            wrong = exhaustive.mismatches(tree, automaton(tree))
            if wrong:
                yield f"{tree}: {wrong} of 1,364 traces"
    states, most = 0, 0
    for _ in range(size):
        names = [*"abcd"][: rng.randint(1, 4)]
        tree = random_formula(rng, rng.randint(1, 18), names)
        try:
            wrong = random_problem(rng, tree, names)
            n = automaton(tree).n_states
            states, most = states + n, max(most, n)
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"[:200]
        if wrong:
            yield f"{tree}: {wrong}"
    return (
        f"{small:,} formulas on all 1,364 traces, {size:,} on {TRACES} traces each, "
        f"{states / max(1, size):.1f} states in the mean, {most:,} at most"
    )
