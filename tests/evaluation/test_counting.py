"""Steps and successes mean the same everywhere: played by hand, evaluated, solved, in the page."""

from __future__ import annotations

import json

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.apps.cli import main
from taskalgebra.apps.cli.solution import solution_of
from taskalgebra.evaluation.exact import rollouts
from taskalgebra.evaluation.rollout import play
from taskalgebra.paper.experiments import episodes as counted

ROOMS = ta.FourRooms()
SKILLS = ta.solve(ROOMS, ["top", "left"])
ALL = [str(each) for each in ta.all_functions(["top", "left"])]


def by_hand(env, task, action_of, start):
    """Steps, goal and return of an episode: Gymnasium's loop and nothing else."""
    env = ta.FiniteEnv(env.space, task=task)
    state, _ = env.reset(options={"state": start})
    steps, total, terminated, info = 0, 0.0, False, {"goal": -1}
    while not terminated and steps < 10_000:
        state, reward, terminated, _, info = env.step(int(action_of(state)))
        steps, total = steps + 1, total + reward
    return steps, int(info["goal"]), total


@pytest.mark.parametrize("text", ALL)
def test_all_sixteen_tasks_of_four_rooms(text, capsys):
    agent = SKILLS[text]
    task, space = agent.task, ROOMS.space
    starts = space.mdp.starts.tolist()
    wants = {g for g in range(4) if task.goal_reward[g] == 2.0}
    found = [by_hand(ROOMS, task, agent.act, start) for start in starts]
    steps = np.array([n for n, _, _ in found])
    success = np.array([goal in wants for _, goal, _ in found])
    assert (len(wants) == 0) == (text == "false")

    solution = solution_of(agent, 0)
    for start, one in list(zip(starts, found, strict=True))[::7]:
        episode = solution.play(start, 0)
        assert (len(episode.actions), episode.goal) == one[:2]
        assert len(episode.states) == one[0] + 1
        assert episode.total == pytest.approx(one[2])
        assert episode.goal in wants or not success.all()

    n = 2000
    chosen = np.random.default_rng(5).choice(space.mdp.starts, n)
    where = {s: i for i, s in enumerate(starts)}
    rows = [where[int(s)] for s in chosen]
    result = agent.evaluate(n, seed=5)
    assert result.mean_steps == steps[rows].mean()
    assert result.success_rate == success[rows].mean()
    assert result.success_rate == (0.0 if text == "false" else success.mean())
    with_limit = rollouts(
        task, agent.actions, np.zeros(108), episodes=n, rng=np.random.default_rng(5), max_steps=99
    )
    assert (with_limit.mean_steps, with_limit.n_success) == (result.mean_steps, result.n_success)

    copies = ROOMS.vector(50, task=task)
    played = play(task, copies, agent.policy, episodes=500, max_steps=1000)
    assert abs(played.mean_steps - steps.mean()) < 5 * steps.std() / np.sqrt(500) + 1e-9
    assert played.success_rate == result.success_rate

    table = counted.play(task, agent.actions, episodes=500, max_steps=200, seed=0)
    lengths = np.flatnonzero(table.counts.sum(axis=0))
    assert set(lengths) <= set(steps)
    assert table.returns()[0, lengths[0]] == pytest.approx(
        task.goal_reward.max() - 0.1 * (lengths[0] - 1)
    )

    capsys.readouterr()
    options = ["--episodes", str(n), "--seed", "5", "--json", "--start", "1,1"]
    assert main(["solve", text, *options]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["mean_steps"], told["success_rate"]) == (result.mean_steps, result.success_rate)
    cell = next(s for s in starts if space.mdp.cells[s].tolist() == [1, 1])
    assert told["episode"]["steps"] == len(told["episode"]["actions"]) == steps[where[cell]]
    assert len(told["episode"]["cells"]) == steps[where[cell]] + 1


def test_in_boxman_the_api_the_command_and_the_page_count_alike():
    pytest.importorskip("torch")
    from taskalgebra.apps.playground.presets import boxman

    skills = ta.load("boxman")
    for text in ("blue", "square & ~blue", "blue ^ square", "false", "true"):
        agent = skills[text]
        answer = json.loads(boxman.play(boxman.EpisodeRequest(expression=text, seed=3)))
        env = ta.Boxman(agent.task)
        observation, _ = env.reset(seed=3)
        steps, terminated = 0, False
        while not terminated and steps < env.max_episode_steps:
            observation, _, terminated, _, info = env.step(agent.act(observation))
            steps += 1
        wanted = terminated and bool(agent.task.wanted[info["goal"]])
        assert len(answer["actions"]) == len(answer["rewards"]) == steps
        assert len(answer["frames"]) == steps + 1
        assert (answer["collected"] in answer["desired"]) == wanted
        layout = solution_of(agent, 3)
        start = layout.state_at(tuple(answer["agent"]))
        assert len(layout.play(start, 0).actions) == steps
        result = agent.evaluate(50, seed=1)
        assert result.success_rate == (0.0 if text == "false" else 1.0)
