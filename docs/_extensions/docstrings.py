"""Turn docstrings, which are written as plain text, into reStructuredText."""

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

CODE = re.compile(r"(`[^`]*`)")
ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")


def tidy(_app: Sphinx, what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Mark indented code as code, and escape `|`, which is not a substitution here."""
    literal = False
    for i, line in enumerate(lines):
        if literal and line and not line.startswith(" "):
            literal = False
        if literal:
            continue
        parts = CODE.split(line)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[i] = "".join(parts)
        after = lines[i + 1 : i + 3]
        if line.endswith(":") and len(after) == 2 and not after[0]:
            literal = after[1].startswith("    ")
            if literal:
                lines[i] += ":"
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]  # else napoleon takes the text before a colon for a type


def sign(
    _app: Sphinx,
    _what: str,
    _name: str,
    _obj: Any,
    _options: Any,
    given: str | None,
    gives: str | None,
) -> tuple[str | None, str | None]:
    """Write the name of a type alias as the source does."""
    plain = [text and ALIAS.sub(r"\1", text) for text in (given, gives)]
    return plain[0], plain[1]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect before napoleon."""
    app.connect("autodoc-process-signature", sign)
    app.connect("autodoc-process-docstring", tidy, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
