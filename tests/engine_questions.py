"""Questions for the planner in JavaScript, and what Python answers: random worlds and expressions.

Everything is drawn from a generator, so that a failure can be asked again by its number.
"""

from __future__ import annotations

import json

import temporal_oracle
from taskalgebra.apps.playground.refusals import RefusedError, read
from taskalgebra.apps.playground.schema import SolveRequest
from taskalgebra.apps.playground.solving import SkillsCache, solve
from taskalgebra.logic.formulas import parse

OPERATORS = ("&", "|", "^", "->", "<->", "nand", "nor", "and", "or", "xor", "⊕", "=>", "∨", "iff")
NAMES = ("top", "left", "a b", "F", "until", "x1", "don't", "gehört", "ß", "G", "not-this", "then")
NOISE = (
    *("(", ")", "~", "!", "&&", "||", "<>", "[]", "{", "=", "-", "+", "*", "0", "1", "2b", "x²"),
    *("'", '"', "''", "'a b", '"x1"', "then", "never", "finally", "globally", "f", "u", "F", "U"),
    *("□", "◇", "○", ",", ";", "\t", "\n", "a.b", "\u00a0", "💡", "tpo", "lefft", "Top", "\x07"),
    *("xl", "unless", "X", "G", "avoid", "not", "true", "false", "until", "g0", "g1", "G2"),
)


def random_world(rng, *, most_side=7, most_goals=4):
    """A drawn world: walls, parts that cannot be reached, goals anywhere, several rewards."""
    height, width = rng.integers(1, most_side + 1, 2)
    free = rng.random((height, width)) > rng.choice([0.0, 0.2, 0.4])
    free[rng.integers(height), rng.integers(width)] = True
    cells = [[r, c] for r in range(height) for c in range(width) if free[r, c]]
    n_goals = min(len(cells), int(rng.integers(1, most_goals + 1)))
    chosen = [cells[i] for i in rng.choice(len(cells), n_goals, replace=False)]
    tasks = rng.permutation(NAMES)[: rng.integers(0, 5)].tolist()
    goals = [f"g{i}" for i in range(n_goals)]
    step = float(rng.choice([-0.1, -1.0, -0.125, -0.3]))
    world = {
        "map": ["".join(".#"[not one] for one in row) for row in free],
        "goals": [{"name": n, "cell": c} for n, c in zip(goals, chosen, strict=True)],
        "tasks": [{"name": n, "goals": [g for g in goals if rng.random() < 0.5]} for n in tasks],
        "step_reward": step,
        "r_universal": float(rng.choice([2.0, 0.5, 10.0])),
        "touch": bool(rng.random() < 0.4),
    }
    if rng.random() < 0.4:
        world["r_empty"] = float(rng.choice([-0.5, 0.25, -3.0]))
    return world


def random_expression(rng, names, depth):
    """A Boolean expression over some names, as a person may write it."""
    if depth == 0 or not names or rng.random() < 0.15:
        if not names or rng.random() < 0.1:
            return str(rng.choice(["true", "false", "⊤", "⊥"]))
        name = str(rng.choice(names))
        inside = name.replace("\\", "\\\\").replace("'", "\\'")
        plain = name.isidentifier() and rng.random() < 0.7
        return name if plain else f"'{inside}'"
    if rng.random() < 0.25:
        return f"{rng.choice(['~', '!', 'not ', '¬'])}({random_expression(rng, names, depth - 1)})"
    left, right = (random_expression(rng, names, depth - 1) for _ in range(2))
    sign = rng.choice(OPERATORS)
    return f"({left}) {sign} ({right})" if rng.random() < 0.7 else f"{left} {sign} {right}"


def random_formula(rng, names):
    """A formula over time, as a person may write it, or nested at random."""
    depth = int(rng.integers(1, 4))
    made = temporal_oracle.random_mission if rng.random() < 0.5 else temporal_oracle.random_formula
    plain = [f"n{i}" for i in range(len(names))]
    text = made(rng, plain, depth)
    for short, name in reversed(list(zip(plain, names, strict=True))):
        inside = name.replace("\\", "\\\\").replace("'", "\\'")
        text = text.replace(f"'{short}'", f"'{inside}'").replace(short, f"'{inside}'")
    return text if parse(text).temporal else f"F ({text})"


def random_mistake(rng, names):
    """Words and signs without an order: most of them are no expression."""
    words = [*names, "&", "|", *NOISE]
    glue = str(rng.choice([" ", "", " "]))
    return glue.join(str(rng.choice(words)) for _ in range(rng.integers(0, 6)))


def answers_of_python(requests):
    """What `solve` answers to some requests, without the time that it takes."""
    cache = SkillsCache()
    found = []
    for request in requests:
        try:
            asked = read(json.dumps(request).encode(), SolveRequest)
            found.append(json.loads(solve(asked, cache)))
        except RefusedError as error:
            found.append(error.answer())
        found[-1].pop("milliseconds", None)
    return found


def differences(own, theirs, within, path=()):
    """Where two JSON documents differ, numbers by more than they may."""
    if isinstance(own, dict) and isinstance(theirs, dict) and own.keys() == theirs.keys():
        for key in own:
            yield from differences(own[key], theirs[key], within, (*path, key))
    elif isinstance(own, list) and isinstance(theirs, list) and len(own) == len(theirs):
        for i, (one, other) in enumerate(zip(own, theirs, strict=True)):
            yield from differences(one, other, within, (*path, i))
    elif isinstance(own, float | int) and isinstance(theirs, float | int):
        if abs(own - theirs) > within:
            yield path
    elif own != theirs:
        yield path


def is_tied(path, own, theirs):
    """Whether a difference is one of actions that are as good as each other, or of what they do."""
    if path[0] == "others" and len(path) > 2:
        return is_tied(path[2:], own["others"][path[1]], theirs["others"][path[1]])
    if path[0] == "states":
        return path[2] == "actions"
    follows = ("actions", "loss", "certificate", "improvement")
    figures = ("desired_reached", "mean_return", "mean_loss", "failures")
    return path[0] in (*follows, *figures) and own["actions"] != theirs["actions"]
