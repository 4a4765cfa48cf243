"""Skills and agents: one agent, however it is asked for."""

import subprocess
import sys

import numpy as np
import pytest

from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.formulas import all_functions, parse
from taskalgebra.planning import exact as planning
from taskalgebra.planning.exact import plan
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.making import load, solve
from taskalgebra.theory.reach import ReachQ
from taskalgebra.theory.tables import TabularQ
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.grid import from_text

ROOMS = FourRooms()
SKILLS = solve(ROOMS, ["top", "left"])
EXPRESSIONS = [str(e) for e in all_functions(["top", "left"])]


WORLDS = {
    "four rooms": lambda: FourRooms(),
    "forty goals": lambda: FourRooms(40),
    "slippery": lambda: FiniteEnv(
        (space := TaskSpace(from_text("A..\n..B", slip_probability=0.25))),
        {"a": space.task("A"), "b": space.task("B")},
    ),
    "dead ends": lambda: FiniteEnv(
        (space := TaskSpace(from_arrays([[1, 2], [1, 1], [2, 2]], -1.0, [1], goal_reward=[3.0]))),
        {"a": space.task([0])},
    ),
}


def test_two_tasks_express_sixteen():
    assert len(EXPRESSIONS) == 16
    assert SKILLS.n_expressible == 16
    assert len({SKILLS[text].task for text in EXPRESSIONS}) == 16


def by_operators(text):
    """The agent built from those of the base tasks with Python's operators alone."""
    names = {name: SKILLS[name] for name in SKILLS}
    return eval(text, {"true": SKILLS["true"], "false": SKILLS["false"]} | names)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_agent_is_the_same_however_it_is_asked_for(text):
    wanted = SKILLS[text].task
    asked = {
        "text": SKILLS[text],
        "tree": SKILLS[parse(text)],
        "task": SKILLS[wanted],
        "operators": by_operators(text),
        "goal set": SKILLS.by_goal_set(text),
        "goal set by task": SKILLS.by_goal_set(wanted),
        "planned alone": solve(ROOMS.space, {"it": wanted})["it"],
    }
    actions = SKILLS[text].actions
    for way, agent in asked.items():
        assert agent.task == wanted, way
        assert np.array_equal(agent.actions, actions), way
        np.testing.assert_allclose(agent.v, SKILLS[text].v, atol=1e-12, err_msg=way)
        assert [agent.act(s) for s in (0, 50, 107)] == actions[[0, 50, 107]].tolist(), way


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_agents_act_optimally(text):
    agent = SKILLS[text]
    mdp, reward = ROOMS.space.mdp, agent.task.goal_reward
    best = np.full(mdp.n_states, -np.inf)  # by plain value iteration
    best[mdp.goals] = reward
    for _ in range(60):
        best[:104] = (mdp.step_reward[:104] + best[mdp.next_state[:104]]).max(axis=1)
    for start in range(104):
        state, earned = start, 0.0
        for _ in range(60):
            if mdp.is_goal[state]:
                break
            earned += mdp.step_reward[state, agent.actions[state]]
            state = int(mdp.next_state[state, agent.actions[state]])
        earned += reward[mdp.goals.tolist().index(state)]
        assert earned == pytest.approx(best[start])


def test_an_agent_plays_in_its_environment():
    world = FourRooms(task="top & left")
    agent = SKILLS["top & left"]
    state, _ = world.reset(seed=3)
    terminated, steps = False, 0
    while not terminated and steps < 100:
        state, reward, terminated, _, info = world.step(agent.act(state))
        steps += 1
    assert (reward, info["goal"]) == (2.0, 0)


def test_an_evaluation_is_repeatable_and_reaches_the_optimum():
    agent = SKILLS["top ^ left"]
    one = agent.evaluate(episodes=300, seed=1)
    assert one == agent.evaluate(episodes=300, seed=1)
    assert one != agent.evaluate(episodes=300, seed=2)
    assert one.success_rate == 1.0
    assert one.mean_return == pytest.approx(one.optimal_return)
    assert agent.evaluate(episodes=5, max_steps=1).unfinished == 5


def test_a_policy_for_the_wrong_task_falls_short():
    task, agent = SKILLS["top"].task, SKILLS["~top"]
    stray = Agent(SKILLS, agent.expression, task, agent.values)
    result = stray.evaluate(episodes=300)
    assert result.success_rate == 0.0
    assert result.mean_return < result.optimal_return - 1


def test_skills_are_a_mapping_of_the_base_tasks():
    assert list(SKILLS) == ["top", "left"]
    assert len(SKILLS) == 2
    assert {name: agent.task for name, agent in SKILLS.items()} == ROOMS.tasks
    assert repr(SKILLS).startswith("Skills(top, left) of <deterministic world: 108 states")
    assert repr(SKILLS["top & left"]) == "Agent('top & left', Task{top_left})"


def test_what_is_no_key_is_not_in_the_skills():
    assert "top" in SKILLS
    assert "top & ~left" in SKILLS
    assert "tpo" not in SKILLS
    assert 3 not in SKILLS


def test_what_is_not_in_the_skills_is_got_as_none():
    assert SKILLS.get("top").task == ROOMS.tasks["top"]
    assert SKILLS.get("tpo") is None


def test_bare_worlds_are_solved_and_other_things_are_not():
    world = from_text("A.B")
    assert solve(world, {"a": "A"})["~a"].task.desired.tolist() == [False, True]
    with pytest.raises(
        TypeError, match=r"cannot solve 'A\.B'; expected an environment .*TaskSpace.*from_text"
    ):
        solve("A.B", {"a": "A"})


@pytest.mark.parametrize("name", ["forty goals", "slippery", "dead ends"])
def test_composed_tables_are_minimum_maximum_and_mirror_of_the_base_tables(name):
    skills = solve(WORLDS[name]())
    bounds = skills.family.bounds.tables
    first, *_, last = [*skills, *skills]
    x, y = skills[first].values.table, skills[last].values.table
    dead = np.isneginf(bounds.universal)

    def mirror(table):
        with np.errstate(invalid="ignore"):
            return np.where(dead, -np.inf, bounds.universal + bounds.empty - table)

    expected = {
        f"{first} & {last}": np.minimum(x, y),
        f"{first} | {last}": np.maximum(x, y),
        f"~{first}": mirror(x),
        f"~({first} & ~{last}) | false": np.maximum(mirror(np.minimum(x, mirror(y))), bounds.empty),
        f"{first} ^ {last}": np.minimum(np.maximum(x, y), mirror(np.minimum(x, y))),
        "true": bounds.universal,
        "false": bounds.empty,
    }
    for text, table in expected.items():
        assert np.array_equal(skills[text].values.table, table), text


def test_all_tasks_of_a_world_are_solved_by_default():
    assert list(solve(ROOMS)) == ["top", "left"]
    assert list(solve(FourRooms(40))) == ["x1", "x2", "x3", "x4", "x5", "x6"]


def test_tasks_may_be_given_by_name_by_goals_and_as_tasks():
    space = TaskSpace(from_text("A.B"))
    skills = solve(space, {"a": ["A"], "b": [1], "both": space.universal, "c": "A"})
    assert [agent.task for agent in skills.values()] == [
        space.task("A"),
        space.task("B"),
        space.universal,
        space.task("A"),
    ]


def test_a_picture_is_shown_without_colours_where_there_is_no_terminal(capsys):
    SKILLS["top | left"].show()
    shown = capsys.readouterr().out
    assert shown.startswith("top | left\n")
    assert shown.count("◆") == 3
    assert "\x1b" not in shown


OTHER = solve(FourRooms(), ["top", "left"])
REFUSED = {
    "an unknown task to solve": (
        lambda: solve(ROOMS, ["tpo"]),
        ["unknown task 'tpo'", "top, left", "Did you mean 'top'?"],
    ),
    "one string for a list": (lambda: solve(ROOMS, "top"), ["'top'", "list", "['top']"]),
    "an empty list of tasks": (lambda: solve(ROOMS, []), ["empty", "at least one"]),
    "no tasks at all": (lambda: solve(ROOMS.space), ["no tasks", "{name: goals}"]),
    "a name where a space names none": (
        lambda: solve(ROOMS.space, ["top"]),
        ["unknown task 'top'", "none"],
    ),
    "a task listed twice": (lambda: solve(ROOMS, ["top", "top"]), ["top", "named"]),
    "goals that do not exist": (
        lambda: solve(ROOMS, {"a": ["top_lef"]}),
        ["unknown goal 'top_lef'", "Did you mean 'top_left'?"],
    ),
    "no goals": (lambda: solve(ROOMS, {"a": []}), ["selects no goal", "space.empty"]),
    "a task of another space": (
        lambda: solve(ROOMS, {"top": FourRooms(r_universal=3.0).tasks["top"]}),
        ["another space", "one TaskSpace"],
    ),
    "an unknown name": (
        lambda: SKILLS["top & lefft"],
        ["unknown task 'lefft'", "top & lefft", "left, top", "Did you mean 'left'?"],
    ),
    "an unfinished expression": (lambda: SKILLS["top &"], ["top &"]),
    "an empty expression": (lambda: SKILLS[""], []),
    "a task that the base tasks cannot express": (
        lambda: solve(ROOMS, ["top"])[ROOMS.space.task("top_left")],
        ["top", "'top_left'", "'top_right'", "alike"],
    ),
    "a task of another space to play": (
        lambda: SKILLS[FourRooms(r_universal=3.0).tasks["top"]],
        ["same space"],
    ),
    "a task of many rewards": (
        lambda: SKILLS[ROOMS.space.from_rewards([2.0, 1.0, 0.0, 0.0])],
        ["two-valued"],
    ),
    "agents of two sets of skills": (
        lambda: SKILLS["top"] & OTHER["left"],
        ["different skills", "agents of one"],
    ),
    "values of two plans": (
        lambda: SKILLS["top"].values | OTHER["left"].values,
        ["different bounds", "one task space"],
    ),
    "a plan of another space": (
        lambda: plan(ROOMS.space, [FourRooms(r_universal=3.0).tasks["top"]]),
        ["another space", "one TaskSpace"],
    ),
    "a goal set of many rewards": (
        lambda: solve(ROOMS, {"odd": ROOMS.space.from_rewards([2.0, 1.0, 0.0, 0.0])}).by_goal_set(
            "odd"
        ),
        ["two terminal rewards", "top_right: 1"],
    ),
    "no episodes": (lambda: SKILLS["top"].evaluate(episodes=0), ["episodes is 0", "at least 1"]),
    "an infinite penalty": (lambda: solve(ROOMS, r_bar_min=-np.inf), ["-inf", "finite"]),
}


@pytest.mark.parametrize(("question", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_input_is_refused_in_words(question, words):
    with pytest.raises(ValueError) as caught:
        question()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("other", [1, "left", None, ROOMS.tasks["left"]], ids=repr)
def test_an_agent_composes_with_agents_only(other):
    with pytest.raises(TypeError):
        SKILLS["top"] & other


def test_an_agent_has_no_truth_value():
    with pytest.raises(TypeError, match=r"Agent has no truth value; write a & b"):
        bool(SKILLS["top"])


@pytest.mark.parametrize("name", WORLDS)
def test_saved_skills_come_back_with_the_same_numbers_and_actions(name, tmp_path):
    skills = solve(WORLDS[name]())
    skills.save(tmp_path / "new" / "skills")
    loaded = load(str(tmp_path / "new" / "skills"))
    assert list(loaded) == list(skills)
    for task in skills:
        assert np.array_equal(loaded[task].values.table, skills[task].values.table)
        assert np.array_equal(loaded[task].actions, skills[task].actions)
        assert np.array_equal(loaded[task].task.goal_reward, skills[task].task.goal_reward)
        assert loaded[task].evaluate(20, seed=1) == skills[task].evaluate(20, seed=1)
    base = list(skills)
    mixed = " ^ ".join(base) + f" | ~{base[0]}"
    assert np.array_equal(loaded[mixed].actions, skills[mixed].actions)
    assert np.array_equal(loaded.by_goal_set(mixed).actions, skills.by_goal_set(mixed).actions)
    one, two = loaded.space, skills.space
    for field in ("offset", "successor", "probability", "step_reward", "goals", "starts"):
        assert np.array_equal(getattr(one.mdp, field), getattr(two.mdp, field))
    assert (one.mdp.goal_names, one.mdp.action_names) == (two.mdp.goal_names, two.mdp.action_names)
    assert np.array_equal(one.r_universal, two.r_universal)
    assert np.array_equal(one.r_empty, two.r_empty)
    assert (loaded.family.r_bar_min, loaded.family.error_bound) == (
        skills.family.r_bar_min,
        skills.family.error_bound,
    )
    if two.mdp.cells is not None:
        assert loaded[base[0]].picture() == skills[base[0]].picture()
    else:
        assert loaded.space.original.goal_reward.tolist() == [3.0]


def test_dense_and_sparse_tasks_come_back_together(tmp_path):
    space = TaskSpace(from_text("A.B"))
    steps = -np.arange(25.0).reshape(5, 5)
    skills = solve(space, {"sparse": ["A"], "dense": space.from_rewards([2.0, -0.1], steps)})
    skills.save(tmp_path / "skills")
    loaded = load(tmp_path / "skills")
    for name in skills:
        assert np.array_equal(loaded[name].values.table, skills[name].values.table)
        assert np.array_equal(loaded[name].task.steps, skills[name].task.steps)
    assert skills.by_goal_set("sparse").actions.tolist() == (
        loaded.by_goal_set("sparse").actions.tolist()
    )


@pytest.fixture
def small_tables(monkeypatch):
    """Every world is too large for tables."""
    monkeypatch.setattr(planning, "LARGEST_TABLE", 10)


def test_large_worlds_get_values_that_are_computed_when_asked(small_tables):
    large = solve(ROOMS)
    assert all(isinstance(agent.values, ReachQ) for agent in large.values())
    assert all(isinstance(agent.values, TabularQ) for agent in SKILLS.values())
    states = np.arange(108)
    for text in EXPRESSIONS:
        expected = SKILLS[text].q_bar(states)
        assert np.array_equal(large[text].q_bar(states), expected)
        assert np.array_equal(large[text].actions, SKILLS[text].actions)
        assert np.array_equal(large.by_goal_set(text).actions, SKILLS[text].actions)
        np.testing.assert_allclose(large[text].v, SKILLS[text].v, atol=1e-12)
    grid = states[:12].reshape(3, 4)
    assert large["top"].q_bar(grid).shape == (3, 4, 4, 5)
    assert np.array_equal(large["top"].q_bar(grid), SKILLS["top"].q_bar(grid))


def test_large_worlds_are_saved_without_tables_and_come_back(small_tables, tmp_path):
    large = solve(ROOMS)
    large.save(tmp_path / "large")
    SKILLS.save(tmp_path / "small")

    def size(folder):
        return sum(f.stat().st_size for f in (tmp_path / folder).iterdir())

    assert size("large") < size("small")
    loaded = load(tmp_path / "large")
    for text in ("top", "top ^ left", "~left"):
        assert np.array_equal(loaded[text].actions, SKILLS[text].actions)


def test_dense_tasks_of_large_worlds_are_refused(small_tables):
    dense = ROOMS.space.from_rewards([2.0] * 4, np.full((108, 5), -1.0))
    with pytest.raises(ValueError, match="dense tasks need tables, and 2,160 entries exceed 10"):
        solve(ROOMS, {"dense": dense})


@pytest.mark.parametrize("r_bar_min", [np.nan, -np.inf])
def test_a_penalty_that_is_not_a_number_is_refused_in_large_worlds_too(small_tables, r_bar_min):
    with pytest.raises(ValueError, match="finite"):
        solve(ROOMS, r_bar_min=r_bar_min)


def test_tasks_of_another_space_are_refused_in_large_worlds_too(small_tables):
    with pytest.raises(ValueError, match="another space"):
        solve(ROOMS, {"top": FourRooms(r_universal=3.0).tasks["top"]})


MISSING = [108, 10**9, 1.5]


@pytest.fixture(scope="module", params=["table", "planned"])
def told_of_missing_states(request):
    """What acting in each says, in a process of its own: reading outside an array may end it."""
    script = f"""
from taskalgebra.planning import exact as planning
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.skills.making import solve
if {request.param!r} == "planned":
    planning.LARGEST_TABLE = 10
agent = solve(FourRooms())["top"]
for state in {MISSING!r}:
    try:
        print("acted:", agent.act(state))
    except (IndexError, ValueError) as error:
        print("refused:", repr(str(error)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-300:]
    return dict(zip(MISSING, done.stdout.splitlines(), strict=True))


@pytest.mark.parametrize("state", MISSING)
def test_a_state_that_does_not_exist_is_refused(told_of_missing_states, state):
    told = told_of_missing_states[state]
    assert told.startswith("refused:"), told
