"""Composing or learning tasks as they arrive."""

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.worlds.grid import from_text


def short(n_goals):
    return ta.TaskSpace(from_text("..".join("ABCDEFGH"[:n_goals])))


def loss(agent):
    starts = agent.task.space.mdp.starts
    return (ta.optimal_v(agent.task) - policy_return(agent.task, agent.actions))[starts].max()


def test_a_task_is_learned_once_and_then_composed():
    rooms = ta.FourRooms()
    life = ta.lifelong(rooms, learner=ta.Planner())
    assert "nothing" in repr(life)
    top, left = life.meet(rooms.tasks["top"], "top"), life.meet(rooms.tasks["left"], "left")
    assert (top.composed, top.learned, top.inference, str(top.expression)) == (
        False,
        "top",
        None,
        "top",
    )
    assert not left.composed and not left.inference.suffices
    for goals in (["top_left"], ["top_right", "bottom_left"], ["bottom_right", "top_left"]):
        met = life.meet(rooms.space.task(goals))
        assert met.composed and met.steps == 0 and met.agent.task == rooms.space.task(goals)
        assert loss(met.agent) < 1e-9
    assert life.n_learned == 2 and len(life.history) == 5
    assert str(life.history[3]) == "composed: top ^ left"
    assert str(left) == "learned left, 0 steps: left"
    assert list(life.skills) == ["top", "left"] and life.skills.n_expressible == 16
    assert "top, left" in repr(life)


@pytest.mark.parametrize("most_useful", [False, True])
@pytest.mark.parametrize("n_goals", [2, 3, 6])
def test_all_streams_keep_the_bounds_and_every_agent_is_optimal(n_goals, most_useful):
    space = short(n_goals)
    low, high = ta.tasks_learned_bounds(n_goals)
    tasks = list(space.two_valued_tasks())
    for seed in range(3):
        rng = np.random.default_rng(seed)
        life = ta.lifelong(space, learner=ta.Planner(), most_useful=most_useful)
        for number in rng.permutation(len(tasks))[:30]:
            met = life.meet(tasks[number])
            assert met.agent.task == tasks[number]
            assert loss(met.agent) < 1e-9
            assert life.n_learned <= high
        if life.skills.n_expressible == len(tasks):
            assert life.n_learned >= low


def test_the_worst_stream_learns_a_task_for_each_goal_but_the_last():
    space = short(8)
    life = ta.lifelong(space, learner=ta.Planner())
    for goal in "ABCDEFGH":
        life.meet(space.task(goal))
    assert life.n_learned == 7


def test_the_most_useful_base_tasks_are_fewer():
    space = short(8)
    learned = []
    for most_useful in (False, True):
        total = 0
        for seed in range(5):
            rng = np.random.default_rng(seed)
            life = ta.lifelong(space, learner=ta.Planner(), most_useful=most_useful)
            for _ in range(25):
                life.meet(space.from_desired(rng.permutation([1, 1, 1, 1, 0, 0, 0, 0])))
            total += life.n_learned
        learned.append(total)
    assert learned[1] < learned[0]


def test_a_task_may_be_seen_in_part():
    rooms = ta.FourRooms()
    life = ta.lifelong(rooms, learner=ta.Planner())
    first = life.meet({"top_left": True, "bottom_right": False})
    assert first.agent.task == rooms.space.task("top_left")  # what was not seen is not desired
    second = life.meet({"top_left": False})
    assert second.composed and second.inference.ambiguous
    third = life.meet({"top_left": True, "top_right": True, "bottom_left": False})
    assert not third.composed and third.agent.task.desired.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("most_useful", [False, True])
def test_of_the_first_task_goals_that_were_not_seen_are_not_desired(most_useful):
    rooms = ta.FourRooms()
    for seen, desired in (({"top_left": True}, [1, 0, 0, 0]), ({"top_left": False}, [0] * 4)):
        life = ta.lifelong(rooms, learner=ta.Planner(), most_useful=most_useful)
        met = life.meet(seen)
        assert met.agent.task.desired.tolist() == desired
        assert met.guessed == ("top_right", "bottom_left", "bottom_right")
        assert str(met).endswith("; guessed, as not seen: top_right, bottom_left, bottom_right")
    life = ta.lifelong(rooms, learner=ta.Planner(), most_useful=most_useful)
    met = life.meet(rooms.tasks["top"])
    assert met.guessed == () and "guessed" not in str(met)
    assert life.meet({"bottom_left": True, "top_left": False}).guessed == (
        "top_right",
        "bottom_right",
    )


def test_a_first_task_of_which_nothing_was_seen_is_refused():
    for nothing in ({}, [], {"A": None}, {"B": float("nan")}):
        life = ta.lifelong(short(3), learner=ta.Planner())
        with pytest.raises(ValueError, match="nothing was seen of the first task"):
            life.meet(nothing)
        assert life.history == ()


def test_skills_for_a_horizon_are_refused():
    rooms = ta.FourRooms()
    with pytest.raises(ValueError, match=r"planned for a horizon of 9 steps.*solve"):
        ta.lifelong(ta.solve(rooms, ["top"], horizon=9))


def test_a_task_of_another_space_is_refused_with_what_to_do():
    for known in (short(3), ta.solve(short(3), {"a": ["A"]})):
        life = ta.lifelong(known, learner=ta.Planner())
        with pytest.raises(ValueError, match=r"another task space.*life\.space\.task\("):
            life.meet(short(4).task("A"))


@pytest.mark.parametrize("wrong", [5, 0, ta.QLearning, "planner"])
def test_what_is_no_learner_is_refused_at_once(wrong):
    with pytest.raises(TypeError, match="learner must be an object with a method learn"):
        ta.lifelong(short(3), learner=wrong)


def test_skills_of_a_lifetime_are_saved_and_taken_up_again(tmp_path):
    rooms = ta.FourRooms()
    life = ta.lifelong(rooms, learner=ta.Planner())
    life.meet(rooms.tasks["top"], "top")
    life.skills.save(tmp_path / "skills")
    again = ta.lifelong(ta.load(tmp_path / "skills"), learner=ta.Planner())
    met = again.meet(again.space.task(["bottom_left", "bottom_right"]))
    assert met.composed and str(met.expression) == "~top"
    assert not again.meet(again.space.task("top_left")).composed
    assert list(again.skills) == ["top", "task2"]


@pytest.mark.parametrize("learner", [ta.QLearning(steps=40_000), ta.FewSteps()], ids=["q", "few"])
def test_learned_base_tasks_compose_to_the_optimum_and_cost_steps(learner):
    space = short(4)
    life = ta.lifelong(space, learner=learner, seed=1)
    first, second = life.meet(space.task(["A", "B"])), life.meet(space.task(["A", "C"]))
    third = life.meet(space.task(["B", "C"]))
    assert first.steps > 0 and second.steps > 0
    assert third.composed and third.steps == 0
    assert max(loss(met.agent) for met in life.history) < 1e-9
    if isinstance(learner, ta.QLearning):
        assert (first.steps, second.steps) == (3 * 40_000, 40_000)  # the bounds are learned once


def test_a_learner_that_starts_from_a_guess_is_nearer_to_the_values():
    space = short(6)
    tasks = space.task(["A", "B", "C"]), space.task(["A", "B", "C", "D"])
    exact = ta.solve(space, {"x": tasks[1]}).family.values[0].table
    errors = []
    for from_guess in (False, True):
        life = ta.lifelong(space, learner=ta.QLearning(steps=300), from_guess=from_guess)
        life._skills = ta.solve(space, {"first": tasks[0]})
        life.meet(tasks[1], "x")
        errors.append(np.abs(life.skills.family["x"].table - exact).max())
    assert errors[1] < errors[0]


def test_a_learner_of_values_that_cannot_be_joined_learns_all_tasks_again():
    asked = []

    class Mine:
        """Makes a family that follows from one reach."""

        def learn(self, env, tasks, *, seed, folder, listener):
            asked.append(list(tasks))
            listener(ta.Event("all", 1.0, n_steps=7))
            return ta.ReachFamily.of(env.space, tasks, reach)

    space = short(3)
    reach = ta.solve(space, {"a": [0]}).family.to_goals()
    life = ta.lifelong(space, learner=Mine())
    for goal in "AB":
        assert life.meet(space.task(goal), goal.lower()).steps == 7
    assert asked == [["a"], ["a", "b"]] and life.meet(space.task("C")).composed


def test_bad_input_is_refused_in_words():
    space = short(3)
    life = ta.lifelong(space, learner=ta.Planner())
    with pytest.raises(ValueError, match="no task has arrived"):
        _ = life.skills
    life.meet(space.task("A"), "a")
    with pytest.raises(ValueError, match="'a' is known already"):
        life.meet(space.task("B"), "a")
    with pytest.raises(ValueError, match="non-empty"):
        life.meet(space.task("B"), "")
    with pytest.raises(ValueError, match="neither r_U"):
        life.meet({"A": 1.0})
    with pytest.raises(ValueError, match="cannot start from a guess"):
        ta.lifelong(space, learner=ta.Planner(), from_guess=True)
    with pytest.raises(ValueError, match="most_useful"):
        ta.lifelong(space, most_useful="yes")
    with pytest.raises(TypeError, match="cannot learn 3"):
        ta.lifelong(3)
    assert len(life.history) == 1


@pytest.mark.parametrize("name", ["true", "False"])
def test_a_name_that_expressions_read_as_another_task_is_refused(name):
    life = ta.lifelong(ta.TaskSpace(from_text("A.B.C")))
    for goal in ("A", "B"):
        task = life.space.task([goal])
        with pytest.raises(ValueError, match=f"cannot be named '{name}': .* another name"):
            life.meet(task, name)
        life.meet(task)
