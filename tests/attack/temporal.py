"""Hostile temporal formulas: only an `ExpressionError` may come, in bounded time and memory.

Each text is parsed, printed, read back, simplified, made an automaton, listed and drawn, in a
process of its own.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable
from typing import Any

from attack.expressions import BLANKS, FOREIGN, QUOTED, SIGNS
from attack.expressions import WORDS as BOOLEAN_WORDS
from attack.harness import Findings, apart
from taskalgebra.logic.automaton import automaton
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import parse
from taskalgebra.logic.text import ExpressionError

SIZES = {"ci": 500, "full": 200_000}
LONGEST = 15.0
"""Seconds of one formula, all that is done with it together."""
MOST_MEMORY = 700
"""Megabytes that the process grows by; it begins with the peak of the one that started it."""

UNARY = "F G X N eventually Always next weaknext avoid ! ~".split()
BINARY = "U R W until release unless then & | ^ => <=> -> <-> and or".split()
WORDS = [*UNARY, *BINARY, "UNTIL", "Then", "f", "g", "u", "a", "b", "(", ")", "("]


def valid(rng: random.Random, depth: int | None = None, names: list[str] | None = None) -> str:
    """A formula, with names that are words of operators among others."""
    depth = rng.randint(1, 6) if depth is None else depth
    names = names or rng.sample([*"abcdFGXNURW", "until", "next", "'F'", "'U'", "true"], 5)
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(names)
    if rng.random() < 0.4:
        return f"{rng.choice(UNARY)}({valid(rng, depth - 1, names)})"
    sides = [valid(rng, depth - 1, names) for _ in range(2)]
    sides = [f"({side})" if rng.random() < 0.7 else side for side in sides]
    return f" {rng.choice(BINARY)} ".join(sides)


def mutated(rng: random.Random) -> str:
    text = list(valid(rng))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        if rng.random() < 0.5 and text:
            del text[at % len(text)]
        else:
            text.insert(at, rng.choice([*WORDS, *SIGNS, *FOREIGN, *BLANKS, *QUOTED]) + " ")
    return "".join(text)


def soup(rng: random.Random) -> str:
    tokens = WORDS * 3 + BOOLEAN_WORDS + SIGNS + QUOTED
    return " ".join(rng.choice(tokens) for _ in range(rng.choice([1, 2, 3, 4, 6, 10, 25])))


def noise(rng: random.Random) -> str:
    n = rng.choice([0, 1, 3, 10, 40])
    data = bytes(rng.randrange(256) for _ in range(n))
    return data.decode("latin-1") if rng.random() < 0.5 else data.decode("utf-8", "surrogateescape")


def deep(rng: random.Random) -> str:
    n = rng.choice([10, 50, 300, 2_000])
    one = rng.choice(UNARY)
    kind = rng.randrange(6)
    if kind == 0:
        return f"{one} " * n + "a"
    if kind == 1:
        return f"{one}(a {rng.choice(BINARY)} " * n + "b" + ")" * n
    if kind == 2:
        return "(" * n + "a" + f" {rng.choice(BINARY)} b)" * n
    if kind == 3:
        return "".join(f"{rng.choice(UNARY)}(" for _ in range(n)) + "a" + ")" * n
    if kind == 4:
        return f"F(a & {'X ' * n}b)"
    return f"(a {rng.choice(BINARY)} X(" * n + "b" + "))" * n


def long(rng: random.Random) -> str:
    n = rng.choice([5, 12, 40, 400, 2_000])
    names = [f"n{i}" for i in range(rng.choice([1, 2, 4, 8, 12, 13, 40]))]
    sign = rng.choice(BINARY)
    return f" {sign} ".join(rng.choice(names) for _ in range(n))


def wide(rng: random.Random) -> str:
    """Many temporal formulas side by side, which automata have to follow at once."""
    n = rng.choice([3, 6, 12, 40, 200])
    names = [f"n{i}" for i in range(rng.choice([2, 4, 8, 12, 24]))]

    def part() -> str:
        a, b, c = (rng.choice(names) for _ in range(3))
        steps = "X " * rng.choice([0, 1, 3, 10])
        return rng.choice(
            [
                f"{a} U {b}",
                f"({a} U {b}) U {c}",
                f"F({a} & {steps}{b})",
                f"(F {a} | G {b})",
                f"G({a} -> F {b})",
                f"G F({a} & {steps}{b})",
                f"{a} R ({b} W {c})",
                f"~({a} U X {b})",
            ]
        )

    return f" {rng.choice(['&', '|', '^', '->', '&', '|'])} ".join(part() for _ in range(n))


KINDS: tuple[tuple[Callable[[random.Random], str], int], ...] = (
    (valid, 300), (mutated, 300), (soup, 200), (noise, 150), (deep, 6), (long, 4), (wide, 5)
)  # fmt: skip


def problem(rng: random.Random, text: str) -> tuple[str, bool, bool]:
    """What is wrong, or nothing; whether the text was read, and whether it became an automaton."""
    try:
        tree = parse(text)
    except ExpressionError as error:
        if not (0 <= error.position <= len(text) and error.reason and str(error)):
            return "an error without a reason or a place", False, False
        return "", False, False
    printed = str(tree)
    if parse(printed) != tree or len(printed) != tree._length:
        return f"reads back as another formula: {printed[:80]!r}", True, False
    try:
        short = tree.simplify() if tree.temporal else tree
        if len(str(short)) > len(printed):
            return "simplified to something longer", True, False
        found = automaton(tree, letters(rng, tree))
        str(found), found.svg(rng.randrange(found.n_states))
    except ExpressionError as error:
        return "" if error.reason and str(error) else "an error without a reason", True, False
    return "", True, True


def letters(rng: random.Random, tree: Expression) -> list[set[str]] | None:
    """All letters, or single names, or some sets."""
    names = tree.names
    kind = rng.random()
    if kind < 0.4:
        return None
    if kind < 0.7:
        return [{name} for name in names]
    return [set(rng.sample(names, rng.randint(0, len(names)))) for _ in range(rng.randint(0, 30))]


def attack(size: int, seed: int) -> Findings:
    """Hostile formulas, a size of them."""
    return (yield from apart(work, size, seed))


def work(size: int, seed: int, pipe: Any) -> None:
    """What the other process does."""
    rng = random.Random(seed)
    makers, weights = zip(*KINDS, strict=True)
    read = made = 0
    slowest = (0.0, "")
    before = megabytes()
    for make in rng.choices(makers, weights, k=size):
        text = make(rng)
        start = time.process_time()
        try:
            wrong, accepted, built = problem(rng, text)
        except Exception as error:
            wrong, accepted, built = f"{type(error).__name__}: {error}"[:200], False, False
        seconds = time.process_time() - start
        read, made = read + accepted, made + built
        slowest = max(slowest, (seconds, f"{make.__name__} {text[:60]!r}"))
        if wrong:
            pipe.send(f"{make.__name__} {text[:120]!r}: {wrong}")
        if seconds > LONGEST:
            pipe.send(f"{len(text)} characters took {seconds:.1f} s: {text[:120]!r}")
    if megabytes() - before > MOST_MEMORY:
        pipe.send(f"the process grew from {before} to {megabytes()} MB")
    pipe.send(
        (
            f"{size:,} formulas, {read:,} read, {made:,} made automata, at most {slowest[0]:.1f} s "
            f"({slowest[1]}), {before} to {megabytes()} MB",
        )
    )


def megabytes() -> int:
    """The most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
