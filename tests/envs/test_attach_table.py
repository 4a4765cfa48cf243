"""Table worlds played in the environments that they were taken from."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import taskalgebra as ta
from taskalgebra.evaluation.exact import policy_return

TAXI = "Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"


def lake(size="4x4", slippery=False, **options):
    return gym.make("FrozenLake-v1", map_name=size, is_slippery=slippery, **options)


def vectors(make):
    yield make()
    for mode in AutoresetMode:
        yield SyncVectorEnv([make] * 3, autoreset_mode=mode)


def goal_of(agent, state):
    """The goal in which the agent ends, by following the table."""
    mdp = agent.task.space.mdp
    while not mdp.is_goal[state]:
        state = mdp.next_state[state, agent.actions[state]]
    return mdp.goal_of_state[state]


@pytest.mark.parametrize("i", range(4))
def test_returns_are_those_of_the_table_in_all_modes(i):
    make = [lake, lambda: gym.make(TAXI), lambda: gym.make("CliffWalking-v1"), lambda: lake("8x8")]
    world = ta.from_gymnasium(make[i](), step_cost=0.01)
    space = ta.TaskSpace(world)
    wanted = world.goal_names[-1]
    skills = ta.solve(space, {"there": [wanted], "first": [world.goal_names[0]]})
    for expression in ("there", "~first", "there | first"):
        agent = skills[expression]
        exact = policy_return(agent.task, agent.actions)
        for env in vectors(make[i]):
            found = agent.play(env, 12, seed=3)
            assert found.unfinished == 0
            if world.starts.size == 1:
                assert found.mean_return == pytest.approx(exact[world.starts[0]])
            else:
                assert exact[world.starts].min() - 1e-9 <= found.mean_return
                assert found.mean_return <= exact[world.starts].max() + 1e-9
            if world.starts.size == 1:
                goal = goal_of(agent, world.starts[0])
                assert found.success_rate == float(agent.task.wanted[goal])
            env.close()


def test_taxi_episode_by_episode():
    """Every episode from its own start earns what the table says of that start."""
    env = gym.make(TAXI)
    world = ta.from_gymnasium(env)
    agent = ta.solve(world, {"there": [world.goal_names[0]]})["there"]
    exact = policy_return(agent.task, agent.actions)
    copies = agent.skills.env.attach(env, task=agent.task)
    for seed in range(20):
        states, _ = copies.reset(seed=seed)
        start, total, over = int(states[0]), 0.0, False
        while not over:
            states, rewards, ended, cut, infos = copies.step([agent.act(int(states[0]))])
            total, over = total + rewards[0], bool(ended[0] or cut[0])
        assert total == pytest.approx(exact[start])
        assert infos["goal"][0] == goal_of(agent, start)


def test_a_terminal_state_that_is_passed_through_is_told_apart():
    """CliffWalking and Taxi copy states; the real observation is that of the environment."""
    world = ta.from_gymnasium(gym.make(TAXI))
    assert (world.ends < 500).all() and (world.goals >= 500).any()
    assert [f"s{s}" for s in world.ends] == list(world.goal_names)


def test_slippery_8x8_reaches_what_is_possible_in_its_100_steps():
    env = lake("8x8", slippery=True)
    world = ta.from_gymnasium(env)
    space = ta.TaskSpace(world, r_universal=1, r_empty=0)
    agent = ta.solve(space, {"there": space.original}, horizon=100)["there"]
    vector = SyncVectorEnv([lambda: lake("8x8", slippery=True)] * 50)
    found = agent.play(vector, 2000)
    low, high = found.success_interval
    exact = agent.evaluate().success_rate
    assert low - 0.01 <= exact <= high + 0.01 and exact > 0.63
    assert found.success_rate > 0.6


def test_skills_that_were_loaded_play_too(tmp_path):
    skills = ta.solve(ta.from_gymnasium(lake(), step_cost=0.01), {"there": ["s15"]}, horizon=10)
    skills.save(tmp_path / "lake")
    found = ta.load(tmp_path / "lake")["there"].play(lake(), 2)
    assert found.success_rate == 1.0 and found.mean_steps == 6


def test_wrappers_and_limits(tmp_path):
    agent = ta.solve(ta.from_gymnasium(lake(), step_cost=0.01), {"there": ["s15"]})["there"]
    filmed = gym.wrappers.RecordEpisodeStatistics(lake())
    assert agent.play(filmed, 1).success_rate == 1.0
    task, world = agent.task, agent.skills.env
    short = world.attach(lake(), task=task, max_episode_steps=3)
    short.reset(seed=0)
    for step in range(3):
        truncated = short.step([1 if step < 2 else 2])[3]
    assert truncated.tolist() == [True]
    rooms = ta.FourRooms()
    played = ta.solve(rooms)["top & left"].play(gym.make("TaskAlgebra/FourRooms-v0"), 5)
    assert played.success_rate == 1.0
    within = ta.solve(rooms, horizon=40)["top & left"]
    assert within.play(gym.make("TaskAlgebra/FourRooms-v0"), 5).success_rate == 1.0


def test_what_cannot_be_played_is_said():
    agent = ta.solve(ta.from_gymnasium(lake(), step_cost=0.01), {"there": ["s15"]})["there"]
    with pytest.raises(ValueError, match=r"has observations Discrete\(64\), this world Discrete"):
        agent.play(lake("8x8"))
    with pytest.raises(ValueError, match=r"has observations Box"):
        agent.play(gym.make("CartPole-v1"))
    with pytest.raises(TypeError, match="cannot play 'FrozenLake-v1'; expected an environment"):
        agent.play("FrozenLake-v1")
    other = ["SFFF", "FFFF", "FFHF", "FFFG"]
    with pytest.raises(ValueError, match="in state 10, which is no goal of this world"):
        task, world = agent.task, agent.skills.env
        copies = world.attach(gym.make("FrozenLake-v1", desc=other, is_slippery=False), task=task)
        copies.reset(seed=0)
        for action in (1, 1, 2, 2):
            copies.step([action])
    vector = SyncVectorEnv([lake])
    with pytest.raises(ValueError, match="cannot be set on a vector environment"):
        agent.skills.env.attach(vector, task=agent.task, max_episode_steps=5)
    drawn = ta.solve(ta.from_text("A..B"), {"A": ["A"]})["A"]
    with pytest.raises(TypeError, match=r"play the table: agent.evaluate\(\)"):
        drawn.play(lake())
    assert np.isfinite(drawn.evaluate(3).mean_return)
