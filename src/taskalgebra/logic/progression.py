"""From a temporal formula to a deterministic automaton, by progression.

To progress a formula by a letter is to say what must hold of the rest of the trace, once this
letter has been read:

    X a  ↦  more(a): there is more to come, and a holds of it
    N a  ↦  rest(a): there is nothing more to come, or a holds of it
    a U b = b ∨ (a ∧ X(a U b))        a R b = b ∧ (a ∨ N(a R b))

What is left is a positive combination of obligations more(a) and rest(a).  In the form of a sum of
products in which no product contains another, equal combinations are equal: these are the states.
A state accepts if the trace may end there, that is, if one product has only obligations of the
kind rest(a).

The successors of an obligation are kept as a partition of the letters: a sum for each class.  So
the number of letters hardly matters.  Whatever may grow exponentially is counted, and an
`ExpressionError` ends the construction early.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from taskalgebra.arrays import BoolArray, IntArray, LongArray
from taskalgebra.logic.normal_form import NormalForm, holds_at_the_end
from taskalgebra.logic.steps import Step
from taskalgebra.logic.text import ExpressionError

MOST_STATES = 5_000
"""States of an automaton, before equal ones are merged."""
MOST_LETTERS = 4_096
"""Letters of an alphabet; all sets of 12 names."""
MOST_WORK = 6_000_000
"""Elementary steps of a construction, some seconds."""
MOST_PRODUCTS = 1_000
"""Products in the sum of a state."""

_FALSE, _TRUE = 0, 1  # the sums of no products and of the empty product
_ENDED, _GOES_ON = 0b0010, 0b0100  # rest(false) and more(true)
_Partition = dict[int, int]
"""A sum for each class of letters, which are bits."""


class Machine(NamedTuple):
    """A complete deterministic automaton; it starts in state 0."""

    delta: IntArray  # [U, L]
    accepting: BoolArray  # [U]


def machine(
    steps: Sequence[Step], letters: Sequence[Collection[str]], most_states: int, work: Work
) -> Machine:
    """The states that are reached by progression; not yet minimal.

    State 0 has read nothing yet; it accepts if the formula holds of the empty trace.

    Args:
        steps: A formula (`logic.steps`).
        letters: What may be true at a step.
        most_states: An error ends the construction once there are more.
        work: What it may take.
    """
    progression = _Progression(NormalForm(steps, letters), work)
    states: dict[int, int] = {}
    rows = [progression.of_node(progression.normal.root)]
    sums = [-1]
    for partition in rows:  # which grows
        for found in partition:
            if found not in states:
                if len(sums) >= most_states:
                    raise too_large(f"has more than {most_states:,} states")
                states[found] = len(sums)
                sums.append(found)
                rows.append(progression.of_sum(found))
    delta = np.empty((len(rows), len(letters)), np.int32)
    for row, partition in zip(delta, rows, strict=True):
        for found, where in partition.items():
            row[_places(where, len(letters))] = states[found]
    accepting = [holds_at_the_end(steps), *(progression.may_end(found) for found in sums[1:])]
    return Machine(delta, np.array(accepting))


def all_letters(names: Sequence[str]) -> tuple[frozenset[str], ...]:
    """All sets of names, the empty one first."""
    if 1 << len(names) > MOST_LETTERS:
        raise ExpressionError(
            f"{len(names)} names have 2^{len(names)} sets, too many to try all; write a formula of "
            f"at most {MOST_LETTERS.bit_length() - 1} names, or pass letters=… to automaton"
        )
    return tuple(
        frozenset(name for j, name in enumerate(names) if i >> j & 1)
        for i in range(1 << len(names))
    )


class Work:
    """What a construction may still take."""

    def __init__(self) -> None:
        """Start a construction."""
        self._left = MOST_WORK

    def spend(self, work: int) -> None:
        """Take a number of elementary steps.

        Raises:
            ExpressionError: If there are no more.
        """
        self._left -= work
        if self._left < 0:
            raise too_large("takes too long to find")


class _Progression:
    """Sums of products of obligations, each stored once, and what letters make of them."""

    def __init__(self, normal: NormalForm, work: Work) -> None:
        self.normal = normal
        self._work = work
        self._sums: list[tuple[int, ...]] = [(), (0,)]  # products are sets of bits
        self._place_of: dict[tuple[int, ...], int] = {(): _FALSE, (0,): _TRUE}
        self._obligations = [normal.false, normal.true]  # bit 2i is more(node i), 2i + 1 is rest
        self._bit_of = {normal.false: 0, normal.true: 2}
        self._more = 0b0101
        self._width = 1 + normal.everything.bit_length() // 256  # of a class, which takes memory
        self._of_node: dict[int, _Partition] = {}
        self._of_product: dict[int, _Partition] = {0: {_TRUE: normal.everything}}
        self._after: dict[tuple[bool, int], int] = {}
        self._joined: dict[tuple[bool, int, int], int] = {}

    def may_end(self, place: int) -> bool:
        """Whether a sum holds if nothing more comes."""
        return any(not product & self._more for product in self._sums[place])

    def of_sum(self, place: int) -> _Partition:
        """What the letters make of a sum."""
        partition: _Partition = {_FALSE: self.normal.everything}
        for product in self._sums[place]:
            partition = self._join(partition, self._product(product), either=True)
        return partition

    def _product(self, product: int) -> _Partition:
        """What the letters make of a product."""
        done = 0
        while product:
            bit = product & -product
            product ^= bit
            before, done = self._of_product[done], done | bit
            if done not in self._of_product:
                node = self._obligations[(bit.bit_length() - 1) // 2]
                joined = self._join(before, self.of_node(node), either=False)
                self._of_product[done] = joined
        return self._of_product[done]

    def of_node(self, root: int) -> _Partition:
        """What the letters make of a node."""
        stack = [root]
        while stack:
            place = stack[-1]
            kind, first, second = self.normal.nodes[place]
            if kind in ("and", "or", "until", "release"):
                missing = [one for one in (first, second) if one not in self._of_node]
                if missing:
                    stack.extend(missing)
                    continue
            if place not in self._of_node:
                self._of_node[place] = self._progressed(place)
            stack.pop()
        return self._of_node[root]

    def _progressed(self, place: int) -> _Partition:
        """What the letters make of a node whose operands are done."""
        kind, first, second = self.normal.nodes[place]
        everything = self.normal.everything
        if kind == "guard":
            return {
                s: where for s, where in ((_TRUE, first), (_FALSE, everything ^ first)) if where
            }
        if kind in ("next", "weak"):
            return {self._obligation(first, kind == "next"): everything}
        one, two = self._of_node[first], self._of_node[second]
        if kind in ("and", "or"):
            return self._join(one, two, either=kind == "or")
        until = kind == "until"
        again = {self._obligation(place, until): everything}
        return self._join(two, self._join(one, again, either=not until), either=until)

    def _obligation(self, root: int, more: bool) -> int:
        """The sum that says more(a) or rest(a); ∧ and ∨ in a are taken apart."""
        stack = [root]
        while stack:
            place = stack[-1]
            if (more, place) in self._after:
                stack.pop()
                continue
            kind, first, second = self.normal.nodes[place]
            if kind in ("and", "or"):
                found = [self._after.get((more, one)) for one in (first, second)]
                if None in found:
                    stack.extend((first, second))
                    continue
                joined = self._joined_sums(found[0] or 0, found[1] or 0, kind == "or")
            elif place == (self.normal.false if more else self.normal.true):
                joined = _FALSE if more else _TRUE
            else:
                bit = self._bit_of.get(place)
                if bit is None:
                    bit = self._bit_of[place] = 2 * len(self._obligations)
                    self._obligations.append(place)
                    self._more |= 1 << bit
                joined = self._stored((1 << bit + (not more),))
            self._after[more, place] = joined
            stack.pop()
        return self._after[more, root]

    def _join(self, one: _Partition, two: _Partition, *, either: bool) -> _Partition:
        """The conjunction or disjunction, letter by letter."""
        self._work.spend(len(one) * len(two))
        joined: _Partition = {}
        for a, here in one.items():
            for b, there in two.items():
                both = here & there
                if both:
                    found = self._joined_sums(a, b, either)
                    joined[found] = joined.get(found, 0) | both
        self._work.spend(len(joined) * self._width)
        return joined

    def _joined_sums(self, a: int, b: int, either: bool) -> int:
        """The conjunction or disjunction of two sums."""
        a, b = min(a, b), max(a, b)
        if a == b:
            return a
        if a == _FALSE:
            return b if either else a
        if a == _TRUE:
            return a if either else b
        key = (either, a, b)
        found = self._joined.get(key)
        if found is None:
            one, two = self._sums[a], self._sums[b]
            if either:
                products = {*one, *two}
            else:
                self._work.spend(len(one) * len(two))
                products = {p for x in one for y in two if (p := self._product_of(x, y)) >= 0}
            found = self._joined[key] = self._stored(self._absorbed(products))
        return found

    def _product_of(self, one: int, two: int) -> int:
        """The conjunction of two products, or −1 if nothing satisfies it."""
        product = one | two
        if product & _ENDED:
            return _ENDED if not product & self._more else -1
        if product & _GOES_ON and product & self._more != _GOES_ON:
            product ^= _GOES_ON
        return product

    def _absorbed(self, products: Collection[int]) -> tuple[int, ...]:
        """The products that contain no other, in a fixed order."""
        kept: list[int] = []
        for product in sorted(products, key=lambda p: (p.bit_count(), p)):
            self._work.spend(len(kept) + 1)
            if not any(product & small == small for small in kept):
                kept.append(product)
        if len(kept) > MOST_PRODUCTS:
            raise too_large(f"has a state of more than {MOST_PRODUCTS:,} alternatives")
        return tuple(kept)

    def _stored(self, products: tuple[int, ...]) -> int:
        place = self._place_of.setdefault(products, len(self._sums))
        if place == len(self._sums):
            self._sums.append(products)
        return place


def _places(where: int, n: int) -> LongArray:
    """The set bits of an integer of n bits."""
    data = np.frombuffer(where.to_bytes((n + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(data, bitorder="little"))


def too_large(what: str) -> ExpressionError:
    """The error that ends a construction."""
    return ExpressionError(
        f"the automaton of this formula {what}; write a shorter formula, "
        "or pass letters=… with the label sets that occur"
    )
