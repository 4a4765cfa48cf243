"""Drawings of automata: what they say, that they are SVG, and that nothing overlaps."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from logic.traces import random_formula
from taskalgebra.logic.automaton import Automaton, automaton
from taskalgebra.logic.text import ExpressionError

SVG = "{http://www.w3.org/2000/svg}"
EXAMPLES = {
    "coffee": ("F(c & X F o) & G ~d", [{"c"}, {"o"}, {"d"}]),
    "cycle": ("G F a & G(a -> N b)", None),
    "letters": (
        "((a|b|c|d) => F (e & (F (f & F g)))) U (h & F i)",
        [{name} for name in "abcdefghi"],
    ),
    "lattice": ("F red & F green & F blue & avoid wall", None),
    "patrol": (" & ".join(f"F {name}" for name in "abcde"), [{name} for name in "abcde"]),
    "next": ("X X (a & N b)", None),
    "unsatisfiable": ("F(a & ~a)", None),
    "everything": ("true", None),
    "wide": (
        "(((!yellow & !orange) U (green & blue)) & (!green U magenta))",
        None,
    ),
}


def test_a_listing_names_states_guards_and_ends() -> None:
    found = automaton("F(c & X F o) & G ~d", [{"c"}, {"o"}, {"d"}])
    assert str(found) == (
        "F(c & X F o) & G ~d\n"
        "→ 0            else → 0\n"
        "               c    → 1\n"
        "               d    → 2 dead\n"
        "  1            else → 1\n"
        "               o    → 3 accepting\n"
        "               d    → 2 dead\n"
        "  2 dead\n"
        "  3 accepting  ~d   → 3 accepting\n"
        "               d    → 2 dead"
    )
    assert repr(found) == "automaton('F(c & X F o) & G ~d'): 4 states"
    assert str(automaton("F(a & ~a)")) == "F(a & ~a)\n→ 0 dead"


def test_a_state_says_else_at_most_once() -> None:
    rng = random.Random(0)
    for _ in range(200):
        found = automaton(random_formula(rng, rng.randint(2, 12), "abc"))
        for block in re.split(r"\n(?=. \d)", str(found))[1:]:
            assert block.count("else ") <= 1


def drawn(found: Automaton, state: int | None = None) -> ElementTree.Element:
    return ElementTree.fromstring(found.svg(state))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_picture_has_every_state_and_edge(name: str) -> None:
    found = automaton(*EXAMPLES[name])
    root = drawn(found)
    states = {int(g.get("data-state", -1)) for g in root.iter(SVG + "g") if g.get("data-state")}
    assert states == set(range(found.n_states))
    edges = {
        (int(g.get("data-from", -1)), int(g.get("data-to", -1)))
        for g in root.iter(SVG + "g")
        if g.get("data-from")
    }
    out = {u: {t for s, t, _ in found.edges if s == u} for u in range(found.n_states)}
    assert edges == {(u, v) for u, v, _ in found.edges if out[u] != {u}}
    for g in root.iter(SVG + "g"):
        words = (g.get("class") or "").split()
        if "state" in words:
            state = int(g.get("data-state", -1))
            assert ("accepting" in words) == found.accepting[state]
            assert ("dead" in words) == found.dead[state]
            assert "current" not in words
    title = root.find(SVG + "title")
    assert title is not None and title.text == str(found.formula)


def test_the_current_state_is_marked() -> None:
    found = automaton("F(c & X F o) & G ~d")
    for state in range(found.n_states):
        current = {
            g.get("data-state")
            for g in drawn(found, state).iter(SVG + "g")
            if "current" in (g.get("class") or "").split()
        }
        assert current == {str(state)}
    for wrong, expected in ((-1, "a whole number of at least 0"), (4, "at most 3")):
        with pytest.raises(ValueError, match=f"state is {wrong}, expected {expected}"):
            found.svg(wrong)


def boxes(root: ElementTree.Element) -> list[tuple[float, float, float, float, str]]:
    """The rooms of texts and circles: left, top, right, bottom."""
    found = []
    for text in root.iter(SVG + "text"):
        x, y, words = float(text.get("x", 0)), float(text.get("y", 0)), text.text or ""
        if not words.isdigit():
            half = 3.5 * len(words)
            found.append((x - half, y - 10, x + half, y + 2, words))
    for group in root.iter(SVG + "g"):
        circle = group.find(SVG + "circle")
        if circle is not None:
            x, y, r = (float(circle.get(key, 0)) for key in ("cx", "cy", "r"))
            found.append((x - r, y - r, x + r, y + r, f"state {group.get('data-state')}"))
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_overlaps_and_nothing_is_cut_off(name: str) -> None:
    check_room(automaton(*EXAMPLES[name]))


def test_nothing_overlaps_in_any_automaton() -> None:
    rng = random.Random(1)
    for _ in range(150):
        found = automaton(random_formula(rng, rng.randint(2, 16), "abcd"))
        if found.n_states <= 30:
            check_room(found)


def check_room(found: Automaton) -> None:
    root = drawn(found)
    left, top, width, height = map(float, (root.get("viewBox") or "").split())
    rooms = boxes(root)
    for i, (x0, y0, x1, y1, what) in enumerate(rooms):
        assert left <= x0 and top <= y0 and x1 <= left + width and y1 <= top + height, what
        for a0, b0, a1, b1, other in rooms[:i]:
            apart = x1 <= a0 or a1 <= x0 or y1 <= b0 or b1 <= y0
            assert apart, (str(found.formula), what, other)


def test_names_may_be_any_text() -> None:
    names = ['<&">', "\ud800", "\0", "漢字", "]]>", "it's"]
    for name in names:
        written = name.replace("\\", "\\\\").replace("'", "\\'")
        found = automaton(f"F '{written}' & G 'a b'")
        drawn(found)
        assert str(found)
        found.svg().encode()


def test_the_picture_in_the_documentation_is_what_is_drawn() -> None:
    letters = [{"coffee"}, {"office"}, {"decoration"}]
    found = automaton("coffee then office & avoid decoration", letters)
    image = Path(__file__).parents[2] / "docs" / "images" / "automaton.svg"
    assert image.read_text(encoding="utf-8") == found.svg(state=1)


def test_a_large_automaton_is_not_drawn() -> None:
    found = automaton(" & ".join(f"F {name}" for name in "abcdefg"))
    assert found.n_states == 128
    with pytest.raises(ExpressionError, match="128 states is too large to be shown; at most 100"):
        found.svg()
    assert str(found).endswith("128 states, too large to be listed")
    large = automaton("X " * 96 + "a")
    start = time.process_time()
    large.svg()
    assert large.n_states == 99 and time.process_time() - start < 5


def test_an_automaton_with_many_edges_is_not_drawn() -> None:
    text = (
        "n21 R (n0 W n23) | n15 U n3 | G(n8 -> F n9) | G(n22 -> F n19) | G F(n18 & n16) | "
        "G(n17 -> F n9)"
    )
    found = automaton(text)
    assert found.n_states <= 100
    with pytest.raises(ExpressionError, match=r"edges is too large to be shown; .* 400 edges"):
        found.svg()
    assert str(found).endswith("too large to be listed")
