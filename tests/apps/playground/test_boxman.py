"""Boxman, played by the shipped networks through the server."""

from __future__ import annotations

from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
import torch
from matplotlib.image import imread

import taskalgebra as ta
from taskalgebra.apps.playground.presets import boxman

PLAY = "/api/boxman/play"


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Small networks run fastest so, and tests share their machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def episode(client):
    """One episode of the paper's layout."""
    asked = {"skills": "boxman", "expression": "blue ^ square", "seed": 1}
    response = client.post(PLAY, asked)
    assert response.status_code == 200, response.text
    return response.json()


def pixels(frame):
    image = imread(BytesIO(b64decode(frame)), "png")
    return np.rint(image[:, :, :3] * 255).astype(np.uint8)


def test_an_episode_is_optimal_and_complete(episode):
    boxman.EpisodeAnswer.model_validate(episode)
    assert episode["return"] == episode["optimum"] == pytest.approx(sum(episode["rewards"]))
    assert episode["collected"] in episode["desired"]
    assert episode["desired"] == ["beige square", "purple square", "blue circle"]
    assert len(episode["frames"]) == len(episode["actions"]) + 1 == len(episode["rewards"]) + 1
    assert episode["actions"][-2] == "pick up"
    assert len(episode["cells"]) == 58
    assert episode["n_tasks"] == {"expressible": 64, "labels": 6, "bound": "2^(2^3) = 256"}


def test_a_task_to_which_no_base_task_knows_a_way_is_refused(client):
    asked = {"skills": "boxman-touch", "expression": "~purple & ~blue & ~square", "seed": 1}
    response = client.post(PLAY, asked)
    assert response.status_code == 422, response.text
    assert "desires only beige circle" in response.text and "expression" in response.text
    played = client.post(PLAY, asked | {"expression": "~purple & ~blue"}).json()
    assert played["n_tasks"] == {"expressible": 63, "labels": 6, "bound": "2^(2^3) = 256"}


def test_frames_are_the_screens_of_the_game(episode):
    world = ta.Boxman("blue ^ square")
    observation, _ = world.reset(seed=1)
    screens = [observation]
    for action in episode["actions"]:
        screens.append(world.step(world.space.action_names.index(action))[0])
    for frame, screen in zip(episode["frames"], screens, strict=True):
        assert np.array_equal(pixels(frame), screen)


def compare(answer, capsys):
    """Run the lines of an answer, which must play the same episode to the last digit."""
    names = {}
    exec(compile(answer["python"], "lines", "exec"), names)
    steps, space, task = len(answer["actions"]), names["skills"].space, names["agent"].task
    assert [space.action_names[action] for action in names["actions"]] == answer["actions"]
    assert names["rewards"] == answer["rewards"]
    assert round(names["optimum"], 10) == answer["optimum"]
    assert np.array_equal(names["observation"], pixels(answer["frames"][-1]))
    desired = [n for n, one in zip(space.goal_names, task.desired, strict=True) if one]
    assert answer["desired"] == desired
    said = f"return {answer['return']:.2f}, optimum {answer['optimum']:.2f}, {steps} steps\n"
    assert capsys.readouterr().out == said


def test_the_lines_play_the_same_episode(episode, capsys):
    compare(episode, capsys)


def test_the_lines_of_a_long_expression_play_the_same_episode(client, capsys):
    answer = client.post(PLAY, {"expression": "blue ^ " * 60 + "square"}).json()
    assert answer["simplified"] == "square"
    compare(answer, capsys)


@pytest.mark.parametrize("skills", ["boxman", "boxman-random", "boxman-touch"])
def test_the_agent_starts_where_it_is_put(client, skills, capsys):
    cell = [4, 6]
    asked = {"skills": skills, "expression": "purple & ~square", "seed": 3, "agent": cell}
    answer = client.post(PLAY, asked).json()
    assert answer["agent"] == cell and answer["desired"] == ["purple circle"]
    assert answer["return"] == answer["optimum"]
    compare(answer, capsys)


def test_the_values_shown_are_those_the_agent_acts_on(episode):
    for q, action in zip(episode["q"], episode["actions"], strict=True):
        assert q[episode["action_names"].index(action)] == max(q)


def test_equal_seeds_agree_and_others_differ(client):
    def start(seed):
        asked = {"skills": "boxman-random", "expression": "blue", "seed": seed}
        return client.post(PLAY, asked).json()["frames"]

    assert start(5) == start(5) != start(6)


def test_the_presets_name_the_tasks_of_the_networks(presets):
    assert presets["boxman"]["available"] is True
    for choice in presets["boxman"]["skills"]:
        skills = ta.load(choice["name"])
        assert choice["tasks"] == list(skills.tasks)
        assert choice["goals"] == list(skills.space.goal_names)
        assert presets["boxman"]["expression"] in skills


def test_the_shipped_networks_play_wherever_the_server_was_started(client, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "boxman").mkdir()
    boxman.skills_of.cache_clear()
    asked = {"expression": "blue"}
    assert client.post(PLAY, asked).json()["collected"] in ("blue square", "blue circle")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"agent": [0, 0]}, "agent"),
        ({"agent": [99, 99]}, "agent"),
        ({"agent": [1]}, "agent[1]"),
        ({"skills": "chess"}, "skills"),
        ({"skills": "../boxman"}, "skills"),
        ({"expression": "red"}, "expression"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**40}, "seed"),
        ({"steps": 3}, "steps"),
    ],
)
def test_what_does_not_fit_the_game_is_refused(client, change, field):
    status, error = client.refusal(PLAY, {"expression": "blue"} | change)
    assert (status, error["field"]) == (422, field)


def test_by_touch_the_agent_does_not_start_on_an_object(client):
    asked = {"skills": "boxman-touch", "expression": "blue", "seed": 0}
    cells = client.post(PLAY, asked).json()["cells"]
    assert len(cells) == 58 - 6
    every = ta.Boxman().board.cells.tolist()
    taken = next(cell for cell in every if cell not in cells)
    status, error = client.refusal(PLAY, asked | {"agent": taken})
    assert status == 422 and "holds an object" in error["message"]


def test_without_torch_a_sentence_says_so(client, monkeypatch):
    monkeypatch.setattr(boxman, "available", lambda: False)
    status, error = client.refusal(PLAY, {"expression": "blue"})
    assert status == 409 and 'pip install "taskalgebra[deep]"' in error["message"]
