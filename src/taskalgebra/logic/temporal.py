"""The temporal operators, as nodes of formulas: what holds when, on finite traces.

A trace is a non-empty sequence of steps.  A Boolean formula holds at a step if it is true of what
is true there; a temporal one speaks of the steps from there on.  `logic.automaton` decides which
traces satisfy a formula.
"""

from __future__ import annotations

from typing import ClassVar, final

from taskalgebra.logic.expression import Expression, Name, not_expressions
from taskalgebra.logic.text import quote_operand
from taskalgebra.logic.tree import Tree, wrapped


class _Temporal(Expression):
    """A temporal operator; the word of another one as an operand is put in quotes."""

    __slots__ = ()
    sign: ClassVar[str]


class _TemporalUnary(_Temporal):
    """A temporal operator before its operand."""

    __slots__ = ()
    __match_args__ = ("operand",)
    _level = 5

    def __init__(self, operand: Expression) -> None:
        """Make the node."""
        try:
            wrap = operand._level < self._level
            length = 2 - wrap + _beside(operand, wrap)  # a parenthesis needs no blank
            key = hash((self.kind, operand._hash))
        except AttributeError:
            raise not_expressions(operand) from None
        self._fill((operand,), None, key, length)

    @property
    def operand(self) -> Expression:
        """What holds at some, at every or at the next step."""
        return self.operands[0]

    def _pieces(self) -> tuple[str | Tree, ...]:
        operand = _quoted(self.operand, self._level)
        if len(operand) > 1:  # in parentheses
            return (self.sign + "(", *operand[1:])
        return (self.sign + " ", *operand)


class _TemporalBinary(_Temporal):
    """A temporal operator between two operands; several in a row group from the right."""

    __slots__ = ()
    __match_args__ = ("left", "right")
    _level = 4

    def __init__(self, left: Expression, right: Expression) -> None:
        """Make the node."""
        try:
            length = _beside(left, left._level <= 4) + 3 + _beside(right, right._level < 4)
            key = hash((self.kind, left._hash, right._hash))
        except AttributeError:
            raise not_expressions(left, right) from None
        self._fill((left, right), None, key, length)

    @property
    def left(self) -> Expression:
        """The first operand."""
        return self.operands[0]

    @property
    def right(self) -> Expression:
        """The second operand."""
        return self.operands[1]

    def _pieces(self) -> tuple[str | Tree, ...]:
        left, right = _quoted(self.left, self._level + 1), _quoted(self.right, self._level)
        return (*left, f" {self.sign} ", *right)


@final
class Next(_TemporalUnary):
    """X a: there is a next step, and a holds from it on."""

    __slots__ = ()
    kind = "next"
    sign = "X"


@final
class WeakNext(_TemporalUnary):
    """N a = ~X ~a: a holds from the next step on, if there is one."""

    __slots__ = ()
    kind = "weak_next"
    sign = "N"


@final
class Eventually(_TemporalUnary):
    """F a: a holds from this step or a later one on."""

    __slots__ = ()
    kind = "eventually"
    sign = "F"


@final
class Always(_TemporalUnary):
    """G a = ~F ~a: a holds from every step on."""

    __slots__ = ()
    kind = "always"
    sign = "G"


@final
class Until(_TemporalBinary):
    """a U b: b holds at some step, and a at every step before."""

    __slots__ = ()
    kind = "until"
    sign = "U"


@final
class Release(_TemporalBinary):
    """a R b = ~(~a U ~b): b holds up to and including the first step at which a does, if any."""

    __slots__ = ()
    kind = "release"
    sign = "R"


@final
class WeakUntil(_TemporalBinary):
    """a W b = a U b | G a."""

    __slots__ = ()
    kind = "weak_until"
    sign = "W"


def _quoted(operand: Expression, level: int) -> tuple[str | Tree, ...]:
    """An operand of a temporal operator."""
    return (quote_operand(operand.name),) if isinstance(operand, Name) else wrapped(operand, level)


def _beside(operand: Expression, in_parentheses: bool) -> int:
    """The length of an operand of a temporal operator."""
    if isinstance(operand, Name):
        return len(quote_operand(operand.name))
    return operand._length + 2 * in_parentheses
