"""Learning with few steps: exact values from interaction alone, counted honestly."""

import runpy
import sys
from collections import deque
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taskalgebra as ta
from oracles import extended_q_of_task
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.learning.checkpoint import CheckpointError
from taskalgebra.learning.few_steps.master import Ideas, master
from taskalgebra.learning.q_learning import Stop, goal_oriented_q_learning
from taskalgebra.paper.experiments import efficient as experiment
from taskalgebra.paper.results.record import load
from taskalgebra.planning.exact import optimal_v, q_bar_star
from taskalgebra.skills.skills import Skills
from taskalgebra.sweeps.processes import Processes
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.base_tasks import minimal_base_tasks
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.rewards import r_bar_min_of
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays
from taskalgebra.worlds.chance import Stream
from taskalgebra.worlds.grid import from_text

NONE = Ideas(one_stream=False, warm_start=False, replay=False, explore=False)
PENALTY = -46.2


@pytest.fixture(scope="module")
def forty():
    return FourRooms(40, step_reward=-0.01, r_universal=1.0)


@pytest.fixture(scope="module")
def four():
    return FourRooms(step_reward=-0.01, r_universal=1.0)


def optimum_of(space, tasks, r_bar_min=None):
    wanted = [*tasks.values(), space.universal, space.empty]
    plan = q_bar_star(space, wanted, r_bar_min=r_bar_min)
    return {task: values.table for task, values in zip(wanted, plan.values, strict=True)}


def tables_of(mastery):
    family = mastery.family
    named = {family.tasks[name]: values.table for name, values in family.named.items()}
    bounds = family.bounds.tables
    return named | {family.space.universal: bounds.universal, family.space.empty: bounds.empty}


def error(mastery, states=slice(None)):
    """The largest difference from Q̄*, where −∞ agrees with −∞ only."""
    family = mastery.family
    optimum = optimum_of(family.space, family.tasks, family.r_bar_min)
    largest = 0.0
    for task, table in tables_of(mastery).items():
        exact, learned = optimum[task][states], table[states]
        if not np.array_equal(np.isneginf(exact), np.isneginf(learned)):
            return np.inf
        finite = np.isfinite(exact)
        largest = max(largest, np.abs(exact[finite] - learned[finite]).max(initial=0.0))
    return largest


def space_of(text, **settings):
    return TaskSpace(from_text(text, **settings))


def test_forty_goals_are_mastered_exactly_within_2000_steps(forty):
    steps = []
    for seed in range(20):
        mastery = master(forty.space, forty.tasks, seed=seed, r_bar_min=PENALTY)
        assert mastery.finished and mastery.complete and mastery.given_up == 0
        assert mastery.never_met.size == 0
        assert error(mastery) < 1e-12
        steps.append(mastery.n_steps)
    assert np.mean(steps) <= 2000
    assert min(steps) >= 880, "720 pairs, and each goal entered four more times"
    assert len(set(steps)) > 1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_tasks_composed_from_it_are_exactly_optimal(forty, seed):
    mastery = master(forty.space, forty.tasks, seed=seed)
    rng = np.random.default_rng(seed)
    starts = forty.space.mdp.starts
    for desired in rng.random((200, 40)) < rng.random((200, 1)):
        task = forty.space.from_desired(desired)
        composed = Skills(mastery.family)[task].values
        actions = greedy(composed.q_bar(np.arange(forty.space.mdp.n_states)))
        gap = optimal_v(task) - policy_return(task, actions)
        assert np.abs(gap[starts]).max() < 1e-9


class PlainExplorer:
    """The same agent in plain Python, on the Gymnasium environment and nothing else."""

    def __init__(self, env, seed):
        self.env, self.stream = env, Stream(seed)
        self.n_states, self.n_actions = int(env.observation_space.n), int(env.action_space.n)
        self.outcome = {}  # (state, action) -> next state, or None at the end of an episode
        self.steps = self.episodes = 0

    def first_action(self, start):
        queue, reached = deque([(start, None)]), {start}
        while queue:
            state, first = queue.popleft()
            for action in range(self.n_actions):
                if (state, action) not in self.outcome:
                    return action if first is None else first
            for action in range(self.n_actions):
                after = self.outcome[state, action]
                if after is not None and after not in reached:
                    reached.add(after)
                    queue.append((after, action if first is None else first))
        raise AssertionError("nothing untried can be reached")

    def run(self, starts):
        while True:
            start = int(starts[int(self.stream.random() * len(starts))])
            state, _ = self.env.reset(options={"state": start})
            terminated = False
            while not terminated:
                action = self.first_action(state)
                after, _, terminated, _, info = self.env.step(action)
                assert (info["goal"] >= 0) == terminated
                self.outcome[state, action] = None if terminated else int(after)
                self.steps += 1
                self.episodes += terminated
                state = int(after)
                if len(self.outcome) == self.n_states * self.n_actions:
                    return self


@pytest.mark.parametrize("seed", [0, 5])
def test_a_plain_explorer_of_the_environment_takes_the_same_steps(forty, seed):
    mastery = master(forty.space, forty.tasks, seed=seed)
    plain = PlainExplorer(FourRooms(40), seed).run(forty.space.mdp.starts)
    assert (mastery.n_steps, mastery.n_episodes) == (plain.steps, plain.episodes)


def test_without_any_idea_it_is_algorithm_1(four):
    """One stream, learned three times over by the other learner: the slowest table counts."""
    space, tasks = four.space, {"top": four.tasks["top"]}
    optimum = optimum_of(space, tasks, PENALTY)
    mastery = master(space, tasks, seed=3, ideas=NONE, r_bar_min=PENALTY, optimum=optimum)
    runs = {
        task: goal_oriented_q_learning(task, Stop(optimum=table), seed=3, r_bar_min=PENALTY)
        for task, table in optimum.items()
    }
    assert mastery.finished
    assert mastery.n_steps == max(run.n_steps for run in runs.values())
    again = goal_oriented_q_learning(
        tasks["top"], Stop(steps=mastery.n_steps), seed=3, r_bar_min=PENALTY
    )
    assert np.array_equal(mastery.family["top"].table, again.q)


IDEAS = [Ideas(*switches) for switches in product((False, True), repeat=5)]


@pytest.mark.parametrize("ideas", IDEAS, ids=str)
def test_every_set_of_ideas_arrives_at_the_optimum(four, ideas):
    optimum = optimum_of(four.space, four.tasks, PENALTY)
    mastery = master(
        four.space, four.tasks, seed=1, ideas=ideas, r_bar_min=PENALTY, optimum=optimum
    )
    assert mastery.finished
    assert error(mastery) <= 1e-5


def test_each_idea_saves_steps(forty):
    """Each row of the experiment, by three runs."""
    result = experiment.run(experiment.Config(runs=3))
    mean = {
        name: result.table.where(idea=name)["steps"].mean()
        for name in result.table.distinct("idea")
    }
    order = [mean[name] for kind, name, _ in experiment.AGENTS[1:] if kind != "removed"]
    assert order == sorted(order, reverse=True)
    ours = mean[experiment.OURS]
    assert all(mean[name] > ours for kind, name, _ in experiment.AGENTS if kind == "removed")
    assert ours < mean[experiment.ONE_TASK] / 10


def test_equal_seeds_agree_and_different_seeds_differ(four):
    one, other = (master(four.space, four.tasks, seed=4) for _ in range(2))
    assert one.n_steps == other.n_steps
    assert all(
        np.array_equal(a, b)
        for a, b in zip(tables_of(one).values(), tables_of(other).values(), strict=True)
    )
    assert len({master(four.space, four.tasks, seed=s).n_steps for s in range(5)}) > 1


def test_the_experiment_does_not_depend_on_the_number_of_workers(tmp_path):
    with Processes(2) as engine:
        results = [experiment.run(experiment.QUICK, sweep) for sweep in (ALONE, Sweep(engine))]
    assert results[0].table == results[1].table
    assert results[0].table.n_rows == len(experiment.AGENTS) * experiment.QUICK.runs
    results[0].save(tmp_path)
    assert load(experiment.NAME, tmp_path).table == results[0].table


def test_the_command_writes_the_result_and_prints_a_table(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["efficient", "--runs", "1", "--out", str(tmp_path)])
    runpy.run_path(experiment.__file__, run_name="__main__")
    assert load(experiment.NAME, tmp_path).config["runs"] == 1
    assert experiment.OURS in capsys.readouterr().out


def test_the_shipped_result_is_what_the_code_gives():
    shipped = load(experiment.NAME, Path(__file__).parents[3] / "results" / "tabular")
    assert shipped.config["runs"] == 100
    ours = shipped.table.where(idea=experiment.OURS)["steps"]
    assert ours.size == 100 and ours.mean() <= 2000
    again = experiment.run(experiment.QUICK)
    for row in again.table.rows():
        kept = shipped.table.where(idea=row["idea"], run=row["run"])
        assert kept["steps"].tolist() == [row["steps"]]


def test_values_agree_with_value_iteration_written_from_the_definitions():
    space = space_of("A..#\n.#B.\n...C")
    tasks = minimal_base_tasks(space)
    mastery = master(space, tasks, seed=0)
    for task, table in tables_of(mastery).items():
        assert np.abs(table - extended_q_of_task(task, mastery.family.r_bar_min)).max() < 1e-12


def test_composition_of_a_mastery_is_that_of_its_tables(four):
    mastery = master(four.space, four.tasks)
    top, left = mastery.family["top"], mastery.family["left"]
    skills = Skills(mastery.family)
    assert skills["top & ~left"].values == top & ~left
    assert skills[four.tasks["top"] | four.tasks["left"]].values == top | left
    with pytest.raises(ValueError, match="tpo"):
        skills["tpo"]
    with pytest.raises(TypeError, match="expression or a Task"):
        skills[3]


def test_a_room_without_a_goal_is_reported_as_never_met():
    space = space_of("A.#..\n..#..\n.B#..")
    mastery = master(space, minimal_base_tasks(space), seed=0)
    assert mastery.finished and not mastery.complete
    cells = {tuple(cell) for cell in space.mdp.cells[mastery.never_met].tolist()}
    assert cells == {(r, c) for r in range(3) for c in (3, 4)}
    met = np.setdiff1d(np.arange(space.mdp.n_states), mastery.never_met)
    assert error(mastery, met) < 1e-12
    assert "6 states never met" in repr(mastery)


@pytest.mark.parametrize("explore", [True, False])
def test_rooms_that_are_cut_off_from_each_other_are_both_learned(explore):
    """No way leads from A to B; random starts show both rooms, and the other goal costs r̄_MIN."""
    space = space_of("A.#..\n..#.B")
    for seed in range(5):
        ideas = Ideas(explore=explore)
        mastery = master(space, minimal_base_tasks(space), seed=seed, ideas=ideas)
        assert mastery.finished and mastery.complete
        assert error(mastery) < 1e-12


def test_a_goal_that_no_start_can_reach_is_not_known():
    space = space_of("A..#.B", starts=[(0, 1)])
    mastery = master(space, minimal_base_tasks(space), seed=0, patience=5)
    assert mastery.finished
    assert len(mastery.never_met) == 3  # two cells and the goal
    assert error(mastery, [0, 1, 2]) < 1e-12


@pytest.mark.parametrize("explore", [True, False])
def test_an_agent_in_a_trap_gives_the_episode_up(explore):
    """From 0 one action leads to the goal 3, the other into the loop of 1 and 2."""
    world = from_arrays([[3, 1], [2, 2], [1, 1], [3, 3]], -1.0, [3], starts=[0])
    space = TaskSpace(world)
    mastery = master(space, {"goal": space.universal}, ideas=Ideas(explore=explore))
    assert mastery.finished and mastery.complete
    assert mastery.given_up >= 1
    assert np.isneginf(mastery.family["goal"].table[[1, 2]]).all()
    assert error(mastery) < 1e-12


@st.composite
def worlds(draw):
    n_states, n_actions = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    n_goals = draw(st.integers(1, n_states - 1))
    state = st.integers(0, n_states - 1)
    row = st.lists(state, min_size=n_actions, max_size=n_actions)
    table = draw(st.lists(row, min_size=n_states, max_size=n_states))
    table[0][0] = n_states - 1  # some goal can be reached
    reward = st.sampled_from([0.0, -0.125, -1.0])
    rewards = draw(st.lists(reward, min_size=n_states * n_actions, max_size=n_states * n_actions))
    return from_arrays(
        table,
        np.reshape(rewards, (n_states, n_actions)),
        list(range(n_states - n_goals, n_states)),
    )


@given(worlds(), st.booleans(), st.booleans(), st.integers(0, 3))
def test_any_deterministic_world_is_learned_as_far_as_it_can_be_reached(
    world, explore, one_stream, seed
):
    space = TaskSpace(world, r_universal=2.0, r_empty=-0.25)
    ideas = Ideas(explore=explore, one_stream=one_stream)
    mastery = master(space, minimal_base_tasks(space), seed=seed, ideas=ideas)
    assert mastery.finished
    reachable = set(world.starts.tolist())
    queue = deque(reachable)
    while queue:
        for after in world.next_state[queue.popleft()].tolist():
            if after not in reachable:
                reachable.add(after)
                queue.append(after)
    assert set(mastery.never_met.tolist()) == set(range(world.n_states)) - reachable
    assert mastery.tried[sorted(reachable)].all()
    assert error(mastery, sorted(reachable)) < 1e-9


def test_a_limit_on_steps_is_kept(forty):
    mastery = master(forty.space, forty.tasks, max_steps=100)
    assert not mastery.finished
    assert mastery.n_steps == 100
    assert "not finished" in repr(mastery)
    unseen = ~mastery.tried
    assert (mastery.family["x1"].table.swapaxes(1, 2)[unseen] == 0).all()
    parts = Ideas(one_stream=False)
    assert master(forty.space, forty.tasks, ideas=parts, max_steps=3000).n_steps == 3000


def test_rewards_with_more_than_two_values_are_learned(four):
    space = four.space
    task = space.from_rewards([1.0, 0.5, 0.25, -0.01])
    assert error(master(space, {"graded": task})) < 1e-12


class TestBadInput:
    """A clear error each."""

    def test_a_stochastic_world(self):
        world = FourRooms(slip_probability=0.1)
        with pytest.raises(ValueError, match="random outcomes"):
            master(world.space, world.tasks)

    def test_a_dense_task(self):
        world = FourRooms(dense=True)
        with pytest.raises(ValueError, match="'top' is dense"):
            master(world.space, world.tasks)

    def test_no_tasks(self, four):
        with pytest.raises(ValueError, match="empty"):
            master(four.space, {})
        with pytest.raises(TypeError, match="name: task"):
            master(four.space, list(four.tasks.values()))
        with pytest.raises(TypeError, match="'top'"):
            master(four.space, {"top": ["top_left"]})

    def test_a_task_of_another_space(self, four, forty):
        with pytest.raises(ValueError, match="'x1' belongs to another space"):
            master(four.space, forty.tasks)

    def test_nothing_to_stop_at(self, four):
        with pytest.raises(ValueError, match="cannot know that it is done"):
            master(four.space, four.tasks, ideas=Ideas(replay=False))

    def test_an_optimum_that_does_not_fit(self, four):
        optimum = optimum_of(four.space, four.tasks)
        ideas = Ideas(replay=False)
        part = {task: table for task, table in optimum.items() if task != four.tasks["left"]}
        with pytest.raises(ValueError, match="'left' is missing"):
            master(four.space, four.tasks, ideas=ideas, optimum=part)
        cut = {task: table[1:] for task, table in optimum.items()}
        with pytest.raises(ValueError, match=r"\(107, 4, 5\), expected \(108, 4, 5\)"):
            master(four.space, four.tasks, ideas=ideas, optimum=cut)

    @pytest.mark.parametrize("seed", [-1, 0.5])
    def test_a_seed(self, four, seed):
        with pytest.raises(ValueError, match="seed"):
            master(four.space, four.tasks, seed=seed)

    @pytest.mark.parametrize("name", ["max_steps", "patience"])
    def test_numbers(self, four, name):
        with pytest.raises(ValueError, match=name):
            master(four.space, four.tasks, **{name: 0})
        with pytest.raises(ValueError, match="r_bar_min"):
            master(four.space, four.tasks, r_bar_min=-np.inf)
        with pytest.raises(ValueError, match="tolerance"):
            master(four.space, four.tasks, tolerance=np.nan)
        with pytest.raises(ValueError, match="tolerance"):
            master(four.space, four.tasks, tolerance=-1e-5)

    def test_ideas_that_are_none(self, four):
        with pytest.raises(TypeError, match="ideas must be a Ideas"):
            master(four.space, four.tasks, ideas={"replay": True})

    @pytest.mark.parametrize(
        "table", [[[1, 2], [0, 2], [2, 2]], [[0, 2], [1, 2], [2, 2]]], ids=["cycle", "on the spot"]
    )
    def test_a_cycle_that_pays(self, table):
        world = from_arrays(table, 0.5, [2])
        space = TaskSpace(world)
        with pytest.raises(ValueError, match="rises forever"):
            master(space, {"goal": space.universal}, r_bar_min=-10.0)

    def test_runs_of_the_experiment(self):
        with pytest.raises(ValueError, match="runs"):
            experiment.run(experiment.Config(runs=0))


def test_the_default_penalty_is_that_of_definition_2(four):
    assert master(four.space, four.tasks).family.r_bar_min == r_bar_min_of(four.space)


# As a learner


def test_as_a_learner_it_makes_skills_that_are_exactly_optimal(four, forty):
    for world in (four, forty):
        skills = ta.learn(world, learner=ta.FewSteps(), seed=1)
        mastery = master(world.space, world.tasks, seed=1)
        assert np.array_equal(
            skills.family.bounds.tables.universal, tables_of(mastery)[world.space.universal]
        )
        assert skills.env is world
        assert (skills.family.error_bound, skills.family.r_bar_min) == (
            None,
            r_bar_min_of(world.space),
        )
        text = " ^ ".join(world.tasks)
        agent = skills[text]
        earned = policy_return(agent.task, agent.actions)
        np.testing.assert_allclose(earned, optimal_v(agent.task), atol=1e-12)


def test_as_a_learner_it_tells_once_how_far_it_is(four):
    told = []
    ta.learn(four, learner=ta.FewSteps(), listener=told.append)
    (event,) = told
    assert (event.share, event.n_goals) == (1.0, 4)
    assert event.n_steps == master(four.space, four.tasks).n_steps


def test_what_was_learned_is_kept_in_the_folder(four, tmp_path):
    told = []
    first = ta.learn(four, learner=ta.FewSteps(), seed=3, folder=tmp_path / "new")
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["few-steps.npz"]
    before = (tmp_path / "new" / "few-steps.npz").read_bytes()
    again = ta.learn(
        four, learner=ta.FewSteps(), seed=3, folder=tmp_path / "new", listener=told.append
    )
    assert told == []
    assert (tmp_path / "new" / "few-steps.npz").read_bytes() == before
    for name in four.tasks:
        assert np.array_equal(first.family[name].table, again.family[name].table)
    assert np.array_equal(first.family.bounds.tables.empty, again.family.bounds.tables.empty)
    assert first.family.r_bar_min == again.family.r_bar_min


OTHERS = {
    "another seed": {"seed": 4},
    "other ideas": {"learner": ta.FewSteps(ideas=Ideas(explore=False))},
    "another penalty": {"learner": ta.FewSteps(r_bar_min=PENALTY)},
    "other tasks": {"tasks": ["left", "top"]},
    "tasks of other names": {"tasks": {"a": ["top_left", "top_right"], "left": [0, 2]}},
    "another world": {"world": FourRooms(step_reward=-0.02, r_universal=1.0)},
    "other rewards": {"world": FourRooms(step_reward=-0.01, r_universal=1.0, r_empty=-1.0)},
}


@pytest.mark.parametrize("changes", OTHERS.values(), ids=OTHERS.keys())
def test_a_folder_of_something_else_is_refused(four, tmp_path, changes):
    given = {"world": four, "tasks": ["top", "left"], "learner": ta.FewSteps(), "seed": 3}
    ta.learn(**given, folder=tmp_path)
    with pytest.raises(CheckpointError, match="another world or for another task"):
        ta.learn(**{**given, **changes}, folder=tmp_path)


def test_what_few_steps_cannot_learn_is_refused():
    slippery = FourRooms(slip_probability=0.1)
    apart = FourRooms(shared_absorbing=False)
    for world, learner, words in (
        (slippery, ta.FewSteps(), "random outcomes"),
        (apart, ta.FewSteps(), "shared_absorbing=False"),
        (FourRooms(dense=True), ta.FewSteps(), "is dense"),
        (FourRooms(), ta.FewSteps(max_steps=50), "in 50 steps not everything was tried"),
        (FourRooms(), ta.FewSteps(ideas=NONE), "cannot know that it is done"),
    ):
        with pytest.raises(ValueError, match=words):
            ta.learn(world, learner=learner)


def test_traps_are_learned_as_the_refusal_of_q_learning_says():
    world = ta.from_arrays([[3, 1], [1, 1], [0, 4], [3, 3], [4, 4]], -1.0, goals=[3, 4])
    tasks = {"p": ["g0"]}
    skills = ta.learn(world, tasks, learner=ta.FewSteps())
    planned = ta.solve(world, tasks)
    assert np.array_equal(skills["p"].values.table[[0, 2]], planned["p"].values.table[[0, 2]])
