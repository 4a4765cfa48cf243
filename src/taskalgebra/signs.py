"""Signs for terminals that show ASCII only.

`taskalgebra` is an error handler of codecs: where an encoding has no ◆, it writes * instead.
"""

from __future__ import annotations

import codecs
import io
import unicodedata
from typing import TextIO

HANDLER = "taskalgebra"
SIGNS = {
    **{"█": "#", "◆": "*", "◇": "o", "↑": "^", "→": ">", "↓": "v", "←": "<", "•": "=", "·": "."},
    **{"–": "-", "—": "-", "−": "-", "…": "...", "±": "+-", "×": "x", "≤": "<=", "≥": ">="},
    **{"∅": "0", "∞": "inf", "∧": "&", "∨": "|", "¬": "~", "⊻": "^", "⊕": "^", "↔": "<->"},
    **{"α": "alpha", "ε": "epsilon", "γ": "gamma", "π": "pi", "𝒢": "G", "∈": "in", "²": "2"},
    **{"‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ", "─": "-", "│": "|", "√": "sqrt"},
    **dict.fromkeys("╭╮╰╯┌┐└┘", "+"),
}


def plain(text: str) -> str:
    """The text in ASCII: signs by what comes closest, accents dropped, ? for the rest."""
    return "".join(character if character < "\x80" else _plain(character) for character in text)


def _plain(character: str) -> str:
    if character in SIGNS:
        return SIGNS[character]
    if unicodedata.combining(character):
        return ""
    parts = unicodedata.normalize("NFKD", character)
    return parts.encode("ascii", "ignore").decode() or "?"


def shown_in(text: str, encoding: str | None) -> str:
    """The text as it is, if the encoding has all of it, else in ASCII."""
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return plain(text)
    return text


def adapt(*streams: TextIO) -> None:
    """Let streams write what comes closest where their encoding lacks a sign."""
    codecs.register_error(HANDLER, _handle)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)


def _handle(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end
