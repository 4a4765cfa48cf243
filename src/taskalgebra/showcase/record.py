"""The records of the table: worlds, what is asked of them, and what was found."""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from taskalgebra.skills.skills import Skills


@final
@dataclass(frozen=True)
class Judged:
    """One composed task, played in the real environment."""

    expression: str
    episodes: int
    success: float
    best: float = math.nan
    """The success of the best policy, found without this library; NaN if it is not known."""
    steps: float = math.nan
    """The mean length of episodes, in steps of the environment."""
    best_steps: float = math.nan
    """The mean length of the shortest ways from the same starts."""

    def ok(self, most_lost: float, most_steps: float = 1.0) -> bool:
        """Whether it is as good as the best, up to what may be lost."""
        late = not math.isnan(self.best_steps) and self.steps > self.best_steps * most_steps + 1e-9
        best = 1.0 if math.isnan(self.best) else self.best
        return self.success >= best - most_lost - 1e-9 and not late


Judge = Callable[["Skills", int, int], Iterable[Judged]]
"""From skills, the number of episodes and a seed to what was found."""


@final
@dataclass(frozen=True)
class World:
    """A row of the table, or some rows: one world and several expressions."""

    name: str
    title: str
    code: Callable[[], Skills]
    """The lines that a user writes; what it returns is judged."""
    judge: Judge
    bar: str
    """What is asked for, in words."""
    most_lost: float = 0.0
    """By how much success may be below the best."""
    most_steps: float = 1.0
    """How many times as long as the shortest ways episodes may be."""
    extras: tuple[str, ...] = ()
    """Extras of the library that it needs."""
    episodes: int = 1_000
    minutes: float = 0.5
    """How long the lines may run, on two cores."""
    loss: str = ""
    """Where the theory does not apply: what is lost, in words."""

    @property
    def n_lines(self) -> int:
        """The number of lines of code, without blank lines, comments and the docstring."""
        return n_lines(self.code)


def n_lines(function: Callable[..., object]) -> int:
    """Lines of code of a function and of the functions of its module that it uses."""
    function = function.func if isinstance(function, partial) else function
    module = inspect.getmodule(function)
    counted, waiting = set(), [function]
    total = 0
    while waiting:
        one = waiting.pop()
        if one in counted:
            continue
        counted.add(one)
        tree = ast.parse(textwrap.dedent(inspect.getsource(one)))
        body = tree.body[0]
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        total += _without_docstring(body)
        for name in sorted(used):
            other = getattr(module, name, None)
            if (inspect.isfunction(other) or inspect.isclass(other)) and (
                inspect.getmodule(other) is module
            ):
                waiting.append(other)
    return total


def _without_docstring(body: ast.stmt) -> int:
    lines = {node.lineno for node in ast.walk(body) if hasattr(node, "lineno")}
    for node in ast.walk(body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            first = node.body[0]
            lines -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(lines)
