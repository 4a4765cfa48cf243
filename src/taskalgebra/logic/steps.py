"""A formula as a flat list of its distinct subtrees, operands first.

The list makes every method of an expression linear in the number of distinct subtrees, without
recursion.  Equal subtrees share one place in it, even if they are separate objects, and the order
is from left to right.  Hence two trees are equal exactly if their lists are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import and_, or_, xor
from typing import Any, Final, Protocol, TypeAlias, TypeVar

T = TypeVar("T")

Step: TypeAlias = tuple[str, Any, Any]
"""A subtree: ("name", name, None), ("constant", value, None), (a unary operator, place, None) or
(a binary one, place, place), where places are those of the operands in the list."""

BOOLEAN: Final = frozenset(("name", "constant", "not", "and", "xor", "or"))
"""The kinds of steps that have a truth table; all others are temporal operators."""

_OPERATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {"and": and_, "xor": xor, "or": or_}


class Node(Protocol):
    """What `steps` needs of a tree."""

    @property
    def kind(self) -> str:
        """The first entry of its step."""

    @property
    def operands(self) -> Sequence[Node]:
        """The direct subtrees."""

    @property
    def content(self) -> str | bool | None:
        """The name or the value of a leaf."""


def steps(root: Node) -> list[Step]:
    """The distinct subtrees of a tree."""
    places: dict[Step, int] = {}
    place_of: dict[int, int] = {}  # by id of the node
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) in place_of:
            continue
        operands = node.operands
        found = [place_of.get(id(operand)) for operand in operands]
        if None in found:
            stack.append(node)
            stack.extend(operands[::-1])
            continue
        first = found[0] if found else node.content
        step = (node.kind, first, found[1] if len(found) > 1 else None)
        place_of[id(node)] = places.setdefault(step, len(places))
    return list(places)


def names_of(steps: Sequence[Step]) -> tuple[str, ...]:
    """The distinct names, in order of first appearance."""
    return tuple(content for kind, content, _ in steps if kind == "name")


def operand_places(step: Step) -> tuple[int, ...]:
    """The places of the operands of a step."""
    kind, first, second = step
    if kind == "name" or kind == "constant":
        return ()
    return (first,) if second is None else (first, second)


def only(steps: Sequence[Step], root: int) -> list[Step]:
    """The steps that one of them needs, itself the last."""
    needed = {root}
    for place in range(root, -1, -1):
        if place in needed:
            needed.update(operand_places(steps[place]))
    number: dict[int, int] = {}
    found: list[Step] = []
    for place in sorted(needed):
        kind, first, second = steps[place]
        if kind != "name" and kind != "constant":
            first = number[first]
            second = None if second is None else number[second]
        number[place] = len(found)
        found.append((kind, first, second))
    return found


def run(steps: Sequence[Step], elements: Mapping[str, T], universal: T, empty: T) -> T:
    """Apply Boolean steps to the named elements; a result is freed after its last use."""
    last_use: dict[int, int] = {}
    for now, step in enumerate(steps):
        last_use.update(dict.fromkeys(operand_places(step), now))
    values: dict[int, T] = {}
    for now, (kind, first, second) in enumerate(steps):
        if kind == "name":
            values[now] = elements[first]
        elif kind == "constant":
            values[now] = universal if first else empty
        else:
            if kind == "not":
                values[now] = negation(values[first])
            else:
                values[now] = _OPERATIONS[kind](values[first], values[second])
                if last_use[second] == now and second != first:
                    del values[second]
            if last_use[first] == now:
                del values[first]
    return values.popitem()[1]


def negation(element: Any) -> Any:
    """¬x; Python's ~ would turn a bool into an integer."""
    return not element if isinstance(element, bool) else ~element
