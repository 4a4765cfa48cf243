"""Formulas over task names, as immutable trees; the temporal operators are in `logic.temporal`.

    >>> formula = Name("top") ^ Name("left")
    >>> formula.evaluate({"top": 0b0011, "left": 0b0101})
    6
    >>> str(formula.simplify())
    'left & ~top | ~left & top'

`evaluate` uses only the operators `&  |  ~  ^` of the named elements, so one tree serves truth
values, sets of goals, tasks, value tables and networks.  `==` compares trees, `equivalent` their
meaning: truth tables (`logic.truth`), or the traces that satisfy a temporal formula
(`logic.composition`).  `logic.formulas` makes formulas from text and from truth tables.

No method recurses, and each takes time linear in the number of distinct subtrees (printing: in the
length of the text).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from typing import Any, ClassVar, Final, TypeVar, cast, final

from taskalgebra.drawing import html
from taskalgebra.drawing.trees import MOST_NODES, tree_svg
from taskalgebra.logic.algebra import BooleanElement
from taskalgebra.logic.composition import same_traces
from taskalgebra.logic.rewriting import shortened
from taskalgebra.logic.steps import BOOLEAN, Step, names_of, operand_places, run, steps
from taskalgebra.logic.sum_of_products import Cube, sum_of_products
from taskalgebra.logic.text import ExpressionError, quote, quote_operand, unknown_name
from taskalgebra.logic.tree import Tree, wrapped, written
from taskalgebra.logic.truth import CanonicalForm, canonical_form, checked_names, truth_table

T = TypeVar("T")

_MESSAGE_TEXT = 100_000
_SIGNS = {"not": "¬", "and": "∧", "or": "∨", "xor": "⊻"}


class Expression(Tree, BooleanElement):
    """A formula over task names: `Name`, `Constant`, `Not`, `And`, `Xor`, `Or`, or temporal."""

    __slots__ = ()
    operands: tuple[Expression, ...]
    _nodes: ClassVar[dict[str, type[Any]]] = {}  # the classes by their kinds

    def __init_subclass__(cls) -> None:
        """Note the class of a kind."""
        if "kind" in vars(cls):
            cls._nodes[cls.kind] = cls

    def __and__(self, other: Expression) -> Expression:
        """Conjunction ∧."""
        return And(self, other) if isinstance(other, Expression) else NotImplemented

    def __or__(self, other: Expression) -> Expression:
        """Disjunction ∨."""
        return Or(self, other) if isinstance(other, Expression) else NotImplemented

    def __xor__(self, other: Expression) -> Expression:
        """Exclusive or ⊻."""
        return Xor(self, other) if isinstance(other, Expression) else NotImplemented

    def __invert__(self) -> Expression:
        """Negation ¬."""
        return Not(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a flat list, so that no tree is too deep."""
        todo = steps(self)
        return _from_steps, (todo, {kind: self._nodes[kind] for kind, _, _ in todo})

    @property
    def names(self) -> tuple[str, ...]:
        """The distinct names in order of first appearance."""
        return names_of(steps(self))

    @property
    def temporal(self) -> bool:
        """Whether the formula has a temporal operator; if not, it is a Boolean one."""
        return any(kind not in BOOLEAN for kind, _, _ in steps(self))

    def evaluate(
        self, elements: Mapping[str, T], *, universal: T | None = None, empty: T | None = None
    ) -> T:
        """Apply the formula to the named elements, by their operators `&  |  ~  ^`.

        Equal subtrees are computed once, and a result is freed after its last use.  Integers serve
        as sets of bits, with `universal=-1, empty=0`.

        Args:
            elements: What the names stand for.
            universal: What `true` stands for.
            empty: What `false` stands for.

        Raises:
            ExpressionError: If a name or a constant of the formula stands for nothing.
        """
        todo = self.steps_over(elements)
        for kind, content, _ in todo:
            if kind == "constant" and (universal if content else empty) is None:
                word, bound = ("true", "universal") if content else ("false", "empty")
                raise self._error_at(f"to evaluate {word}, pass {bound}=…", word)
        return run(todo, elements, cast(T, universal), cast(T, empty))

    def steps_over(self, names: Collection[str]) -> list[Step]:
        """The distinct subtrees, operands first, of a formula over these names.

        For callers that evaluate one formula many times, by `steps.run`.

        Raises:
            ExpressionError: If the formula has another name, or is temporal.
        """
        todo = self._boolean_steps()
        self.check_names(names, todo)
        return todo

    def check_names(self, names: Collection[str], todo: Sequence[Step] | None = None) -> None:
        """Refuse a formula, temporal or not, that has another name than these.

        Args:
            names: The names that may occur.
            todo: The distinct subtrees, if they are known.

        Raises:
            ExpressionError: With the place of the other name.
        """
        for kind, content, _ in steps(self) if todo is None else todo:
            if kind == "name" and content not in names:
                reason = unknown_name(content, list(names))
                raise self._error_at(reason, quote(content), quote_operand(content))

    def _boolean_steps(self) -> list[Step]:
        """The distinct subtrees, operands first, of a Boolean formula."""
        todo = steps(self)
        for kind, _, _ in todo:
            if kind not in BOOLEAN:
                sign = self._nodes[kind].sign
                raise self._error_at(
                    f"a formula with {sign} is about a trace of steps and has no truth table; "
                    "use automaton(…) for what it means",
                    *(f"{sign} ", f"{sign}(", f" {sign} "),
                )
        return todo

    def _error_at(self, reason: str, *written_as: str) -> ExpressionError:
        """An error at the first name, constant or operator that is written in one of these ways."""
        position = 0
        if self._length <= _MESSAGE_TEXT:
            for piece in written(self):
                if piece in written_as:
                    blanks = len(piece) - len(piece.lstrip())
                    return ExpressionError(reason, str(self), position + blanks)
                position += len(piece)
        return ExpressionError(reason, written_as[0], 0)

    def truth_table(self, names: Sequence[str] | None = None) -> int:
        """The values under all assignments, as the bits of an integer.

        Args:
            names: The order of the names, possibly with additional ones; default `self.names`.

        Raises:
            ExpressionError: For more than `MAX_NAMES` names, or a name that is not among `names`.
        """
        if names is None:
            todo = self._boolean_steps()
            return truth_table(todo, names_of(todo))
        order = checked_names(names)
        return truth_table(self.steps_over(order), order)

    def canonical(self) -> CanonicalForm:
        """The meaning of the formula: two formulas are equivalent iff these are equal."""
        return canonical_form(self._boolean_steps())

    def equivalent(self, other: Expression) -> bool:
        """Whether both formulas mean the same: under every assignment, or on every trace.

        Raises:
            ExpressionError: For too many names, or if the automaton of a temporal formula is too
                large.
        """
        if self == other:
            return True
        if not isinstance(other, Expression):
            raise not_expressions(other)
        one, two = steps(self), steps(other)
        if all(kind in BOOLEAN for kind, _, _ in (*one, *two)):
            return Xor(self, other).truth_table() == 0
        return same_traces(one, two)

    def _repr_html_(self) -> str:
        """The formula, and its tree if that is not too large, for notebooks."""
        todo, drawn = steps(self), ""
        if 1 < len(todo) <= MOST_NODES:
            last = len(todo) - 1  # the whole formula, which is node 0 of the tree
            edges = [(last - i, last - j) for i, s in enumerate(todo) for j in operand_places(s)]
            drawn = tree_svg([self._written(s) for s in reversed(todo)], edges, repr(self))
        text = repr(self).removeprefix("parse(").removesuffix(")")[1:-1]
        kind = "Formula over time" if self.temporal else "Expression"
        return html.shown(kind, html.code(text), drawn)

    def _written(self, step: Step) -> str:
        """A node in a tree: the sign of an operator, or a name."""
        kind, content, _ = step
        if kind == "name" or kind == "constant":
            return str(content) if kind == "name" else str(content).lower()
        return _SIGNS.get(kind) or str(self._nodes[kind].sign)

    def simplify(self) -> Expression:
        """A shortest sum of products with the same meaning; equivalent formulas get the same one.

        Shortest is defined in `logic.sum_of_products`.  If the meaning depends on more than 6
        names, the sum is irredundant and its products are prime, but another may be shorter.

        A temporal formula is rewritten by laws (`logic.rewriting`) and never gets longer; formulas
        that are equivalent may stay different.
        """
        todo = steps(self)
        if any(kind not in BOOLEAN for kind, _, _ in todo):
            found = _from_steps(shortened(todo), self._nodes)
            return found if found._length < self._length else self
        canonical = self.canonical()
        cubes = sum_of_products(canonical.table, 0, len(canonical.names))
        return sum_of_cubes(cubes, canonical.names)


@final
class Name(Expression):
    """The task of this name, which may be any text but the empty one."""

    __slots__ = ()
    __match_args__ = ("content",)
    kind = "name"
    _level = 6

    def __init__(self, name: str) -> None:
        """Make the leaf."""
        if not isinstance(name, str):
            raise TypeError(f"a task name must be a str, got {name!r}")
        if not name:
            raise ExpressionError("a task name cannot be empty")
        self._fill((), name, hash((self.kind, name)), len(quote(name)))

    @property
    def name(self) -> str:
        """The name, without quotes."""
        return str(self.content)

    def _pieces(self) -> tuple[str | Tree, ...]:
        return (quote(self.name),)


@final
class Constant(Expression):
    """The universal task, true, or the empty task, false."""

    __slots__ = ()
    __match_args__ = ("content",)
    kind = "constant"
    _level = 6

    def __init__(self, value: bool) -> None:
        """Make the leaf; see `TRUE` and `FALSE`."""
        if not isinstance(value, bool):
            raise TypeError(f"a constant must be True or False, got {value!r}")
        self._fill((), value, hash((self.kind, value)), 4 if value else 5)

    def _pieces(self) -> tuple[str | Tree, ...]:
        return ("true" if self.content else "false",)


@final
class Not(Expression):
    """Negation ¬."""

    __slots__ = ()
    __match_args__ = ("operand",)
    kind = "not"
    _level = 5

    def __init__(self, operand: Expression) -> None:
        """Make the node."""
        try:
            length = 1 + operand._length + 2 * (operand._level < self._level)
            key = hash((self.kind, operand._hash))
        except AttributeError:
            raise not_expressions(operand) from None
        self._fill((operand,), None, key, length)

    @property
    def operand(self) -> Expression:
        """What is negated."""
        return self.operands[0]

    def _pieces(self) -> tuple[str | Tree, ...]:
        return ("~", *wrapped(self.operand, self._level))


class _Binary(Expression):
    """An operator between two operands; several in a row group from the left."""

    __slots__ = ()
    __match_args__ = ("left", "right")
    sign: ClassVar[str]

    def __init__(self, left: Expression, right: Expression) -> None:
        """Make the node."""
        try:
            parentheses = (left._level < self._level) + (right._level <= self._level)
            length = left._length + 3 + right._length + 2 * parentheses
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
        left, right = wrapped(self.left, self._level), wrapped(self.right, self._level + 1)
        return (*left, self.sign, *right)


@final
class And(_Binary):
    """Conjunction ∧."""

    __slots__ = ()
    kind = "and"
    sign = " & "
    _level = 3


@final
class Xor(_Binary):
    """Exclusive or ⊻."""

    __slots__ = ()
    kind = "xor"
    sign = " ^ "
    _level = 2


@final
class Or(_Binary):
    """Disjunction ∨."""

    __slots__ = ()
    kind = "or"
    sign = " | "
    _level = 1


TRUE: Final = Constant(True)
"""The universal task."""

FALSE: Final = Constant(False)
"""The empty task."""


def not_expressions(*operands: object) -> TypeError:
    """The error for operands of which one is no expression."""
    wrong = [x for x in operands if not isinstance(x, Expression)]
    return TypeError(f"an operand must be an Expression, got {wrong[0]!r}; use parse('…')")


def _from_steps(todo: list[Step], classes: Mapping[str, type[Any]]) -> Expression:
    """The tree of a list of steps."""
    nodes: list[Expression] = []
    for step in todo:
        operands = [nodes[place] for place in operand_places(step)] or step[1:2]
        nodes.append(classes[step[0]](*operands))
    return nodes[-1]


def sum_of_cubes(cubes: Sequence[Cube], names: Sequence[str]) -> Expression:
    """A sum of products as a tree; bit j of a cube is the name j."""
    return reduce(Or, (_product(cube, names) for cube in cubes)) if cubes else FALSE


def _product(cube: Cube, names: Sequence[str]) -> Expression:
    literals: list[Expression] = [
        Name(name) if cube.positive >> j & 1 else Not(Name(name))
        for j, name in enumerate(names)
        if (cube.positive | cube.negative) >> j & 1
    ]
    return reduce(And, literals) if literals else TRUE
