"""The table of the address in the guide names the parts that the page reads and writes."""

from __future__ import annotations

import re
from pathlib import Path

from taskalgebra.apps.playground.app import STATIC

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "play.md"
SOURCES = "".join((STATIC / name).read_text("utf-8") for name in ("share.js", "table_link.js"))


def section():
    return GUIDE.read_text("utf-8").split("\n## The address\n")[1].split("\n## ")[0]


def test_the_guide_names_every_part_of_the_address():
    rows = [line.split(" | ") for line in section().splitlines() if line.startswith("| `")]
    named = [row[0].strip("| `") for row in rows]
    written = set(re.findall(r'query\.set\("(\w+)"', SOURCES))
    read = set(re.findall(r'parts\.(?:get|lesser)\("(\w+)"', SOURCES))
    kinds = re.search(r"READ = \{(.*)\}", SOURCES)[1]
    assert set(re.findall(r"(\w+):", kinds)) == set(named[:4]) < read
    assert sorted(named) == sorted(written) == sorted(read)


def test_the_guide_names_the_worlds_of_the_page(presets):
    ids = {
        "world": {name for name, one in presets.items() if "world" in one} | {"empty"},
        "table": {name for name, one in presets.items() if "scene" in one},
        "boxman": {one["name"] for one in presets["boxman"]["skills"]},
    }
    for part, expected in ids.items():
        (row,) = (line for line in section().splitlines() if line.startswith(f"| `{part}` "))
        assert set(re.findall(r"`([\w-]+)`", row.split(":", 1)[1])) == expected
