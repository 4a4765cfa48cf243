"""Automata of temporal formulas: right on every trace, minimal, and refused in time."""

from __future__ import annotations

import itertools
import random
import time

import numpy as np
import pytest
from automata.fa.dfa import DFA

import taskalgebra as ta
from logic.traces import Exhaustive, all_formulas, holds, random_formula, random_trace
from taskalgebra.logic.automaton import Automaton, automaton
from taskalgebra.logic.composition import _apart, _composed
from taskalgebra.logic.expression import Constant, Expression, Name
from taskalgebra.logic.formulas import parse
from taskalgebra.logic.minimal import minimal
from taskalgebra.logic.progression import Work, all_letters, machine
from taskalgebra.logic.steps import steps
from taskalgebra.logic.text import ExpressionError

LONG = (
    "(F (m & X (F (o & X (~m U (~tm & m & X (F (c & X (~o U (~to & o & X (F (A & X (F (B & X "
    "(F (C & X (F (D & X (F A))))))))))))))))))) & (G ~d)"
)
OFFICE = [{"m", "tm"}, {"m"}, {"o", "to"}, {"o"}, *({name} for name in "cdABCD"), set()]


def test_the_two_oracles_agree() -> None:
    rng = random.Random(0)
    for _ in range(300):
        tree = random_formula(rng, rng.randint(1, 9), "ab")
        exhaustive = Exhaustive("ab", 3)
        found = automaton(tree)
        for n in (1, 2, 3):
            for trace in itertools.product([set(), {"a"}, {"b"}, {"a", "b"}], repeat=n):
                assert found.accepts(trace) == holds(tree, trace), (str(tree), trace)
        assert exhaustive.mismatches(tree, found) == 0


def test_the_exhaustive_oracle_finds_a_wrong_automaton() -> None:
    exhaustive = Exhaustive("ab")
    assert exhaustive.mismatches(parse("F a"), automaton("F (a | b)")) > 0
    assert exhaustive.mismatches(parse("X a"), automaton("N a & (a | b | ~a)")) == 4  # of one step
    weak = automaton("a W b & (b | ~b)")
    assert exhaustive.mismatches(parse("a U b"), weak) == 5  # a and never b, of each length


def test_all_formulas_of_five_nodes_on_all_traces_of_five_steps() -> None:
    exhaustive = Exhaustive("ab")
    leaves = [Name("a"), Name("b")]
    count = 0
    for size in range(1, 6):
        for tree in all_formulas(size, leaves):
            assert exhaustive.mismatches(tree, automaton(tree)) == 0, str(tree)
            count += 1
    assert count == 6_122


def test_random_formulas_accept_the_traces_that_satisfy_them() -> None:
    rng = random.Random(1)
    for _ in range(2_000):
        names = list("abcd")[: rng.randint(1, 4)]
        tree = random_formula(rng, rng.randint(1, 14), names)
        found = automaton(tree)
        for _ in range(5):
            trace = random_trace(rng, rng.randint(1, 9), names)
            assert found.accepts(trace) == holds(tree, trace), (str(tree), trace)


def theirs(found: Automaton) -> DFA:
    """The same automaton in the words of automata-lib."""
    return DFA(
        states=set(range(found.n_states)),
        input_symbols={str(i) for i in range(len(found.letters))},
        transitions={
            u: {str(i): int(v) for i, v in enumerate(row)} for u, row in enumerate(found.delta)
        },
        initial_state=found.start,
        final_states=set(np.flatnonzero(found.accepting).tolist()),
    )


def by_their_operations(tree: Expression, letters: tuple[frozenset[str], ...]) -> DFA:
    """The automaton of a Boolean combination of F, G and names, made by automata-lib alone."""
    symbols = {str(i) for i in range(len(letters))}

    def some(inside: set[str], first: bool) -> DFA:
        """Traces with a letter of these, as the first one or anywhere."""
        moves = {
            0: {s: 1 if s in inside else 2 if first else 0 for s in symbols},
            1: dict.fromkeys(symbols, 1),
            2: dict.fromkeys(symbols, 2),
        }
        return DFA(
            states={0, 1, 2},
            input_symbols=symbols,
            transitions=moves,
            initial_state=0,
            final_states={1},
        )

    def letters_of(operand: Expression, value: bool) -> set[str]:
        return {
            str(i)
            for i, letter in enumerate(letters)
            if operand.evaluate(
                {name: name in letter for name in "abc"}, universal=True, empty=False
            )
            is value
        }

    def made(tree: Expression) -> DFA:
        match tree.kind:
            case "name" | "constant":
                return some(letters_of(tree, True), first=True)
            case "eventually":
                return some(letters_of(tree.operands[0], True), first=False)
            case "always":
                return some(letters_of(tree.operands[0], False), first=False).complement()
            case "not":
                return made(tree.operands[0]).complement()
            case "and":
                return made(tree.operands[0]).intersection(made(tree.operands[1]))
            case "or":
                return made(tree.operands[0]).union(made(tree.operands[1]))
            case "xor":
                one, two = map(made, tree.operands)
                return one.symmetric_difference(two)
        raise AssertionError(tree)

    some_step = DFA(
        states={0, 1},
        input_symbols=symbols,
        transitions={0: dict.fromkeys(symbols, 1), 1: dict.fromkeys(symbols, 1)},
        initial_state=0,
        final_states={1},
    )
    return made(tree).intersection(some_step)


def random_layers(rng: random.Random, size: int) -> Expression:
    """A Boolean combination of names, F f and G f, where f is Boolean."""

    def boolean(size: int, leaf) -> Expression:
        if size <= 1:
            return leaf()
        if size == 2 or rng.random() < 0.2:
            return ~boolean(size - 1, leaf)
        left = rng.randint(1, size - 2)
        one, two = boolean(left, leaf), boolean(size - 1 - left, leaf)
        return rng.choice([one & two, one | two, one ^ two])

    def name() -> Expression:
        return Name(rng.choice("abc"))

    def atom() -> Expression:
        inner = boolean(rng.randint(1, 4), name)
        return rng.choice([name(), ta.parse(f"F ({inner})"), ta.parse(f"G ({inner})")])

    return boolean(size, atom)


def test_another_library_makes_the_same_language() -> None:
    rng = random.Random(2)
    for _ in range(150):
        tree = random_layers(rng, rng.randint(1, 8))
        found = automaton(tree)
        ours = theirs(found)
        expected = by_their_operations(tree, found.letters)
        symbols = sorted(ours.input_symbols)
        if len(symbols) < len(expected.input_symbols):
            pytest.fail("the letters differ")
        if found.accepting[found.start]:  # they do not count the empty trace
            expected = expected.union(
                DFA.from_finite_language(language={""}, input_symbols=set(symbols))
            )
        assert ours == expected, str(tree)  # of automata-lib: of languages


def test_another_library_finds_no_smaller_automaton() -> None:
    rng = random.Random(3)
    for _ in range(500):
        tree = random_formula(rng, rng.randint(1, 14), "abc")
        found = automaton(tree)
        assert len(theirs(found).minify(retain_names=False).states) == found.n_states, str(tree)
        seen = {found.start}
        order = [found.start]
        for state in order:  # which grows
            for after in found.delta[state].tolist():
                if after not in seen:
                    seen.add(after)
                    order.append(after)
        assert order == list(range(found.n_states))  # as a breadth-first search meets them
        assert found.dead.sum() <= 1


def test_long_takes_twelve_states_and_a_moment() -> None:
    found = automaton(LONG, OFFICE)
    assert found.n_states == 12 and found.dead.sum() == 1 and found.stutters
    assert len(found.letters) == 11 and found.letters[0] == frozenset()
    times = []
    for _ in range(5):
        start = time.process_time()
        automaton(parse(LONG), OFFICE)
        times.append(time.process_time() - start)
    assert min(times) <= 0.1


def test_letters_are_the_label_sets_that_occur() -> None:
    found = automaton("F(a & b)", [{"a", "other"}, ("b",), {"a"}, {"z"}])
    assert found.letters == (frozenset(), frozenset("a"), frozenset("b"))
    assert not found.satisfiable and found.n_states == 1  # a and b never hold together here
    assert automaton("F(a & b)").satisfiable
    assert found.letter({"b", "unheard of"}) == 2
    with pytest.raises(
        ExpressionError, match=r"no letter \{a, b\}; .* made for \{\}, \{a\}, \{b\}"
    ):
        found.letter({"a", "b"})
    with pytest.raises(TypeError, match="collection of names, got the string 'ab'"):
        found.letter("ab")
    with pytest.raises(TypeError, match="got the string"):
        automaton("F a", ["a"])
    assert automaton("a U b").letters == tuple(map(frozenset, ["", "a", "b", "ab"]))
    assert automaton("true").letters == (frozenset(),)


def test_steps_and_runs() -> None:
    found = automaton("F(coffee & X F office) & G !decoration")
    assert found.start == 0 and found.n_states == 4
    u = found.run([{"coffee"}])
    assert u == found.step(0, found.letter({"coffee"})) and not found.accepting[u]
    assert found.accepts([{"coffee"}, set(), {"office", "coffee"}])
    assert not found.accepts([{"coffee", "office"}])
    assert found.dead[found.run([{"coffee", "decoration"}, {"office"}])]
    for array in (found.delta, found.accepting, found.dead):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        found.start = 1


@pytest.mark.parametrize(
    ("text", "stutters", "states"),
    [
        ("F(a & F b)", True, 3),
        ("F(a & X F b)", True, 3),
        ("a U b", False, 3),  # a step without a ends it
        ("~a U b", True, 3),
        ("F(a & X b)", False, 3),
        ("G a", False, 2),
        ("G ~a", False, 2),  # one step satisfies it
        ("G ~a & F b", True, 3),
        ("X a", False, 4),
        ("N a", False, 4),
        ("a", False, 3),
        ("true", False, 1),
        ("false", True, 1),
        ("F G a", True, 2),
    ],
)
def test_whether_a_step_without_labels_changes_anything(
    text: str, stutters: bool, states: int
) -> None:
    found = automaton(text)
    assert (found.stutters, found.n_states) == (stutters, states)


def test_where_an_episode_may_be() -> None:
    found = automaton("F(a & X F b) & G ~c")
    running = np.flatnonzero(found.running)
    assert not (found.accepting | found.dead)[running].any() and len(running) == 2
    rng = random.Random(4)
    for _ in range(200):
        found = automaton(random_formula(rng, rng.randint(1, 10), "ab"))
        state, met = found.start, {found.start}
        for _ in range(100):
            state = found.step(state, rng.randrange(len(found.letters)))
            if found.accepting[state] or found.dead[state]:
                state = found.start
            met.add(state)
        assert found.running[list(met)].all()
        moves = found.delta[:, 0] != np.arange(found.n_states)
        assert found.stutters == (not (moves | found.accepting)[found.running].any())


@pytest.mark.parametrize(
    "text", ["false", "F(a & ~a)", "G F a & G ~a", "X true & N false", "G false"]
)
def test_what_no_trace_satisfies_has_one_dead_state(text: str) -> None:
    found = automaton(text)
    assert found.n_states == 1 and found.dead.all() and not found.satisfiable


@pytest.mark.parametrize(
    ("text", "flag"),
    [("a", False), ("~a", True), ("F a", False), ("G a", True), ("a U b", False), ("a W b", True)],
)
def test_what_counts_before_the_first_step(text: str, flag: bool) -> None:
    assert bool(automaton(text).accepting[0]) is flag


def test_what_is_too_large_is_refused_at_once() -> None:
    many = " & ".join(f"F p{i}" for i in range(13))
    hopeless = {
        many: r"13 names have 2\^13 sets.*pass letters=",
        "F(a & " + "X " * 30 + "b)": "more than 5,000 states; write a shorter formula",
        " ^ ".join(f"F p{i}" for i in range(12)): "takes too much memory.*pass letters=",
        "X " * 50_000 + "a": "states",
    }
    for text, message in hopeless.items():
        start = time.process_time()
        with pytest.raises(ExpressionError, match=message):
            automaton(text)
        assert time.process_time() - start < 10
    assert automaton(many, [{f"p{i}"} for i in range(9)]).n_states == 1  # p9 never comes
    with pytest.raises(ExpressionError, match="more than 4 states"):
        automaton(LONG, OFFICE, most_states=4)
    with pytest.raises(ExpressionError, match="5,001 letters are too many; at most 4,096"):
        letters = [{f"p{j}" for j in range(13) if i >> j & 1} for i in range(5_001)]
        automaton(many, letters)
    with pytest.raises(TypeError, match="a formula must be an Expression or a str"):
        automaton(3)  # type: ignore[arg-type]


def test_an_automaton_from_its_parts_is_the_same() -> None:
    rng = random.Random(6)
    taken_apart = 0
    for _ in range(400):
        tree = random_formula(rng, rng.randint(2, 16), "abc")
        todo, letters = steps(tree), all_letters(tree.names)
        apart = _apart(todo)
        if apart:
            taken_apart += 1
            found = minimal(*_composed(todo, apart, letters, 5_000))
            whole = minimal(*machine(todo, letters, 5_000, Work()))
            for one, two in zip(found, whole, strict=True):
                assert np.array_equal(one, two), str(tree)
    assert taken_apart > 100


@pytest.mark.parametrize(
    ("text", "states"),
    [
        (" ^ ".join(f"F p{i}" for i in range(10)), 2**10),
        (" & ".join(f"G(p{i} -> F p{i + 1})" for i in range(11)), 12),
        (" & ".join(f"(F p{2 * i} -> F(p{2 * i + 1} & F p{2 * i + 2}))" for i in range(6)), None),
    ],
    ids=["parity", "responses", "chains"],
)
def test_what_progression_alone_does_not_find(text: str, states: int | None) -> None:
    letters = [{f"p{i}"} for i in range(14)]
    found = automaton(text, None if states == 12 else letters)
    with pytest.raises(ExpressionError):
        machine(steps(found.formula), found.letters, 5_000, Work())
    assert states is None or found.n_states == states
    rng = random.Random(7)
    satisfied = 0
    for _ in range(200):
        trace = [rng.choice(letters) for _ in range(rng.randint(1, 20))]
        satisfied += holds(found.formula, trace)
        assert found.accepts(trace) == holds(found.formula, trace)
    assert 0 < satisfied < 200


def test_a_patrol_of_ten_goals() -> None:
    goals = [f"g{i}" for i in range(10)]
    found = automaton(" & ".join(f"F {goal}" for goal in goals), [{goal} for goal in goals])
    assert found.n_states == 1024 and found.stutters


def test_guards_tell_the_letters_apart() -> None:
    rng = random.Random(5)
    for _ in range(300):
        names = list("abcdefgh")[: rng.randint(1, 8)]
        tree = random_formula(rng, rng.randint(2, 12), names)
        letters = [[n for n in names if rng.random() < 0.4] for _ in range(rng.randint(1, 12))]
        found = automaton(tree, letters)
        assert len(found.edges) == sum(len(set(row)) for row in found.delta.tolist())
        for state, target, guard in found.edges:
            for i, letter in enumerate(found.letters):
                true = guard.evaluate(
                    {name: name in letter for name in names}, universal=True, empty=False
                )
                assert true == (found.delta[state, i] == target), (str(tree), letters)


def test_guards_are_short() -> None:
    found = automaton(LONG, OFFICE)
    guards = {str(guard) for _, _, guard in found.edges}
    assert {"m", "d", "tm", "m & ~tm", "A", "~D & ~d"} <= guards and max(map(len, guards)) == 7
    sets = {(u, v): str(guard) for u, v, guard in automaton("F(a & b)").edges}
    assert sets[0, 1] == "a & b" and sets[0, 0] == "~a | ~b" and sets[1, 1] == "true"


def test_a_constant_leaf_changes_nothing_in_the_alphabet() -> None:
    assert automaton(Constant(True)).accepts([set()])
    assert ta.automaton("F a").formula == ta.parse("F a")
    assert isinstance(ta.automaton("F a"), ta.Automaton)
