"""HTML from plain values: everything that is not `Markup` is escaped."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape


class Markup(str):
    """Text that is HTML already."""


def text(value: object) -> Markup:
    """A value as HTML, escaped unless it is HTML already."""
    return value if isinstance(value, Markup) else Markup(escape(str(value)))


def tag(name: str, *children: object, **attributes: str | bool | None) -> Markup:
    """An element; `class_` is class, and `data_label` is data-label.

    >>> print(tag("a", "1 < 2", href="#b", class_="c"))
    <a href="#b" class="c">1 &lt; 2</a>
    >>> print(tag("img", src="x", alt=""))
    <img src="x" alt="">
    """
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in ("img", "meta", "br"):
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{join(children)}</{name}>")


def join(children: Iterable[object], between: str = "") -> Markup:
    """Several values, one after the other."""
    return Markup(between.join(text(child) for child in children))


def table(
    rows: Sequence[Mapping[str, object]],
    *,
    caption: str,
    words: Collection[str] = (),
    class_: str = "",
) -> Markup:
    """A table whose first cell in each row is its heading.

    Args:
        rows: the cells by column, with the same columns in all rows.
        caption: what the table shows.
        words: columns besides the first that are text; the others are aligned to the right.
        class_: for the style sheet.
    """
    columns = list(rows[0])
    side = {c: None if c in (columns[0], *words) else "number" for c in columns}
    head = [tag("th", column, scope="col", class_=side[column]) for column in columns]
    body = []
    for row in rows:
        first, *others = row.items()
        cells = [tag("td", cell, class_=side[c], data_label=c) for c, cell in others]
        body.append(tag("tr", tag("th", first[1], scope="row"), *cells))
    parts = [tag("caption", caption), tag("thead", tag("tr", *head)), tag("tbody", *body)]
    whole = tag("table", *parts, class_=class_ or None)
    return tag("div", whole, class_="scroll", role="region", aria_label=caption, tabindex="0")


SUPERSCRIPTS = re.compile(r"\b2\^\(2\^(\w+)\)|\b2\^(\w+)")
SUBSCRIPTS = re.compile(r"(?<!\w)(r̄?|Q̄|M|max|V)_(MIN|MAX|U|∅|M|g|dense|sparse)(?!\w)")


def maths(plain: str) -> Markup:
    """Plain text with the paper's powers of two raised and its indices lowered.

    >>> print(maths("2^(2^K) < 2^40, r_MIN, top_left"))
    2<sup>2<sup>K</sup></sup> &lt; 2<sup>40</sup>, r<sub>MIN</sub>, top_left
    """

    def raised(found: re.Match[str]) -> str:
        twice, once = found.groups()
        return f"2<sup>2<sup>{twice}</sup></sup>" if twice else f"2<sup>{once}</sup>"

    html = SUPERSCRIPTS.sub(raised, escape(plain))
    return Markup(SUBSCRIPTS.sub(r"\1<sub>\2</sub>", html))


def inline(markdown: str) -> Markup:
    """A line of Markdown: `code`, **bold** and [links](https://…).

    >>> print(inline("**a < b**, `c_d`"))
    <strong>a &lt; b</strong>, <code>c_d</code>
    """
    parts = []
    for i, part in enumerate(re.split(r"`([^`]*)`", markdown)):
        if i % 2:
            parts.append(tag("code", part))
            continue
        html = str(maths(part))
        html = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", html)
        html = re.sub(r"\[([^\]]+)\]\((https://[^)\s]+)\)", r'<a href="\2">\1</a>', html)
        parts.append(Markup(html))
    return join(parts)
