"""Docstrings are written to be read as they are; this makes reStructuredText of them."""

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

CODE = re.compile(r"(`[^`]*`)")


def tidy(_app: Sphinx, what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Mark indented code as code, and take `|` for what it is: a bar, not a substitution."""
    literal = False
    for i, line in enumerate(lines):
        if literal and line and not line.startswith(" "):
            literal = False
        if literal:
            continue
        parts = CODE.split(line)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[i] = "".join(parts)
        following = lines[i + 1 : i + 3]
        if line.endswith(":") and len(following) == 2 and not following[0]:
            literal = following[1].startswith("    ")
            if literal:
                lines[i] += ":"
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]  # else napoleon takes what stands before a colon for a type


def setup(app: Sphinx) -> ExtensionMetadata:
    """Listen before napoleon does."""
    app.connect("autodoc-process-docstring", tidy, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
