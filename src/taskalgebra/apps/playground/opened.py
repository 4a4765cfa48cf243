"""Skills of a user's own as a world of the page: a drawing if they are one, else a table.

A drawing is rebuilt from its document and compared: only if the world is the same, number for
number, is it shown as one.  Everything about it can then be changed on the page.  Values that were
learned are shown as they are, in a table.
"""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64encode
from secrets import token_urlsafe
from urllib.parse import quote

import numpy as np
from pydantic import ValidationError

import taskalgebra as ta
from taskalgebra.apps import desired_names
from taskalgebra.apps.playground import drawn, tables
from taskalgebra.apps.playground.refusals import RefusedError, check
from taskalgebra.apps.playground.scene import COLOURS, scene, why_not
from taskalgebra.apps.playground.schema import MAX_SIDE, MAX_TASKS, WorldDocument
from taskalgebra.apps.playground.subject import Table
from taskalgebra.planning.horizon import HorizonFamily
from taskalgebra.theory.rewards import default_r_bar_min
from taskalgebra.worlds.finite import FiniteMDP

PROGRAM = "# `skills` are those that you gave to ta.playground.\nimport taskalgebra as ta\n\n"


def fragment(skills: ta.Skills, expression: str) -> str:
    """What follows the # in the address of a page that shows these skills.

    Raises:
        TypeError: the world is open.
        ValueError: the page cannot show it; the message says what to do.
    """
    _require_shown(skills)
    task = quote(expression, safe="")
    document = _drawing(skills)
    if document is not None:
        return f"map={packed(document)}&task={task}"
    table = _table(skills, _shown_tasks(skills, expression))
    tables.add(table)
    return f"table={table.scene['id']}&task={task}"


def _require_shown(skills: ta.Skills) -> None:
    """Refuse what the page cannot show, in words."""
    if not skills.space.finite:
        raise TypeError(
            "the playground shows the states of finite worlds, and this one is open, known only by "
            "playing it; watch agent.play(render=True), or make it finite with ta.explore(world)"
        )
    if isinstance(skills.family, HorizonFamily):
        raise ValueError(
            "these skills are planned for a horizon, and the playground does not show how many "
            "steps are left; give it solve(world) without horizon"
        )
    for name, task in skills.tasks.items():
        if not task.two_valued or task.step_reward is not None:
            raise ValueError(
                f"task {name!r} pays other rewards than r_∅ and r_U, and the playground shows sets "
                f"of goals; make it with space.task(goals)"
            )
    reason = why_not(skills.space.mdp)
    if reason:
        raise ValueError(reason)


def _drawing(skills: ta.Skills) -> WorldDocument | None:
    """The document of skills that were planned in a world that can be drawn."""
    space, mdp = skills.space, skills.space.mdp
    if skills.family.error_bound is None or not _usual_penalty(skills):
        return None  # the values of the page would be others
    if len(skills.tasks) > MAX_TASKS or mdp.cells is None:
        return None
    paid = np.unique(mdp.step_reward[~mdp.is_goal])
    high, low = np.unique(space.r_universal), np.unique(space.r_empty)
    cells = mdp.cells[~mdp.is_goal]
    if max(paid.size, high.size, low.size) > 1 or cells.min() < 0 or cells.max() >= MAX_SIDE:
        return None
    for slip in _slips(mdp):
        document = _document(skills, float(paid[0]), float(high[0]), float(low[0]), slip)
        try:
            found = WorldDocument.model_validate_json(json.dumps(document))
            check(found)
        except (ValidationError, RefusedError):
            continue
        if drawn.world(found) == mdp:
            return found
    return None


def _usual_penalty(skills: ta.Skills) -> bool:
    """Whether values are those of the usual r̄_MIN; in a deterministic world any will do."""
    space, low = skills.space, skills.family.r_bar_min
    return space.mdp.deterministic or low is None or low == default_r_bar_min(space)


def _slips(mdp: FiniteMDP) -> list[float]:
    """The shares of slips that the outcomes of a world may come from."""
    if mdp.deterministic:
        return [0.0]
    least = float(mdp.probability.min())
    return [round(3 * least, 12), round(1 - least, 12)]


def _document(
    skills: ta.Skills, step: float, high: float, low: float, slip: float
) -> dict[str, object]:
    """A document whose world may be that of some skills."""
    mdp = skills.space.mdp
    assert mdp.cells is not None
    own = mdp.cells[~mdp.is_goal]
    height, width = (min(int(n) + 2, MAX_SIDE) for n in own.max(axis=0))
    rows = np.full((height, width), "#")
    rows[tuple(own.T)] = "."
    at = mdp.cells[mdp.goals].tolist()
    return {
        "map": ["".join(row) for row in rows],
        "goals": [
            {"name": name, "cell": cell, "color": COLOURS[g % len(COLOURS)]}
            for g, (name, cell) in enumerate(zip(mdp.goal_names, at, strict=True))
        ],
        "tasks": [
            {"name": name, "goals": desired_names(task)} for name, task in skills.tasks.items()
        ],
        "step_reward": step,
        "r_universal": high,
        "r_empty": low,
        "touch": mdp.n_actions == 4,
        "slip": slip,
    }


def packed(document: WorldDocument) -> str:
    """A drawn world as the page's addresses hold it (`static/share.js`)."""
    index = {goal.name: g for g, goal in enumerate(document.goals)}
    parts: list[object] = [
        document.map,
        [[goal.name, *goal.cell, (goal.color or COLOURS[0])[1:]] for goal in document.goals],
        [[task.name, [index[name] for name in task.goals]] for task in document.tasks],
        [document.step_reward, document.r_universal, document.r_empty],
    ]
    if document.touch or document.slip:
        parts.append(document.touch)
    if document.slip:
        parts.append(document.slip)
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return urlsafe_b64encode(zlib.compress(text.encode())).decode().rstrip("=")


def _shown_tasks(skills: ta.Skills, expression: str) -> dict[str, ta.Task]:
    """As many base tasks as the page shows, those of the expression among them."""
    tasks = skills.tasks
    named = [name for name in ta.parse(expression).names if name in tasks]
    if len(named) > MAX_TASKS:
        raise ValueError(
            f"{expression} names {len(named)} base tasks, and the playground shows up to "
            f"{MAX_TASKS}; give it a task over fewer of them"
        )
    kept = [*named, *(name for name in tasks if name not in named)][:MAX_TASKS]
    return {name: task for name, task in tasks.items() if name in kept}


def _table(skills: ta.Skills, kept: dict[str, ta.Task]) -> Table:
    """The table of some skills and these base tasks, with an id that nobody can guess."""
    n = len(skills.tasks)
    said = ["The values are those of your skills."]
    if len(kept) < n:
        said.append(f"Of your {n} base tasks {len(kept)} are shown.")
    if skills.space.mdp.row_error:
        said.append("The world was estimated from samples.")
    name = f"own-{token_urlsafe(24)}"
    shown = scene(name, "Your world", skills.space, kept, remark=" ".join(said))
    return Table(shown, skills.space, PROGRAM, skills)
