"""The written form of expressions: tokens, grammar, names and error messages.

`logic.formulas` documents the table of operators; here it is `_SYMBOLS` and `_WORDS`.  A name is an
identifier, or any text in quotes, where a backslash escapes the next character.

The words of temporal operators are not reserved: their place decides.  Where an operand is due, F
is an operator if the next token starts an operand, and else a name; U is a name there, and an
operator where an operator is due.  So `F & a` and `a | until` are about tasks of these names.  A
word such as U after F counts as an operator: `F U a` says that F holds until a.

`postfix` turns text into the operands and operators of the formula, operands first.  It runs in
linear time with a stack of its own, so that no nesting is too deep.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

from taskalgebra.validation import closest, listed

_WINDOW = 72
_SHOWN, _FEW_TASKS, _FEW_GOALS = 8, 20, 4  # names in a message


class ExpressionError(ValueError):
    """A formula that cannot be read or used, with the position in the text.

    Attributes:
        reason: What is wrong and what to write instead.
        text: The formula.
        position: Index into `text`, from 0 to `len(text)`.
    """

    def __init__(self, reason: str, text: str = "", position: int = 0) -> None:
        """Keep the parts; `str` joins them."""
        super().__init__(reason, text, position)
        self.reason = reason
        self.text = text
        self.position = position

    def __str__(self) -> str:
        """The reason, the line of the formula, and a caret under the position."""
        if not self.text:
            return self.reason
        start = self.text.rfind("\n", 0, self.position) + 1
        end = self.text.find("\n", self.position)
        end = len(self.text) if end < 0 else end
        first = max(start, min(self.position - _WINDOW // 2, end - _WINDOW + 2))
        last = min(end, first + _WINDOW - 2)
        before = "…" * (first > start) + _printable(self.text[first : self.position])
        after = _printable(self.text[self.position : last]) + "…" * (last < end)
        return f"{self.reason}\n  {before}{after}\n  {' ' * _columns(before)}^"


def _printable(text: str) -> str:
    """Text for one line: tabs become blanks, other unprintable characters become �."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "\ufffd" for c in text)


def _columns(text: str) -> int:
    """The width of text on a terminal."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


class Symbol(NamedTuple):
    """An operand, an operator or a parenthesis: what it means and how tightly it binds."""

    kind: str  # "name", "true", "false", a word of the table of operators, "(" or ")"
    level: int = 0
    starts: bool | None = False  # an operand, rather than follow one; None: its place decides
    right_to_left: bool = False
    name: str = ""


_NOT = Symbol("not", 7, starts=True)
_OPEN = Symbol("(", starts=True)
_CLOSE = Symbol(")")

_SYMBOLS: Final = {
    **dict.fromkeys(("~", "!", "¬", "not"), _NOT),
    **dict.fromkeys(("&", "∧", "and"), Symbol("and", 5)),
    "nand": Symbol("nand", 5),
    **dict.fromkeys(("^", "⊻", "⊕", "xor"), Symbol("xor", 4)),
    **dict.fromkeys(("|", "∨", "or"), Symbol("or", 3)),
    "nor": Symbol("nor", 3),
    **dict.fromkeys(("->", "=>", "→", "implies"), Symbol("implies", 2, right_to_left=True)),
    **dict.fromkeys(("<->", "<=>", "↔", "iff"), Symbol("iff", 1)),
    **dict.fromkeys(("true", "⊤"), Symbol("true", starts=True)),
    **dict.fromkeys(("false", "⊥"), Symbol("false", starts=True)),
    "(": _OPEN,
    ")": _CLOSE,
}

_UNARY: Final = {
    **dict.fromkeys(("F", "eventually"), Symbol("eventually", 7, starts=True)),
    **dict.fromkeys(("G", "always"), Symbol("always", 7, starts=True)),
    **dict.fromkeys(("X", "next"), Symbol("next", 7, starts=True)),
    **dict.fromkeys(("N", "weaknext"), Symbol("weak_next", 7, starts=True)),
    "avoid": Symbol("avoid", 7, starts=True),
}
_BINARY: Final = {
    **dict.fromkeys(("U", "until"), Symbol("until", 6, right_to_left=True)),
    **dict.fromkeys(("R", "release"), Symbol("release", 6, right_to_left=True)),
    **dict.fromkeys(("W", "unless"), Symbol("weak_until", 6, right_to_left=True)),
    "then": Symbol("then", 6, right_to_left=True),
}
_WORDS: Final = {**_UNARY, **_BINARY}
"""Temporal operators: capital letters, and words in upper or lower case."""
_BY_PLACE = Symbol("word", starts=None)

RESERVED: Final = frozenset(word for word in _SYMBOLS if word.isalpha())
"""The words that are not names, in lower case."""

_HINTS: Final = {
    **dict.fromkeys(("&&", "*", "/\\", "⋀", "·"), "write & for and"),
    **dict.fromkeys(("||", "+", "\\/", "⋁"), "write | for or"),
    **dict.fromkeys(("∼",), "write ~ for not"),
    **dict.fromkeys(("!=", "<>", "≠"), "write ^ for exclusive or"),
    **dict.fromkeys(("⇒", "⊃"), "write -> for implies"),
    **dict.fromkeys(("==", "=", "⇔", "≡"), "write <-> for if and only if"),
    **dict.fromkeys(("[]", *"[]{}"), "group with ( and )"),
    **dict.fromkeys("◇◊⋄", "write F for eventually"),
    **dict.fromkeys("□◻", "write G for always"),
    **dict.fromkeys("○◯", "write X for next"),
    **dict.fromkeys(",;", "write & between tasks; write a name with such a mark in quotes"),
    "-": "write ~ for not; write a name with a hyphen in quotes",
    "0": "write false for the empty task",
    "1": "write true for the universal task",
}
_FIRST_HINTS: Final = {"<>": "write F for eventually", "[]": "write G for always"}
"""What signs mean where an operand is due."""
_QUOTE_IT = "write a name that is not a plain word in quotes"

_SMALL: Final = {
    **dict.fromkeys("fgxn", "the operators F, G, X and N are capital letters"),
    **dict.fromkeys("urw", "the operators U, R and W are capital letters"),
}

_OTHERS: Final = {
    "never": "write avoid a or G ~a for never a",
    **dict.fromkeys(("finally", "sometime", "sometimes"), "write F a for a at some time"),
    **dict.fromkeys(("globally", "henceforth"), "write G a for a at all times"),
}
"""Words of others for operators, which stand before an operand."""

_SIGNS = "∧∨¬⊻⊕→↔⊤⊥"
_TOKEN = re.compile(
    rf"""\s*+(
    (?P<foreign>&&|\|\||<>|\[\]|[!=]=|/\\|\\/)
  | (?P<symbol><->|<=>|->|=>|[&|^~!()]|[{_SIGNS}])
  | (?P<word>[^\s\x00-/:-@\[-^`{{-\x7f{_SIGNS}]+)
  | (?P<quoted>'[^'\\]*(?:\\.[^'\\]*)*' | "[^"\\]*(?:\\.[^"\\]*)*")
  | (?P<other>.)
  | \Z)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def token_end(text: str, position: int) -> int:
    """Where the token at a position ends; an unclosed quote runs to the end of the text."""
    token = _TOKEN.match(text, position)
    assert token is not None  # any character is a token, and so is the end
    return len(text) if token["other"] in ("'", '"') else token.end()


def quote(name: str) -> str:
    """The name as written in a formula: plain if possible, else in quotes."""
    if name.isidentifier() and name.lower() not in RESERVED:
        return name
    mark = '"' if "'" in name and '"' not in name else "'"
    return mark + name.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark


def quote_operand(name: str) -> str:
    """The name beside a temporal operator: in quotes if it is the word of one."""
    return f"'{name}'" if _temporal(name) else quote(name)


def _temporal(token: str) -> Symbol | None:
    """The temporal operator of this letter or word, if there is one."""
    return _WORDS.get(token if len(token) == 1 else token.lower())


def unknown_name(name: str, known: Collection[str], more: Iterable[str] = ()) -> str:
    """The message for a name that is not known, with the closest known one."""
    more = list(more)
    names = known_names(known, more) or "no tasks"
    unknown = f"unknown task {_brief(name, quoted=True)}; known: {names}"
    return unknown + (closest(name, [*known, *more]) or ".")


def known_names(tasks: Collection[str], goals: Iterable[str] = ()) -> str:
    """Names for a message: all tasks where they are few, and then a few goals."""
    others = [name for name in dict.fromkeys(goals) if name not in tasks]
    first = len(tasks) if len(tasks) <= _FEW_TASKS else _SHOWN
    most = max(first + (_FEW_GOALS if first == len(tasks) else 0), _SHOWN)
    return listed([_as_written(name) for name in [*sorted(tasks), *others]], most)


def _as_written(name: str) -> str:
    """A known name inside a message: in quotes where a formula needs them."""
    return quote(name) if name.isprintable() and len(name) <= _WINDOW else _brief(name)


def _brief(name: str, *, quoted: bool = False) -> str:
    """A name inside a message: shortened, with control characters escaped."""
    short = name if len(name) <= _WINDOW else name[:_WINDOW] + "…"
    return repr(short) if quoted or not short.isprintable() else short


def postfix(
    text: str, names: Iterable[str] | None = None, more: Iterable[str] = ()
) -> Iterator[Symbol]:
    """The formula with operands before operators; see `Reader`."""
    return Reader(names, more).postfix(text)


class _Known:
    """The names that may occur."""

    def __init__(self, first: frozenset[str], more: tuple[str, ...]) -> None:
        self.first, self.more = first, more
        self.every = first.union(more) if more else first


class Reader:
    """Reads formulas over the same names; what a token means is looked up once for all."""

    def __init__(self, names: Iterable[str] | None = None, more: Iterable[str] = ()) -> None:
        """Take the names.

        Args:
            names: The names that may occur, or None for any.
            more: Further ones, which a message lists last.
        """
        self._known = None if names is None else _Known(frozenset(names), tuple(more))
        self._read: dict[str, Symbol] = {}

    def postfix(self, text: str) -> Iterator[Symbol]:
        """The formula with operands before operators (Dijkstra's shunting yard).

        Raises:
            ExpressionError: At the first mistake.
        """
        known, read = self._known, self._read
        waiting: list[Symbol] = []  # operators and open parentheses
        opened: list[int] = []  # positions of the open parentheses
        want_operand = True
        previous = ""
        for match in _TOKEN.finditer(text):
            token = match[1]
            symbol = read.get(token)
            if symbol is None:
                if not token:
                    break
                symbol = read[token] = _read(match, known, want_operand)
            if symbol.starts is not want_operand:
                if symbol is _BY_PLACE:
                    symbol = _in_place(match, want_operand, known, read)
                if symbol.starts is not want_operand:
                    raise _misplaced(want_operand, previous, token, text, match.start(1), known)
            previous = token
            if want_operand:
                if symbol is _OPEN:
                    opened.append(match.start(1))
                    waiting.append(symbol)
                elif symbol.level:
                    waiting.append(symbol)
                else:
                    yield symbol
                    want_operand = False
                continue
            reach = symbol.level + symbol.right_to_left  # least level to apply first
            while waiting and waiting[-1].level >= reach and waiting[-1] is not _OPEN:
                yield waiting.pop()
            if symbol is not _CLOSE:
                waiting.append(symbol)
                want_operand = True
            elif waiting:
                waiting.pop()
                opened.pop()
            else:
                raise ExpressionError("this ')' closes no '('", text, match.start(1))
        if want_operand:
            raise _misplaced(want_operand, previous, "", text, len(text), known)
        if opened:
            raise ExpressionError("this '(' is never closed", text, opened[-1])
        yield from reversed(waiting)


def _in_place(
    match: re.Match[str], want_operand: bool, known: _Known | None, read: dict[str, Symbol]
) -> Symbol:
    """What the word of a temporal operator means in its place."""
    token = match[1]
    symbol = _temporal(token)
    assert symbol is not None
    if not want_operand or (symbol.starts and _operand_at(match.string, match.end())):
        return symbol
    quoted = f"'{token}'"  # which is always a name
    name = read.get(quoted)
    if name is None:
        name = read[quoted] = _name(token, known, match.string, match.start(1))
    return name


def _operand_at(text: str, position: int) -> bool:
    """Whether the next token starts an operand, or is a mistake that is to be reported."""
    token = _TOKEN.match(text, position)
    assert token is not None
    if not token[1] or token["quoted"]:
        return bool(token[1])
    symbol = _SYMBOLS.get(token[1].lower()) or _temporal(token[1])
    return symbol is None or bool(symbol.starts)


def _misplaced(
    want_operand: bool, previous: str, token: str, text: str, position: int, known: _Known | None
) -> ExpressionError:
    """The error for an operator (or the end) in place of an operand, or the reverse."""
    found = _brief(token, quoted=True) if token else "the end"
    before = _brief(previous, quoted=True)
    if not previous and not token:
        reason = "the formula is empty; write a task name"
    elif want_operand:
        place = f"after {before}" if previous else "first"
        reason = f"expected a task name {place}, found {found}"
    elif known is None and (hint := _operator_hint(previous, text, position)):
        return ExpressionError(hint, text, text.rfind(previous, 0, position))
    else:
        hint = _SMALL.get(previous) or _SMALL.get(token) or _QUOTE_IT
        reason = f"expected an operator such as & or | between {before} and {found}; {hint}"
    return ExpressionError(reason, text, position)


def _operator_hint(word: str, text: str, end: int) -> str:
    """How to write the operator that a word may be, if it is not a name here; or "" if none."""
    symbol = _temporal(word)
    if symbol is not None:
        after, example = ("after", f"{word} a") if symbol.starts else ("before", f"a {word} b")
        return f"the operator {word} needs something {after} it: {example}"
    other = _OTHERS.get(word.lower(), "")
    return other if other and _operand_at(text, end) else ""


def _read(match: re.Match[str], known: _Known | None, want_operand: bool) -> Symbol:
    """What one token means."""
    token, text, position = match[1], match.string, match.start(1)
    symbol = _SYMBOLS.get(token.lower())
    if symbol is not None:
        return symbol
    if match["quoted"]:
        token = _ESCAPE.sub(r"\1", token[1:-1])
        if not token:
            raise ExpressionError("a task name cannot be empty", text, position)
    elif not match["word"]:
        hint = _FIRST_HINTS.get(token, "") if want_operand else ""
        raise ExpressionError(_unexpected(token, hint), text, position)
    elif not token.isidentifier():
        for i, character in enumerate(token):
            if not ("a" + character).isidentifier():
                raise ExpressionError(_unexpected(character), text, position + i)
        raise ExpressionError(_unexpected(token), text, position)  # such as 2b
    elif _temporal(token):
        return _BY_PLACE
    return _name(token, known, text, position)


def _name(name: str, known: _Known | None, text: str, position: int) -> Symbol:
    if known is not None and name not in known.every:
        hint = _operator_hint(name, text, token_end(text, position))
        if hint and text[position] not in "'\"":
            close = closest(name, list(known.every))
            raise ExpressionError(f"unknown task {name!r}; {hint}{close}", text, position)
        raise ExpressionError(unknown_name(name, known.first, known.more), text, position)
    return Symbol("name", starts=True, name=name)


def _unexpected(token: str, hint: str = "") -> str:
    """The message for a token that cannot occur in a formula."""
    if token in ("'", '"'):
        return f"this {token} opens a name that is never closed"
    return f"unexpected {_brief(token, quoted=True)}; {hint or _HINTS.get(token, _QUOTE_IT)}"
