"""Formulas on sets of bits, for callers that have thousands of them over the same names.

    >>> GoalSets({"top": 0b0011, "left": 0b0101}).of("top ^ left")
    6

`of` is `parse(text, names).evaluate(sets, universal=-1, empty=0)` without the tree between them: a
formula is applied while it is read, and what its tokens mean is looked up once for all formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import and_, or_, xor
from typing import Final

from taskalgebra.logic.expression import Expression
from taskalgebra.logic.steps import BOOLEAN, steps
from taskalgebra.logic.text import Reader

_BINARY: Final[dict[str, Callable[[int, int], int]]] = {
    "and": and_,
    "xor": xor,
    "or": or_,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "implies": lambda a, b: ~a | b,
    "iff": lambda a, b: ~(a ^ b),
}


class GoalSets:
    """What names stand for, as bits of whole numbers; a negative one has all higher bits."""

    def __init__(self, sets: Mapping[str, int]) -> None:
        """Take the sets by name."""
        self._sets = dict(sets)
        self._reader = Reader(self._sets)

    def of(self, formula: str | Expression) -> int | None:
        """The set of a formula, or None if it is temporal.

        Raises:
            ExpressionError: the text is not a formula, or has a name that stands for nothing.
        """
        return self._of_text(formula) if isinstance(formula, str) else self._of_tree(formula)

    def _of_text(self, text: str) -> int | None:
        """The rest of a temporal formula is read too, as it may have a mistake."""
        sets = self._sets
        stack: list[int] = []
        temporal = False
        for symbol in self._reader.postfix(text):
            kind = symbol.kind
            if kind == "name":
                stack.append(sets[symbol.name])
            elif kind in _BINARY:
                right = stack.pop()
                stack[-1] = _BINARY[kind](stack[-1], right)
            elif kind == "not":
                stack[-1] = ~stack[-1]
            elif kind in ("true", "false"):
                stack.append(-1 if kind == "true" else 0)
            else:
                temporal = True
                if not symbol.starts:
                    stack.pop()
        return None if temporal else stack[0]

    def _of_tree(self, formula: Expression) -> int | None:
        todo = steps(formula)
        formula.check_names(self._sets, todo)
        found: list[int] = []
        for kind, first, second in todo:
            if kind == "name":
                found.append(self._sets[first])
            elif kind == "constant":
                found.append(-1 if first else 0)
            elif kind == "not":
                found.append(~found[first])
            elif kind in BOOLEAN:
                found.append(_BINARY[kind](found[first], found[second]))
            else:
                return None
        return found[-1]
