"""`ta.playground`: the playground on a user's own world, in a notebook or in the browser."""

from __future__ import annotations

import sys
import time
import webbrowser
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from typing import Literal, final

from taskalgebra.extras import missing
from taskalgebra.logic.expression import Expression, Name
from taskalgebra.skills.plans import parsed
from taskalgebra.skills.skills import Skills
from taskalgebra.validation import count, instance, one_of

PACKAGES = ("fastapi", "uvicorn", "orjson")
WAYS = ("auto", "notebook", "browser", "no")


@final
@dataclass(frozen=True, repr=False)
class Playground:
    """A page of the playground; the last line of a notebook's cell shows it in a frame."""

    address: str
    height: int = 800  # of the frame, in pixels

    def wait(self) -> None:
        """Serve the page until Ctrl-C: a program that ends takes its server along."""
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            pass

    def _repr_html_(self) -> str:
        """A frame with the page."""
        return (
            f'<iframe src="{escape(self.address)}" title="The playground of taskalgebra" '
            f'width="100%" height="{self.height}" style="border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        """Where it is."""
        return f"The playground is at {self.address}"


def playground(
    skills: Skills,
    expression: str | Expression | None = None,
    *,
    height: int = 800,
    open: Literal["auto", "notebook", "browser", "no"] = "auto",
) -> Playground:
    """Open the playground on the world of some skills, on a page that only this machine can reach.

    A world of walls and free cells, as `from_text` makes them, becomes a drawing if its skills are
    planned: all of it can be changed on the page, which plans it anew.  Any other finite world of
    up to 20,000 states is shown as it is, on its map or as a graph, with the very values of the
    skills, planned or learned.

    One server, in a thread, serves all that a program opens, and ends with it.

    Args:
        skills: what `solve`, `learn` or `load` made, of a finite world.
        expression: the task to begin with; by default the first base task.
        height: of the frame in a notebook, in pixels.
        open: "notebook" returns a frame; "browser" opens the browser and says the address; "no"
            only returns the page.  "auto" is "notebook" in a notebook, else "browser"; a script
            then waits until Ctrl-C.

    Raises:
        ModuleNotFoundError: the extra `web` is not installed.
        TypeError: the world is open.
        ValueError: the page cannot show the world; the message says what to do.
    """
    instance(skills, Skills, "the skills")
    one_of(open, WAYS, "open")
    count(height, "height", least=100, most=10_000)
    for package in PACKAGES:
        if find_spec(package) is None:
            raise ModuleNotFoundError(missing("the playground", package, "web"), name=package)
    text = _checked(skills, expression)
    from taskalgebra.apps.playground import inside
    from taskalgebra.apps.playground.opened import fragment

    shown = fragment(skills, text)
    page = Playground(f"{inside.address()}#{shown}", height)
    notebook = open == "notebook" or (open == "auto" and in_notebook())
    if not notebook and open != "no":
        print(page, flush=True)
        webbrowser.open(page.address)
        if open == "auto" and not hasattr(sys, "ps1"):
            page.wait()
    return page


def _checked(skills: Skills, expression: str | Expression | None) -> str:
    """The text of a task over base tasks, or over time over goals too."""
    if expression is None:
        return str(Name(next(iter(skills.tasks))))
    text = str(expression)
    parsed(text, skills.tasks, [*skills.tasks, *skills.space.goal_names])
    return text


def in_notebook() -> bool:
    """Whether this program is the kernel of a notebook, which shows what a cell ends with."""
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive is not None else None
    return getattr(shell, "kernel", None) is not None  # a shell in a terminal has none
