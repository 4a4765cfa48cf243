"""Print the lowest versions that `pyproject.toml` declares, as constraints for pip.

python tests/lowest.py > lowest.txt

What `constraints.txt` pins stays pinned: of torch, only that release installs as a small build.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BOUND = re.compile(r"(?P<name>[\w.-]+)>=(?P<lowest>[\w.]+)(?P<marker>;.*)?")


def constraints(pyproject: str, pinned: str) -> list[str]:
    """One line per direct dependency, optional ones included: `name==lowest`."""
    project = tomllib.loads(pyproject)["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    held = [line for line in pinned.splitlines() if line and not line.startswith("#")]
    taken = {line.partition("==")[0] for line in held}
    found: dict[str, str] = {}
    for requirement in (one for group in groups for one in group):
        if requirement.startswith(f"{project['name']}["):
            continue  # other extras of this project
        bound = BOUND.fullmatch(requirement)
        if bound is None:
            raise ValueError(f"{requirement!r} declares no lowest version; write 'name>=version'")
        line = f"{bound['name']}=={bound['lowest']}{bound['marker'] or ''}"
        if bound["name"] not in taken and found.setdefault(bound["name"], line) != line:
            raise ValueError(
                f"{bound['name']} has two lowest versions: {found[bound['name']]}, {line}"
            )
    return [*held, *found.values()]


if __name__ == "__main__":
    files = (ROOT / "pyproject.toml", ROOT / "constraints.txt")
    print("\n".join(constraints(*(file.read_text() for file in files))))
