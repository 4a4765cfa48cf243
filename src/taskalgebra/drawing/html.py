"""Pieces of HTML with which objects show themselves in notebooks.

Text has the colour of the page and nothing has a background, so that light and dark themes are
readable.  Every text is escaped here; nothing else may write a name into a page.  Styles are on the
elements themselves, because notebooks remove style sheets.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape

from taskalgebra.arrays import Image
from taskalgebra.drawing.png import png

MOST_NAMES = 12
"""Names in a row; of more, the rest is counted."""
MOST_CHARACTERS = 200
HOLDS, FAILS, OPEN = "holds", "FAILS", "open"
_SIGNS = {HOLDS: ("✓", "#1a9e6e"), FAILS: ("✗", "#e0552b"), OPEN: ("?", "#b8860b")}
_CELL = "padding:2px 10px 2px 0;border:0;background:transparent;vertical-align:top;text-align:left"


def text(words: object, most: int = MOST_CHARACTERS) -> str:
    """Words as HTML, cut off if they are long; what cannot be printed is replaced."""
    plain = str(words)
    plain = plain if len(plain) <= most else f"{plain[: most - 1]}…"
    return escape("".join(c if c.isprintable() or c == " " else "\ufffd" for c in plain))


def code(words: object, most: int = MOST_CHARACTERS) -> str:
    """A name or a formula."""
    look = "background:transparent;color:inherit;font-family:monospace;font-size:1em;padding:0"
    return f'<code style="{look}">{text(words, most)}</code>'


def soft(words: object, most: int = 400) -> str:
    """A remark."""
    return f'<span style="opacity:.72">{text(words, most)}</span>'


def sign(word: str) -> str:
    """A finding in a word, with a sign before it."""
    mark, colour = _SIGNS[word]
    return (
        f'<span style="white-space:nowrap"><span style="color:{colour};font-weight:700">{mark}'
        f"</span> {text(word)}</span>"
    )


def names(given: Sequence[str], most: int = MOST_NAMES) -> str:
    """Names in a row; of many, the first and how many more there are."""
    shown = ", ".join(code(name, 60) for name in given[:most])
    return f"{shown} {soft(f'and {len(given) - most:,} more')}" if len(given) > most else shown


def rows(given: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """A table; its cells are HTML."""
    lines = []
    if heads:
        look = f"{_CELL};font-weight:400;opacity:.72"
        cells = "".join(f'<th style="{look}">{text(head)}</th>' for head in heads)
        lines.append(f'<tr style="background:transparent">{cells}</tr>')
    for row in given:
        cells = "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row)
        lines.append(f'<tr style="background:transparent">{cells}</tr>')
    look = "border-collapse:collapse;border:0;margin:0;font-size:1em;color:inherit"
    return f'<table style="{look}"><tbody>{"".join(lines)}</tbody></table>'


def image(pixels: Image, words: str, width: int | None = None) -> str:
    """An image in the page itself; the words are for those who cannot see it."""
    size = f"width:{width}px;" if width else ""
    data = b64encode(png(pixels)).decode()
    return (
        f'<img alt="{text(words)}" src="data:image/png;base64,{data}" '
        f'style="{size}max-width:100%;margin:0;background:transparent">'
    )


def labelled(picture: str, label: str) -> str:
    """A picture above its name."""
    return (
        f'<div style="text-align:center;max-width:100%">{picture}'
        f'<div style="margin-top:2px">{label}</div></div>'
    )


def beside(*parts: str) -> str:
    """Parts next to each other, as far as there is room."""
    look = "display:flex;flex-wrap:wrap;gap:10px 18px;align-items:flex-start;max-width:100%"
    return f'<div style="{look}">{"".join(parts)}</div>'


def shown(kind: str, name: str, *parts: str) -> str:
    """An object: what it is and its name, in HTML, above its parts."""
    head = f'<div style="margin-bottom:4px"><b>{text(kind)}</b> {name}</div>'
    look = "font-size:13px;line-height:1.45;color:inherit;background:transparent;max-width:100%"
    return f'<div class="taskalgebra" style="{look}">{head}{"".join(filter(None, parts))}</div>'
