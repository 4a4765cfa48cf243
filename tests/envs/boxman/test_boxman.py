"""Boxman as a Gymnasium environment."""

import json
import subprocess
import sys
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import taskalgebra as ta
from boxman_oracle import SlowBoxman
from taskalgebra.envs.boxman.board import MOVES, PAPER_MAP, PAPER_OBJECTS, PICK_UP
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.logic.formulas import parse
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.open_world import OpenWorld

ID = "TaskAlgebra/Boxman-v0"
UP, RIGHT, DOWN, LEFT, PICK = range(5)
SMALL_MAP = "##### #...# #.#.# #...# #####"
MODES = pytest.mark.parametrize("collect", ["pick-up", "touch"])
LAYOUTS = pytest.mark.parametrize("layout", ["fixed", "random"])


@pytest.fixture
def no_screen(monkeypatch):
    """Pygame without a display, and without the wait between frames."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    monkeypatch.setitem(Boxman.metadata, "render_fps", 10_000)
    return pytest.importorskip("pygame")


def on(world, place, held=0):
    """The code with the agent on a cell of the paper's layout."""
    return [world.board.cell(place), held, *world.places]


@MODES
@LAYOUTS
def test_gymnasium_finds_nothing_to_complain_about(layout, collect, no_screen):
    env = gym.make(ID, layout=layout, collect=collect, task="blue ^ square")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
        env.reset(seed=0)
        for _ in range(60):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            assert not truncated
            if terminated:
                env.reset()
    env.close()


def test_the_package_offers_it():
    assert ta.Boxman is Boxman
    assert isinstance(gym.make(f"taskalgebra.envs:{ID}").unwrapped, Boxman)


@pytest.mark.parametrize(
    ("collect", "actions"), [("pick-up", (*MOVES, PICK_UP)), ("touch", tuple(MOVES))]
)
def test_spaces_are_those_of_the_paper(collect, actions):
    world = Boxman(collect=collect)
    assert world.observation_space == gym.spaces.Box(0, 255, (84, 84, 3), np.uint8)
    assert world.action_space == gym.spaces.Discrete(len(actions))
    assert world.space.world == OpenWorld(tuple(PAPER_OBJECTS), actions)
    assert list(world.tasks) == ["blue", "beige", "purple", "square", "circle"]
    for name, task in world.tasks.items():
        assert task.desired.tolist() == [name in goal for goal in PAPER_OBJECTS]
    assert world.task == world.space.universal
    assert world.max_episode_steps == 20


@MODES
@LAYOUTS
def test_every_step_is_that_of_plain_python(layout, collect):
    world = Boxman("blue ^ square", layout=layout, collect=collect)
    slow = SlowBoxman(PAPER_MAP, PAPER_OBJECTS)
    wanted = {"beige square", "purple square", "blue circle"}
    rng = np.random.default_rng(0)
    world.reset(seed=0)
    ends = 0
    for _ in range(3000):
        state = slow.state(world.code)
        action = int(rng.integers(world.space.n_actions))
        frame, reward, terminated, truncated, info = world.step(action)
        state, end = slow.step(state, world.space.action_names[action], world.by_touch, wanted)
        assert world.code.tolist() == slow.code(state)
        assert np.array_equal(frame, world.vector(1).frames_of([world.code])[0])
        assert not truncated
        if end is None:
            assert (reward, terminated, info) == (-0.1, False, {"goal": -1})
            continue
        ends += 1
        goal = slow.objects.index(end)
        assert (reward, terminated, info["goal"]) == (2.0 if end in wanted else -0.1, True, goal)
        paid = [2.0 if name in end.split() else -0.1 for name in world.tasks]
        assert info["task_rewards"].tolist() == paid
        _, info = world.reset()
        assert info["goal"] == -1
    assert ends > 10


def test_an_episode_by_pick_up():
    world = Boxman("blue & square")
    _, info = world.reset(options={"code": on(world, (8, 3))})
    assert info == {"goal": -1, "optimal_return": pytest.approx(2 - 0.3)}
    steps = [world.step(a) for a in (LEFT, LEFT, PICK, UP)]
    assert [step[1] for step in steps] == [-0.1, -0.1, -0.1, 2.0]
    assert [step[2] for step in steps] == [False, False, False, True]
    assert [step[4]["goal"] for step in steps] == [-1, -1, -1, 1]
    assert np.array_equal(steps[2][0], world.sprites.frames[1])
    assert np.array_equal(steps[3][0], world.sprites.frames[1])


def test_picking_up_what_is_not_wanted_ends_the_episode_too():
    world = Boxman("blue & square")
    world.reset(options={"code": on(world, (1, 1))})
    assert world.step(PICK)[1:3] == (-0.1, False)
    _, reward, terminated, _, info = world.step(DOWN)
    assert (reward, terminated, info["goal"]) == (-0.1, True, 0)


def test_by_touch_only_wanted_objects_are_collected():
    world = Boxman("blue & circle", collect="touch")
    world.reset(options={"code": on(world, (1, 6))})
    world.step(RIGHT)  # over the beige circle
    assert world.code[1] == 0
    world.step(RIGHT)
    assert world.code[1] == 5
    _, reward, terminated, _, info = world.step(LEFT)
    assert (reward, terminated, info["goal"]) == (2.0, True, 4)


@MODES
def test_a_task_that_wants_nothing_pays_little_everywhere(collect):
    world = Boxman("blue & ~blue", collect=collect)
    world.reset(options={"code": on(world, (1, 2))})
    world.step(LEFT)
    if collect == "pick-up":
        world.step(PICK)
    _, reward, terminated, _, info = world.step(UP)
    assert (reward, terminated, info["goal"]) == (-0.1, True, 0)


def test_a_world_plays_the_tasks_of_another_of_the_same_kind():
    one, other = Boxman(layout="random"), Boxman()
    other.task = one.find_task("purple | circle")
    assert other.task.desired.tolist() == [False, False, True, True, True, True]
    other.task = parse("~purple")
    assert other.task == other.find_task("~purple")
    with pytest.raises(gym.error.ResetNeeded):
        other.step(UP)


@pytest.mark.parametrize("layout", ["fixed", "random"])
def test_equal_seeds_play_equal_games_and_different_seeds_differ(layout):
    def played(seed):
        world = Boxman("purple", layout=layout)
        rng = np.random.default_rng(7)
        world.reset(seed=seed)
        codes = [world.code]
        for _ in range(200):
            if world.step(int(rng.integers(5)))[2]:
                world.reset()
            codes.append(world.code)
        return np.array(codes)

    assert np.array_equal(played(3), played(3))
    assert not np.array_equal(played(3), played(4))


def test_observations_are_not_shared():
    world = Boxman()
    first, _ = world.reset(seed=0)
    kept = first.copy()
    second = world.step(DOWN)[0]
    second[:] = 0
    assert np.array_equal(first, kept)
    assert world.step(UP)[0].any()


def test_a_code_takes_the_world_back():
    world = Boxman(layout="random")
    before, _ = world.reset(seed=5)
    code = world.code
    world.step(UP)
    world.step(LEFT)
    again, _ = world.reset(options={"code": code})
    assert np.array_equal(again, before)
    world.code[:] = 0  # a copy
    assert np.array_equal(world.code, code)


def test_objects_and_a_board_of_ones_own():
    world = Boxman("blue", board=SMALL_MAP, objects={"blue circle": (1, 3), "beige square": (3, 1)})
    assert world.observation_space.shape == (44, 44, 3)
    assert list(world.tasks) == ["blue", "beige", "square", "circle"]
    _, info = world.reset(options={"code": [world.board.cell((3, 3)), 0, *world.places]})
    assert info["optimal_return"] == pytest.approx(2 - 0.3)
    names = Boxman(layout="random", objects=["blue circle", "purple square"])
    assert names.space.goal_names == ("blue circle", "purple square")
    assert names.reset(seed=0)[0].shape == (84, 84, 3)


def test_evaluations_on_a_long_way_have_time_enough():
    rows = ["#" * 17] + [
        "#" + ("." * 15 if r % 2 else "#" * 14 + "." if r % 4 else "." + "#" * 14) + "#"
        for r in range(1, 16)
    ]
    world = Boxman(board="\n".join([*rows, "#" * 17]), layout="random", objects=["blue square"])
    assert world.max_episode_steps > world.board.distance.max() + 2 > 100


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layout": "fix"}, "layout is 'fix', expected 'fixed' or 'random'"),
        ({"collect": "grab"}, "collect is 'grab', expected 'pick-up' or 'touch'"),
        ({"render_mode": "ansi"}, "render_mode is 'ansi', expected None, 'rgb_array' or 'human'"),
        ({"objects": {"green square": (1, 1)}}, "unknown object 'green square'"),
        ({"objects": {}}, "there are no objects"),
        ({"objects": "blue square"}, "objects is the text 'blue square', expected a list"),
        ({"objects": ["blue square"]}, r"a fixed layout needs a cell .*\(row, column\)"),
        ({"objects": {"blue square": (0, 0)}}, r"'blue square' has no place: \(0, 0\) is not a fr"),
        ({"objects": {"blue square": 3}}, r"'blue square' has no place: a cell is \(row, column"),
        (
            {"objects": {"blue square": (1, 1), "blue circle": (1, 1)}},
            r"'blue square' and 'blue circle' both lie on \(1, 1\); give each",
        ),
        ({"board": "#.#"}, "a board of Boxman is square"),
        ({"task": "green"}, "green"),
        ({"task": TaskSpace(OpenWorld(("a",), ("b",))).universal}, "belongs to another space"),
    ],
)
def test_bad_arguments_are_refused_in_words(options, words):
    with pytest.raises(ValueError, match=words):
        Boxman(**options)


def test_a_task_must_be_a_task():
    with pytest.raises(TypeError, match="must be a name, an expression or a Task, got 3"):
        Boxman(3)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (5, "action 5 does not exist; actions are up, right, down, left, pick up, numbered"),
        (-1, "action -1 does not exist"),
        (1.0, "action is 1.0, expected a whole number from 0 to 4 for up, right"),
        (None, "action is None"),
        ("up", "action is 'up'"),
    ],
)
def test_bad_actions_are_refused_in_words(action, words):
    world = Boxman()
    world.reset(seed=0)
    with pytest.raises(ValueError, match=words):
        world.step(action)
    world.step(np.int64(3))


def test_by_touch_there_is_no_pick_up():
    world = Boxman(collect="touch")
    world.reset(seed=0)
    with pytest.raises(ValueError, match=r"action 4 does not exist; actions are up, .*0 to 3"):
        world.step(PICK)


def test_a_step_needs_a_reset_before_the_first_and_after_the_last():
    world = Boxman()
    with pytest.raises(gym.error.ResetNeeded, match=r"reset\(\) before step"):
        world.step(UP)
    world.reset(options={"code": on(world, (1, 1), held=1)})
    assert world.step(UP)[2]
    with pytest.raises(gym.error.ResetNeeded):
        world.step(UP)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ([0, 0], "a code is 8 whole numbers"),
        (3, "a code is 8 whole numbers"),
        ([58, 0, 1, 2, 3, 4, 5, 6], "cells are numbered 0 to 57, got 58"),
        ([0, 7, 1, 2, 3, 4, 5, 6], r"code\[1\] is 7"),
        ([0, 0, 1, 2, 3, 4, 5, 1], r"two objects lie on one cell: \[1, 2, 3, 4, 5, 1\]; give each"),
    ],
)
def test_bad_codes_are_refused_in_words(code, words):
    with pytest.raises(ValueError, match=words):
        Boxman().reset(options={"code": code})


def test_rendering_gives_the_large_picture():
    world = Boxman(render_mode="rgb_array")
    with pytest.raises(gym.error.ResetNeeded, match=r"reset\(\) before render"):
        world.render()
    world.reset(seed=0)
    image = world.render()
    assert (image.shape, image.dtype) == ((504, 504, 3), np.uint8)
    assert np.array_equal(image, world.picture([world.code])[0])
    with pytest.raises(ValueError, match="a code is 8"):
        world.picture([[1, 2]])
    world.close()


def test_without_a_render_mode_there_is_a_warning_and_no_picture():
    world = Boxman()
    world.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render mode"):
        assert world.render() is None


def test_the_last_picture_of_an_episode_is_its_goal():
    world = Boxman(render_mode="rgb_array")
    world.reset(options={"code": on(world, (1, 1))})
    world.step(PICK)
    held = world.render()
    world.step(UP)
    assert np.array_equal(world.render(), held)


def test_a_window_follows_the_game(no_screen):
    world = Boxman("blue", render_mode="human")
    world.close()  # nothing is open yet
    world.reset(options={"code": on(world, (4, 1))})
    shown = no_screen.surfarray.array3d(no_screen.display.get_surface()).swapaxes(0, 1)
    assert np.array_equal(shown, world.picture([world.code])[0])
    world.step(DOWN)
    assert world.render() is None
    shown = no_screen.surfarray.array3d(no_screen.display.get_surface()).swapaxes(0, 1)
    assert np.array_equal(shown, world.picture([world.code])[0])
    world.close()
    assert no_screen.display.get_surface() is None
    world.reset(seed=0)  # opens again
    assert no_screen.display.get_surface() is not None
    world.close()
    world.close()


def test_without_pygame_a_window_is_refused_with_the_way_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match=r'pip install "taskalgebra\[window\]", or use .*rgb_arr'):
        Boxman(render_mode="human")
    Boxman(render_mode="rgb_array")


def test_pygame_is_imported_for_a_window_only():
    script = (
        "import sys, json, taskalgebra as ta; world = ta.Boxman(render_mode='rgb_array'); "
        "world.reset(seed=0); world.render(); world.step(0); world.vector(2).reset(seed=0); "
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stdout))
    assert "taskalgebra.envs.boxman.window" in loaded
    assert not loaded & {"pygame", "torch", "matplotlib", "PIL"}
