"""Instructions of BabyAI are read as formulas, and obeyed: the level itself is the judge."""

from __future__ import annotations

import itertools

import gymnasium as gym
import minigrid
import pytest

import taskalgebra as ta
from taskalgebra.envs.minigrid import instructions

assert minigrid  # registers the levels
SEQUENCE = "BabyAI-GoToSeqS5R2-v0"


@pytest.mark.parametrize("seed", [1, 7])
def test_sequences_are_obeyed_in_the_fewest_steps(seed):
    task = instructions.read(SEQUENCE, seed)
    agent = ta.solve(task.explore())[task.formula]
    assert agent.certificate().optimal
    played = agent.play(task.make(), episodes=1)
    assert played.success_rate == 1.0
    assert played.mean_return > 0  # paid by the level, for its own instruction
    assert played.mean_steps == fewest(seed, int(played.mean_steps))


def fewest(seed, most):
    """The fewest steps after which the level itself is done, by breadth-first search in copies."""
    from copy import deepcopy

    env = gym.make(SEQUENCE, disable_env_checker=True).unwrapped
    env.reset(seed=seed)
    env.gen_obs = dict
    seen, layer = set(), [env]
    for n in range(1, most + 1):
        after = []
        for one, action in itertools.product(layer, (0, 1, 2, 5)):
            copy = deepcopy(one)
            _, reward, terminated, _, _ = copy.step(action)
            if terminated:
                assert reward > 0
                return n
            key = state(copy)
            if key not in seen:
                seen.add(key)
                after.append(copy)
        layer = after
        if len(layer) > 150:  # a bound is enough: copies are slow
            return most
    raise AssertionError("not done")


def state(env):
    """Where the agent is, doors, and what the instruction keeps in mind."""
    doors = tuple(thing.is_open for thing in env.grid.grid if thing and thing.type == "door")
    return (*map(int, env.agent_pos), int(env.agent_dir), doors, marks(env.instrs))


def marks(instruction):
    kinds = (getattr(instruction, "instr_a", None), getattr(instruction, "instr_b", None))
    own = (getattr(instruction, "a_done", None), getattr(instruction, "b_done", None))
    return (own, *(marks(part) for part in kinds if part is not None))


def test_opening_and_picking_up_happen_in_a_step():
    env = instructions.Noticing(gym.make("BabyAI-OpenDoor-v0", disable_env_checker=True))
    env.reset(seed=0)
    base = env.unwrapped
    assert base.noticed == ()
    task = instructions.read("BabyAI-OpenDoor-v0", 0)
    agent = ta.solve(task.explore())[task.formula]
    played = agent.play(task.make(), episodes=1)
    assert played.success_rate == 1.0 and played.mean_return > 0
    picked = instructions.read("BabyAI-PickupLoc-v0", 1)
    agent = ta.solve(picked.explore(limit=60_000))[picked.formula]
    played = agent.play(picked.make(), episodes=1)
    assert played.success_rate == 1.0 and played.mean_return > 0


def test_what_is_not_understood_is_refused_in_words():
    with pytest.raises(ValueError, match="PutNextInstr is not supported"):
        instructions.read("BabyAI-PutNextLocal-v0", 0)
    with pytest.raises(ValueError, match="has no instructions"):
        instructions.read("MiniGrid-Empty-5x5-v0", 0)
    with pytest.raises(ValueError, match="more than 50 states"):
        instructions.read(SEQUENCE, 1).explore(limit=50)


def test_walls_are_not_grey_objects():
    task = instructions.read("BabyAI-PickupDist-v0", 7)
    assert task.mission == "pick up a grey object"
    assert "wall" not in str(task.formula) and "picked up grey " in str(task.formula)


def test_worlds_for_tasks_with_time_do_not_play_other_tasks():
    task = instructions.read(SEQUENCE, 7)
    skills = ta.solve(task.explore())
    with pytest.raises(TypeError, match="without continuing=True"):
        skills[next(iter(skills.tasks.values()))].play(task.make())
