"""Formulas: grammar, round trips, hostile text, evaluation, truth tables, simplification."""

import copy
import gc
import itertools
import pickle
import time
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskalgebra.logic.expression import (
    FALSE,
    TRUE,
    And,
    Constant,
    Expression,
    Name,
    Not,
    Or,
    Xor,
)
from taskalgebra.logic.formulas import all_functions, from_truth_table, parse
from taskalgebra.logic.text import ExpressionError
from taskalgebra.logic.tree import MAX_TEXT
from taskalgebra.logic.truth import MAX_NAMES, CanonicalForm

A, B, C, D = (Name(name) for name in "abcd")

names = st.one_of(
    st.sampled_from(
        ["a", "b", "c", "top left", "and", "TRUE", "it's", 'a "b"', "é", "\\", "'\"\\"]
    ),
    st.text(min_size=1, max_size=5),
)
trees = st.recursive(
    st.one_of(names.map(Name), st.booleans().map(Constant)),
    lambda inner: st.one_of(
        inner.map(Not), *(st.builds(kind, inner, inner) for kind in (And, Or, Xor))
    ),
    max_leaves=30,
)
small_trees = st.recursive(
    st.one_of(st.sampled_from([A, B, C]), st.booleans().map(Constant)),
    lambda inner: st.one_of(
        inner.map(Not), *(st.builds(kind, inner, inner) for kind in (And, Or, Xor))
    ),
    max_leaves=15,
)


def truth(tree: Expression, values: dict[str, bool]) -> bool:
    """The oracle: a plain recursive evaluator with Python's own logic."""
    match tree:
        case Name():
            return values[tree.name]
        case Constant():
            return tree is TRUE or tree == TRUE
        case Not(operand):
            return not truth(operand, values)
        case And(left, right):
            return truth(left, values) and truth(right, values)
        case Or(left, right):
            return truth(left, values) or truth(right, values)
        case Xor(left, right):
            return truth(left, values) != truth(right, values)
    raise AssertionError(tree)


def assignments(order: list[str]) -> Iterator[dict[str, bool]]:
    for i in range(2 ** len(order)):
        yield {name: bool(i >> j & 1) for j, name in enumerate(order)}


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ("~a & b", And(Not(A), B)),
        ("~a ^ b", Xor(Not(A), B)),
        ("not a or b", Or(Not(A), B)),
        ("~~a", Not(Not(A))),
        ("a & b & c", And(And(A, B), C)),
        ("a & (b & c)", And(A, And(B, C))),
        ("a | b & c", Or(A, And(B, C))),
        ("a & b | c", Or(And(A, B), C)),
        ("a ^ b & c", Xor(A, And(B, C))),
        ("a & b ^ c", Xor(And(A, B), C)),
        ("a | b ^ c", Or(A, Xor(B, C))),
        ("a ^ b | c", Or(Xor(A, B), C)),
        ("a ^ b ^ c", Xor(Xor(A, B), C)),
        ("a | b | c", Or(Or(A, B), C)),
        ("a nand b", Not(And(A, B))),
        ("a nand b & c", And(Not(And(A, B)), C)),
        ("a & b nand c", Not(And(And(A, B), C))),
        ("a nand b ^ c", Xor(Not(And(A, B)), C)),
        ("a nor b", Not(Or(A, B))),
        ("a nor b | c", Or(Not(Or(A, B)), C)),
        ("a nor b ^ c", Not(Or(A, Xor(B, C)))),
        ("a -> b", Or(Not(A), B)),
        ("a -> b -> c", Or(Not(A), Or(Not(B), C))),
        ("a | b -> c", Or(Not(Or(A, B)), C)),
        ("a -> b | c", Or(Not(A), Or(B, C))),
        ("a <-> b", Not(Xor(A, B))),
        ("a <-> b <-> c", Not(Xor(Not(Xor(A, B)), C))),
        ("a -> b <-> c", Not(Xor(Or(Not(A), B), C))),
        ("a <-> b -> c", Not(Xor(A, Or(Not(B), C)))),
        ("a IMPLIES b Iff c", Not(Xor(Or(Not(A), B), C))),
        ("a XOR b Or c AND NOT d", Or(Xor(A, B), And(C, Not(D)))),
        ("¬a ∧ b ∨ c ⊻ d", Or(And(Not(A), B), Xor(C, D))),
        ("a⊕b→c↔d", Not(Xor(Or(Not(Xor(A, B)), C), D))),
        ("⊤ | ⊥", Or(TRUE, FALSE)),
        ("True & FALSE", And(TRUE, FALSE)),
        ("'and' | \"blue square\" & 'top-left'", None),
    ],
)
def test_grammar(text: str, tree: Expression | None) -> None:
    if tree is None:
        tree = Or(Name("and"), And(Name("blue square"), Name("top-left")))
    assert parse(text) == tree
    assert parse(" \n\t" + text + "\u00a0 ") == tree


@pytest.mark.parametrize(
    "text",
    ["a & (b & c)", "(a | b) & c", "~(a | b)", "~~a & b", "a | (b | c)", "a & b ^ c | d", "true"],
)
def test_text_with_fewest_parentheses_is_printed_as_it_is(text: str) -> None:
    assert str(parse(text)) == text
    assert repr(parse(text)) == f"parse({text!r})"


@given(trees)
@settings(max_examples=200)
def test_text_and_pickle_give_back_the_tree(tree: Expression) -> None:
    text = str(tree)
    again = parse(text)
    assert again == tree and hash(again) == hash(tree) and type(again) is type(tree)
    assert len(text) == tree._length
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy(tree) is tree and copy.copy(tree) is tree


@given(small_trees, small_trees)
def test_equal_means_the_same_tree(one: Expression, two: Expression) -> None:
    def shape(tree: Expression) -> object:
        return (tree.kind, tree.content, [shape(operand) for operand in tree.operands])

    assert (one == two) == (shape(one) == shape(two))


def test_equal_hashes_are_not_enough() -> None:
    impostor = Not(B)
    object.__setattr__(impostor, "_hash", hash(Not(A)))
    assert hash(impostor) == hash(Not(A)) and impostor != Not(A)


@given(st.text())
@settings(max_examples=500)
def test_any_text_is_a_formula_or_one_error(text: str) -> None:
    check_any_text(text)


@given(
    st.lists(
        st.sampled_from(
            [
                *"ab()&|^~¬∧'\"\\ \t\n!-+=<>",
                "->",
                "<->",
                "and",
                "NOT",
                "nor",
                "true",
                "漢",
                "e\u0301",
            ]
        )
    ).map("".join)
)
@settings(max_examples=700)
def test_almost_formulas_are_formulas_or_one_error(text: str) -> None:
    check_any_text(text)


def check_any_text(text: str) -> None:
    try:
        tree = parse(text)
    except ExpressionError as error:
        assert error.text == text
        assert 0 <= error.position <= len(text)
        if text:
            _reason, line, caret = str(error).split("\n")
            assert set(caret) <= {" ", "^"} and caret.endswith("^")
            assert len(line) <= 76 and len(caret) <= 2 * len(line) + 1
        str(error).encode()
        assert pickle.loads(pickle.dumps(error)).position == error.position
    else:
        assert parse(str(tree)) == tree


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "\ud800",
        "'\ud800'",
        "'" * 1_000_001,
        "\\" * 1_000_000,
        "'" + "\\'" * 500_000,
        "é" * 1_000_000,
        "⇒" * 1_000_000,
        " " * 1_000_000,
        "(" * 1_000_000,
        "a" * 1_000_000,
        "1" * 1_000_000,
        "a " * 500_000,
        "a &" * 300_000,
    ],
    ids=lambda text: ascii(text[:5]),
)
def test_hostile_text(text: str) -> None:
    try:
        parse(text, names=["known"])
    except ExpressionError as error:
        assert len(str(error)) < 1000
    else:
        pytest.fail("none of these is a formula over these names")


def test_nested_parentheses() -> None:
    for depth in (10_000, 1_000_000):
        assert parse("(" * depth + "a" + ")" * depth) == A
    with pytest.raises(ExpressionError, match="never closed") as caught:
        parse("(" * 10_000 + "a" + ")" * 9_999)
    assert caught.value.position == 0


@pytest.mark.parametrize(
    "text",
    [
        "~" * 50_000 + "a",
        "a & ~b | " * 10_000 + "c",
        "a & (b | " * 10_000 + "c" + ")" * 10_000,
        "a -> " * 10_000 + "c",
    ],
    ids=["not", "chain", "right", "implies"],
)
def test_no_method_minds_a_deep_tree(text: str) -> None:
    tree = parse(text)
    written = str(tree)
    assert parse(written) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert set(tree.names) <= set("abc")
    assert tree.evaluate({"a": 0b1100, "b": 0b1010, "c": 1}) is not None
    assert len(repr(tree)) < 250
    assert tree.simplify().equivalent(tree)
    assert copy.deepcopy(tree) is tree
    assert Not(tree) != tree


def seconds(action: Callable[[], object]) -> float:
    """CPU time, without that of the collector, which looks at all objects of all tests."""
    times = []
    gc.disable()
    try:
        for _ in range(3):
            start = time.process_time()
            action()
            times.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(times)


def test_time_is_linear() -> None:
    small, large = (" | ".join(["a & ~b"] * n) for n in (1_000, 10_000))
    assert seconds(lambda: parse(large)) < 40 * seconds(lambda: parse(small))
    few, many = parse(small), parse(large)
    for action in (str, lambda tree: tree.evaluate({"a": 1, "b": 2}), pickle.dumps):
        assert seconds(lambda act=action: act(many)) < 40 * seconds(lambda act=action: act(few))


def test_shared_subtrees_are_handled_once() -> None:
    one, two = Name("a"), Name("a")
    for _ in range(200):
        one, two = one ^ one, two ^ two
    assert one == two and hash(one) == hash(two) and one.names == ("a",)
    assert one.evaluate({"a": 5}) == 0
    assert pickle.loads(pickle.dumps(one)) == two
    assert len(repr(one)) < 250
    with pytest.raises(ExpressionError, match=f"{MAX_TEXT:,} characters"):
        str(one)


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("", 0, "empty"),
        ("   ", 3, "empty"),
        ("a &", 3, "expected a task name after '&', found the end"),
        ("| a", 0, "expected a task name first, found '|'"),
        ("a b", 2, "expected an operator such as & or | between 'a' and 'b'"),
        ("a (b)", 2, "expected an operator"),
        ("a not b", 2, "expected an operator"),
        ("()", 1, "expected a task name after '(', found ')'"),
        ("a)", 1, "closes no '('"),
        ("(a & (b)", 0, "never closed"),
        ("a && b", 2, "write & for and"),
        ("a || b", 2, "write | for or"),
        ("∼a", 0, "write ~ for not"),
        ("a == b", 2, "write <-> for if and only if"),
        ("a != b", 2, "write ^ for exclusive or"),
        ("a ⊃ b", 2, "write -> for implies"),
        ("a ⇒ b", 2, "write -> for implies"),
        ("a⇒b", 1, "write -> for implies"),
        ("a + b", 2, "write | for or"),
        ("a * b", 2, "write & for and"),
        ("top-left", 3, "in quotes"),
        ("2b", 0, "in quotes"),
        ("1", 0, "write true"),
        ("[a]", 0, "group with ( and )"),
        ("a & 'b", 4, "never closed"),
        ("''", 0, "cannot be empty"),
        ("a\n&& b", 2, "write & for and"),
    ],
)
def test_errors_say_where_and_what_to_write(text: str, position: int, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert caught.value.position == position
    assert words in caught.value.reason and words in str(caught.value)


def test_the_caret_stands_under_the_mistake() -> None:
    def shown(text: str) -> list[str]:
        with pytest.raises(ExpressionError) as caught:
            parse(text)
        return str(caught.value).split("\n")[1:]

    assert shown("a && b") == ["  a && b", "    ^"]
    assert shown("a\t&& b") == ["  a && b", "    ^"]
    assert shown("漢字 && b") == ["  漢字 && b", "       ^"]
    assert shown("e\u0301 && b") == ["  e\u0301 && b", "    ^"]
    assert shown("b |\n a && b\n| c") == ["   a && b", "     ^"]
    line, caret = shown("x" * 500 + " && " + "y" * 500)
    assert line[len(caret) - 1] == "&" and line.strip()[0] == line[-1] == "…" and len(line) <= 74


def test_unknown_names_are_reported_with_the_closest_known_one() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("left & tpo", names=["top", "left"])
    assert caught.value.reason == "unknown task 'tpo'; known: left, top. Did you mean 'top'?"
    assert caught.value.position == 7
    many = [f"task{i:03}" for i in range(200)]
    with pytest.raises(ExpressionError, match=r"200 in all.*Did you mean 'task007'") as caught:
        parse("Task_007", names=many)
    assert len(caught.value.reason) < 200
    with pytest.raises(ExpressionError, match="known: left, 'not', 'top room'"):
        parse("top", names=["top room", "not", "left"])  # as they must be written
    with pytest.raises(ExpressionError, match="known: no tasks"):
        parse("a", names=[])
    assert parse("a | true", names=iter(["a"])) == Or(A, TRUE)


def test_wrong_types() -> None:
    for call in (
        lambda: parse(b"a"),  # type: ignore[arg-type]
        lambda: parse("a", names="ab"),
        lambda: Name(1),  # type: ignore[arg-type]
        lambda: Constant(1),  # type: ignore[arg-type]
        lambda: Not("a"),  # type: ignore[arg-type]
        lambda: And(A, "b"),  # type: ignore[arg-type]
        lambda: A & "b",  # type: ignore[operator]
        lambda: bool(A),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ExpressionError):
        Name("")


def test_expressions_are_immutable() -> None:
    tree = A & B
    for field in ("operands", "left", "_hash", "new"):
        with pytest.raises(AttributeError):
            setattr(tree, field, C)
        with pytest.raises(AttributeError):
            delattr(tree, field)
    assert not hasattr(tree, "__dict__")


def test_operators_build_trees() -> None:
    assert A & ~B | C ^ A == Or(And(A, Not(B)), Xor(C, A))
    assert parse("c & a | c & b").names == ("c", "a", "b")
    assert (A == "a") is False and A != B and hash(parse("a & b")) == hash(A & B)
    match parse("a & ~b"):
        case And(left, Not(right)):
            assert (left, right) == (A, B)
        case _:
            pytest.fail("the tree is an And of a Not")


@given(small_trees)
@settings(max_examples=300)
def test_evaluation_agrees_with_the_oracle_on_every_carrier(tree: Expression) -> None:
    order = ["a", "b", "c"]
    expected = [truth(tree, values) for values in assignments(order)]
    assert [
        tree.evaluate(values, universal=True, empty=False) for values in assignments(order)
    ] == expected
    columns = {name: np.array([values[name] for values in assignments(order)]) for name in order}
    ones = np.ones(8, bool)
    assert tree.evaluate(columns, universal=ones, empty=~ones).tolist() == expected
    bits = sum(value << i for i, value in enumerate(expected))
    patterns = {"a": 0b10101010, "b": 0b11001100, "c": 0b11110000}
    assert tree.evaluate(patterns, universal=-1, empty=0) & 0xFF == bits
    assert tree.truth_table(order) == bits
    minimal = tree.simplify()
    assert minimal.truth_table(order) == bits and minimal.equivalent(tree)
    assert (
        parse(str(tree.evaluate({n: Name(n) for n in order}, universal=TRUE, empty=FALSE))) == tree
    )


class Counted:
    """A carrier that counts its operations and the results that are alive."""

    operations = 0
    alive = 0
    most_alive = 0

    def __init__(self) -> None:
        """Count a new result."""
        Counted.alive += 1
        Counted.most_alive = max(Counted.most_alive, Counted.alive)
        weakref.finalize(self, Counted.gone)

    @staticmethod
    def gone() -> None:
        """Count a result that was let go."""
        Counted.alive -= 1

    def __and__(self, other: "Counted") -> "Counted":
        """Count an operation."""
        Counted.operations += 1
        return Counted()

    __or__ = __xor__ = __and__

    def __invert__(self) -> "Counted":
        """Count an operation."""
        Counted.operations += 1
        return Counted()


def test_equal_subtrees_are_computed_once_and_results_are_let_go() -> None:
    elements = {"a": Counted(), "b": Counted()}

    def run(text: str) -> tuple[int, int]:
        Counted.operations, Counted.most_alive = 0, Counted.alive
        before = Counted.alive
        result = parse(text).evaluate(elements)
        peak = Counted.most_alive - before
        del result
        assert Counted.alive == before
        return Counted.operations, peak

    assert run("(a & b) | ~(a & b)") == (3, 3)
    assert run("~" * 1000 + "a") == (1000, 2)
    assert run("a" + " & a ^ b" * 500)[1] <= 4
    assert run("(a ^ b) ^ (a ^ b)") == (2, 2)


def test_evaluation_asks_for_what_is_missing() -> None:
    tree = parse("left & (tpo | true)")
    with pytest.raises(ExpressionError, match=r"unknown task 'tpo'.*Did you mean 'top'") as caught:
        tree.evaluate({"top": 1, "left": 2})
    assert (caught.value.text, caught.value.position) == (str(tree), 8)
    with pytest.raises(ExpressionError, match="universal=") as caught:
        tree.evaluate({"tpo": 1, "left": 2})
    assert caught.value.position == 14
    with pytest.raises(ExpressionError, match="empty="):
        FALSE.evaluate({}, universal=1)
    assert FALSE.evaluate({}, empty=0) == 0 and TRUE.evaluate({}, universal=-1) == -1


def test_truth_tables() -> None:
    assert parse("a").truth_table() == 0b10
    assert parse("a & b").truth_table(["b", "a", "c"]) == 0b10001000
    assert TRUE.truth_table() == 1 and FALSE.truth_table(["a"]) == 0
    many = [f"x{i}" for i in range(MAX_NAMES)]
    table = parse(" ^ ".join(many)).truth_table()
    for i in (0, 1, 2, 3, 12345, 2**20 - 1):
        assert table >> i & 1 == i.bit_count() % 2
    with pytest.raises(ExpressionError, match="21 names is too large; at most 20"):
        parse(" & ".join([*many, "y"])).truth_table()
    with pytest.raises(ExpressionError, match="unknown task 'b'"):
        parse("a & b").truth_table(["a", "c"])
    with pytest.raises(ValueError, match="not all different"):
        parse("a").truth_table(["a", "a"])
    with pytest.raises(TypeError):
        parse("a").truth_table("a")


def test_canonical_form_keeps_only_names_that_matter() -> None:
    tree = parse("(z & b) | (z & ~b) ^ (a & ~a)")
    assert tree.canonical() == CanonicalForm(("z",), 0b10)
    assert parse("b | a").canonical() == CanonicalForm(("a", "b"), 0b1110)
    assert parse("c & b & ~b").canonical() == CanonicalForm((), 0)
    assert len({parse(text).canonical() for text in ("a -> b", "~a | b", "~(a & ~b)")}) == 1


@given(small_trees, small_trees)
def test_equivalence_is_equality_of_meaning(one: Expression, two: Expression) -> None:
    same = all(truth(one, v) == truth(two, v) for v in assignments(["a", "b", "c"]))
    assert one.equivalent(two) == same
    assert (one.canonical() == two.canonical()) == same
    assert (one.simplify() == two.simplify()) == same


def test_simplify_examples() -> None:
    for text, short in {
        "a & b | a & ~b": "a",
        "~(~a | ~b)": "a & b",
        "a ^ b": "a & ~b | ~a & b",
        "a & ~a": "false",
        "a -> a": "true",
        "a & b | ~a & c | b & c": "a & b | c & ~a",
        "'and' | 'and' & b": "'and'",
    }.items():
        assert parse(text).simplify().equivalent(parse(short))
        assert len(str(parse(text).simplify())) == len(str(parse(short)))


def test_all_functions_of_two_names() -> None:
    functions = list(all_functions(["a", "b"]))
    assert [tree.truth_table(["a", "b"]) for tree in functions] == list(range(16))
    assert len(set(functions)) == 16
    assert str(functions[6]) == "a & ~b | ~a & b"
    assert list(all_functions([])) == [FALSE, TRUE]
    first = list(itertools.islice(all_functions([f"x{i}" for i in range(6)]), 3))
    assert first[0] == FALSE and len(first) == 3


def test_from_truth_table_checks_its_arguments() -> None:
    for table, dont_care in ((16, 0), (-1, 0), (0, 16), (0, -1)):
        with pytest.raises(ValueError, match="has 4 bits"):
            from_truth_table(table, ["a", "b"], dont_care)
    assert from_truth_table(0b0111, ["a", "b"], dont_care=0b1000) == TRUE
