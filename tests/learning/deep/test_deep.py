"""From an open world to agents that compose: toy trainings that really learn, and bad requests."""

import io

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

import taskalgebra as ta
from deep_worlds import (
    NETWORKS,
    Corridor,
    corridor_world,
    corridors,
    digest,
    short,
    short_learner,
    short_trainer,
    small_boxman,
)
from taskalgebra.envs.boxman.recipes import FAST
from taskalgebra.learning.deep import networks
from taskalgebra.learning.deep import training as deep
from taskalgebra.learning.deep.family import weights_of
from taskalgebra.learning.deep.learner import DeepQ
from taskalgebra.learning.deep.networks import egocentric, paper
from taskalgebra.progress import Meter
from taskalgebra.theory.reach import ExtremeBounds, ReachBounds

BASE = ("blue", "circle")
EXPRESSIONS = {
    "blue": {0},
    "circle": {1},
    "~blue": {1},
    "blue | circle": {0, 1},
    "blue ^ circle": {0, 1},
    "blue & ~circle": {0},
    "~circle | ~blue": {0, 1},
}
ALL_STARTS = 25


def slow_optimum(world, wanted):
    """The mean best return over all starts of the 5 × 5 board: no walls stand between cells."""
    places = [(int(r) - 1, int(c) - 1) for r, c in world.board.cells[world.places]]
    total = 0.0
    for row in range(5):
        for column in range(5):
            steps = [abs(row - r) + abs(column - c) + 1 for r, c in places]
            paid = [2.0 if goal in wanted else -0.1 for goal in range(len(places))]
            total += max(p - 0.1 * n for p, n in zip(paid, steps, strict=True))
    return total / ALL_STARTS


def returns_from_everywhere(world, agent, max_steps=20):
    """The mean return of an agent from every cell, played for real."""
    starts = [[cell, 0, *world.places] for cell in range(ALL_STARTS)]
    env = world.vector(ALL_STARTS, task=agent.task)
    seen, _ = env.reset(seed=0, options={"code": starts})
    total, on = np.zeros(ALL_STARTS), np.ones(ALL_STARTS, bool)
    reached = np.full(ALL_STARTS, -1)
    for _ in range(max_steps):
        seen, rewards, ended, _, infos = env.step(agent.policy.actions(seen))
        total += np.where(on, rewards, 0.0)
        reached[on & ended] = infos["goal"][on & ended]
        on &= ~ended
    return total.mean(), set(reached.tolist())


@pytest.fixture(scope="module")
def boxman_skills():
    """Boxman learned from pixels, on a small board: half a minute on one core."""
    learner = DeepQ(
        settings=FAST.settings,
        n_updates=600,
        updates_per_iteration=300,
        n_envs=32,
        steps_per_update=32.0,
        learning_starts=3200,
        replay_size=30_000,
        batch_size=32,
        threads=1,
    )
    return ta.learn(small_boxman(), BASE, learner=learner, seed=0)


def test_boxman_is_learned_from_pixels_and_all_compositions_are_nearly_optimal(boxman_skills):
    world = boxman_skills.env
    for text, wanted in EXPRESSIONS.items():
        agent = boxman_skills[text]
        mean, reached = returns_from_everywhere(world, agent)
        assert reached <= wanted | {-1}, text
        assert mean >= 0.95 * slow_optimum(world, wanted), text
        by_goals, _ = returns_from_everywhere(world, boxman_skills.by_goal_set(text))
        assert by_goals == pytest.approx(mean), text
        result = agent.evaluate(200, seed=1)
        assert result.score >= 0.95, text
        assert result.success_rate >= 0.97, text


def test_saved_and_loaded_the_skills_take_the_same_actions(boxman_skills, tmp_path):
    boxman_skills.save(tmp_path / "skills")
    loaded = ta.load(tmp_path / "skills")
    world = boxman_skills.env
    frames = world.vector(1).frames_of([[cell, 0, *world.places] for cell in range(ALL_STARTS)])
    for text in EXPRESSIONS:
        one, two = (skills[text].policy.actions(frames) for skills in (boxman_skills, loaded))
        assert np.array_equal(one, two), text
    assert loaded["~blue"].evaluate(50) == boxman_skills["~blue"].evaluate(50)


def test_a_network_that_was_never_trained_knows_next_to_nothing(boxman_skills):
    world = boxman_skills.env

    def score(family):
        skills = ta.Skills(family, world)
        return min(skills[text].evaluate(100).score for text in EXPRESSIONS)

    training = deep.Training(
        world,
        {name: world.tasks[name] for name in BASE},
        world.space.universal,
        egocentric,
        short(),
        0,
    )
    stream = training.trainer._play(np.random.default_rng(0))
    while len(training.trainer.goals.numbers) < 2:
        next(stream)
    untrained = training.family(best=False)
    assert score(untrained) < 0.3
    assert score(boxman_skills.family) >= 0.95


@pytest.fixture(scope="module")
def corridor_skills():
    learner = DeepQ(
        settings=FAST.settings,
        n_updates=1000,
        updates_per_iteration=500,
        n_envs=16,
        steps_per_update=16.0,
        learning_starts=1600,
        replay_size=20_000,
        batch_size=32,
        threads=1,
        v_min=-1.5,
    )
    return ta.learn(corridor_world(), learner=learner, seed=1)


CORRIDOR = {
    "edge & early": {0},
    "edge & ~early": {2},
    "~edge": {1},
    "edge": {0, 2},
    "early": {0, 1},
    "edge ^ early": {1, 2},
    "edge | early": {0, 1, 2},
}


@pytest.mark.parametrize(("text", "wanted"), CORRIDOR.items(), ids=CORRIDOR.keys())
def test_an_environment_of_ones_own_is_learned_and_composed_optimally(
    corridor_skills, text, wanted
):
    agent = corridor_skills[text]
    for cell in range(7):
        state, steps = cell, 0
        while steps < 20:
            action = agent.act(np.eye(10, dtype=np.float32)[state])
            steps += 1
            if action == 2 and state in Corridor.GOALS:
                break
            state = min(max(state + (-1, 1, 0)[action], 0), 6)
        assert Corridor.GOALS.index(state) in wanted
        assert steps == 1 + min(abs(cell - Corridor.GOALS[goal]) for goal in wanted)
    result = agent.evaluate(100)
    assert (result.success_rate, result.unfinished) == (1.0, 0)


def test_learned_returns_are_the_cost_of_the_way(corridor_skills):
    (reach,) = corridor_skills.family.reaches
    found = reach.returns(np.eye(10, dtype=np.float32)[:7])
    for cell in range(7):
        for goal, place in enumerate(Corridor.GOALS):
            steps = abs(cell - place)
            assert found[cell, goal].max() == pytest.approx(-0.1 * steps, abs=0.01)


# What is trained


def test_one_network_serves_all_tasks_that_share_their_absorbing_states():
    world = small_boxman()
    tasks = {name: world.tasks[name] for name in BASE}
    family, went = deep.train(world, tasks, egocentric, short(), score=lambda _: 0.0)
    assert (len(family.reaches), list(went), family.shared) == (1, ["all"], True)
    assert isinstance(family.bounds, ReachBounds)
    assert {q.reach for q in family.values} == set(family.reaches)
    assert family.r_bar_min == pytest.approx(-2.3 - 0.1)
    assert family.error_bound is None


@pytest.mark.parametrize(
    ("world", "name", "kind"),
    [
        (small_boxman(), "paper", ReachBounds),
        (small_boxman(collect="touch", layout="random"), "fast", ExtremeBounds),
    ],
    ids=["paper", "touch"],
)
def test_each_task_has_its_own_network_as_in_the_paper_or_by_touch(world, name, kind):
    tasks = {name: world.tasks[name] for name in BASE}
    seeds = []
    family, went = deep.train(
        world,
        tasks,
        NETWORKS[name],
        short(name),
        score=lambda n: seeds.append(tuple(n.tasks)) or 0.0,
    )
    assert (len(family.reaches), list(went)) == (2, list(BASE))
    assert set(seeds) == {("blue",), ("circle",)}
    one, two = (digest(weights_of(n.network)) for n in family.reaches)
    assert one != two
    assert isinstance(family.bounds, kind)
    assert np.array_equal(family.goal_rewards, [[2.0, -0.1], [-0.1, 2.0]])


def test_a_task_of_ones_own_may_have_the_name_of_one_of_the_world():
    world = small_boxman()
    skills = ta.learn(world, {"blue": ["beige circle"]}, learner=short_learner())
    assert skills.family.goal_rewards.tolist() == [[-0.1, 2.0]]
    assert skills["blue"].task == world.tasks["circle"]


def test_the_rewards_of_a_world_with_one_named_task_are_those_of_that_task():
    world = ta.OpenEnv(corridors, ["west", "middle", "east"], {"far": ["east"]})
    family, _ = deep.train(world, world.tasks, egocentric, short(), score=lambda _: 0.0)
    assert family.goal_rewards.tolist() == [[-0.1, -0.1, 2.0]]


def test_the_best_weights_are_kept():
    world, scores = corridor_world(), iter([0.1, 0.9, 0.3])
    kept = []

    def score(family):
        kept.append(digest(weights_of(family.reaches[0].network)))
        return next(scores)

    family, went = deep.train(world, world.tasks, egocentric, short(), score=score)
    assert digest(weights_of(family.reaches[0].network)) == kept[1]
    assert [points for _, points in went["all"].scores] == [0.1, 0.9, 0.3]


def test_a_network_may_start_from_another():
    world = small_boxman()
    first, _ = deep.train(world, world.tasks, egocentric, short(), score=lambda _: 0.0)
    touch = small_boxman(collect="touch")
    tasks = {"blue": touch.tasks["blue"]}
    means = first.first.state_mean
    started, _ = deep.train(
        touch, tasks, egocentric, short(), start=first.first, score=lambda _: 0.0
    )
    fresh, _ = deep.train(touch, tasks, egocentric, short(), score=lambda _: 0.0)
    assert np.array_equal(started.first.state_mean, means)
    assert not np.array_equal(fresh.first.state_mean, means)


def test_without_a_score_of_ones_own_the_base_tasks_are_played():
    world = corridor_world()
    family, went = deep.train(world, world.tasks, egocentric, short())
    fewest = deep.base_score(world, deep.LEAST_EPISODES)  # of so short a training
    assert fewest(family) == max(p for _, p in went["all"].scores)


def test_the_score_is_a_share_of_the_optimum_or_the_mean_return_if_that_is_not_known(
    boxman_skills, corridor_skills
):
    share = deep.base_score(boxman_skills.env)(boxman_skills.family)
    assert 0.95 <= share <= 1.0
    # From seven cells: ways to the nearest goal of {west, east} and of {west, middle}.
    steps = np.mean([[0, 1, 2, 3, 2, 1, 0], [0, 1, 1, 0, 1, 2, 3]])
    mean = deep.base_score(corridor_skills.env)(corridor_skills.family)
    assert mean == pytest.approx(2.0 - 0.1 * steps, abs=0.03)


def test_environments_are_closed_whether_the_training_ends_well_or_not():
    made = []

    class Noted(SyncVectorEnv):
        def __init__(self, n, **options):
            super().__init__([Corridor] * n, **options)
            made.append(self)

    world = corridor_world(Noted)
    deep.train(world, world.tasks, egocentric, short())
    with pytest.raises(ZeroDivisionError):
        deep.train(world, world.tasks, egocentric, short(), score=lambda _: 1 / 0)
    assert len(made) > 4
    assert all(env.closed for env in made)


class Unreachable(Corridor):
    """The east is never met."""

    GOALS = (0, 3)


def test_goals_that_were_never_met_are_named():
    world = corridor_world(lambda n: SyncVectorEnv([Unreachable] * n))
    with pytest.raises(
        ValueError, match=r"in [\d,]+ steps these goals were never met: east; .*train longer"
    ):
        deep.train(world, world.tasks, egocentric, short())


def test_a_goal_beyond_the_names_is_refused():
    world = ta.OpenEnv(corridors, ["west", "middle"], {"west": ["west"]})
    with pytest.raises(ValueError, match=r"goal\"\] = .*2.*expected the number of a goal, 0 to 1"):
        deep.train(world, world.tasks, egocentric, short())


def test_names_of_tasks_may_hold_what_names_of_files_may_not(tmp_path):
    world = small_boxman()
    tasks = {"a/b": world.tasks["blue"], "..": world.tasks["circle"]}
    deep.train(world, tasks, paper, short("paper"), folder=tmp_path / "t", score=lambda _: 0.0)
    assert len(list((tmp_path / "t").iterdir())) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["t"]


def test_what_does_not_fit_the_world_is_refused_before_any_training():
    world, other = corridor_world(), corridor_world(r_universal=3.0)
    with pytest.raises(ValueError, match="task 'edge' belongs to another space than the env"):
        deep.train(world, other.tasks, egocentric, short())
    rich = corridor_world(r_universal=5.0)
    with pytest.raises(ValueError, match=r"goals pay from -0\.1 to 5, which is outside"):
        deep.train(rich, rich.tasks, paper, short("paper"))
    with pytest.raises(ValueError, match="goals pay from 0 to 0, which is outside"):
        deep.train(world, world.tasks, egocentric, short(v_max=-0.5))


def test_the_listener_for_terminals_keeps_a_line_per_iteration():
    class Stream(io.StringIO):
        def __init__(self, tty):
            super().__init__()
            self.tty = tty

        def isatty(self):
            return self.tty

    world = corridor_world()
    for tty in (True, False):
        stream = Stream(tty)
        shown = Meter("learning", stream)
        deep.train(world, world.tasks, egocentric, short(), score=lambda _: 0.25, listener=shown)
        shown.close()
        lines = stream.getvalue().split("\n")[:-1]
        assert len(lines) == (3 if tty else 0)
        for line, share in zip(lines, ("40 %", "80 %", "100 %"), strict=False):
            assert line.startswith(f"\r\x1b[Klearning all: {share}, ")
            assert line.endswith(" s left, 3 goals met, score 0.250")


def test_the_share_done_counts_all_networks():
    world, told = small_boxman(), []
    tasks = {name: world.tasks[name] for name in BASE}
    deep.train(world, tasks, paper, short("paper"), score=lambda _: 0.5, listener=told.append)
    assert [event.what for event in told] == ["blue"] * 3 + ["circle"] * 3
    assert [event.share for event in told] == [0.2, 0.4, 0.5, 0.7, 0.9, 1.0]
    assert [event.n_updates for event in told] == [8, 16, 20] * 2
    assert all(event.score == 0.5 and np.isfinite(event.loss) for event in told)
    assert all(event.n_goals == 2 and event.n_steps >= 320 for event in told)


# ta.learn


LEARN_REFUSED = {
    "a learner of tables": (
        lambda: {"learner": ta.QLearning(steps=5)},
        ValueError,
        "in 5 steps and .* episodes no episode terminated",
    ),
    "a learner of few steps": (
        lambda: {"learner": ta.FewSteps()},
        ValueError,
        "open world, known only by playing it.*DeepQ",
    ),
    "tabular settings": (
        lambda: {"learner": ta.DeepQ(settings=ta.Settings())},
        TypeError,
        "settings must be DeepSettings, got Settings",
    ),
    "a dictionary": (
        lambda: {"learner": ta.DeepQ(settings={"n_updates": 3})},
        TypeError,
        "settings must be DeepSettings, got .*n_updates",
    ),
    "an unknown setting": (lambda: {"learner": ta.DeepQ(speed=3)}, TypeError, "speed"),
    "a network by name": (
        lambda: {"learner": ta.DeepQ("paper")},
        TypeError,
        r"network must make a module, network\(shape, n_actions, n_outputs\), got 'paper'",
    ),
    "settings for a learner": (
        lambda: {"learner": short()},
        TypeError,
        r"learner must be an object with a method learn",
    ),
    "a learner by name": (lambda: {"learner": "fast"}, TypeError, "got 'fast'"),
    "a seed": (lambda: {"learner": short_learner(), "seed": -1}, ValueError, "seed is -1"),
    "a task": (
        lambda: {"tasks": ["red"], "learner": short_learner()},
        ValueError,
        "unknown task 'red'",
    ),
    "a goal": (lambda: {"tasks": {"x": ["north"]}}, ValueError, "unknown goal 'north'"),
}


@pytest.mark.parametrize(
    ("arguments", "kind", "words"), LEARN_REFUSED.values(), ids=LEARN_REFUSED.keys()
)
def test_what_an_open_world_cannot_be_learned_with_is_refused(arguments, kind, words):
    with pytest.raises(kind, match=words):
        ta.learn(small_boxman(), **arguments())


def test_networks_do_not_learn_what_is_seen_as_a_number():
    world = ta.FourRooms()
    for learner in (short_learner(), ta.DeepQ(n_updates=20)):
        with pytest.raises(ValueError, match=r"numbers of states: .*QLearning\(\)"):
            ta.learn(world, learner=learner)
    with pytest.raises(TypeError, match="start must be skills that are networks, got Skills"):
        ta.learn(world, learner=short_learner(start=ta.solve(world)))


def test_negation_needs_three_base_tasks_that_end_in_goals_of_their_own():
    """Else Q̄_U and Q̄_∅, the extremes of the base tasks, make ¬a of b: wrong without a word."""
    touch = small_boxman(layout="random", collect="touch")
    two = ta.learn(touch, {"a": ["blue square"], "b": ["beige circle"]}, learner=short_learner())
    assert not two.can_negate
    for text in ("~a", "a ^ b", "b & ~a", "a nor b"):
        with pytest.raises(ValueError, match="base tasks end in different goals"):
            two[text]
        assert text not in two and two.get(text) is None
    with pytest.raises(ValueError, match="learn at least three"):
        ~two["a"]
    assert "a | b" in two and (two["a"] & two["b"]).task == two["a & b"].task
    assert two.n_expressible == 4  # a, b, all and none
    third = {"a": ["blue square"], "b": ["beige circle"], "c": ["blue square", "beige circle"]}
    assert "~a" in ta.learn(touch, third, learner=short_learner())
    assert ta.load("boxman").can_negate and ta.load("boxman-touch").can_negate
    assert "~blue" in ta.learn(small_boxman(), ["blue"], learner=short_learner())


def test_a_file_in_place_of_the_folder_for_checkpoints_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(NotADirectoryError, match="is not a directory; give one for checkpoints"):
        ta.learn(corridor_world(), learner=short_learner(), folder=tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_skills_may_start_from_skills_that_are_networks():
    touch, first = ta.Boxman(layout="random", collect="touch"), ta.load("boxman-random")
    learner = short_learner(network=networks.planning, start=first)
    planning = ta.learn(touch, ["blue"], learner=learner)
    ours, theirs = planning.family.first, first.family.first
    assert torch.equal(ours.patches.weight, theirs.patches.weight)
    for wrong in (ta.solve(ta.FourRooms()), theirs, "boxman-random"):
        with pytest.raises(TypeError, match="start must be skills that are networks, got"):
            ta.learn(touch, learner=short_learner(start=wrong))


def test_networks_may_start_from_a_family():
    touch, first = small_boxman(collect="touch"), ta.learn(small_boxman(), learner=short_learner())
    one, two = (
        ta.learn(touch, ["blue"], learner=short_learner(start=start)).family.first
        for start in (first, first.family)
    )
    assert digest(weights_of(one)) == digest(weights_of(two))


def test_learning_resumes_from_the_directory(tmp_path):
    world = corridor_world()
    first = ta.learn(world, learner=short_learner(), seed=2, folder=str(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["all.safetensors"]
    again = ta.learn(world, learner=short_learner(), seed=2, folder=tmp_path)
    one, two = (weights_of(s.family.first) for s in (first, again))
    assert digest(one) == digest(two)
    with pytest.raises(ValueError, match="started with seed 2, not 3"):
        ta.learn(world, learner=short_learner(), seed=3, folder=tmp_path)


# Worlds of one's own


def test_a_goal_world_is_names_and_a_way_to_make_copies():
    world = corridor_world(max_episode_steps=9)
    assert world.space.goal_names == ("west", "middle", "east")
    assert world.space.action_names == ("left", "right", "take")
    assert world.tasks["edge"] == world.space.task(["west", "east"])
    assert (world.max_episode_steps, world.shared_absorbing) == (9, True)
    plain = ta.OpenEnv(corridors, ("w", "m", "e"), {"w": [0]}, r_universal=1.0, r_empty=0.0)
    assert plain.space.action_names == ("a0", "a1", "a2")
    assert plain.tasks["w"].goal_reward.tolist() == [1.0, 0.0, 0.0]


def test_a_goal_world_is_made_from_a_registered_environment():
    name = "taskalgebra-tests/Corridor-v0"
    gym.register(name, Corridor, max_episode_steps=30)
    try:
        world = ta.OpenEnv(lambda n: gym.make_vec(name, n), ["w", "m", "e"], {"w": ["w"]})
        assert world.max_episode_steps == 30
        skills = ta.learn(world, learner=short_learner())
        assert skills["~w"].evaluate(10).episodes == 10
    finally:
        del gym.registry[name]


@pytest.mark.parametrize("task", [["west"], ["middle", "east"]], ids=str)
def test_copies_pay_what_the_task_pays_in_a_goal_and_their_own_rewards_before(task):
    world = corridor_world()
    wanted = world.space.task(task)
    env = world.vector(64, task=wanted)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    fresh, ends = np.zeros(64, bool), set()
    for _ in range(60):
        _, rewards, terminated, truncated, infos = env.step(rng.integers(0, 3, 64))
        for i in range(64):
            if fresh[i]:
                expected = 0.0
            elif terminated[i]:
                expected = wanted.goal_reward[infos["goal"][i]]
                ends.add(int(infos["goal"][i]))
            else:
                expected = -0.1
                assert infos["goal"][i] == -1
            assert rewards[i] == expected
        assert not truncated.any()
        fresh = terminated
    assert ends == {0, 1, 2}
    env.close()


class Steady(Corridor):
    """Never ends; counts its steps in what is seen.  Stepping a copy that is over is an error."""

    def reset(self, *, seed=None, options=None):
        self.age = 0
        return super().reset(seed=seed)

    def seen(self):
        return np.full(10, self.age / 16, np.float32)

    def step(self, action):
        self.age += 1
        over = action == 2
        return self.seen(), -0.1, bool(over), False, {"goal": 0} if over else {}


def sync(n, **options):
    return SyncVectorEnv([Steady] * n, **options)


def asynchronous(n):
    return AsyncVectorEnv([Steady] * n)


@pytest.mark.parametrize("make", [sync, asynchronous], ids=["sync", "async"])
def test_episodes_that_are_too_long_are_truncated_and_start_again_in_the_next_step(make):
    world = corridor_world(make)
    env = world.vector(3, task=world.space.universal, max_episode_steps=4)
    env.reset(seed=0)
    ages, cuts, ends, paid = [], [], [], []
    for t in range(10):
        # The second copy takes its goal in its third step; the third does so where it is cut.
        actions = np.array([0, 2 if t == 2 else 0, 2 if t in (3, 4) else 0])
        seen, rewards, terminated, truncated, _ = env.step(actions)
        ages.append((seen[:, 0] * 16).astype(int).tolist())
        cuts.append(truncated.tolist())
        ends.append(terminated.tolist())
        paid.append(rewards.tolist())
    env.close()
    first, second, third = (list(column) for column in zip(*ages, strict=True))
    assert first == [1, 2, 3, 4, 0, 1, 2, 3, 4, 0]
    assert second == [1, 2, 3, 0, 1, 2, 3, 4, 0, 1]
    assert third == [1, 2, 3, 4, 0, 1, 2, 3, 4, 0]
    assert [t for t in range(10) if cuts[t][0]] == [3, 8]
    assert [t for t in range(10) if cuts[t][1]] == [7]
    assert [t for t in range(10) if ends[t][1]] == [2]
    assert [t for t in range(10) if ends[t][2]] == [3]  # a goal in the last step is a goal
    assert [row[0] for row in paid] == [-0.1, -0.1, -0.1, -0.1, 0.0, *[-0.1] * 4, 0.0]
    assert [row[1] for row in paid][2:5] == [2.0, 0.0, -0.1]


def test_a_reset_of_all_copies_forgets_how_old_they_were():
    world = corridor_world(sync)
    env = world.vector(1, task=world.space.universal, max_episode_steps=3)
    for _ in range(2):
        env.reset(seed=0)
        cut = [bool(env.step(np.zeros(1, np.int64))[3][0]) for _ in range(3)]
        assert cut == [False, False, True]
    env.close()


class Own(VectorEnv):
    """A vector of another kind, which cannot reset single copies."""

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, n):
        self.inner, self.num_envs = sync(n), n
        self.single_action_space = self.inner.single_action_space
        self.single_observation_space = self.inner.single_observation_space
        self.action_space = self.inner.action_space
        self.observation_space = self.inner.observation_space

    def reset(self, *, seed=None, options=None):
        assert options is None
        return self.inner.reset(seed=seed)

    def step(self, actions):
        return self.inner.step(actions)


def test_a_vector_of_another_kind_keeps_its_own_limit():
    world = corridor_world(Own)
    env = world.vector(2, task=world.space.universal, max_episode_steps=3)
    env.reset(seed=0)
    assert not any(env.step(np.zeros(2, np.int64))[3].any() for _ in range(9))


GOAL_WORLDS = {
    "no vector": (lambda: corridor_world(lambda n: Corridor()), TypeError, r"make\(1\) must"),
    "too few": (lambda: corridor_world(lambda n: corridors(2)), ValueError, "returned 2 copies"),
    "action names": (
        lambda: ta.OpenEnv(corridors, ["a"], {"a": ["a"]}, actions=["up"]),
        ValueError,
        "1 action names for 3 actions",
    ),
    "an unknown goal": (
        lambda: ta.OpenEnv(corridors, ["a"], {"a": ["b"]}),
        ValueError,
        "unknown goal 'b'",
    ),
    "a text of goals": (
        lambda: ta.OpenEnv(corridors, "abc", {"a": ["a"]}),
        TypeError,
        "expected a list of names",
    ),
    "rewards": (
        lambda: corridor_world(r_universal=-1.0),
        ValueError,
        "a desired goal must pay more",
    ),
    "a limit": (
        lambda: corridor_world(max_episode_steps=0),
        ValueError,
        "max_episode_steps is 0",
    ),
    "a task of another world": (
        lambda: corridor_world().vector(1, task=corridor_world(r_universal=3.0).space.universal),
        ValueError,
        "belongs to another space",
    ),
}


@pytest.mark.parametrize(("make", "kind", "words"), GOAL_WORLDS.values(), ids=GOAL_WORLDS.keys())
def test_a_goal_world_that_makes_no_sense_is_refused(make, kind, words):
    with pytest.raises(kind, match=words):
        make()


def test_continuous_actions_are_refused_by_every_learner():
    class Rope(Corridor):
        action_space = gym.spaces.Box(-1, 1, (1,))

    world = corridor_world(lambda n: SyncVectorEnv([Rope] * n))
    for learner in (None, short_learner(), ta.QLearning()):
        with pytest.raises(ValueError, match=r"Discrete.*got Box.*ta\.wrap\(env, goals=label, act"):
            ta.learn(world, learner=learner)


def test_a_learner_learns_in_a_goal_world_as_in_the_bare_copies():
    world = corridor_world()
    wrapped = short_trainer(world.vector(8, task=world.space.universal))
    bare = short_trainer(corridors(8))
    for trainer in (wrapped, bare):
        list(trainer.iterations())
    one, two = (digest(weights_of(trainer.network)) for trainer in (wrapped, bare))
    assert one == two  # terminal rewards play no part where the network does not learn them


class Noisy(torch.nn.Module):
    """A network whose training draws random numbers and keeps statistics."""

    def __init__(self, shape, n_actions, n_outputs):
        super().__init__()
        self.sizes = (n_actions, n_outputs)
        self.norm, self.drop = torch.nn.BatchNorm1d(shape[0]), torch.nn.Dropout(0.5)
        self.last = torch.nn.Linear(2 * shape[0], n_actions * n_outputs)

    def forward(self, states, goals):
        states = self.drop(self.norm(states))
        pairs = [states[:, None].expand(-1, len(goals), -1), goals.expand(len(states), -1, -1)]
        return self.last(torch.cat(pairs, 2)).view(len(states), len(goals), *self.sizes)


def test_a_noisy_network_of_ones_own_is_trained_and_resumed_bit_for_bit(tmp_path):
    settings = {"updates_per_iteration": 10, "n_envs": 8, "steps_per_update": 8.0, "threads": 1}
    settings |= {"learning_starts": 400, "score": lambda _: 0.0}
    whole, again = (
        ta.learn(corridor_world(), learner=ta.DeepQ(Noisy, n_updates=30, **settings))
        for _ in range(2)
    )

    def stop(event):
        if event.n_updates == 20:
            raise KeyboardInterrupt

    learner = ta.DeepQ(Noisy, n_updates=30, **settings)
    with pytest.raises(KeyboardInterrupt):
        ta.learn(corridor_world(), learner=learner, folder=tmp_path, listener=stop)
    resumed = ta.learn(corridor_world(), learner=learner, folder=tmp_path)
    one, *others = (digest(weights_of(s.family.first)) for s in (whole, again, resumed))
    assert others == [one, one]


@pytest.mark.parametrize("optimum", [-0.5, 0.0, np.nan])
def test_where_no_optimum_is_above_0_the_better_return_is_the_better_score(
    corridor_skills, monkeypatch, optimum
):
    def score(mean):
        outcome = ta.Evaluation(200, mean, 0.0, optimum, 1.0, 0, 3.0)
        monkeypatch.setattr(deep, "play", lambda *_, **__: outcome)
        return deep.base_score(corridor_skills.env)(corridor_skills.family)

    assert score(-0.5) > score(-2.0)
