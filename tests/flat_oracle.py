"""FlatWorld written a second time, with its five published tasks as automata by hand.

Nothing here reads the library.  `fewest_straight` searches the points that straight moves reach,
`fewest` all points that the eight moves reach from a start, without any rounding of positions: a
point is (a + (p + q)/√2, c + (p − q)/√2) moves away, with whole numbers a, c, p and q.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

CIRCLES = [
    ("red", (-1.4, 0.55), 0.4),
    ("magenta", (-1.1, 1.1), 0.5),
    ("yellow", (-1.0, -1.2), 0.3),
    ("orange", (-1.53, -0.5), 0.32),
    ("blue", (0.1, 0.0), 0.8),
    ("red", (0.5, -1.3), 0.35),
    ("green", (0.7, 0.7), 0.5),
    ("green", (1.5, -0.75), 0.4),
    ("aqua", (0.8, 0.2), 0.3),
]
SUCCESS, FAILURE = "success", "failure"


def colours(x, y):
    """The colours of a point."""
    return frozenset(c for c, (cx, cy), r in CIRCLES if math.hypot(x - cx, y - cy) < r)


def one_after_another(u, seen):
    """F ((red & magenta) & F ((blue & green) & F yellow))."""
    if u == 0 and {"red", "magenta"} <= seen:
        u = 1
    if u == 1 and {"blue", "green"} <= seen:
        u = 2
    return SUCCESS if u == 2 and "yellow" in seen else u


def orange_then_magenta(u, seen):
    """F (orange & (!red U magenta))."""
    waiting = u == 1 or "orange" in seen
    if waiting and "magenta" in seen:
        return SUCCESS
    return 1 if waiting and "red" not in seen else 0


def three_colours_first(u, seen):
    """(!red U (green & blue & aqua)) & F (orange & (F (red & magenta)))."""
    first, second = u or (0, 0)
    if first == 0 and {"green", "blue", "aqua"} <= seen:
        first = 1
    if first == 0 and "red" in seen:
        return FAILURE
    if second == 0 and "orange" in seen:
        second = 1
    if second == 1 and {"red", "magenta"} <= seen:
        second = 2
    return SUCCESS if (first, second) == (1, 2) else (first, second)


def magenta_before_green(u, seen):
    """(((!yellow & !orange) U (green & blue)) & (!green U magenta))."""
    first, second = u or (0, 0)
    if first == 0 and {"green", "blue"} <= seen:
        first = 1
    if first == 0 and seen & {"yellow", "orange"}:
        return FAILURE
    if second == 0 and "magenta" in seen:
        second = 1
    if second == 0 and "green" in seen:
        return FAILURE
    return SUCCESS if (first, second) == (1, 1) else (first, second)


def what_blue_owes(u, seen):
    """(blue => F magenta) U (yellow | ((green & blue) & F orange)).

    A state is a set of what may be: (still waiting, magenta is owed, orange is owed).
    """
    after = set()
    for waiting, magenta, orange in u or {(True, False, False)}:
        if not waiting:
            after.add((False, magenta and "magenta" not in seen, orange and "orange" not in seen))
            continue
        owed = magenta and "magenta" not in seen
        if "yellow" in seen:
            after.add((False, owed, False))
        if {"green", "blue"} <= seen:
            after.add((False, owed, "orange" not in seen))
        after.add((True, (magenta or "blue" in seen) and "magenta" not in seen, False))
    return SUCCESS if (False, False, False) in after else frozenset(after)


TASKS = {  # the formula, its automaton, and DeepLTL's success and steps
    "F ((red & magenta) & F ((blue & green) & F yellow))": (one_after_another, 1.0, 79.7),
    "F (orange & (!red U magenta))": (orange_then_magenta, 0.999, 52.8),
    "(!red U (green & blue & aqua)) & F (orange & (F (red & magenta)))": (
        three_colours_first,
        0.978,
        71.8,
    ),
    "(((!yellow & !orange) U (green & blue)) & (!green U magenta))": (
        magenta_before_green,
        0.860,
        43.9,
    ),
    "(blue => F magenta) U (yellow | ((green & blue) & F orange))": (what_blue_owes, 0.996, 37.0),
}


def published_starts(seed, count):
    """The starts of the published evaluation: after one reset with the seed, these are the next."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) <= count:
        point = rng.uniform(low=-2.0, high=2.0, size=(2,))
        if not colours(*point):
            found.append(point)
    return np.array(found[1:])


def steps_to_success(step, path):
    """The number of steps after which a path, its start included, satisfies a task; else None."""
    u = 0
    for n, point in enumerate(path[1:], 1):
        u = step(u, colours(*point))
        if u in (SUCCESS, FAILURE):
            return n if u == SUCCESS else None
    return None


def fewest_straight(step, start):
    """The moves of a shortest way with straight moves and stays, by name; None if impossible."""
    moves = {"up": (0, 1), "right": (1, 0), "down": (0, -1), "left": (-1, 0), "stay": (0, 0)}
    came = {((0, 0), 0): None}
    queue = deque(came)
    while queue:
        node = queue.popleft()
        (i, j), u = node
        for name, (di, dj) in moves.items():
            at = (i + di, j + dj)
            x, y = (s + 0.08 * k for s, k in zip(start, at, strict=True))
            if max(abs(x), abs(y)) > 2:
                continue
            after = step(u, colours(x, y))
            if after == SUCCESS:
                names = [name]
                while came[node] is not None:
                    node, name = came[node]
                    names.append(name)
                return names[::-1]
            if after != FAILURE and (at, after) not in came:
                came[at, after] = node, name
                queue.append((at, after))
    return None


def fewest(step, start, limit):
    """The fewest steps with all moves, up to a limit, from a start in no circle; else None.

    All points at each number of steps are found at once.  A state of the automaton is a number in
    the order of their discovery.
    """
    size, half = 2 * limit + 1, math.sqrt(0.5)
    states, after = [0], {}
    encode = np.array([size**3, size**2, size, 1])  # a, c, p and q of a point in one number
    moves = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    moves = np.concatenate((moves, -moves)) @ encode
    centre = encode.sum() * limit
    frontier, known = {0: np.array([centre])}, {0: np.array([centre])}
    none = np.array([], int)
    for n in range(1, limit + 1):
        found: dict[int, list[np.ndarray]] = {}
        for u, points in frontier.items():
            reached = np.unique((points[:, None] + moves).ravel())
            a, c, p, q = (reached // k % size - limit for k in encode)
            x = start[0] + 0.08 * (a + (p + q) * half)
            y = start[1] + 0.08 * (c + (p - q) * half)
            within = (np.abs(x) <= 2) & (np.abs(y) <= 2)
            reached, x, y = reached[within], x[within], y[within]
            code = np.zeros(len(x), int)
            for k, (_, (cx, cy), r) in enumerate(CIRCLES):
                code |= (np.hypot(x - cx, y - cy) < r).astype(int) << k
            for one in np.unique(code).tolist():
                if (u, one) not in after:
                    seen = frozenset(c for k, (c, *_) in enumerate(CIRCLES) if one >> k & 1)
                    v = step(states[u], seen)
                    if v not in (SUCCESS, FAILURE):
                        if v not in states:
                            states.append(v)
                        v = states.index(v)
                    after[u, one] = v
                v = after[u, one]
                if v == SUCCESS:
                    return n
                if v != FAILURE:
                    found.setdefault(v, []).append(reached[code == one])
        frontier = {}
        for v, parts in found.items():
            new = np.setdiff1d(np.concatenate(parts), known.get(v, none))
            known[v] = np.union1d(known.get(v, none), new)
            frontier[v] = new
    return None
