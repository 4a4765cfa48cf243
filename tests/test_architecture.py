"""Where a single game may be named: elsewhere the library knows worlds by what they offer."""

from __future__ import annotations

from pathlib import Path

import taskalgebra

PACKAGE = Path(taskalgebra.__file__).parent
GAME = "boxman"
AT_HOME = (
    "__init__.py",  # its public name
    "envs/__init__.py",
    "envs/boxman/",
    "paper/",
    "skills/catalogue.py",
    "skills/shipped/",
    "apps/playground/presets/",
    "apps/playground/static/",  # the page names the preset and its route
)
TEXTS = {".py", ".js", ".css", ".html", ".json", ".md"}


def test_one_game_is_named_only_where_it_is_at_home():
    strangers = []
    for path in sorted(PACKAGE.rglob("*")):
        name = path.relative_to(PACKAGE).as_posix()
        if path.suffix in TEXTS and not name.startswith(AT_HOME):
            if GAME in name.lower() or GAME in path.read_text(encoding="utf-8").lower():
                strangers.append(name)
    assert strangers == []
