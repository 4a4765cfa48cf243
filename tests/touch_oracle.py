"""Fewest steps in Office and LetterWorld, by breadth-first search on cells.

Nothing here is the library's: the maps are written again, tasks are automata by hand, and a search
runs over (cell, counters, automaton).  An automaton is a function from a state and the letters of
a cell to the set of its next states; `DONE` among them ends the search.  An automaton that may
guess stands for the same formula as one that may not.
"""

from __future__ import annotations

from collections import deque

DONE = "done"
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))

OFFICE = """
11111111111111111
10001000100010001
10000000000000001
10001000100010001
11011101110111011
10001000100010001
10001000100010001
10001000100010001
11011111111111011
10001000100010001
10000000000000001
10001000100010001
11111111111111111
""".split()
OFFICE_LABELS = {
    **{(2, 2): "A", (2, 14): "B", (10, 14): "C", (10, 2): "D"},
    **dict.fromkeys([(6, 2), (6, 14), (2, 6), (2, 10), (10, 6), (10, 10)], "d"),
    **{(3, 5): "c", (9, 11): "c", (6, 10): "m", (6, 6): "o"},
}
OFFICE_CELLS = [(r, c) for r in range(13) for c in range(17) if OFFICE[r][c] == "0"]
SUPPLIES = {"m": ("tm", 2), "o": ("to", 4)}
TRAP = (9, 11)


def office_steps(trap=False):
    """Where moves lead in the office; nobody leaves the trap."""

    def step(cell):
        for dr, dc in MOVES:
            there = cell[0] + dr, cell[1] + dc
            blocked = OFFICE[there[0]][there[1]] == "1" or (trap and cell == TRAP)
            yield cell if blocked else there

    return step


def office_letters(cell, visits):
    """The letters of a cell that is entered, and the visits (mail, office) after that."""
    label = OFFICE_LABELS.get(cell)
    if label not in SUPPLIES:
        return {label} - {None}, visits
    place = "mo".index(label)
    supply, limit = SUPPLIES[label]
    left = visits[place] < limit
    after = tuple(min(n + (i == place), SUPPLIES["mo"[i]][1]) for i, n in enumerate(visits))
    return {label} | ({supply} if left else set()), after


def used_up(cell, visits):
    """As `office_letters`, where mail and people ran out long ago."""
    return {OFFICE_LABELS.get(cell)} - {None}, visits


def fewest_steps(start, automaton, first, step, letters, visits=(0, 0)):
    """The number of steps after which a task is done at best; None if it cannot be."""
    queue, seen = deque([((start, visits, first), 0)]), {(start, visits, first)}
    while queue:
        (cell, visits, state), n = queue.popleft()
        for there in step(cell):
            found, after = letters(there, visits)
            for u in automaton(state, found):
                if u == DONE:
                    return n + 1
                node = there, after, u
                if node not in seen:
                    seen.add(node)
                    queue.append((node, n + 1))
    return None


def one_after_another(*wanted, never="d"):
    """F(p & X F(q & …)) & G !never: what is taken at the first chance is taken best."""

    def automaton(state, letters):
        if never in letters:
            return ()
        if wanted[state] not in letters:
            return (state,)
        return (DONE if state + 1 == len(wanted) else state + 1,)

    return automaton


coffee = one_after_another("c", "o")
patrol = one_after_another("A", "B", "C", "D")


def coffee_mail(state, letters):
    """Both orders at once: how far each of "mail, coffee" and "coffee, mail" is."""
    if "d" in letters:
        return ()
    if "o" in letters and 2 in state:
        return (DONE,)
    orders = zip(("mc", "cm"), state, strict=True)
    return (tuple(n + (n < 2 and order[n] in letters) for order, n in orders),)


def coffee_strict(state, letters):
    """F o & (!o U c)."""
    if state == 0:
        return () if "o" in letters else (1,) if "c" in letters else (0,)
    return (DONE,) if "o" in letters else (1,)


def long(state, letters):
    """Mail, office, !m U (!tm & m), coffee, !o U (!to & o), A, B, C, D, A, and never a d.

    Where F waits for something, the automaton guesses whether to take it.
    """
    if "d" in letters:
        return ()
    if state == 2 or state == 4:  # until
        awaited, supply = ("m", "tm") if state == 2 else ("o", "to")
        if awaited not in letters:
            return (state,)
        return () if supply in letters else (state + 1,)
    awaited = {0: "m", 1: "o", 3: "c", 5: "A", 6: "B", 7: "C", 8: "D", 9: "A"}[state]
    if awaited not in letters:
        return (state,)
    return (DONE,) if state == 9 else (state, state + 1)


OFFICE_TASKS = {
    "Coffee": (coffee, 0),
    "Patrol": (patrol, 0),
    "CoffeeMail": (coffee_mail, (0, 0)),
    "CoffeeStrict": (coffee_strict, 0),
    "Long": (long, 0),
}


def torus_step(cell):
    """Where moves lead on the 7 × 7 torus."""
    for dr, dc in MOVES:
        yield (cell[0] + dr) % 7, (cell[1] + dc) % 7


def letters_of(board):
    """The letters of cells on a board of seven rows; `.` is a free cell."""
    return lambda cell, visits: ({board[cell[0]][cell[1]]} - {"."}, visits)


def first_task(state, letters):
    """F(a & (!b U c)) & F d: how far the first part is, and whether d was met."""
    n, met = state
    (letter,) = letters or {"."}
    if n < 2:
        n = {"a": 1, "b": 0, "c": 2 * n}.get(letter, n)
    met = met or letter == "d"
    return (DONE if n == 2 and met else (n, met),)


def second_task(state, letters):
    """F d & (!f U (d & F b))."""
    if state == 0:
        return () if "f" in letters else (1,) if "d" in letters else (0,)
    return (DONE,) if "b" in letters else (1,)


def third_task(state, letters):
    """F((a | c | j) & F b) & F(c & F d) & F k."""
    x, y, z = state
    x = 1 if x == 0 and letters & set("acj") else 2 if x == 1 and "b" in letters else x
    y = 1 if y == 0 and "c" in letters else 2 if y == 1 and "d" in letters else y
    z = z or "k" in letters
    return (DONE if (x, y, z) == (2, 2, True) else (x, y, z),)


def fourth_task(state, letters):
    """!a U (b & (!c U (d & (!e U f)))); it guesses which b and which d are meant."""
    never, wanted = (("a", "b"), ("c", "d"), ("e", "f"))[state]
    if wanted in letters:
        return (DONE,) if state == 2 else (state, state + 1)
    return () if never in letters else (state,)


def fifth_task(state, letters):
    """((a | b | c | d) => F(e & F(f & F g))) U (h & F i); it guesses which h is meant.

    The state is whether that h is over, what the last debt still asks for, and whether i was met.
    """
    over, debt, met = state
    if not over and letters & set("abcd"):
        debt = "efg"
    elif debt and debt[0] in letters:
        debt = debt[1:]
    met = over and (met or "i" in letters)
    found = [(over, debt, met)]
    if not over and "h" in letters:
        found.append((True, debt, False))
    return tuple(DONE if o and m and not d else (o, d, m) for o, d, m in found)


LETTER_TASKS = {
    "1": (first_task, (0, False)),
    "2": (second_task, 0),
    "3": (third_task, (0, 0, False)),
    "4": (fourth_task, 0),
    "5": (fifth_task, (False, "", False)),
}
