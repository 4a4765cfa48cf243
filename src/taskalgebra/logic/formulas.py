r"""Making formulas: from text, from a truth table, and all functions of some names.

    >>> formula = parse("top ^ left")
    >>> formula.evaluate({"top": 0b0011, "left": 0b0101})
    6

The operators, from the tightest to the loosest:

| written    | also                  | means        | several in a row |
|------------|-----------------------|--------------|------------------|
| `~a`       | `!a`  `not a`  `¬a`   | not          |                  |
| `a & b`    | `a and b`  `a ∧ b`    | and          | left to right    |
| `a nand b` |                       | `~(a & b)`   | together with &  |
| `a ^ b`    | `a xor b`  `⊻`  `⊕`   | exclusive or | left to right    |
| `a \| b`   | `a or b`  `a ∨ b`     | or           | left to right    |
| `a nor b`  |                       | `~(a \| b)`  | together with \| |
| `a -> b`   | `=>`  `→`  `implies`  | `~a \| b`    | right to left    |
| `a <-> b`  | `<=>`  `↔`  `iff`     | `~(a ^ b)`   | left to right    |

`true` (⊤) is the universal task and `false` (⊥) the empty one.  These words are reserved, in upper
or lower case.  A name is an identifier or any text in quotes: `"blue square"`, `'top-left'`.

Temporal operators speak of a non-empty finite trace of steps, from a step on.  Those with one
operand bind like `~`; those with two bind more tightly than `&`, and several in a row group from
right to left.

| written    | also           | means                                                          |
|------------|----------------|----------------------------------------------------------------|
| `F a`      | `eventually a` | a at this step or a later one                                  |
| `G a`      | `always a`     | a at this step and all later ones                              |
| `X a`      | `next a`       | there is a next step, and a there                              |
| `N a`      | `weaknext a`   | a at the next step, if there is one                            |
|            | `avoid a`      | `G ~a`                                                         |
| `a U b`    | `a until b`    | b at this step or a later one, and a at all steps before       |
| `a R b`    | `a release b`  | b up to and including the first step with a, or to the end     |
| `a W b`    | `a unless b`   | `a U b \| G a`                                                 |
|            | `a then b`     | `F(a & X F b)`: a, and b at a later step                       |

These words are not reserved: where a plain formula may have a name, they are names (`logic.text`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from taskalgebra.logic.expression import (
    FALSE,
    TRUE,
    And,
    Expression,
    Name,
    Not,
    Or,
    Xor,
    sum_of_cubes,
)
from taskalgebra.logic.sum_of_products import all_true, short_sum, sum_of_products
from taskalgebra.logic.temporal import (
    Always,
    Eventually,
    Next,
    Release,
    Until,
    WeakNext,
    WeakUntil,
)
from taskalgebra.logic.text import postfix
from taskalgebra.logic.truth import checked_names

SHORT_NAMES = 12
"""Beyond this many names `in_short` does not look for another formula."""
_OPERATORS: Final[dict[str, Callable[[Expression, Expression], Expression]]] = {
    "and": And,
    "xor": Xor,
    "or": Or,
    "nand": lambda a, b: Not(And(a, b)),
    "nor": lambda a, b: Not(Or(a, b)),
    "implies": lambda a, b: Or(Not(a), b),
    "iff": lambda a, b: Not(Xor(a, b)),
    "until": Until,
    "release": Release,
    "weak_until": WeakUntil,
    "then": lambda a, b: Eventually(And(a, Next(_eventually(b)))),
}
_UNARY: Final[dict[str, Callable[[Expression], Expression]]] = {
    "not": Not,
    "next": Next,
    "weak_next": WeakNext,
    "eventually": Eventually,
    "always": Always,
    "avoid": lambda a: Always(Not(a)),
}


def _eventually(operand: Expression) -> Expression:
    """F a, where F F a is F a."""
    return operand if isinstance(operand, Eventually) else Eventually(operand)


def parse(text: str, names: Iterable[str] | None = None, goals: Iterable[str] = ()) -> Expression:
    """The tree of a formula; the module docstring has the grammar.

    Args:
        text: The formula.
        names: The names that may occur, or None for any.
        goals: Further names, which messages list after the others.

    Raises:
        ExpressionError: If the text is not a formula, with the position of the first mistake.
    """
    if not isinstance(text, str):
        raise TypeError(f"a formula must be a str, got {text!r}")
    if isinstance(names, str):
        raise TypeError(f"names must be a collection of names, got the string {names!r}")
    leaves: dict[str, Expression] = {}
    stack: list[Expression] = []
    for symbol in postfix(text, names, goals):
        if symbol.kind == "name":
            leaf = leaves.get(symbol.name)
            if leaf is None:
                leaf = leaves[symbol.name] = Name(symbol.name)
            stack.append(leaf)
        elif symbol.kind in ("true", "false"):
            stack.append(TRUE if symbol.kind == "true" else FALSE)
        elif symbol.kind in _UNARY:
            stack[-1] = _UNARY[symbol.kind](stack[-1])
        else:
            right = stack.pop()
            stack[-1] = _OPERATORS[symbol.kind](stack[-1], right)
    return stack[0]


def from_truth_table(table: int, names: Sequence[str], dont_care: int = 0) -> Expression:
    """A shortest sum of products with this truth table; see `Expression.simplify`.

    Args:
        table: Bit i is the value under assignment i.
        names: The names, the first one for bit 0 of i.  Up to 6 names, no sum is shorter.
        dont_care: The assignments whose value does not matter.
    """
    order = checked_names(names)
    if not (0 <= table <= all_true(len(order)) and 0 <= dont_care <= all_true(len(order))):
        raise ValueError(f"a truth table of {len(order)} names has {1 << len(order)} bits")
    return sum_of_cubes(sum_of_products(table, dont_care, len(order)), order)


def in_short(expression: Expression) -> Expression:
    """An equivalent formula that is never longer: a sum of products, or the formula itself.

    It takes a moment for any formula: beyond `SHORT_NAMES` names it is the formula itself, and from
    6 names on the sum may not be a shortest one.  A temporal formula is simplified.
    """
    if expression.temporal:
        return expression.simplify()
    if len(expression.names) > SHORT_NAMES:
        return expression
    meaning = expression.canonical()
    cubes = short_sum(meaning.table, len(meaning.names), expression._length)
    if cubes is None:
        return expression
    found = sum_of_cubes(cubes, meaning.names)
    return found if found._length < expression._length else expression


def all_functions(names: Sequence[str]) -> Iterator[Expression]:
    """All 2^(2^K) Boolean functions of K names in the order of their truth tables, simplified."""
    order = checked_names(names)
    return (from_truth_table(table, order) for table in range(all_true(len(order)) + 1))
