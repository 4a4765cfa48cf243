"""The button puzzle: its rule, its values and its judge against others written apart; the arm."""

from __future__ import annotations

import math
from collections import deque
from functools import cache
from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest

from taskalgebra.showcase import puzzle
from taskalgebra.showcase.puzzle import Arm, Buttons, exactly, label, pressed
from taskalgebra.showcase.temporal import puzzle as part
from taskalgebra.showcase.temporal import run as report
from taskalgebra.showcase.temporal.judge import Reading, fewest

BOARDS = list(product((0, 1), repeat=9))
CENTRE = 4
FULL, DARK, CROSS = (1,) * 9, (0,) * 9, (0, 1, 0, 1, 1, 1, 0, 1, 0)


@cache
def after(board, i):
    """By distances: a press switches all buttons at most one away."""
    row, column = i // 3, i % 3
    return tuple(
        1 - on if abs(j // 3 - row) + abs(j % 3 - column) <= 1 else on for j, on in enumerate(board)
    )


def full_then_dark(u, board):
    if u == 0:
        return 1 if board == FULL else 0
    return "won" if board == DARK else 1


def full_and_the_centre_never_stays(u, board):
    """The state is whether the centre was on."""
    if u and board[CENTRE]:
        return "lost"
    return "won" if board == FULL else board[CENTRE]


def blink(u, board):
    """Dark, then the cross, then dark, one press after the other."""
    if u == 2 and board == DARK:
        return "won"
    if u == 1 and board == CROSS:
        return 2
    return 1 if board == DARK else 0


BY_HAND = {
    "1": full_then_dark,
    "7": full_and_the_centre_never_stays,
    "8": blink,
}


def fewest_presses(board, task):
    """A search over boards and the states of a task."""
    waiting, seen = deque([(board, 0, 0)]), {(board, 0)}
    while waiting:
        here, u, n = waiting.popleft()
        for i in range(9):
            there = after(here, i)
            v = task(u, there)
            if v == "won":
                return n + 1
            if v != "lost" and (there, v) not in seen:
                seen.add((there, v))
                waiting.append((there, v, n + 1))
    return math.inf


@pytest.fixture(scope="module")
def skills():
    return part.skills()


def state(skills, board):
    return int(skills.env.see(np.array(board, np.int8)))


def test_a_press_switches_a_button_and_those_beside_it():
    env = Buttons()
    for board in BOARDS:
        for i in range(9):
            assert tuple(pressed(np.array(board, np.int8), i)) == after(board, i)
            env.reset(options={"buttons": board})
            seen, *_ = env.step(i)
            assert tuple(seen) == after(board, i) and env.observation_space.contains(seen)
            number = part.number(board)
            there, letters = part.JUDGED.moves(number)[i]
            assert tuple(part.buttons(there)) == after(board, i)
            assert letters == {name for name, on in label(seen, {}, None).items() if on}


def test_the_table_holds_512_boards_and_what_presses_make_of_them(skills):
    mdp = skills.space.mdp
    assert (mdp.n_goals, mdp.n_states, mdp.n_actions) == (512, 1024, 9) and mdp.deterministic
    for board in BOARDS:
        here = state(skills, board)
        for i in range(9):
            goal = mdp.goal_of_state[mdp.next_state[here, i]]
            assert mdp.resumes[goal] == state(skills, after(board, i))


@pytest.mark.parametrize("name", BY_HAND)
def test_values_are_the_fewest_presses_of_a_search_written_apart(name, skills):
    agent = skills[part.FORMULAS[name]]
    cost, pays = -skills.space.mdp.step_reward.min(), skills.space.r_universal.max()
    least = np.array([fewest_presses(board, BY_HAND[name]) for board in BOARDS])
    values = agent.v([state(skills, board) for board in BOARDS])
    assert np.isfinite(least).all() and (pays - values) / cost == pytest.approx(least)
    task = Reading.of(part.FORMULAS[name], part.LETTERS)
    judged = [fewest(part.JUDGED, task, part.number(board)) for board in BOARDS[::7]]
    assert judged == least[::7].tolist()


def test_tasks_of_ogbench_take_the_presses_of_the_only_set_that_solves_them(skills):
    """The order of presses does not matter, and none is worth doing twice."""
    cost, pays = -skills.space.mdp.step_reward.min(), skills.space.r_universal.max()
    for formula, start in (task for task in part.tasks().values() if task[1] is not None):
        sets = []
        for presses in BOARDS:
            board = tuple(start)
            for i in np.flatnonzero(presses):
                board = after(board, int(i))
            if formula == f"F({exactly(board)})":
                sets.append(presses)
        (only,) = sets
        value = skills[formula].v([state(skills, start)])[0]
        assert (pays - value) / cost == pytest.approx(sum(only))


def test_the_part_runs_at_toy_size_and_reaches_its_bar():
    (entry, arm) = part.ENTRIES
    rows = list(entry.measure(True))
    assert [row.task for row in rows] == [*"12345678", *(f"task{i}" for i in range(1, 6))]
    assert all(entry.reaches(row) and row.episodes in (1, 8) for row in rows)
    assert arm.aside and arm.extras == ("ogbench",)


class Clumsy(Buttons):
    """Its first presses miss, or hit the next button."""

    def __init__(self, *hits):
        self.hits = list(hits)

    def step(self, action):
        first = self.hits.pop(0) if self.hits else "well"
        if first == "missed":
            return self.buttons.copy(), 0.0, False, False, {}
        return super().step((action + 1) % 9 if first == "beside" else action)


@pytest.mark.parametrize("hits", [[], ["missed"], ["missed", "missed"], ["beside"]])
def test_what_is_read_are_the_buttons_as_they_are(hits, skills):
    """After each press that goes wrong, the agent takes the fewest from where the buttons are."""
    formula, start = part.tasks()["task2"]
    goal = tuple(part.drawn(part.OGBENCH["task2"][1]))
    env = Clumsy(*hits)
    seen, _ = env.reset(options={"buttons": start})
    board = tuple(start)
    if hits == ["beside"]:
        agent = skills[formula]
        agent.reset()
        board = after(board, (agent.act(seen) + 1) % 9)
    left = fewest_presses(board, lambda u, there: "won" if there == goal else 0)
    task = Reading.of(formula, part.LETTERS)
    taken, _ = part.play(skills[formula], env, task, seen)
    assert taken == len(hits) + left and fewest(part.JUDGED, task, part.number(start)) == 5


def test_presses_that_always_miss_do_not_succeed(skills):
    env = Clumsy(*["missed"] * puzzle.LIMIT)
    seen, _ = env.reset(seed=0)
    formula = part.FORMULAS["8"]
    taken, _ = part.play(skills[formula], env, Reading.of(formula, part.LETTERS), seen)
    assert taken == math.inf


def test_an_agent_for_another_task_fails_where_it_violates_the_formula(skills):
    env = Buttons()
    seen, _ = env.reset(options={"buttons": (1, 0, 1, 0, 0, 0, 1, 0, 1)})
    task = Reading.of("F dark & G !b0", part.LETTERS)
    agent = skills["F corners & G(b0 | b4 | b8)"]  # for another task: it keeps b0
    taken, _ = part.play(agent, env, task, seen)
    assert taken == math.inf


@pytest.mark.parametrize("board", [[0] * 8, [0] * 8 + [2], "dark"])
def test_boards_are_nine_zeros_and_ones(board):
    with pytest.raises(ValueError, match="9 zeros and ones"):
        Buttons().reset(options={"buttons": board})


def test_without_ogbench_the_arm_and_its_part_say_what_to_install(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(puzzle, "import_module", absent)
    with pytest.raises(ModuleNotFoundError, match=r"the arm needs ogbench: pip .*\[ogbench\]"):
        Arm()
    monkeypatch.setattr(report, "lacking", lambda extras: [e for e in extras if e == "ogbench"])
    (why,) = report.left_out()
    assert "Puzzle, by the arm needs ogbench" in why and "taskalgebra[ogbench]" in why
    assert "puzzle-arm" not in [entry.name for entry in report.chosen([])]
    assert [entry.name for entry in report.chosen(["puzzle-arm"])] == ["puzzle-arm"]
    monkeypatch.setattr(report, "lacking", lambda extras: [])
    assert not report.left_out() and "puzzle-arm" in [one.name for one in report.chosen([])]


@pytest.fixture(scope="module")
def arm():
    if find_spec("ogbench") is None:
        pytest.skip("OGBench is not installed")
    made = Arm()
    yield made
    made.close()


def test_the_arm_presses_every_button(arm):
    buttons, runs = Buttons(), []
    for _ in range(2):
        seen, _ = arm.reset(seed=5)
        assert (seen == buttons.reset(seed=5)[0]).all()
        taken = []
        for i in (4, 0, 8, 1, 7, 3, 5, 2, 6):
            board = tuple(int(on) for on in seen)
            seen, _, _, _, info = arm.step(i)
            assert tuple(seen) == after(board, i) and info["as_ruled"]
            taken.append(info["simulator_steps"])
        assert all(5 < n < 100 for n in taken)
        runs.append(taken)
    assert runs[0] == runs[1]  # equal seeds play equal episodes


def test_the_arm_satisfies_a_formula_with_the_fewest_presses(arm, skills):
    (row,) = [one for one in part.by_arm(True) if one.task == "8"]
    assert row.success == 1.0 and row.short == 0 and row.score > 20
    played = skills[part.FORMULAS["8"]].play(arm, episodes=1, seed=0)
    assert played.success_rate == 1.0 and played.mean_steps == row.steps


def test_the_tasks_are_those_of_ogbench(arm):
    import gymnasium as gym

    infos = gym.make("puzzle-3x3-v0", disable_env_checker=True).unwrapped.task_infos
    found = {
        one["task_name"]: (one["init_button_states"].tolist(), one["goal_button_states"].tolist())
        for one in infos
    }
    ours = {name: (part.drawn(a), part.drawn(b)) for name, (a, b) in part.OGBENCH.items()}
    assert found == ours
