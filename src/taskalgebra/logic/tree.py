"""Immutable trees that can be hashed, compared, copied, pickled and written, however deep.

No method recurses, and each takes time linear in the number of distinct subtrees (printing: in the
length of the text).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NoReturn, Self

from taskalgebra.logic.steps import steps
from taskalgebra.logic.text import ExpressionError

MAX_TEXT = 100_000_000
"""The longest text that `str` writes; shared subtrees can make a small tree longer than memory."""

_REPR_TEXT = 200
_set_field = object.__setattr__


class Tree(ABC):
    """A node with its subtrees, or a leaf with its content."""

    __slots__ = ("_hash", "_length", "content", "operands")
    operands: tuple[Any, ...]  # the direct subtrees
    content: str | bool | None  # of a leaf: its name or value
    _hash: int
    _length: int  # of str(self), counted up to MAX_TEXT + 1
    kind: ClassVar[str]
    _level: ClassVar[int]  # how tightly it binds; looser operands are put in parentheses

    def _fill(
        self, operands: tuple[Tree, ...], content: str | bool | None, key: int, length: int
    ) -> None:
        """Set the fields of a new node, once."""
        _set_field(self, "operands", operands)
        _set_field(self, "content", content)
        _set_field(self, "_hash", key)
        _set_field(self, "_length", length if length <= MAX_TEXT else MAX_TEXT + 1)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: expressions are immutable."""
        raise AttributeError(f"cannot set {name!r}: an expression is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse: expressions are immutable."""
        raise AttributeError(f"cannot delete {name!r}: an expression is immutable")

    @abstractmethod
    def _pieces(self) -> tuple[str | Tree, ...]:
        """The node as text, with its operands not yet written out."""

    def __hash__(self) -> int:
        """A hash of the tree, computed when the node was made."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Whether both are the same tree; for the same meaning see `equivalent`."""
        if not isinstance(other, Tree):
            return NotImplemented
        return self is other or (self._hash == other._hash and steps(self) == steps(other))

    def __copy__(self) -> Self:
        """The expression itself, which never changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The expression itself, which never changes."""
        return self

    def __str__(self) -> str:
        """The formula with just the parentheses that `parse` needs to rebuild this tree."""
        if self._length > MAX_TEXT:
            raise ExpressionError(f"the formula is longer than {MAX_TEXT:,} characters")
        return "".join(written(self))

    def __repr__(self) -> str:
        """`parse('…')`, cut off after 200 characters."""
        text = ""
        for piece in written(self):
            text += piece
            if len(text) > _REPR_TEXT:
                return f"parse({text[:_REPR_TEXT] + ' …'!r})"
        return f"parse({text!r})"


def wrapped(operand: Tree, level: int) -> tuple[str | Tree, ...]:
    """An operand, in parentheses if it binds less tightly than the operator."""
    return ("(", operand, ")") if operand._level < level else (operand,)


def written(root: Tree) -> Iterator[str]:
    """The text of a formula, piece by piece; a name or a constant is one piece."""
    stack: list[str | Tree] = [root]
    while stack:
        top = stack.pop()
        if isinstance(top, str):
            yield top
        else:
            stack.extend(top._pieces()[::-1])
