"""The trained skills for LetterWorld that come with the library, played on a few layouts.

`taskalgebra reproduce letter-world` trains them and plays 1,000 layouts of each task.
"""

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.envs import letters
from taskalgebra.envs.letter_world import FORMULAS, RandomLetterWorld
from taskalgebra.showcase import letter_world
from touch_oracle import LETTER_TASKS, fewest_steps, letters_of, torus_step


@pytest.fixture(scope="module")
def skills():
    return ta.load("letter-world")


def board_of(layout):
    return letters.drawn([0, *layout]).replace("@", ".").split("\n")


@pytest.mark.parametrize("name", FORMULAS)
def test_agents_do_the_published_tasks_with_the_fewest_steps(skills, name):
    taken, least = letter_world.play(skills, FORMULAS[name], episodes=50)
    assert np.isfinite(taken).all()
    assert np.array_equal(taken, least)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_fewest_steps_are_those_of_automata_by_hand(skills, name):
    by_hand, first = LETTER_TASKS[name]
    _, least = letter_world.play(skills, FORMULAS[name], episodes=30, seed=7)
    copies = RandomLetterWorld().continuing(30)
    copies.reset(seed=7)
    for found, code in zip(least, copies.codes, strict=True):
        board = letters_of(board_of(code[1:]))
        assert found == fewest_steps((0, 0), by_hand, first, torus_step, board)


class Upwards(ta.Reach):
    """Takes up to be the best action, whatever the goal."""

    observation_ndim = 3

    def returns(self, observations):
        return np.tile([0.0, -1.0, -1.0, -1.0], (len(observations), 24, 1))


def test_failures_are_counted():
    skills = ta.from_reach(Upwards(), RandomLetterWorld())
    taken, least = letter_world.play(skills, FORMULAS["4"], episodes=300)
    assert 0 < np.isfinite(taken).sum() < 30
    assert (taken >= least).all()
    judged = list(letter_world.judge(skills, 50, seed=0))
    assert [one.ok(0.01, 1.05) for one in judged] == [False] * 5
    assert judged[3].success < 0.5 < judged[3].best == 1.0


def test_one_task_needs_no_time(skills):
    found = skills["a & ~b | c"].evaluate(100, seed=3)
    assert found.success_rate == 1.0
    assert skills["F 'a 1'"].evaluate(20).success_rate == 1.0


def test_values_are_exact_to_a_tenth_of_a_step(skills):
    """Against a search from every cell, letters included, and −∞ where another letter is next."""
    seen, _ = RandomLetterWorld(start="anywhere").continuing(20).reset(seed=11)
    found = skills.family.to_goals().returns(seen)
    for values, code in zip(found, letters.codes_of(seen), strict=True):
        board = board_of(code[1:])
        here = divmod(int(code[0]), 7)
        for goal, cell in enumerate(letters.goal_cells(code[None])[0]):
            target = divmod(int(cell), 7)
            for a, there in enumerate(torus_step(here)):
                steps = steps_between(there, target, board)
                if steps is None:
                    assert values[goal, a] == -np.inf
                elif steps < 15:
                    assert values[goal, a] == pytest.approx(-0.1 * steps, abs=0.01)


def steps_between(start, target, board):
    """From a cell to another past letters; None if the start has another letter."""
    seen, frontier, steps = {start}, {start}, 0
    while target not in seen:
        frontier = {c for c in frontier if board[c[0]][c[1]] == "."}
        frontier = {there for cell in frontier for there in torus_step(cell)} - seen
        if not frontier:
            return None
        seen |= frontier
        steps += 1
    return steps
