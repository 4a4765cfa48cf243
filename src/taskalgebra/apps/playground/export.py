"""The playground as a page that needs no server: `taskalgebra play --export DIR`.

The page is one file, `index.html`, that opens from a disk, from any host and inside of slides.  It
holds the styles, the worlds to start from, and all modules of the page and of its planner joined
into one classic script: browsers load no modules from files.  Each module becomes a function that
returns what it exports, and is called once, after the modules that it imports from.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from taskalgebra import __version__, files
from taskalgebra.apps.playground.presets import presets
from taskalgebra.apps.playground.presets.worlds import WORLDS

STATIC = Path(__file__).parent / "static"
PAGE, PLANNER = "main.js", "engine/solve.js"
NAME = "index.html"
NOT_HERE = "it plays networks, which need Python: start taskalgebra play"

_IMPORT = re.compile(r'^import (?:(\{[^}]*\}|\* as \w+) from )?"(\.{1,2}/[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(
    r"^export (?=(?:async )?(?:function\*?|const|let|class) "
    r"(?:([A-Za-z_$][\w$]*)|[\[{]([\w$, ]+)[\]}]))",
    re.MULTILINE,
)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


class ExportError(ValueError):
    """The page cannot be written there."""


def write(directory: Path, *, force: bool = False) -> Path:
    """Write the page into a directory, new or empty; the file to open.

    Args:
        directory: where the page goes.
        force: whether to replace a page that is there.

    Raises:
        ExportError: there are other things in the directory, or a page and no `force`.
        OSError: it cannot be written to.
    """
    path = directory / NAME
    if directory.exists() and not directory.is_dir():
        raise ExportError(f"{directory} is a file; give a directory for the page")
    there = sorted(p.name for p in directory.iterdir()) if directory.exists() else []
    others = [name for name in there if name != NAME and not files.TEMPORARY.fullmatch(name)]
    if others:
        raise ExportError(
            f"{directory} holds other things, {others[0]} for one; give a new directory"
        )
    if NAME in there and not force:
        raise ExportError(f"{directory} holds a page; --force replaces it, or choose another DIR")
    page = document().encode()
    with files.made(directory):
        files.replace(path, page)
    return path


def document(static: Path = STATIC) -> str:
    """The whole page."""
    page = (static / "index.html").read_text("utf-8")
    page = re.sub(
        r'<link rel="stylesheet" href="/static/([^"]+)">\n',
        lambda found: f"<style>\n{(static / found[1]).read_text('utf-8')}</style>\n",
        page,
    )
    icon = base64.b64encode((static / "icon.svg").read_bytes()).decode()
    page = page.replace("/static/icon.svg", f"data:image/svg+xml;base64,{icon}")
    page, n = re.subn(r' *<script type="module" src="/static/main.js"></script>\n', "", page)
    if n != 1 or "/static/" in page:
        raise ExportError("the page refers to a file that the export does not know")
    script = _in_html(program(static))
    return page.replace("</body>", f"<script>\n{script}</script>\n</body>")


def program(static: Path = STATIC) -> str:
    """The script of the page: the planner, the worlds to start from, and the page itself."""
    data = {
        "presets": _presets(),
        "programs": {name: table().program for name, table in WORLDS.items()},
    }
    return f""""use strict";
// The playground of taskalgebra {__version__}, without a server.
globalThis.playgroundExport = {{
  ...{json.dumps(data, ensure_ascii=False, separators=(",", ":"))},
  makeEngine: function () {{
{joined(PLANNER, static)}
    return modules[{json.dumps(PLANNER)}].engineWith;
  }},
}};
(() => {{
{joined(PAGE, static)}
}})();
"""


def _presets() -> list[dict[str, Any]]:
    """The worlds to start from; what plays networks is shown, and cannot be chosen."""
    return [
        {**one, "available": False, "reason": f"{one['title']} is not on this page; {NOT_HERE}."}
        if one.get("skills")
        else one
        for one in presets()
    ]


def joined(entry: str, static: Path = STATIC) -> str:
    """A module and all that it imports, as statements that fill `modules`."""
    parts = ["const modules = {};"]
    for name, (body, exports) in _ordered(entry, static).items():
        parts.append(
            f"modules[{json.dumps(name)}] = (() => {{\n{body}"
            f"return {{ {', '.join(exports)} }};\n}})();"
        )
    return "\n".join(parts)


def _ordered(entry: str, static: Path) -> Mapping[str, tuple[str, list[str]]]:
    """The modules in the order in which they run: what is imported comes first."""
    done: dict[str, tuple[str, list[str]]] = {}
    begun: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        if name in begun:
            raise ExportError(f"{name} imports itself, through {', '.join(begun)}")
        begun.append(name)
        body, exports, needed = _module(name, (static / name).read_text("utf-8"))
        for other in needed:
            visit(other)
        begun.pop()
        done[name] = body, exports

    visit(entry)
    return done


def _module(name: str, text: str) -> tuple[str, list[str], list[str]]:
    """The body of a module as that of a function, what it exports, and what it imports from."""
    needed: list[str] = []

    def imported(found: re.Match[str]) -> str:
        folder = Path(name).parent
        other = (folder / found[2]).as_posix()
        while "../" in other:
            other = re.sub(r"[^/]+/\.\./", "", other, count=1)
        needed.append(other)
        if found[1] is None:
            return ""
        taken = found[1].removeprefix("* as ").replace(" as ", ": ")
        return f"const {taken} = modules[{json.dumps(other)}];\n"

    body = _IMPORT.sub(imported, text)
    exports = [
        name.strip() for one, more in _EXPORT.findall(body) for name in (one or more).split(",")
    ]
    body = _EXPORT.sub("", body)
    left = _LEFT.search(body)
    if left:
        raise ExportError(f"{name} has a line that the export does not understand: {left[0]}")
    return body, exports, needed


def _in_html(script: str) -> str:
    """A script inside of a page, which ends at the first end tag, even one in a string."""
    return re.sub(r"<(?=/script|!--)", r"\\x3c", script, flags=re.IGNORECASE)
