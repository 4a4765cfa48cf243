"""Tasks with time where every episode has a layout of its own, against searches on the board."""

from collections import deque

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.envs import letters
from taskalgebra.envs.letter_world import FORMULAS, RandomLetterWorld
from taskalgebra.skills.ways import typical
from touch_oracle import LETTER_TASKS, fewest_steps, letters_of, torus_step

N = 40


class Searched(ta.Reach):
    """Plans every layout that it sees; a step costs 0.1, and the one into the goal nothing."""

    observation_ndim = 3

    def returns(self, observations):
        codes = letters.codes_of(observations).astype(int)
        found = np.full((len(codes), 24, 4), -np.inf)
        for i, (here, *board) in enumerate(codes.tolist()):
            order = sorted(cell for cell in range(49) if board[cell])
            order.sort(key=lambda cell: board[cell])
            for a, there in enumerate(torus_step(divmod(here, 7))):
                steps = self.steps(there, board)
                for goal, cell in enumerate(order):
                    if divmod(cell, 7) in steps:
                        found[i, goal, a] = -0.1 * steps[divmod(cell, 7)]
        return found

    def steps(self, start, board):
        """Steps from a cell to all others without crossing a letter."""
        steps, queue = {start: 0}, deque([start])
        while queue:
            cell = queue.popleft()
            if board[7 * cell[0] + cell[1]]:
                continue
            for there in torus_step(cell):
                if there not in steps:
                    steps[there] = steps[cell] + 1
                    queue.append(there)
        return steps


@pytest.fixture(scope="module")
def skills():
    return ta.from_reach(Searched(), RandomLetterWorld())


def boards(copies):
    return [letters.drawn([0, *c[1:]]).replace("@", ".").split("\n") for c in copies.codes]


@pytest.mark.parametrize("name", FORMULAS)
def test_every_layout_is_solved_with_the_fewest_steps(skills, name):
    world, agent = skills.env, skills[FORMULAS[name]]
    copies = world.continuing(N)
    observations, _ = copies.reset(seed=5)
    automaton, first = LETTER_TASKS[name]
    fewest = np.array(
        [
            fewest_steps((0, 0), automaton, first, torus_step, letters_of(board))
            for board in boards(copies)
        ]
    )
    assert agent.v(observations) == pytest.approx(8.0 - 0.1 * fewest, abs=1e-9)
    agent.reset([True] * N)
    steps = np.zeros(N, int)
    for step in range(1, fewest.max() + 1):
        observations, rewards, terminated, truncated, infos = copies.step(agent.act(observations))
        assert (rewards == -0.1).all() and not terminated.any() and not truncated.any()
        agent.observe(infos)
        steps[(steps == 0) & agent.automaton.accepting[agent.states]] = step
    assert np.array_equal(steps, fewest)


def test_evaluation_plays_new_layouts(skills):
    found = skills[FORMULAS["2"]].evaluate(N, seed=1)
    assert found.success_rate == 1.0 and found.unfinished == 0
    assert found.mean_return == pytest.approx(8.0 - 0.1 * found.mean_steps)


class OneLayout(RandomLetterWorld):
    """Says what is seen on goals once for all."""

    standing_in = ta.GoalEnv.standing_in

    def standing(self):
        return RandomLetterWorld.standing_in(self, self.seen[None])[0]


@pytest.mark.parametrize("name", FORMULAS)
def test_one_layout_is_worth_the_same_as_a_layout_of_many(skills, name):
    seen, _ = skills.env.continuing(3).reset(seed=8)
    for each in seen:
        world = OneLayout()
        world.seen = each
        agent = ta.from_reach(Searched(), world)[FORMULAS[name]]
        assert agent.v(each[None]) == pytest.approx(skills[FORMULAS[name]].v(each[None]))


def test_a_return_that_is_mostly_known_is_the_mean_of_what_is_known():
    no = -np.inf
    returns = np.array([[-1.0, no, no, no], [-2.0, -4.0, no, -1.0], [-6.0, -2.0, -5.0, no]])
    assert typical(returns).tolist() == [-3.0, -3.0, no, no]
