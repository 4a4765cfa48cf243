"""Temporal formulas as text and trees: grammar, names, round trips, errors, shorter forms."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logic.traces import BINARY, UNARY, holds, random_formula, random_trace
from taskalgebra.logic.expression import FALSE, TRUE, And, Constant, Expression, Name, Not, Or, Xor
from taskalgebra.logic.formulas import in_short, parse
from taskalgebra.logic.rewriting import MOST_STEPS, shortened
from taskalgebra.logic.steps import steps
from taskalgebra.logic.temporal import (
    Always,
    Eventually,
    Next,
    Release,
    Until,
    WeakNext,
    WeakUntil,
)
from taskalgebra.logic.text import ExpressionError

A, B, C = (Name(name) for name in "abc")
F, G, X, N, U = (Name(name) for name in "FGXNU")
TEMPORAL = (Next, WeakNext, Eventually, Always, Until, Release, WeakUntil)
WORDS = (
    "F G X N U R W eventually always next weaknext avoid until release unless then "
    "Eventually UNTIL Then f u wnext"
).split()
names = st.one_of(
    st.sampled_from(["a", "b", "top left", "and", "it's", *WORDS]), st.text(min_size=1, max_size=4)
)
trees = st.recursive(
    st.one_of(names.map(Name), st.booleans().map(Constant)),
    lambda inner: st.one_of(
        *(st.builds(kind, inner) for kind in UNARY),
        *(st.builds(kind, inner, inner) for kind in BINARY),
    ),
    max_leaves=25,
)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("F a", Eventually(A)),
        ("eventually a", Eventually(A)),
        ("G a", Always(A)),
        ("ALWAYS a", Always(A)),
        ("X a", Next(A)),
        ("next a", Next(A)),
        ("N a", WeakNext(A)),
        ("weaknext a", WeakNext(A)),
        ("avoid a", Always(Not(A))),
        ("a U b", Until(A, B)),
        ("a Until b", Until(A, B)),
        ("a R b", Release(A, B)),
        ("a release b", Release(A, B)),
        ("a W b", WeakUntil(A, B)),
        ("a unless b", WeakUntil(A, B)),
        ("a then b", Eventually(And(A, Next(Eventually(B))))),
        ("a then b then c", Eventually(And(A, Next(Eventually(And(B, Next(Eventually(C)))))))),
        ("a then F b", Eventually(And(A, Next(Eventually(B))))),
        ("!a", Not(A)),
        ("!!a", Not(Not(A))),
        ("a => b", Or(Not(A), B)),
        ("a => b -> c", Or(Not(A), Or(Not(B), C))),
        ("a <=> b", Not(Xor(A, B))),
        ("F G a", Eventually(Always(A))),
        ("FG a", None),
        ("F(a)", Eventually(A)),
        ("F!a", Eventually(Not(A))),
        ("~F a", Not(Eventually(A))),
        ("F a & b", And(Eventually(A), B)),
        ("X a U b", Until(Next(A), B)),
        ("~a U b", Until(Not(A), B)),
        ("a U b U c", Until(A, Until(B, C))),
        ("a U b R c", Until(A, Release(B, C))),
        ("a & b U c", And(A, Until(B, C))),
        ("a U b & c", And(Until(A, B), C)),
        ("a ^ b W c | a", Or(Xor(A, WeakUntil(B, C)), A)),
        ("a then b & c", And(Eventually(And(A, Next(Eventually(B)))), C)),
        ("F(coffee & F office) & G !decoration", None),
        ("F 'F'", Eventually(F)),
        ("F true", Eventually(TRUE)),
        ("F ⊥", Eventually(FALSE)),
        ("F F", Eventually(F)),
        ("F F a", Eventually(Eventually(A))),
        ("G X & a", And(Always(X), A)),
        ("F F U a", Until(Eventually(F), A)),
        ("F U a", Until(F, A)),
        ("F until a", Until(F, A)),
        ("U U U", Until(U, U)),
        ("next until then", Until(Name("next"), Name("then"))),
        ("F (U)", Eventually(U)),
        ("F 'U'", Eventually(U)),
        ("F ~U", Eventually(Not(U))),
        ("not next", Not(Name("next"))),
        ("next next", Next(Name("next"))),
        ("Next next & Next", And(Next(Name("next")), Name("Next"))),
    ],
)
def test_grammar(text: str, tree: Expression | None) -> None:
    if text.startswith("FG"):
        with pytest.raises(ExpressionError, match="between 'FG' and 'a'"):
            parse(text)
        return
    if tree is None:
        coffee, office, decoration = map(Name, ("coffee", "office", "decoration"))
        tree = And(Eventually(And(coffee, Eventually(office))), Always(Not(decoration)))
    assert parse(text) == tree
    assert parse(f" \n({text})\t") == tree
    assert tree.temporal or text[0] in "!a" or text.startswith("not")


@pytest.mark.parametrize("word", WORDS)
def test_a_plain_boolean_formula_may_still_use_any_word_as_a_name(word: str) -> None:
    name = Name(word)
    for text, tree in (
        (word, name),
        (f"({word})", name),
        (f"~{word}", Not(name)),
        (f"{word} & a", And(name, A)),
        (f"a | {word}", Or(A, name)),
        (f"{word} ^ {word}", Xor(name, name)),
        (f"not {word} implies {word}", Or(Not(Not(name)), name)),
        (f"a -> ({word} | {word})", Or(Not(A), Or(name, name))),
    ):
        found = parse(text)
        assert found == tree and not found.temporal
        assert parse(text, names=["a", word]) == tree
    assert str(name & A) == f"{word} & a"
    with pytest.raises(ExpressionError, match="unknown task"):
        parse(f"a & {word}", names=["a"])


@given(trees)
@settings(max_examples=400)
def test_text_and_pickle_give_back_the_tree(tree: Expression) -> None:
    text = str(tree)
    again = parse(text)
    assert again == tree and hash(again) == hash(tree) and type(again) is type(tree)
    assert len(text) == tree._length
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy(tree) is tree
    assert tree.temporal == any(type(one) in TEMPORAL for one in walk(tree))


def walk(tree: Expression):
    yield tree
    for operand in tree.operands:
        yield from walk(operand)


def test_a_pickled_formula_is_read_where_nothing_is_imported() -> None:
    data = pickle.dumps(parse("a & F b"))
    code = f"import pickle; print(pickle.loads({data!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "a & F b\n"


@pytest.mark.parametrize(
    "text",
    [
        "F a",
        "F(a & b)",
        "F ~a",
        "~F a",
        "X F a",
        "F(a U b)",
        "a U b U c",
        "(a U b) U c",
        "(a | b) U (c & a)",
        "F a U G b",
        "a U b & c R a | X N a W b",
        "F 'F'",
        "'U' U 'F'",
        "~F U a",
        "F & a U b",
    ],
)
def test_text_with_fewest_parentheses_is_printed_as_it_is(text: str) -> None:
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("a U", 3, "expected a task name after 'U', found the end"),
        ("F", 0, None),
        ("F (", 3, "expected a task name after '(', found the end"),
        ("a F b", 2, "expected an operator such as & or | between 'a' and 'F'"),
        ("F a b", 4, "expected an operator"),
        ("a U U b", 4, "the operator U needs something before it: a U b"),
        ("U coffee", 0, "the operator U needs something before it: a U b"),
        (" then coffee", 1, "the operator then needs something before it: a then b"),
        ("a & (until b)", 5, "the operator until needs something before it: a until b"),
        ("<>coffee", 0, "write F for eventually"),
        ("a U <> b", 4, "write F for eventually"),
        ("a <> b", 2, "write ^ for exclusive or"),
        ("[]!d", 0, "write G for always"),
        ("F []d", 2, "write G for always"),
        ("a [] b", 2, "group with ( and )"),
        ("□ ~d", 0, "write G for always"),
        ("a & □d", 4, "write G for always"),
        ("◇ d", 0, "write F for eventually"),
        ("○d", 0, "write X for next"),
        ("never d", 0, "write avoid a or G ~a for never a"),
        ("a & Never (d | e)", 4, "write avoid a or G ~a for never a"),
        ("globally d", 0, "write G a"),
        ("F coffee, F office", 8, "write & between tasks"),
        ("a; b", 1, "write & between tasks"),
        ("F && a", 2, "write & for and"),
        ("F [a]", 2, "group with ( and )"),
        ("G -a", 2, "write ~ for not"),
        ("a until & b", 8, "expected a task name after 'until', found '&'"),
        ("a != b", 2, "write ^ for exclusive or"),
        ("F 'a", 2, "never closed"),
        ("f a", 2, "F, G, X and N are capital letters"),
        ("a u b", 2, "U, R and W are capital letters"),
        ("a weak until b", 2, "expected an operator"),
    ],
)
def test_errors_say_where_and_what_to_write(text: str, position: int, words: str | None) -> None:
    if words is None:
        assert parse(text) == F
        return
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert caught.value.position == position
    assert words in caught.value.reason


@pytest.mark.parametrize("word", ["F", "X", "G", "N", "avoid", "Next"])
def test_an_operator_alone_is_told_what_it_lacks(word: str) -> None:
    for text in (word, f"a & ({word})", f"{word} | a"):
        with pytest.raises(ExpressionError) as caught:
            parse(text, names=["a"], goals=["b"])
        lacks = f"the operator {word} needs something after it: {word} a"
        assert caught.value.reason == f"unknown task '{word}'; {lacks}"
        assert caught.value.position == text.index(word)
        assert parse(text, names=["a", word]) == parse(text)
        assert parse(text, names=["a"], goals=[word]) == parse(text)
        quoted = text.replace(word, f"'{word}'")
        with pytest.raises(ExpressionError, match=f"unknown task '{word}'; known: a, b"):
            parse(quoted, names=["a"], goals=["b"])  # which is a name for sure


def test_words_like_operators_stay_names_where_tasks_are_called_so() -> None:
    for word in ("never", "globally", "U"):
        with pytest.raises(ExpressionError, match=f"between '{word}' and 'a'"):
            parse(f"{word} a", names=["a", word])
        assert parse(f"{word} & a", names=["a", word]) == And(Name(word), A)
        with pytest.raises(ExpressionError, match=rf"unknown task '{word}'; .*\b[GUavoid]+ \w"):
            parse(f"{word} a", names=["a"])
    with pytest.raises(ExpressionError, match="unknown task 'never'; known: a"):
        parse("never & a", names=["a"])
    with pytest.raises(ExpressionError, match="Did you mean 'f'"):
        parse("F", names=["f", "g"])


def test_messages_list_tasks_before_goals() -> None:
    def known(tasks: list[str], goals: list[str]) -> str:
        with pytest.raises(ExpressionError) as caught:
            parse("F zzz", names=tasks, goals=goals)
        return caught.value.reason.partition("known: ")[2]

    goals = [f"a {i}" for i in range(14)]
    assert known(["c", "b"], ["b", "a"]) == "b, c, a."
    assert known(["c", "b"], []) == "b, c."
    tasks = [f"t{i:02}" for i in range(20)]
    all_tasks = ", ".join(tasks)
    assert known(tasks, goals) == f"{all_tasks}, 'a 0', 'a 1', 'a 2', 'a 3', … (34 in all)."
    assert known([*tasks, "t99"], goals) == ", ".join(tasks[:8]) + ", … (35 in all)."
    few = ", ".join(f"'a {i}'" for i in range(7))
    assert known(["t"], goals) == f"t, {few}, … (15 in all)."


def test_unknown_names_are_found_under_temporal_operators() -> None:
    with pytest.raises(ExpressionError, match="Did you mean 'coffee'") as caught:
        parse("F(cofee & F office)", names=["coffee", "office"])
    assert caught.value.position == 2
    with pytest.raises(ExpressionError, match="unknown task 'G'") as caught:
        parse("F G & coffee", names=["coffee"])
    assert caught.value.position == 2


@pytest.mark.parametrize(
    "use",
    [
        lambda tree: tree.evaluate({"a": 1, "b": 2}),
        lambda tree: tree.truth_table(),
        lambda tree: tree.truth_table(["a", "b"]),
        lambda tree: tree.canonical(),
        lambda tree: tree.steps_over(["a", "b"]),
    ],
)
def test_a_temporal_formula_has_no_truth_table(use) -> None:
    with pytest.raises(ExpressionError, match="a formula with U is about a trace") as caught:
        use(parse("b | a U b"))
    assert (caught.value.text, caught.value.position) == ("b | a U b", 6)


def test_nodes() -> None:
    tree = parse("a U F b")
    match tree:
        case Until(left, Eventually(right)):
            assert (left, right) == (A, B)
        case _:
            pytest.fail("the tree is an Until")
    assert tree.names == ("a", "b") and tree.temporal and not (A & B).temporal
    assert tree & A == And(tree, A) and ~tree == Not(tree)
    for call in (
        lambda: Eventually("a"),  # type: ignore[arg-type]
        lambda: Until(A, "b"),  # type: ignore[arg-type]
        lambda: bool(tree),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(AttributeError):
        tree.left = B  # type: ignore[misc]
    assert not hasattr(tree, "__dict__")
    assert Until(A, B) != Release(A, B) and hash(Until(A, B)) != hash(Release(A, B))


@pytest.mark.parametrize(
    "text",
    [
        "F " * 20_000 + "a",
        "a U " * 8_000 + "b",
        "(" * 8_000 + "a" + " U b)" * 8_000,
        "a then " * 5_000 + "b",
        "F(a & X " * 5_000 + "b" + ")" * 5_000,
    ],
    ids=["F", "right", "left", "then", "nested"],
)
def test_no_method_minds_a_deep_tree(text: str) -> None:
    tree = parse(text)
    assert parse(str(tree)) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert tree.temporal and set(tree.names) <= {"a", "b"}
    assert tree.simplify().temporal and len(repr(tree)) < 250


def test_time_is_linear() -> None:
    def seconds(text: str) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            parse(text)
            times.append(time.process_time() - start)
        return min(times)

    for one in ("F a U ", "F ", "next ", "U U "):
        assert seconds(one * 10_000 + "a") < 40 * seconds(one * 1_000 + "a")
    long = "a" * 500_000
    assert seconds(f"F F F {long} & F {long}") < 1


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("F F a", "F a"),
        ("G G a", "G a"),
        ("F(a | F b)", "F(a | b)"),
        ("F a | F b", "F(a | b)"),
        ("G a & G b", "G(a & b)"),
        ("F a & F(a & F b)", "F(a & F b)"),
        ("F a | G ~a", "true"),
        ("F a & G ~a", "false"),
        ("F true", "true"),
        ("X false", "false"),
        ("X a & X b", "X(a & b)"),
        ("N a | N b", "N(a | b)"),
        ("true U a", "F a"),
        ("false R a", "G a"),
        ("a U (a U b)", "a U b"),
        ("a U F b", "F b"),
        ("(a | b) U b", "a U b"),
        ("a U b & F b", "a U b"),
        ("a U c & b U c", "(a & b) U c"),
        ("~(~b U (~a & ~b))", "a W b"),
        ("F G F a", "G F a"),
        ("G F G a", "F G a"),
        ("a & G a & F a", "G a"),
        ("F(a & b) | F(a & ~b)", "F a"),
        ("(a | b) & F c | (a | b) & G d", "(a | b) & (F c | G d)"),
        ("F(a & ~~a) & (b | ~b)", "F a"),
        ("a | b | ~(a ^ b) & F c", "a | b | F c"),
    ],
)
def test_simplify_examples(text: str, short: str) -> None:
    found = parse(text).simplify()
    assert str(found) == short
    assert found.equivalent(parse(text))
    assert in_short(parse(text)) == found


def test_simplify_keeps_the_meaning_and_gets_no_longer() -> None:
    rng = random.Random(0)
    shorter = 0
    for _ in range(600):
        tree = random_formula(rng, rng.randint(1, 14), "abc")
        short = tree.simplify()
        assert short.equivalent(tree), (str(tree), str(short))
        assert not tree.temporal or len(str(short)) <= len(str(tree))
        shorter += len(str(short)) < len(str(tree))
        for _ in range(3):  # by the definition too
            trace = random_trace(rng, rng.randint(1, 6), "abc")
            assert holds(tree, trace) == holds(short, trace), (str(tree), str(short))
    assert shorter > 250


def test_a_formula_that_is_too_large_is_left_as_it_is() -> None:
    wide = parse(" | ".join(f"X p{i} & q{i}" for i in range(20)))
    assert wide.simplify() is wide
    deep = parse("X (a & " * MOST_STEPS + "F F b" + ")" * MOST_STEPS)
    assert deep.simplify() is deep and shortened(steps(deep)) == steps(deep)
    nested = parse("X " * 300 + "a & " + "X " * 300 + "b")
    assert nested.simplify().equivalent(nested)


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("F a", "true U a", True),
        ("G a", "~F ~a", True),
        ("a W b", "a U b | G a", True),
        ("a R b", "~(~a U ~b)", True),
        ("N a", "~X ~a", True),
        ("F G a", "G F a", True),  # on finite traces
        ("X true", "true", False),
        ("N false", "~X true", True),
        ("F true", "true", True),
        ("F X a", "X F a", True),
        ("F(a & F b)", "F(a & X F b)", False),
        ("F a & F b", "F(a & b)", False),
        ("F a", "F a & (b | ~b)", True),
        ("a", "F a", False),
        ("a | b & ~b", "a U a", True),
    ],
)
def test_equivalence(one: str, two: str, same: bool) -> None:
    assert parse(one).equivalent(parse(two)) is same
    assert parse(two).equivalent(parse(one)) is same


def test_equivalence_is_refused_when_it_would_take_too_long() -> None:
    many = parse(" & ".join(f"F p{i}" for i in range(13)))
    with pytest.raises(ExpressionError, match="13 names have"):
        many.equivalent(parse("F p0"))
    assert many.equivalent(parse(str(many)))  # the same tree
    with pytest.raises(ExpressionError, match="states"):
        parse("F(a & " + "X " * 30 + "b)").equivalent(A)


def test_names_are_checked_in_any_formula() -> None:
    tree = parse("F(coffee & 'F' U office)")
    tree.check_names(["F", "coffee", "office"])
    for known, position in (
        (["coffee", "F"], 17),
        (["F", "office"], 2),
        (["coffee", "office"], 11),
    ):
        with pytest.raises(ExpressionError, match="unknown task") as caught:
            tree.check_names(known)
        assert (caught.value.text, caught.value.position) == (str(tree), position)
    with pytest.raises(TypeError, match="an operand must be an Expression, got 'F a'"):
        tree.equivalent("F a")  # type: ignore[arg-type]
