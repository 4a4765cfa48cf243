"""Hindsight replay against exact values, and against itself without hindsight."""

import numpy as np
import pytest

import taskalgebra as ta
from oracles import extended_q_of_task
from taskalgebra.learning.checkpoint import CheckpointError
from taskalgebra.learning.hindsight import hindsight_replay
from taskalgebra.learning.q_learning import Stop
from taskalgebra.theory.rewards import r_bar_min_of
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays

ROOM = ta.from_text("A..B\n....\nC...")


def bits(n):
    """Bit flipping, the paper's world, with one action more: to say that it is done."""
    n_states = 2**n
    words = np.arange(n_states)
    flips = words[:, None] ^ (1 << np.arange(n))
    done = words[:, None] + n_states
    live = np.concatenate([flips, done], axis=1)
    ends = np.repeat(done, n + 1, axis=1)
    goals = list(range(n_states, 2 * n_states))
    return TaskSpace(from_arrays(np.concatenate([live, ends]), -0.1, goals))


def reached(space, q, limit=60):
    """The share of starts and goals such that pursuing the goal ends in it."""
    mdp = space.mdp
    right = []
    for g in range(mdp.n_goals):
        s, actions = np.unique(mdp.starts), q[:, g].argmax(axis=1)
        for _ in range(limit):
            s = np.where(mdp.is_goal[s], s, mdp.next_state[s, actions[s]])
        right.append((s == mdp.goals[g]).mean())
    return float(np.mean(right))


@pytest.mark.parametrize("relabelled", [0, 1, 4])
def test_tables_become_the_exact_ones(relabelled):
    space = TaskSpace(ROOM)
    tasks = [space.universal, space.empty, space.task(["A", "C"])]
    low = r_bar_min_of(space)
    expected = [extended_q_of_task(task, low) for task in tasks]
    for seed in range(3):
        run = hindsight_replay(
            tasks, Stop(steps=60_000), replay=ta.Replay(relabelled=relabelled), seed=seed
        )
        np.testing.assert_allclose(run.q, expected, atol=1e-9)
        assert run.met.all() and run.n_steps == 60_000


def test_it_stops_where_the_table_is_exact():
    space = TaskSpace(ROOM)
    exact = extended_q_of_task(space.universal, r_bar_min_of(space))
    run = hindsight_replay([space.universal], Stop(steps=200_000, optimum=exact))
    assert run.converged and run.n_steps < 200_000
    np.testing.assert_allclose(run.q[0], exact, atol=1e-5)
    before = hindsight_replay([space.universal], Stop(steps=run.n_steps - 1, optimum=exact))
    assert not before.converged


@pytest.mark.parametrize("epsilon", [1.0, 0.3])
def test_where_goals_are_rare_hindsight_needs_fewer_steps(epsilon):
    """Bit flipping with 32 goals: with hindsight in 10,000 steps what takes five times as many."""
    space, settings = bits(5), ta.Settings(epsilon=epsilon)

    def share(steps, relabelled, seed):
        run = hindsight_replay(
            [space.universal],
            Stop(steps=steps),
            replay=ta.Replay(relabelled=relabelled),
            settings=settings,
            seed=seed,
        )
        return reached(space, run.q[0])

    for seed in range(5):
        assert share(10_000, 4, seed) > 0.97
        assert share(10_000, 0, seed) < 0.85
    assert share(60_000, 0, 0) > 0.97


def test_random_outcomes_are_learned_with_a_small_learning_rate():
    world = ta.FourRooms(slip_probability=0.1)
    skills = ta.learn(world, ["top", "left"], learner=ta.Hindsight(steps=400_000))
    assert skills["top & ~left"].evaluate(episodes=500, seed=1).score > 0.9


def test_the_penalty_is_that_of_planning():
    """In a stochastic world r_∅, in a deterministic one that of Definition 2."""
    for slip in (0.0, 0.1):
        world = ta.FourRooms(slip_probability=slip)
        learned = ta.learn(world, ["top"], learner=ta.Hindsight(steps=100_000))
        assert learned.family.r_bar_min == ta.solve(world, ["top"]).family.r_bar_min
        mdp = world.space.mdp
        wrong = learned["top"].values.table[mdp.goals[0], 1]
        assert learned.family.r_bar_min - 1e-9 <= wrong.min() < 0.5 * learned.family.r_bar_min
        run = hindsight_replay([world.space.universal], Stop(steps=10_000))
        ends = run.q[0, mdp.goals]
        assert ends.min() == pytest.approx(learned.family.r_bar_min)


def test_the_learner_composes():
    world = ta.FourRooms()
    skills = ta.learn(world, learner=ta.Hindsight())
    for expression in ("top & left", "top ^ left", "~top", "~(top | left)"):
        assert skills[expression].evaluate().score == pytest.approx(1.0)
    assert isinstance(ta.Hindsight(), ta.Learner)


def test_equal_seeds_learn_equal_values_and_a_folder_keeps_them(tmp_path):
    learner, events = ta.Hindsight(steps=20_000), []
    one, same, other = (
        ta.learn(ROOM, {"a": ["A"]}, learner=learner, seed=seed, folder=folder, listener=listen)
        for seed, folder, listen in (
            (0, tmp_path / "run", events.append),
            (0, tmp_path / "run", None),
            (1, None, None),
        )
    )
    tables = [skills.family.bounds.tables.universal for skills in (one, same, other)]
    np.testing.assert_array_equal(tables[0], tables[1])
    assert events[-1].share == 1.0 and events[-1].n_goals == 3
    assert (tmp_path / "run" / "hindsight.npz").exists()
    with pytest.raises(CheckpointError, match="another seed"):
        ta.learn(ROOM, {"a": ["A"]}, learner=learner, seed=1, folder=tmp_path / "run")


def test_a_listener_stops_it_with_what_was_learned():
    steps = []

    def listen(event):
        steps.append(event.n_steps)
        raise ta.StopLearning

    skills = ta.learn(ROOM, {"a": ["A"]}, learner=ta.Hindsight(steps=10**8), listener=listen)
    assert len(steps) == 1 and steps[0] < 10**7
    assert skills["a"].evaluate().score == pytest.approx(1.0)


def test_a_run_that_was_stopped_is_not_kept_as_the_result(tmp_path):
    def stop(event):
        raise ta.StopLearning

    def run(folder, listener=None):
        learner = ta.Hindsight(steps=200_000)  # more than one report
        skills = ta.learn(ROOM, {"a": ["A"]}, learner=learner, folder=folder, listener=listener)
        return skills.family.bounds.tables.universal

    events = []
    run(tmp_path / "run", stop)
    assert not (tmp_path / "run" / "hindsight.npz").exists()
    whole = run(tmp_path / "run", events.append)
    assert events[-1].n_steps == 200_000
    np.testing.assert_array_equal(whole, run(None))

    def stop_at_the_end(event):
        if event.share == 1.0:
            raise ta.StopLearning

    run(tmp_path / "other", stop_at_the_end)
    assert (tmp_path / "other" / "hindsight.npz").exists()


def test_a_result_of_another_penalty_is_not_taken(tmp_path, monkeypatch):
    learner = ta.Hindsight(steps=20_000)
    ta.learn(ROOM, {"a": ["A"]}, learner=learner, folder=tmp_path)
    monkeypatch.setattr("taskalgebra.learning.hindsight.default_r_bar_min", lambda space: -99.0)
    with pytest.raises(CheckpointError):
        ta.learn(ROOM, {"a": ["A"]}, learner=learner, folder=tmp_path)


def test_an_episode_that_never_ends_is_cut_off():
    """From the trap nothing leads out; the memory still fills, and the goal is learned."""
    trap = from_arrays([[2, 1], [1, 1], [2, 2]], -0.1, [2], starts=[0])
    space = TaskSpace(trap)
    run = hindsight_replay([space.universal], Stop(steps=20_000))
    assert run.n_episodes > 20 and run.met[0] > 0
    assert run.q[0, 0, 0, 0] == pytest.approx(1.9)
    assert run.q[0, 0, 0, 1] < 0


def test_a_full_memory_forgets_the_oldest():
    space = TaskSpace(ROOM)
    exact = extended_q_of_task(space.universal, r_bar_min_of(space))
    small = ta.Replay(memory=1000)
    run = hindsight_replay([space.universal], Stop(steps=200_000, optimum=exact), replay=small)
    assert run.converged and run.n_steps > 1000


@pytest.mark.parametrize(
    ("world", "learner", "reason"),
    [
        (ta.FourRooms(shared_absorbing=False), ta.Hindsight(), "shared_absorbing=False"),
        (ta.FourRooms(dense=True), ta.Hindsight(), "is dense"),
        (ta.FourRooms(), ta.Hindsight(steps=5), "in 5 steps .*only rare: learn longer"),
        (ta.FourRooms(), ta.Hindsight(r_bar_min=1.0), "wrong goal would be welcome"),
    ],
)
def test_what_it_cannot_learn_is_refused(world, learner, reason):
    with pytest.raises(ValueError, match=reason):
        ta.learn(world, learner=learner)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="steps is 0"):
        ta.Hindsight(steps=0)
    with pytest.raises(ValueError, match="relabelled is -1"):
        ta.Replay(relabelled=-1)
    with pytest.raises(ValueError, match="replays is 0"):
        ta.Replay(replays=0)
    with pytest.raises(ValueError, match="memory is 10"):
        ta.Replay(memory=10)
    with pytest.raises(TypeError, match="replay must be a Replay"):
        ta.Hindsight(replay=4)
    space = TaskSpace(ROOM)
    with pytest.raises(ValueError, match="not after episodes"):
        hindsight_replay([space.universal], Stop(episodes=3))
    with pytest.raises(ValueError, match="optimum has shape"):
        hindsight_replay([space.universal], Stop(optimum=np.zeros((2, 2, 2))))
