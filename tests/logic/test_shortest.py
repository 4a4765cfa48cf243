"""Shortest formulas, against searches of all formulas that are written apart."""

import ast
import random
import re

import pytest

from attack.inference import least_sizes
from taskalgebra.logic.formula_tables import ONE_NAME, ONE_NOT, tables
from taskalgebra.logic.formulas import from_truth_table
from taskalgebra.logic.shortest import shortest


def size_of(text):
    """Names, then operators, in a text whose names are single letters and numbers."""
    return len(re.findall(r"[a-z]\d*\b(?<!true)(?<!false)", text)), len(re.findall(r"[~&|^]", text))


def sizes_by_relaxing(n_names):
    """The least (names, operators) of every function: rules are applied until nothing changes."""
    full = (1 << (1 << n_names)) - 1
    leaves = [sum(1 << i for i in range(1 << n_names) if i >> j & 1) for j in range(n_names)]
    best = {0: (0, 0), full: (0, 0), **dict.fromkeys(leaves, (1, 0))}
    changed = True
    while changed:
        changed = False
        for f, (names, operators) in list(best.items()):
            offers = [(full ^ f, (names, operators + 1))]
            for g, (more, others) in list(best.items()):
                size = (names + more, operators + others + 1)
                offers += [(f & g, size), (f | g, size), (f ^ g, size)]
            for made, size in offers:
                if size < best.get(made, (99, 99)):
                    best[made], changed = size, True
    return best


@pytest.mark.parametrize("n_names", [1, 2, 3])
def test_the_cost_of_every_function_is_the_least_of_all_formulas(n_names):
    least = sizes_by_relaxing(n_names)
    names, operators = least_sizes(n_names)
    for f, cost in enumerate(tables(n_names).cost.tolist()):
        n, negations = divmod(cost // ONE_NOT, ONE_NAME // ONE_NOT)
        assert (n, max(n - 1, 0) + negations) == least[f] == (names[f], operators[f])


@pytest.mark.parametrize("n_names", [1, 2, 3])
def test_what_is_read_off_has_the_meaning_and_the_size_that_was_promised(n_names):
    least = sizes_by_relaxing(n_names)
    rows = range(1 << n_names)
    names = list("abc"[:n_names])
    for on in range(1 << len(rows)):
        for care in range(1 << len(rows)) if n_names < 3 else (0xFF, 0x0F, 0x5A, 0x81, 0x7E):
            wanted = [i for i in rows if on & care & 1 << i]
            unwanted = [i for i in rows if ~on & care & 1 << i]
            found = shortest(wanted, unwanted, names)
            agree = [f for f in least if f & care == on & care]
            table = found.expression.truth_table(names)
            assert table & care == on & care
            assert size_of(str(found.expression)) == min(least[f] for f in agree)
            assert found.proven


def test_among_equals_the_first_names_and_no_exclusive_or_are_chosen():
    assert str(shortest([0b11], [0b00], ["a", "b"]).expression) == "a"
    assert str(shortest([0b01, 0b10], [0b00], ["a", "b"]).expression) == "a | b"
    assert str(shortest([], [], ["a", "b"]).expression) == "false"
    assert str(shortest([0b1], [], ["a"]).expression) == "true"


@pytest.mark.parametrize(("n_names", "n_labels"), [(5, 32), (6, 40), (7, 30), (13, 40), (40, 40)])
def test_with_more_names_the_formula_agrees_and_is_no_longer_than_a_sum(n_names, n_labels):
    rng = random.Random(n_names)
    names = [f"n{i}" for i in range(n_names)]
    for _ in range(5):
        labels = rng.sample(range(1 << n_names), n_labels)
        wanted = set(rng.sample(labels, rng.randint(0, n_labels)))
        found = shortest(wanted, set(labels) - wanted, names).expression
        for label in labels:
            values = {name: bool(label >> i & 1) for i, name in enumerate(names)}
            assert evaluated(str(found), values) == (label in wanted)
        if n_names <= 6:
            table = sum(1 << label for label in wanted)
            free = (1 << (1 << n_names)) - 1 - sum(1 << label for label in labels)
            other = str(from_truth_table(table, names, free)) if n_names < 6 else None
            assert other is None or size_of(str(found)) <= size_of(other)


def evaluated(text, values):
    """By Python's own parser, whose operators bind alike."""
    tree = ast.parse(text.replace("true", "True").replace("false", "False"), mode="eval").body

    def value(node):
        if isinstance(node, ast.Name):
            return values[node.id]
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp):
            return not value(node.operand)
        left, right = value(node.left), value(node.right)
        kind = type(node.op)
        return {ast.BitAnd: left and right, ast.BitOr: left or right}.get(kind, left != right)

    return value(tree)


def test_few_names_of_many_are_proven_to_be_shortest():
    rng = random.Random(1)
    for n_names in (5, 6, 9, 14, 30):
        names = [f"n{i}" for i in range(n_names)]
        labels = rng.sample(range(1 << n_names), 30)
        wanted = {label for label in labels if label >> 2 & 1}
        found = shortest(wanted, set(labels) - wanted, names)
        assert (str(found.expression), found.proven) == ("n2", True)
        wanted = {label for label in labels if (label >> 2 ^ label >> 4) & 1}
        found = shortest(wanted, set(labels) - wanted, names)
        assert (str(found.expression), found.proven) == ("n2 ^ n4", True)


def test_a_long_formula_of_many_names_is_not_said_to_be_proven():
    labels = [1 << i for i in range(40)]
    found = shortest(labels[:20], labels[20:], [f"n{i}" for i in range(40)])
    assert len(found.expression.names) == 20 and not found.proven


def test_a_label_cannot_be_wanted_and_unwanted():
    with pytest.raises(ValueError, match="both wanted and unwanted"):
        shortest([1], [1], ["a"])
