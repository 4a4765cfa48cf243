"""Hostile expressions: each is refused with an `ExpressionError`, or means what it says.

A formula that is accepted must print and read back as the same tree, have the truth table that an
evaluator of its own finds (in this module, both for the text and for what is printed), keep its
meaning in short and get no longer, and all that in a time that grows with its length.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from attack.harness import Findings
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import SHORT_NAMES, in_short, parse
from taskalgebra.logic.text import ExpressionError

SIZES = {"ci": 10_000, "full": 1_000_000}
LONGEST = 2_000.0
"""Milliseconds that any expression of the attack may take."""
PER_CHARACTER = 0.2
"""Milliseconds that each character may add."""

WORDS = (
    "a b c d e f top left x1 A _ é 名 true false TRUE False not and or xor nand nor implies iff"
).split()
SIGNS = [*"&|^~!()()()∧∨¬⊻⊕→↔⊤⊥", "->", "<->", "=>", "<=>"]
FOREIGN = "&& || == != <> - + * [ ] { } 0 1 2b , ;".split()
BLANKS = ["", " ", "  ", "\t", "\n", "\u00a0", "\u3000"]
QUOTED = ["'blue square'", '"a"', "'true'", "'it\\'s'", '"\\\\"', "'", '"', "''", "'\n'", "'a\\"]
BINARY = "& | ^ -> <-> and or xor nand nor implies iff ∧ ∨ ⊕ → ↔ OR Nand".split()


def formula(rng: random.Random, depth: int, names: list[str]) -> str:
    """A valid formula with brackets, blanks and spellings at random."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(names) if rng.random() < 0.9 else rng.choice(["true", "⊥", "FALSE"])
    if rng.random() < 0.25:
        return f"{rng.choice(['~', '¬', 'not ', '~ ~'])}({formula(rng, depth - 1, names)})"
    sides = [formula(rng, depth - 1, names) for _ in range(2)]
    sides = [f"({side})" if rng.random() < 0.5 else side for side in sides]
    return f" {rng.choice(BINARY)} ".join(sides)


def valid(rng: random.Random) -> str:
    names = rng.sample(WORDS[:12] + QUOTED[:5], rng.randint(1, 8))
    return formula(rng, rng.choice([1, 2, 3, 4, 5]), names)


def mutated(rng: random.Random) -> str:
    text = list(valid(rng))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        kind = rng.random()
        if kind < 0.4 and at < len(text):
            del text[at]
        elif kind < 0.7:
            text.insert(at, rng.choice(SIGNS + FOREIGN + BLANKS + QUOTED))
        elif text:
            text[at % len(text)] = chr(rng.randrange(0x110000))
    return "".join(text)


def soup(rng: random.Random) -> str:
    tokens = WORDS + SIGNS + SIGNS + FOREIGN + QUOTED
    return "".join(
        rng.choice(tokens) + rng.choice(BLANKS) for _ in range(rng.choice([1, 2, 3, 5, 8, 20]))
    )


def noise(rng: random.Random) -> str:
    n = rng.choice([0, 1, 2, 5, 20])
    if rng.random() < 0.5:
        return bytes(rng.randrange(256) for _ in range(n)).decode("latin-1")
    return "".join(chr(rng.randrange(0x110000)) for _ in range(n))  # lone surrogates too


def deep(rng: random.Random) -> str:
    n = rng.choice([100, 1_000, 3_000])
    kind = rng.randrange(5)
    if kind == 0:
        return "(" * n + "a" + ")" * (n - (rng.random() < 0.3))
    if kind == 1:
        return "~" * n + "a"
    if kind == 2:
        return "(a & ~" * n + "b" + ")" * n
    if kind == 3:
        return " -> ".join(rng.choices("abc", k=n))
    return "a ^ (" * n + "b" + ")" * n


def long(rng: random.Random) -> str:
    n = rng.choice([100, 1_000, 3_000])
    names = [f"n{i}" for i in range(rng.choice([1, 3, 8, 12, 20, 21, 400]))]
    sign = rng.choice([" & ", " | ", " ^ ", " <-> ", " -> ", " nor "])
    return sign.join(rng.choice(names) for _ in range(n))


KINDS: tuple[tuple[Callable[[random.Random], str], int], ...] = (
    (valid, 300), (mutated, 300), (soup, 250), (noise, 145), (deep, 1), (long, 2)
)  # fmt: skip


class Mistake(Exception):
    """An accepted formula that this module's own evaluator cannot read."""


LEVELS = {"~": 6, "&": 5, "nand": 5, "^": 4, "|": 3, "nor": 3, "->": 2, "<->": 1, "(": 0}
SPELLED = {
    **{"!": "~", "=>": "->", "<=>": "<->"},
    **{"¬": "~", "not": "~", "∧": "&", "and": "&", "⊻": "^", "⊕": "^", "xor": "^", "∨": "|"},
    **{"or": "|", "→": "->", "implies": "->", "↔": "<->", "iff": "<->", "⊤": "true", "⊥": "false"},
}


def tokens(text: str) -> list[tuple[str, bool]]:
    """The signs, words and names of a formula that was accepted; true beside a name."""
    found: list[tuple[str, bool]] = []
    i = 0
    while i < len(text):
        c = text[i]
        sign = next((s for s in ("<->", "<=>", "->", "=>", c) if text.startswith(s, i)), c)
        if c.isspace():
            i += 1
        elif sign in LEVELS or sign in SPELLED or sign == ")":
            found.append((SPELLED.get(sign, sign), False))
            i += len(sign)
        elif c in "'\"":
            name, i = "", i + 1
            while text[i] != c:
                i += text[i] == "\\"
                name, i = name + text[i], i + 1
            found.append((name, True))
            i += 1
        else:
            first = i
            while i < len(text) and (text[i] == "_" or text[first : i + 1].isidentifier()):
                i += 1
            word = text[first:i]
            spelled = SPELLED.get(word.lower(), word.lower())
            plain = spelled not in LEVELS and spelled not in ("true", "false")
            found.append((word, True) if plain else (spelled, False))
    return found


def evaluated(text: str, names: tuple[str, ...]) -> int:
    """The truth table of a formula, by precedence climbing on two stacks."""
    everything, table = _all(names), _bits(names)
    values: list[int] = []
    waiting: list[str] = []

    def apply(sign: str) -> None:
        right = values.pop()
        if sign == "~":
            values.append(everything ^ right)
            return
        left = values.pop()
        meaning = {
            "&": left & right,
            "nand": everything ^ (left & right),
            "^": left ^ right,
            "|": left | right,
            "nor": everything ^ (left | right),
            "->": (everything ^ left) | right,
            "<->": everything ^ left ^ right,
        }
        values.append(meaning[sign])

    for token, is_name in tokens(text):
        if is_name:
            values.append(table[token])
        elif token in ("true", "false"):
            values.append(everything if token == "true" else 0)
        elif token in "~(":
            waiting.append(token)
        elif token == ")":
            while waiting[-1] != "(":
                apply(waiting.pop())
            waiting.pop()
        else:
            reach = LEVELS[token] + (token == "->")  # which groups from the right
            while waiting and LEVELS[waiting[-1]] >= reach:
                apply(waiting.pop())
            waiting.append(token)
    while waiting:
        apply(waiting.pop())
    if len(values) != 1:
        raise Mistake(f"{len(values)} values are left")
    return values[0]


def problem(text: str) -> tuple[str, bool]:
    """What is wrong with the answer to a text, or nothing; and whether it was accepted."""
    try:
        expression = parse(text)
    except ExpressionError as error:
        if not (0 <= error.position <= len(text) and error.reason and str(error)):
            return "an error without a reason or a place", False
        return "", False
    printed = str(expression)
    again = parse(printed)
    if again != expression or str(again) != printed:
        return f"reads back as {str(again)[:80]!r}", True
    names = expression.names
    if expression.temporal:  # by chance; `temporal` and `automata` attack these
        return "", True
    if len(names) <= 8:
        oracle = evaluated(text, names)
        if evaluated(printed, names) != oracle:
            return f"prints with another meaning: {printed[:80]!r}", True
        if expression.truth_table() != oracle:
            return "another truth table", True
        if expression.evaluate(_bits(names), universal=-1, empty=0) & _all(names) != oracle:
            return "another value", True
    return _short(expression, printed), True


def _short(expression: Expression, printed: str) -> str:
    short = in_short(expression)
    if len(str(short)) > len(printed):
        return f"longer in short: {str(short)[:80]!r}"
    if not set(short.names) <= set(expression.names):
        return "other names in short"
    if len(expression.names) <= 8 and evaluated(str(short), expression.names) != evaluated(
        printed, expression.names
    ):
        return f"another meaning in short: {str(short)[:80]!r}"
    if len(expression.names) <= min(SHORT_NAMES, 12) and not short.equivalent(expression):
        return "not equivalent in short"
    return ""


def _all(names: tuple[str, ...]) -> int:
    return (1 << (1 << len(names))) - 1


def _bits(names: tuple[str, ...]) -> dict[str, int]:
    rows = range(1 << len(names))
    return {name: sum(1 << i for i in rows if i >> j & 1) for j, name in enumerate(names)}


def attack(size: int, seed: int) -> Findings:
    """Hostile expressions, a size of them."""
    rng = random.Random(seed)
    makers, weights = zip(*KINDS, strict=True)
    accepted, slowest = 0, (0.0, 0)
    for make in rng.choices(makers, weights, k=size):
        text = make(rng)
        start = time.process_time()
        try:
            wrong, taken = problem(text)
        except Exception as error:
            wrong, taken = f"{type(error).__name__}: {error}"[:200], False
        milliseconds = 1e3 * (time.process_time() - start)
        accepted += taken
        slowest = max(slowest, (milliseconds, len(text)))
        if wrong:
            yield f"{make.__name__} {text[:120]!r}: {wrong}"
        if milliseconds > LONGEST + PER_CHARACTER * len(text):
            yield f"{len(text)} characters took {milliseconds:.0f} ms: {text[:80]!r}"
    return (
        f"{size:,} expressions, {accepted:,} accepted, the slowest {slowest[0]:.0f} ms for "
        f"{slowest[1]:,} characters"
    )
