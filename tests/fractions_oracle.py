"""Worlds solved in exact fractions, from the definitions and nothing else.

Policy iteration over proper policies with Gaussian elimination; nothing is rounded anywhere.  A
world is given by plain lists: `outcomes[s][a]` is {successor: probability}, `rewards[s][a]`, and
`terminal`, {goal state: reward}.  Step rewards are at most 0.
"""

from __future__ import annotations

from fractions import Fraction

NEVER = None
"""The value of a state from which no policy ends with probability one."""


def ending(outcomes, goals):
    """The states from which some policy ends with probability one."""
    inside = set(range(len(outcomes)))
    while True:
        closer = set(goals)
        grew = True
        while grew:
            grew = False
            for s in inside - closer:
                if any(inside >= set(o) and closer & set(o) for o in outcomes[s]):
                    closer.add(s)
                    grew = True
        if closer == inside:
            return inside
        inside = closer


def solved(matrix, right):
    """X with matrix · x = right, by Gaussian elimination over fractions."""
    n = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(n):
            if r != i and rows[r][i] != 0:
                factor = rows[r][i]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[n] for row in rows]


def policy_value(outcomes, rewards, terminal, choice):
    """[S], the expected return of one action per state; NEVER where it may not end."""
    n = len(outcomes)
    ways = {s: set() if s in terminal else set(outcomes[s][choice[s]]) for s in range(n)}
    ends = _leading_to(ways, set(terminal))
    lost = _leading_to(ways, set(range(n)) - ends)
    live = [s for s in range(n) if s not in lost and s not in terminal]
    place = {s: i for i, s in enumerate(live)}
    matrix, right = [], []
    for s in live:
        row, value = [Fraction(0)] * len(live), Fraction(rewards[s][choice[s]])
        row[place[s]] += 1
        for t, p in outcomes[s][choice[s]].items():
            if t in terminal:
                value += p * terminal[t]
            else:
                row[place[t]] -= p
        matrix.append(row)
        right.append(value)
    found = dict(zip(live, solved(matrix, right), strict=True)) | terminal
    return [found.get(s, NEVER) for s in range(n)]


def _leading_to(ways, targets):
    met = set(targets)
    while True:
        more = {s for s, next_ in ways.items() if s not in met and next_ & met}
        if not more:
            return met
        met |= more


def optimum(outcomes, rewards, terminal):
    """[S], V* over proper policies, and a policy with these values.

    With steps that cost nothing policy iteration may stop at an improper choice, so an improvement
    must be strict, and the policy stays proper throughout.
    """
    inside = ending(outcomes, terminal)
    choice = _proper(outcomes, terminal, inside)
    while True:
        value = policy_value(outcomes, rewards, terminal, choice)
        changed = False
        for s in inside - set(terminal):
            for a, o in enumerate(outcomes[s]):
                if inside >= set(o):
                    worth = rewards[s][a] + sum(p * value[t] for t, p in o.items())
                    if worth > value[s]:
                        choice[s], changed = a, True
                        break
            if changed:
                break  # one strict improvement at a time keeps the policy proper
        if not changed:
            return value, choice


def _proper(outcomes, terminal, inside):
    choice, near = [0] * len(outcomes), set(terminal)
    while True:
        for s in inside - near:
            for a, o in enumerate(outcomes[s]):
                if inside >= set(o) and near & set(o):
                    choice[s] = a
                    break
            else:
                continue
            near.add(s)
            break
        else:
            return choice
