"""Tasks known by some goals: what `infer` finds agrees, is shortest, and is said to be open or not.

All 65,536 tasks of 16 goals over 4 base tasks (a sample of them in CI), random tasks of the 40
goals of Four Rooms over 6, and random base tasks that treat goals alike; each with all, half and a
tenth of the goals seen.  Expressions are read by the evaluator of `attack.expressions`.  The least
numbers of names and operators are those of a search of its own, of all formulas in the order of
their size; how many tasks agree is counted over all functions, or over labels.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict

import numpy as np

import taskalgebra as ta
from attack.expressions import evaluated, tokens
from attack.harness import Findings
from taskalgebra.worlds.grid import from_text

SIZES = {"ci": 60, "full": 10_000}
SHARES = {"all": 1.0, "half": 0.5, "a tenth": 0.1}
LETTERS = "ABCDEFGHIJKLMNOP"
MOST_MILLISECONDS = 20.0
"""On average, whatever else the machine does."""


def least_sizes(n_names: int) -> tuple[np.ndarray, np.ndarray]:
    """The least names, and then operators, of every function: all formulas, the smallest first.

    `found[k, m]` are the functions of which the smallest formula has k names and m operators.
    """
    n_rows = 1 << n_names
    full = (1 << n_rows) - 1
    least = np.full((2, full + 1), -1)
    least[:, [0, full]] = 0
    leaves = [sum(1 << i for i in range(n_rows) if i >> j & 1) for j in range(n_names)]
    found = {(1, 0): np.array(leaves)}
    least[:, leaves] = [[1], [0]]
    names = 1
    while (least[0] < 0).any() or names == 1:
        for operators in range(names - 1 if names > 1 else 1, 3 * names + 3):
            here = np.zeros(full + 1, np.bool_)
            if (names, operators - 1) in found:
                here[full ^ found[names, operators - 1]] = True
            for (k, m), one in found.items():
                other = found.get((names - k, operators - 1 - m))
                if other is None or 2 * k > names:
                    continue
                few, many = sorted([one, other], key=len)
                for f in few:
                    here[f & many] = here[f | many] = here[f ^ many] = True
            new = np.flatnonzero(here & (least[0] < 0))
            if new.size:
                found[names, operators] = new
                least[0, new], least[1, new] = names, operators
        names += 1
    return least[0], least[1]


def size_of(text: str) -> tuple[int, int]:
    """The names and the operators of a formula, counted in its text."""
    found = tokens(text)
    names = sum(is_name for _, is_name in found)
    operators = sum(not is_name and sign in ("~", "&", "|", "^") for sign, is_name in found)
    return names, operators


def pick(rng: random.Random, goals: range, share: float) -> list[int]:
    return rng.sample(goals, max(1, round(share * len(goals))))


def labels_of(base: dict[str, ta.Task]) -> list[int]:
    """The label of each goal: bit j says whether task j desires it."""
    columns = [task.desired.tolist() for task in base.values()]
    return [sum(1 << j for j, one in enumerate(row) if one) for row in zip(*columns, strict=True)]


class Clock:
    """Times of calls, by what was asked."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def infer(self, what: str, seen: dict[int, bool], base: dict[str, ta.Task]) -> ta.Inference:
        start = time.process_time()
        found = ta.infer(seen, base)
        self.seconds[what].append(time.process_time() - start)
        return found

    def __str__(self) -> str:
        """The mean time of each question."""
        means = {what: 1e3 * float(np.mean(times)) for what, times in self.seconds.items()}
        return ", ".join(f"{what} {mean:.2f} ms" for what, mean in means.items())


def disagrees(found: ta.Inference, seen: dict[int, bool], labels: list[int]) -> str:
    """What is wrong with an expression, given the label of each goal; "" if nothing."""
    table = evaluated(str(found.expression), tuple(found.tasks))
    wrong = [goal for goal, value in seen.items() if (table >> labels[goal] & 1) != value]
    if wrong:
        return f"{found.expression} is wrong in goal {wrong[0]}"
    means = [bool(table >> label & 1) for label in labels]
    if found.task.desired.tolist() != means:
        return f"{found.expression} is said to mean {found.task}"
    return ""


def of_four(size: int, rng: random.Random, clock: Clock) -> Findings:
    """All tasks of 16 goals, or some."""
    names, operators = least_sizes(4)
    functions = np.arange(1 << 16)
    space = ta.TaskSpace(from_text(LETTERS))
    base = ta.minimal_base_tasks(space)
    labels = labels_of(base)
    tasks = range(1 << 16) if size >= SIZES["full"] else rng.sample(range(1 << 16), size)
    for number in tasks:
        for what, share in SHARES.items():
            goals = pick(rng, range(16), share)
            seen = {goal: bool(number >> labels[goal] & 1) for goal in goals}
            found = clock.infer(f"16 goals, {what}", seen, base)
            care = sum(1 << labels[goal] for goal in goals)
            agree = functions[functions & care == number & care]
            if wrong := disagrees(found, seen, labels):
                yield f"task {number}, {what} seen {sorted(goals)}: {wrong}"
                continue
            fewest = names[agree].min()
            best = int(fewest), int(operators[agree][names[agree] == fewest].min())
            if size_of(str(found.expression)) != best:
                yield f"task {number}, seen {sorted(goals)}: {found.expression} is not {best}"
            open_goals = {LETTERS[g] for g in range(16) if g not in seen}
            if found.n_tasks != len(agree) or set(found.undecided) != open_goals:
                yield f"task {number}, seen {sorted(goals)}: {found.n_tasks} of {len(agree)} agree"
            if (found.next_goal is None) != (len(agree) == 1) or not found.proven:
                yield f"task {number}, seen {sorted(goals)}: {found}"
    return f"{len(tasks):,} tasks of 16 goals"


def of_six(size: int, rng: random.Random, clock: Clock) -> Findings:
    """Random tasks of 40 goals."""
    world = ta.FourRooms(40)
    base = world.tasks
    labels = labels_of(base)
    lengths = []
    for i in range(size):
        wanted = [rng.random() < 0.5 for _ in range(40)]
        for what, share in SHARES.items():
            seen = {goal: wanted[goal] for goal in pick(rng, range(40), share)}
            found = clock.infer(f"40 goals, {what}", seen, base)
            if wrong := disagrees(found, seen, labels):
                yield f"random task {i}, {what} seen: {wrong}"
                continue
            if share == 1.0:
                lengths.append(size_of(str(found.expression))[0])
            apart = {labels[g] for g in range(40)} - {labels[g] for g in seen}
            if found.n_tasks != 2 ** len(apart) or len(found.undecided) != len(apart):
                yield f"random task {i}: {found.n_tasks} tasks agree, expected 2^{len(apart)}"
    return f"{size:,} of 40 goals with {np.mean(lengths):.1f} names"


def of_any(size: int, rng: random.Random) -> Findings:
    """Base tasks that treat goals alike, or are alike; all functions are tried."""
    lacking = 0
    for i in range(size):
        n_goals, n_base = rng.randint(2, 7), rng.randint(1, 4)
        space = ta.TaskSpace(from_text(LETTERS[:n_goals]))
        columns = [[rng.random() < 0.5 for _ in range(n_goals)] for _ in range(n_base)]
        base = {f"t{j}": space.from_desired(column) for j, column in enumerate(columns)}
        labels = labels_of(base)
        goals = pick(rng, range(n_goals), rng.choice([0.3, 0.6, 1.0]))
        seen = {goal: rng.random() < 0.5 for goal in goals}
        found = ta.infer(seen, base)
        functions = range(1 << (1 << n_base))
        every = {tuple(f >> label & 1 for label in labels) for f in functions}
        agree = {task for task in every if all(task[goal] == seen[goal] for goal in seen)}
        open_goals = {LETTERS[g] for g in range(n_goals) if len({t[g] for t in agree}) == 2}
        if found.n_tasks != len(agree) or found.suffices != bool(agree):
            yield f"case {i}: {found.n_tasks} tasks are said to agree, and {len(agree)} do"
        if set(found.undecided) != open_goals:
            yield f"case {i}: {found.undecided} are said to be undecided, not {open_goals}"
        if found.next_goal is not None:
            goal = LETTERS.index(found.next_goal)
            if 2 * sum(task[goal] for task in agree) != len(agree):
                yield f"case {i}: {found.next_goal} does not halve what is left"
        if agree:
            if wrong := disagrees(found, seen, labels):
                yield f"case {i}: {wrong}"
            continue
        lacking += 1
        more = labels_of({**base, "new": found.new_task})
        if not found.then.suffices or (wrong := disagrees(found.then, seen, more)):
            yield f"case {i}: the new base task {found.new_task} does not make them suffice"
        pairs = {(LETTERS[a], LETTERS[b]) for a in seen for b in seen
                 if labels[a] == labels[b] and seen[a] > seen[b]}  # fmt: skip
        if set(found.alike) != pairs:
            yield f"case {i}: {found.alike} are said to be alike, not {pairs}"
    return f"{size:,} sets of base tasks, {lacking:,} of which lack one"


def attack(size: int, seed: int) -> Findings:
    """Tasks of which all, half and a tenth of the goals are seen."""
    rng, clock = random.Random(seed), Clock()
    ta.infer({0: True}, ta.FourRooms(40).tasks)  # compiled before anything is timed
    parts = [of_four(size, rng, clock), of_six(size, rng, clock), of_any(size, rng)]
    figures = []
    for part in parts:
        figures.append((yield from part))
    for what, times in clock.seconds.items():
        if 1e3 * np.mean(times) > MOST_MILLISECONDS:
            yield f"{what}: {1e3 * np.mean(times):.1f} ms a call"
    return f"{'; '.join(figures)}; {clock}"
