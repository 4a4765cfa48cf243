r"""Boolean formulas over task names, as immutable trees.

    >>> formula = parse("top ^ left")
    >>> formula.evaluate({"top": 0b0011, "left": 0b0101})
    6
    >>> str(formula.simplify())
    'left & ~top | ~left & top'

The operators, from the tightest to the loosest:

| written    | also                  | means        | several in a row |
|------------|-----------------------|--------------|------------------|
| `~a`       | `not a`  `¬a`         | not          |                  |
| `a & b`    | `a and b`  `a ∧ b`    | and          | left to right    |
| `a nand b` |                       | `~(a & b)`   | together with &  |
| `a ^ b`    | `a xor b`  `⊻`  `⊕`   | exclusive or | left to right    |
| `a \| b`   | `a or b`  `a ∨ b`     | or           | left to right    |
| `a nor b`  |                       | `~(a \| b)`  | together with \| |
| `a -> b`   | `a implies b`  `→`    | `~a \| b`    | right to left    |
| `a <-> b`  | `a iff b`  `↔`        | `~(a ^ b)`   | left to right    |

`true` (⊤) is the universal task and `false` (⊥) the empty one.  These words are reserved, in any
letter case.  A name is an identifier or any text in quotes: `"blue square"`, `'top-left'`.

`evaluate` uses only `&  |  ~  ^` of whatever the names stand for, so one tree serves truth values,
sets of goals, tasks, value tables and networks.  `==` compares trees, `equivalent` compares what
they mean.  The meaning of a formula of K names is one of 2^(2^K) truth tables, kept as integers:
bit i is the value under the assignment in which name j is true exactly when bit j of i is set.

No method recurses, and each takes time linear in the number of distinct subtrees (printing: in the
length of the text).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Final, NoReturn, TypeVar, cast, final

from taskalgebra.logic.algebra import BooleanElement
from taskalgebra.logic.steps import Step, operand_places, run, steps
from taskalgebra.logic.sum_of_products import Cube, all_true, name_tables, sum_of_products
from taskalgebra.logic.text import ExpressionError, postfix, quote, unknown_name

T = TypeVar("T")

MAX_NAMES = 20
"""Truth tables have at most 2²⁰ rows."""

MAX_TEXT = 100_000_000
"""The longest text that `str` writes; shared subtrees can make a small tree longer than memory."""

_REPR_TEXT = 200
_MESSAGE_TEXT = 100_000
_set_field = object.__setattr__


class Expression(BooleanElement):
    """A Boolean formula over task names: `Name`, `Constant`, `Not`, `And`, `Xor` or `Or`."""

    __slots__ = ("_hash", "_length", "content", "operands")
    operands: tuple[Expression, ...]  # the direct subtrees
    content: str | bool | None  # of a leaf: its name or value
    _hash: int
    _length: int  # of str(self), counted up to MAX_TEXT + 1
    kind: ClassVar[str]
    _level: ClassVar[int]  # how tightly it binds; the text has parentheses where a looser one is

    def _fill(
        self, operands: tuple[Expression, ...], content: str | bool | None, key: int, length: int
    ) -> None:
        """Set the fields of a new node; afterwards it never changes."""
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
    def _pieces(self) -> tuple[str | Expression, ...]:
        """The node as text, with operands still to be written."""

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

    def __hash__(self) -> int:
        """A hash of the tree, found when the node was made."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Whether both are the same tree; for the same meaning see `equivalent`."""
        if not isinstance(other, Expression):
            return NotImplemented
        return self is other or (self._hash == other._hash and steps(self) == steps(other))

    def __copy__(self) -> Expression:
        """The expression itself, which never changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Expression:
        """The expression itself, which never changes."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a flat list, so that no depth is too much."""
        return _from_steps, (steps(self),)

    def __str__(self) -> str:
        """The formula with as few parentheses as `parse` needs to give back this very tree."""
        if self._length > MAX_TEXT:
            raise ExpressionError(f"the formula is longer than {MAX_TEXT:,} characters")
        return "".join(_written(self))

    def __repr__(self) -> str:
        """`parse('…')`, cut after some 200 characters."""
        text = ""
        for piece in _written(self):
            text += piece
            if len(text) > _REPR_TEXT:
                return f"parse({text[:_REPR_TEXT] + ' …'!r})"
        return f"parse({text!r})"

    @property
    def names(self) -> tuple[str, ...]:
        """The distinct names in order of first appearance."""
        return tuple(content for kind, content, _ in steps(self) if kind == "name")

    def evaluate(
        self, elements: Mapping[str, T], *, universal: T | None = None, empty: T | None = None
    ) -> T:
        """The element that the formula makes of the named ones, by `&  |  ~  ^` alone.

        Equal subtrees are computed once, and a result is let go after its last use.  Integers serve
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
                raise self._error_at(word, f"to evaluate {word}, say what it is: {bound}=…")
        return run(todo, elements, cast(T, universal), cast(T, empty))

    def steps_over(self, names: Collection[str]) -> list[Step]:
        """The distinct subtrees, operands first, of a formula over these names.

        For callers that evaluate one formula many times, by `expression_steps.run`.

        Raises:
            ExpressionError: If the formula has another name.
        """
        todo = steps(self)
        for kind, content, _ in todo:
            if kind == "name" and content not in names:
                raise self._error_at(quote(content), unknown_name(content, list(names)))
        return todo

    def _error_at(self, leaf: str, reason: str) -> ExpressionError:
        """An error at the first place where a name or a constant is written."""
        position = 0
        if self._length <= _MESSAGE_TEXT:
            for piece in _written(self):
                if piece == leaf:
                    return ExpressionError(reason, str(self), position)
                position += len(piece)
        return ExpressionError(reason, leaf, 0)

    def truth_table(self, names: Sequence[str] | None = None) -> int:
        """The values under all assignments, as the bits of an integer.

        Args:
            names: The order of the names and possibly further ones; default `self.names`.

        Raises:
            ExpressionError: For more than `MAX_NAMES` names, or a name that is not among `names`.
        """
        if names is None:
            todo = steps(self)
            order = _checked_names([content for kind, content, _ in todo if kind == "name"])
        else:
            order = _checked_names(names)
            todo = self.steps_over(order)
        true = all_true(len(order))
        tables = dict(zip(order, name_tables(len(order)), strict=True))
        return run(todo, tables, true, 0) & true

    def canonical(self) -> CanonicalForm:
        """The meaning of the formula: two formulas are equivalent iff these are equal."""
        order = _checked_names(sorted(self.names))
        table = self.truth_table(order)
        needed = [
            name
            for j, (name, its_table) in enumerate(zip(order, name_tables(len(order)), strict=True))
            if (table << (1 << j) ^ table) & its_table
        ]
        true = all_true(len(needed))
        values = dict.fromkeys(order, 0)  # a name without influence may as well be false
        values.update(zip(needed, name_tables(len(needed)), strict=True))
        return CanonicalForm(tuple(needed), self.evaluate(values, universal=true, empty=0) & true)

    def equivalent(self, other: Expression) -> bool:
        """Whether both formulas mean the same, under every assignment."""
        return self == other or Xor(self, other).truth_table() == 0

    def simplify(self) -> Expression:
        """A shortest sum of products with the same meaning; equivalent formulas get the same one.

        Shortest means fewest products, then fewest literals, then first in the order that
        `sum_of_products` defines on sorted names.  If the meaning depends on more than
        6 names, the sum is irredundant and its products are prime, but another may be shorter.
        """
        canonical = self.canonical()
        return from_truth_table(canonical.table, canonical.names)


@final
class Name(Expression):
    """The task of this name, which may be any text but the empty one."""

    __slots__ = ()
    __match_args__ = ("content",)
    kind = "name"
    _level = 5

    def __init__(self, name: str) -> None:
        """Make the leaf."""
        if not isinstance(name, str):
            raise TypeError(f"a task name is a str, not {name!r}")
        if not name:
            raise ExpressionError("a task name cannot be empty")
        self._fill((), name, hash((self.kind, name)), len(quote(name)))

    @property
    def name(self) -> str:
        """The name, without quotes."""
        return str(self.content)

    def _pieces(self) -> tuple[str | Expression, ...]:
        return (quote(self.name),)


@final
class Constant(Expression):
    """The universal task, true, or the empty task, false."""

    __slots__ = ()
    __match_args__ = ("content",)
    kind = "constant"
    _level = 5

    def __init__(self, value: bool) -> None:
        """Make the leaf; see `TRUE` and `FALSE`."""
        if not isinstance(value, bool):
            raise TypeError(f"a constant is True or False, not {value!r}")
        self._fill((), value, hash((self.kind, value)), 4 if value else 5)

    def _pieces(self) -> tuple[str | Expression, ...]:
        return ("true" if self.content else "false",)


@final
class Not(Expression):
    """Negation ¬."""

    __slots__ = ()
    __match_args__ = ("operand",)
    kind = "not"
    _level = 4

    def __init__(self, operand: Expression) -> None:
        """Make the node."""
        try:
            length = 1 + operand._length + 2 * (operand._level < self._level)
            key = hash((self.kind, operand._hash))
        except AttributeError:
            raise _not_expressions(operand) from None
        self._fill((operand,), None, key, length)

    @property
    def operand(self) -> Expression:
        """What is negated."""
        return self.operands[0]

    def _pieces(self) -> tuple[str | Expression, ...]:
        return ("~", *_wrapped(self.operand, self._level))


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
            raise _not_expressions(left, right) from None
        self._fill((left, right), None, key, length)

    @property
    def left(self) -> Expression:
        """The first operand."""
        return self.operands[0]

    @property
    def right(self) -> Expression:
        """The second operand."""
        return self.operands[1]

    def _pieces(self) -> tuple[str | Expression, ...]:
        left, right = _wrapped(self.left, self._level), _wrapped(self.right, self._level + 1)
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


def _not_expressions(*operands: object) -> TypeError:
    wrong = [x for x in operands if not isinstance(x, Expression)]
    return TypeError(f"an operand is an Expression, not {wrong[0]!r}; write parse('…')")


def _wrapped(operand: Expression, level: int) -> tuple[str | Expression, ...]:
    """The operand of an operator, in parentheses if it binds less tightly."""
    return ("(", operand, ")") if operand._level < level else (operand,)


def _written(root: Expression) -> Iterator[str]:
    """The text of a formula, piece by piece; a name or a constant is one piece."""
    stack: list[str | Expression] = [root]
    while stack:
        top = stack.pop()
        if isinstance(top, str):
            yield top
        else:
            stack.extend(top._pieces()[::-1])


_BUILDERS: Final[dict[str, Any]] = {
    "name": Name,
    "constant": Constant,
    "not": Not,
    "and": And,
    "xor": Xor,
    "or": Or,
    "nand": lambda a, b: Not(And(a, b)),
    "nor": lambda a, b: Not(Or(a, b)),
    "implies": lambda a, b: Or(Not(a), b),
    "iff": lambda a, b: Not(Xor(a, b)),
}


def _from_steps(todo: list[Step]) -> Expression:
    """The tree of a flat list."""
    nodes: list[Expression] = []
    for step in todo:
        operands = [nodes[place] for place in operand_places(step)] or step[1:2]
        nodes.append(_BUILDERS[step[0]](*operands))
    return nodes[-1]


def parse(text: str, names: Iterable[str] | None = None) -> Expression:
    """The tree of a formula; the module docstring has the grammar.

    Args:
        text: The formula.
        names: The names that may occur, or None for any.

    Raises:
        ExpressionError: If the text is not a formula, with the place of the first mistake.
    """
    if not isinstance(text, str):
        raise TypeError(f"a formula is a str, not {text!r}")
    if isinstance(names, str):
        raise TypeError(f"names is a collection of names, not the one text {names!r}")
    leaves: dict[str, Expression] = {}
    stack: list[Expression] = []
    for symbol in postfix(text, names):
        if symbol.kind == "name":
            leaf = leaves.get(symbol.name)
            if leaf is None:
                leaf = leaves[symbol.name] = Name(symbol.name)
            stack.append(leaf)
        elif symbol.kind in ("true", "false"):
            stack.append(TRUE if symbol.kind == "true" else FALSE)
        elif symbol.kind == "not":
            stack[-1] = Not(stack[-1])
        else:
            right = stack.pop()
            stack[-1] = _BUILDERS[symbol.kind](stack[-1], right)
    return stack[0]


@dataclass(frozen=True)
class CanonicalForm:
    """A Boolean function: the names it depends on, sorted, and its truth table over them."""

    names: tuple[str, ...]
    table: int


def from_truth_table(table: int, names: Sequence[str], dont_care: int = 0) -> Expression:
    """A shortest sum of products with this truth table; see `Expression.simplify`.

    Args:
        table: Bit i is the value under assignment i.
        names: The names, the first one for bit 0 of i.  Up to 6 names, no sum is shorter.
        dont_care: The assignments whose value does not matter.
    """
    order = _checked_names(names)
    if not (0 <= table <= all_true(len(order)) and 0 <= dont_care <= all_true(len(order))):
        raise ValueError(f"a truth table of {len(order)} names has {1 << len(order)} bits")
    cubes = sum_of_products(table, dont_care, len(order))
    return reduce(Or, (_product(cube, order) for cube in cubes)) if cubes else FALSE


def _product(cube: Cube, names: Sequence[str]) -> Expression:
    literals: list[Expression] = [
        Name(name) if cube.positive >> j & 1 else Not(Name(name))
        for j, name in enumerate(names)
        if (cube.positive | cube.negative) >> j & 1
    ]
    return reduce(And, literals) if literals else TRUE


def all_functions(names: Sequence[str]) -> Iterator[Expression]:
    """All 2^(2^K) Boolean functions of K names in the order of their truth tables, simplified."""
    order = _checked_names(names)
    return (from_truth_table(table, order) for table in range(all_true(len(order)) + 1))


def _checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names of a truth table: different ones, and not too many."""
    if isinstance(names, str):
        raise TypeError(f"names is a sequence of names, not the one text {names!r}")
    order = tuple(names)
    if len(set(order)) < len(order):
        raise ValueError(f"the names {order} are not all different")
    if len(order) > MAX_NAMES:
        raise ExpressionError(
            f"a truth table of {len(order)} names is too large; at most {MAX_NAMES} names"
        )
    return order
