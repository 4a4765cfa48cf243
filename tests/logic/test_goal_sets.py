"""Formulas on sets of bits, without a tree: what `parse` and `evaluate` say of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import parse
from taskalgebra.logic.goal_sets import GoalSets
from taskalgebra.logic.text import ExpressionError

SETS = {"a": 0b0011, "b": 0b0101, "F": 0b1001, "until": 0b1100, "two words": 0b0110}
TOKENS = (
    *("a", "b", "F", "until", "'two words'", "'F'", "true", "false", "G", "U", "then", "c"),
    *("&", "|", "^", "~", "(", ")", "nand", "nor", "->", "<->", "and", "2b", "''"),
)
texts = st.lists(st.sampled_from(TOKENS), max_size=9).map(" ".join)


def binary(operands):
    signs = st.sampled_from(["&", "|", "^", "nand", "nor", "->", "<->", "U", "then"])
    return st.builds("({} {} {})".format, operands, signs, operands)


def unary(operands):
    return st.builds("{} ({})".format, st.sampled_from(["~", "G", "F"]), operands)


names = st.sampled_from(["a", "b", "F", "until", "'two words'", "true", "false"])
formulas = st.recursive(names, lambda inner: binary(inner) | unary(inner), max_leaves=8)


def by_parsing(text):
    """The set, None for a temporal formula, or what is wrong and where."""
    try:
        tree = parse(text, SETS)
    except ExpressionError as error:
        return error.reason, error.position
    return None if tree.temporal else tree.evaluate(SETS, universal=-1, empty=0)


def by_sets(sets, formula: str | Expression):
    try:
        return sets.of(formula)
    except ExpressionError as error:
        return error.reason, error.position


@given(st.lists(texts | formulas, min_size=1, max_size=6))
def test_one_reader_of_many_formulas_finds_what_parsing_each_finds(many):
    sets = GoalSets(SETS)
    for text in many:
        assert by_sets(sets, text) == by_parsing(text)


@given(formulas)
def test_a_tree_and_its_text_are_the_same_set(text):
    assert GoalSets(SETS).of(parse(text, SETS)) == by_parsing(text)


def test_a_name_that_stands_for_nothing_is_refused():
    with pytest.raises(ExpressionError, match="unknown task 'c'"):
        GoalSets(SETS).of(parse("a & c"))
