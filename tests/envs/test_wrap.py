"""Any Gymnasium environment as a goal environment, by a label."""

from __future__ import annotations

from itertools import islice

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import taskalgebra as ta
from taskalgebra.envs.labelled import LabelledVector
from taskalgebra.envs.labels import goals_among
from taskalgebra.evaluation.rollout import rollout

SIZE = 5


class Square(gym.Env):
    """A point on a board of 5 × 5 cells, with a time limit of its own and nothing to reach."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, kind="box", render_mode=None):
        self.kind, self.render_mode = kind, render_mode
        self.observation_space = {
            "box": gym.spaces.Box(0, SIZE, (2,), np.float32),
            "discrete": gym.spaces.Discrete(SIZE**2),
            "late": gym.spaces.Discrete(SIZE**2, start=7),
            "multi": gym.spaces.MultiDiscrete([SIZE, SIZE]),
            "dict": gym.spaces.Dict(
                place=gym.spaces.MultiDiscrete([SIZE, SIZE]),
                desired_goal=gym.spaces.Box(0, 1, (2,)),
                said=gym.spaces.Text(9),
            ),
            "pair": gym.spaces.Tuple((gym.spaces.Discrete(SIZE), gym.spaces.Discrete(SIZE))),
            "text": gym.spaces.Text(9),
            "image": gym.spaces.Box(0, 255, (SIZE, SIZE, 1), np.uint8),
        }[kind]
        self.action_space = gym.spaces.Discrete(4)
        self.ends_at = None

    def _observation(self):
        row, column = self.place
        image = np.zeros((SIZE, SIZE, 1), np.uint8)
        image[row, column] = 255
        return {
            "box": np.array(self.place, np.float32),
            "discrete": row * SIZE + column,
            "late": row * SIZE + column + 7,
            "multi": np.array(self.place),
            "dict": {
                "place": np.array(self.place),
                "desired_goal": np.zeros(2, np.float32),
                "said": "hello",
            },
            "pair": (row, column),
            "text": "hello",
            "image": image,
        }[self.kind]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = tuple(int(i) for i in self.np_random.integers(1, SIZE - 1, 2))
        return self._observation(), {"moves": 0}

    def step(self, action):
        move = ((-1, 0), (0, 1), (1, 0), (0, -1))[action]
        self.place = tuple(
            int(np.clip(a + b, 0, SIZE - 1)) for a, b in zip(self.place, move, strict=True)
        )
        lost = self.ends_at is not None and self.place == self.ends_at
        return self._observation(), -3.0, lost, False, {"moves": 1}

    def render(self):
        return np.zeros((8, 8, 3), np.uint8)


def corner(observation, info, env):
    row, column = env.place
    if row in (0, SIZE - 1) and column in (0, SIZE - 1):
        return {"top": row == 0, "left": column == 0}
    return None


CORNERS = {"top": [True, False], "left": [True, False]}
MOVES = ["up", "right", "down", "left"]


def world(kind="discrete", **changes):
    given = {"among": CORNERS, "actions": MOVES, "max_episode_steps": 40, **changes}
    return ta.wrap(lambda: Square(kind), goals=corner, **given)


def planned(kind="discrete", **changes):
    """An agent that knows the ways, by arithmetic."""
    found = world(kind, **changes)
    rows, columns = np.array([[0, 0], [0, 4], [4, 0], [4, 4]]).T

    class Walker(ta.Reach):
        def returns(self, observations):
            row, column = np.divmod(np.asarray(observations), SIZE)
            moves = [(-1, 0), (0, 1), (1, 0), (0, -1)]
            ways = []
            for up, right in moves:
                r, c = np.clip(row + up, 0, 4), np.clip(column + right, 0, 4)
                ways.append(np.abs(r[:, None] - rows) + np.abs(c[:, None] - columns))
            return -0.025 * (1.0 + np.stack(ways, 2))

    return ta.from_reach(Walker(), found)


def test_goals_and_base_tasks_follow_from_predicates():
    found = world()
    assert found.space.goal_names == (
        "top left",
        "top not left",
        "not top left",
        "not top not left",
    )
    assert {name: task.desired.tolist() for name, task in found.tasks.items()} == {
        "top": [True, True, False, False],
        "left": [True, False, True, False],
    }
    assert found.space.action_names == tuple(MOVES)
    assert np.array_equal(found.goal_features, [[1, 1], [1, 0], [0, 1], [0, 0]])


def test_goals_are_found_by_acting_at_random_and_sorted():
    found = ta.wrap(Square, goals=corner)
    assert sorted(found.space.goal_names) == list(found.space.goal_names)
    assert len(found.space.goal_names) == 4


@pytest.mark.parametrize(
    ("among", "names", "tasks"),
    [
        (["a", "b"], ("a", "b"), {"a": (0,), "b": (1,)}),
        (
            {"colour": ["red", "blue"], "type": ["ball"]},
            ("red ball", "blue ball"),
            {"red": (0,), "ball": (0, 1), "blue": (1,)},
        ),
        ({"floor": [1, 2]}, ("floor 1", "floor 2"), {"floor 1": (0,), "floor 2": (1,)}),
        (
            {"cover": ["red", "blue"], "ink": ["red"]},
            ("red red", "blue red"),
            {"cover red": (0,), "ink red": (0, 1), "blue": (1,)},
        ),
    ],
)
def test_names_of_goals_and_tasks(among, names, tasks):
    found = goals_among(among)
    assert (found.names, found.base_tasks()) == (names, tasks)


@pytest.mark.parametrize("kind", ["box", "discrete", "late", "multi", "dict", "pair", "image"])
def test_every_space_of_observations_can_be_played(kind):
    found = world(kind)
    copies = found.vector(3, task=found.tasks["top"], max_episode_steps=40)
    observations, _ = copies.reset(seed=0)
    goals = []
    for _ in range(300):
        for one in np.asarray(observations):
            assert found.observation_space.contains(one)
        observations, rewards, terminated, _, infos = copies.step(copies.action_space.sample())
        ended = infos["goal"][terminated]
        goals += ended.tolist()
        assert rewards[terminated].tolist() == found.tasks["top"].goal_reward[ended].tolist()
        assert set(rewards[~terminated]) <= {0.0, -0.025}
    assert set(goals) == {0, 1, 2, 3}


def test_text_is_left_out_and_observations_without_numbers_are_refused():
    found = world("dict")
    assert found.observation_space.shape == (2 * SIZE,)  # neither text nor desired_goal
    with pytest.raises(ValueError, match=r"wrap\(\.\.\., observation=lambda"):
        world("text")


def test_parts_of_observations_can_be_chosen():
    chosen = world("dict", observation="desired_goal")
    assert chosen.observation_space.shape == (2,)
    both = world("dict", observation=["place", "desired_goal"])
    assert both.observation_space.shape == (2 * SIZE + 2,)
    own = world("text", observation=lambda observation, env: np.array(env.place, np.int64))
    assert own.observation_space.shape == (2,)
    with pytest.raises(ValueError, match="no part of the observations; these have"):
        world("dict", observation="plaice")
    with pytest.raises(ValueError, match="are no Dict"):
        world("box", observation="place")
    with pytest.raises(ValueError, match="expected an array of numbers"):
        world("text", observation=lambda observation, env: "no")
    with pytest.raises(TypeError, match="must take"):
        world("text", observation=lambda observation: np.zeros(2))


@pytest.mark.parametrize("kind", ["discrete", "late"])
def test_agents_take_observations_of_the_environment_and_give_its_actions(kind):
    skills = planned(kind, actions={"left": 3, "down": 2, "right": 1, "up": 0})
    moves = {"left": 3, "down": 2, "right": 1, "up": 0}
    assert skills.space.action_names == tuple(moves)
    agent = planned(kind)["top & left"]
    env = Square(kind)
    observation, _ = env.reset(seed=3)
    for _ in range(10):
        if corner(observation, {}, env):
            break
        observation, *_ = env.step(agent.act(observation))
    assert env.place == (0, 0)


def test_actions_by_name_are_the_environments_own():
    found = world(actions={"down": 2, "up": 0})
    env = found.vector(1, task=found.tasks["top"])
    before = env.reset(seed=1)[0][0]
    assert env.step([1])[0][0] == before - SIZE
    assert found.own_actions(0) == 2
    assert found.own_actions(np.array([0, 1, 1])).tolist() == [2, 0, 0]


def test_an_agent_plays_the_real_environment_with_its_wrappers():
    agent = planned()["top ^ left"]
    env = gym.wrappers.RecordEpisodeStatistics(Square("discrete"))
    result = agent.play(env, episodes=20, seed=5)
    assert result.success_rate == 1.0 and result.episodes == 20
    assert env.episode_count == 0 or env.episode_count <= 20
    expected = agent.evaluate(20, seed=5)
    assert result.mean_steps == expected.mean_steps
    assert agent.play(episodes=3).success_rate == 1.0


def test_an_agent_plays_a_vector_environment():
    agent = planned()["top & ~left"]
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        copies = SyncVectorEnv([lambda: Square("discrete")] * 4, autoreset_mode=mode)
        assert agent.play(copies, episodes=10).success_rate == 1.0


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_vectors_and_single_environments_give_the_same_episodes(mode):
    def make(n):
        return SyncVectorEnv([lambda: Square("discrete")] * n, autoreset_mode=mode)

    one = planned()
    many = ta.wrap(make, goals=corner, among=CORNERS, actions=MOVES, max_episode_steps=40)
    assert many.space.goal_names == one.space.goal_names
    skills = ta.from_reach(one.family.reach, many)
    for text in ("top", "top & left", "~top & ~left"):
        assert skills[text].evaluate(30, seed=4) == one[text].evaluate(30, seed=4)


def test_an_end_without_a_label_needs_a_name():
    def make():
        env = Square("discrete")
        env.ends_at = (2, 0)
        return env

    found = ta.wrap(make, goals=corner, among=CORNERS)
    copies = found.vector(4, task=found.tasks["top"])
    copies.reset(seed=0)
    copies.action_space.seed(0)
    with pytest.raises(ValueError, match=r'wrap\(\.\.\., elsewhere="lost"\)'):
        for _ in range(1000):
            copies.step(copies.action_space.sample())
    found = ta.wrap(make, goals=corner, among=CORNERS, elsewhere="pit")
    assert found.space.goal_names[-1] == "pit"
    assert np.unique(found.goal_features, axis=0).shape[0] == 5
    for text in ("~top", "~top & ~left", "true", "top"):
        task = found.find_task(text)
        assert not task.desired[-1] and task.desired[:-1].any()
        assert task.goal_reward[-1] == found.space.r_empty[-1]


def test_an_action_is_held_until_a_goal_is_reached():
    found = world(hold=3, max_episode_steps=30)
    assert found.max_episode_steps == 10
    env = found.vector(1, task=found.tasks["top"])
    env.reset(seed=0)
    env.unwrapped.envs[0].unwrapped.place = (4, 2)
    observations, _, terminated, *_ = env.step([1])
    assert observations[0] == 4 * SIZE + 4 and terminated[0]


def test_the_step_limit_is_the_environments_own():
    gym.register("Square-v0", Square, max_episode_steps=17, kwargs={"kind": "discrete"})
    try:
        found = ta.wrap("Square-v0", goals=corner, among=CORNERS)
        assert found.max_episode_steps == 17
        assert ta.wrap(gym.make("Square-v0"), goals=corner, among=CORNERS).max_episode_steps == 17
        assert ta.wrap(gym.spec("Square-v0"), goals=corner, among=CORNERS).max_episode_steps == 17
        assert found.rules.step_reward == -1 / 17
        assert found.make(render_mode="rgb_array").render_mode == "rgb_array"
    finally:
        del gym.registry["Square-v0"]


@pytest.mark.parametrize(
    ("step_reward", "paid", "r_universal"),
    [(None, -0.025, 2.0), (-1, -1.0, 41.0), ("environment", -3.0, 121.0)],
)
def test_every_wanted_goal_is_worth_the_way(step_reward, paid, r_universal):
    found = world(step_reward=step_reward)
    assert found.space.r_universal.tolist() == [r_universal] * 4
    env = found.vector(1, task=found.tasks["top"])
    env.reset(seed=0)
    assert env.step([0])[1][0] == paid


WRONG = {
    "no label": (lambda: ta.wrap(Square, goals=5), "must be a label"),
    "no environment": (lambda: ta.wrap(5, goals=corner), "cannot wrap 5"),
    "unknown name": (lambda: ta.wrap("CartPool-v1", goals=corner), "Did you mean 'CartPole-v1'"),
    "a vector": (
        lambda: ta.wrap(SyncVectorEnv([Square] * 2), goals=corner),
        "a function of n that makes one",
    ),
    "never fires": (lambda: ta.wrap(Square, goals=lambda *_: None), "gave no goal in 20,000"),
    "a number": (lambda: ta.wrap(Square, goals=lambda *_: 3), "expected the name of a goal"),
    "an empty name": (lambda: ta.wrap(Square, goals=lambda *_: ""), "expected the name of a goal"),
    "a list as a value": (
        lambda: ta.wrap(Square, goals=lambda *_: {"colour": ["red"]}),
        "expected a word, True or False",
    ),
    "different predicates": (
        lambda: ta.wrap(Square, goals=lambda o, i, e: {"a": 1} if e.place[0] else {"b": 1}),
        "give every goal all predicates",
    ),
    "no goals": (lambda: world(among=[]), "among is empty"),
    "no values": (lambda: world(among={"top": []}), "has no values"),
    "a word as values": (lambda: world(among={"top": "yes"}), "a list of its values"),
    "a word as goals": (lambda: world(among="top"), "the names of all goals"),
    "twice": (lambda: world(among=["a", "a"]), "two goals are named 'a'"),
    "too many": (
        lambda: world(among={k: range(100) for k in "abc"}),
        "1,000,000 goals, expected 1 to 10,000",
    ),
    "unknown action": (lambda: world(actions={"fly": 9}), "'fly' is 9, which is not in Discrete"),
    "no action": (lambda: world(actions={}), "actions is empty"),
    "too few names": (lambda: world(actions=["up"]), "1 action names for 4 actions"),
    "hold": (lambda: world(hold=0), "hold is 0"),
    "paid steps": (lambda: world(step_reward=1.0), "expected a cost"),
    "step reward": (lambda: world(step_reward="free"), "a number or 'environment'"),
    "shown": (lambda: world(shown="goal"), "expected 'observation' or"),
    "shown some": (lambda: world(shown={"top left": [1]}), "shown has nothing for"),
    "limit": (lambda: world(max_episode_steps=0), "max_episode_steps is 0"),
    "elsewhere": (lambda: world(elsewhere="top left"), "is a goal of the label"),
    "function": (lambda: ta.wrap(lambda: 5, goals=corner), "the function returned 5"),
    "tasks": (lambda: world(tasks={"top": ["nowhere"]}), "unknown goal 'nowhere'"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said(what):
    act, words = WRONG[what]
    with pytest.raises((TypeError, ValueError), match=words.replace("(", r"\(")):
        act()


def test_a_goal_that_was_not_named_is_said_when_it_is_met():
    found = ta.wrap(lambda: Square("discrete"), goals=corner, among=[{"top": True, "left": True}])
    copies = found.vector(4, task=found.space.universal)
    copies.reset(seed=0)
    with pytest.raises(ValueError, match=r"none of the goals top left; give all goals with wrap"):
        for _ in range(1000):
            copies.step(copies.action_space.sample())


def test_another_environment_is_not_attached():
    with pytest.raises(ValueError, match="give an environment of the same kind"):
        planned()["top"].play(gym.make("CartPole-v1"))
    with pytest.raises(TypeError, match="was not taken from an environment"):
        ta.solve(ta.FourRooms())["top"].play(gym.make("CartPole-v1"))


def test_a_world_that_looks_at_the_environment_needs_it_to_act():
    found = world("text", observation=lambda observation, env: np.array(env.place, np.int64))

    class Walker(ta.DirectedReach):
        def values(self, observations):
            return -0.025 * np.ones((len(observations), 4))

        def act(self, observations, goal):
            return np.zeros(len(observations), int)

    agent = ta.from_reach(Walker(), found)["top"]
    env = Square("text")
    observation, _ = env.reset(seed=0)
    with pytest.raises(ValueError, match=r"agent.act\(observation, env\)"):
        agent.act(observation)
    assert agent.act(observation, env) == 0


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_steps_end_in_the_last_observation_of_an_episode_in_every_mode(mode):
    def make(n):
        return SyncVectorEnv([lambda: Square("discrete")] * n, autoreset_mode=mode)

    if mode == AutoresetMode.DISABLED:
        copies = make(3)
        labelled = LabelledVector(copies, world().rules)
    else:
        found = ta.wrap(make, goals=corner, among=CORNERS, actions=MOVES)
        labelled = found.vector(3, task=found.space.universal)
    rng, ends = np.random.default_rng(0), 0
    observations, _ = labelled.reset(seed=0)
    before = np.array(observations)
    for step in islice(rollout(labelled, observations, lambda _: rng.integers(0, 4, 3)), 200):
        for i in np.flatnonzero(~step.resets):
            row, column = divmod(int(before[i]), SIZE)
            up, right = ((-1, 0), (0, 1), (1, 0), (0, -1))[step.actions[i]]
            expected = np.clip(row + up, 0, 4) * SIZE + np.clip(column + right, 0, 4)
            assert step.next_observations[i] == expected
            assert (step.goals[i] >= 0) == (expected in (0, 4, 20, 24))
        ends += int((step.goals >= 0).sum())
        before = np.array(step.observations)
    assert ends > 10


def test_copies_that_reset_at_once_are_cut_off_and_learned_from_alike():
    """A limit of 5 steps: episodes have at most 5, and each ends in its own last observation."""

    def make(n):
        mode = AutoresetMode.SAME_STEP
        return SyncVectorEnv([lambda: Square("discrete")] * n, autoreset_mode=mode)

    found = ta.wrap(make, goals=corner, among=CORNERS, actions=MOVES)
    copies = found.vector(4, task=found.tasks["top"], max_episode_steps=5)
    rng, lengths, length = np.random.default_rng(1), [], np.zeros(4, int)
    observations, _ = copies.reset(seed=0)
    before = np.array(observations)
    for step in islice(rollout(copies, observations, lambda _: rng.integers(0, 4, 4)), 300):
        length += 1
        for i in range(4):
            row, column = divmod(int(before[i]), SIZE)
            up, right = ((-1, 0), (0, 1), (1, 0), (0, -1))[step.actions[i]]
            expected = np.clip(row + up, 0, 4) * SIZE + np.clip(column + right, 0, 4)
            assert step.next_observations[i] == expected
            if step.ended[i]:
                assert 1 <= step.observations[i] // SIZE <= 3  # where episodes begin
        lengths += length[step.ended].tolist()
        length[step.ended] = 0
        before = np.array(step.observations)
    assert max(lengths) == 5 and len(set(lengths)) > 1


def test_an_agent_is_filmed_while_it_plays(tmp_path):
    square = Square("discrete", render_mode="rgb_array")
    square.metadata = {**square.metadata, "render_fps": 4}
    env = gym.wrappers.RecordVideo(square, str(tmp_path / "films"), episode_trigger=lambda _: True)
    assert planned()["top ^ left"].play(env, episodes=3).success_rate == 1.0
    env.close()
    films = sorted((tmp_path / "films").glob("*.mp4"))
    assert len(films) == 3 and all(film.stat().st_size > 500 for film in films)


class Corridor(gym.Env):
    """Five places in a row; episodes begin in the middle and end at both ends."""

    observation_space = gym.spaces.Box(0, 4, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)
    last_reward = -1.0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 2
        return np.array([2], np.float32), {}

    def step(self, action):
        self.place += 1 if action else -1
        seen, over = np.array([self.place], np.float32), self.place in (0, 4)
        info = {"inner": {"place": self.place}}
        return seen, self.last_reward if over else -1.0, over, False, info


ENDS = {0: "west", 4: "east"}


def at_an_end(observation, info, env):
    return ENDS.get(int(observation[0]))


def _ended(world, n_steps=2):
    copies = world.vector(2, task=world.space.universal)
    copies.reset(seed=0)
    for _ in range(n_steps):
        found = copies.step(np.array([0, 1]))
    return found


def at_once(n):
    return SyncVectorEnv([Corridor] * n, autoreset_mode=AutoresetMode.SAME_STEP)


def test_a_label_never_looks_at_an_episode_that_has_just_begun():
    """The copies are back in the middle when the label is asked about their ends."""

    def by_env(observation, info, env):
        return {**ENDS, 2: "middle"}.get(env.place)

    world = ta.wrap(at_once, goals=by_env, among=["west", "east", "middle"])
    with pytest.raises(ValueError, match=r"looks at env\.place at the end of an episode"):
        _ended(world)


def test_an_observation_never_looks_at_an_episode_that_has_just_begun():
    def seen(observation, env):
        return np.array([env.place], np.float32)

    world = ta.wrap(at_once, goals=at_an_end, observation=seen)
    with pytest.raises(ValueError, match=r"looks at env\.place at the end of an episode"):
        _ended(world)

    def nearby(observation, info, env):  # where the environment goes on
        return {1: "west", 3: "east"}.get(int(observation[0]))

    *_, infos = _ended(ta.wrap(at_once, goals=nearby, observation=seen), 1)
    assert [int(one[0]) for one in infos["final_obs"]] == [1, 3]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_a_label_reads_the_same_info_in_a_vector(mode):
    def by_info(observation, info, env):
        return ENDS.get(info["inner"]["place"])

    def make(n):
        return SyncVectorEnv([Corridor] * n, autoreset_mode=mode)

    *_, infos = _ended(ta.wrap(make, goals=by_info, among=["west", "east"]))
    assert infos["goal"].tolist() == [0, 1]


def by_place(observation, info, env):
    """The corners, by what is observed."""
    row, column = divmod(int(observation), SIZE)
    if row in (0, SIZE - 1) and column in (0, SIZE - 1):
        return {"top": row == 0, "left": column == 0}
    return None


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_copies_in_other_processes_give_the_same_episodes(mode):
    def make(n):
        limited = [lambda: gym.wrappers.TimeLimit(Square("discrete"), 40)] * n
        return AsyncVectorEnv(limited, autoreset_mode=mode)

    one = planned()
    far = ta.wrap(make, goals=by_place, actions=MOVES, max_episode_steps=40)
    assert sorted(far.space.goal_names) == sorted(one.space.goal_names)
    far = ta.wrap(make, goals=by_place, among=CORNERS, actions=MOVES, max_episode_steps=40)
    skills = ta.from_reach(one.family.reach, far)
    for text in ("top", "~top & ~left"):
        assert skills[text].evaluate(20, seed=4) == one[text].evaluate(20, seed=4)
    assert skills["top & left"].play(episodes=3).success_rate == 1.0  # one copy, that is made
    copies = make(3)
    assert skills["top & left"].play(copies, episodes=5).success_rate == 1.0
    copies.close()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_copies_in_other_processes_keep_their_limit_and_are_learned_from():
    def make(n):
        return AsyncVectorEnv([lambda: gym.make("FrozenLake-v1", is_slippery=False)] * n)

    lake = ta.wrap(make, goals=on_lake, elsewhere="hole")
    assert lake.max_episode_steps == 100
    skills = ta.learn(lake, learner=ta.QLearning(steps=4_000))
    assert skills["gift"].evaluate(5).success_rate == 1.0

    def by_env(observation, info, env):
        return "gift" if env.s == 15 else None

    with pytest.raises(ValueError, match=r"looks at env\.s, but the copies .* not in this process"):
        ta.wrap(make, goals=by_env)


def on_lake(observation, info, env):
    return "gift" if observation == 15 else None


class Wanted(ta.GoalLabel):
    """A corner, in an environment that ends in the middle for reasons of its own."""

    among = ["left", "right"]  # noqa: RUF012

    def __call__(self, observation, info, env):
        return {0: "left", SIZE - 1: "right"}.get(int(observation) % SIZE)

    def goes_on(self, observation):
        return int(observation) == 2 * SIZE + 2


def test_a_label_may_know_its_goals_and_which_ends_are_none():
    def make():
        env = Square("discrete")
        env.ends_at = (2, 2)
        return env

    known = ta.wrap(make, goals=Wanted(), max_episode_steps=40)
    assert known.space.goal_names == ("left", "right")
    copies = known.vector(1, task=known.space.universal)
    n_ended = 0
    for seed in range(8):
        observations, _ = copies.reset(seed=seed)
        towards = 2 if observations[0] // SIZE < 2 else 0
        for action in [towards, towards, 1, 1, 1]:
            _, _, terminated, _, infos = copies.step(np.array([action]))
            n_ended += bool(terminated[0] and infos["goal"][0] == 1)
            if terminated[0]:
                break
    assert n_ended == 8

    class Silent(Wanted):
        def goes_on(self, observation):
            return False

    strict = ta.wrap(make, goals=Silent(), max_episode_steps=40).rules
    assert known.rules.goal(12, {}, None, True) == -1
    with pytest.raises(ValueError, match="ended an episode where the label names no goal"):
        strict.goal(12, {}, None, True)
    with pytest.raises(TypeError, match="abstract"):
        type("Mute", (ta.GoalLabel,), {"among": ["a"]})()


def test_what_the_environment_pays_at_an_end_is_no_cost_of_a_step():
    class Crash(Corridor):
        last_reward = -100.0

    world = ta.wrap(Crash, goals=at_an_end, step_reward="environment", max_episode_steps=20)
    assert world.space.r_universal.tolist() == [21.0, 21.0]


def test_the_order_of_predicates_does_not_matter():
    def either_way(observation, info, env):
        if not at_an_end(observation, info, env):
            return None
        big = {"big": True}
        return {"side": "an end", **big} if observation[0] else {**big, "side": "an end"}

    assert len(ta.wrap(Corridor, goals=either_way).space.goal_names) == 1
    among = {"side": ["an end", "the middle"], "big": [True, False]}
    world = ta.wrap(Corridor, goals=either_way, among=among)
    assert _ended(world)[4]["goal"].tolist() == [0, 0]


def test_an_environment_with_a_wrapper_of_ones_own_is_copied():
    class Renamed(gym.ObservationWrapper):
        def observation(self, observation):
            return observation + 1

    env = Renamed(gym.make("CartPole-v1"))
    world = ta.wrap(env, goals=lambda o, i, e: None, among=["there"], elsewhere="fallen")
    copies = world.vector(1, task=world.space.universal)
    assert copies.reset(seed=0)[0].min() > 0.5


def test_a_task_cannot_want_only_what_no_task_wants():
    with pytest.raises(ValueError, match="selects lost, which no task can want"):
        ta.wrap(Corridor, goals=at_an_end, elsewhere="lost", tasks={"out": ["lost"]})


def test_goals_are_looked_for_in_episodes_as_long_as_the_limit():
    """Where nothing else ends an episode, most end in a trap, and goals behind it are found."""

    class Trap(Corridor):
        def reset(self, *, seed=None, options=None):
            self.stuck = False
            return super().reset(seed=seed)

        def step(self, action):
            self.stuck = self.stuck or self.np_random.random() < 0.2
            if self.stuck:
                return np.array([self.place], np.float32), -1.0, False, False, {}
            return super().step(action)

    world = ta.wrap(Trap, goals=at_an_end, max_episode_steps=20)
    assert world.space.goal_names == ("east", "west")


def test_an_agent_acts_on_the_observations_of_a_vector_environment():
    found = world("pair", hold=2)

    class Walker(ta.DirectedReach):
        def values(self, observations):
            return -0.025 * np.ones((len(observations), 4))

        def act(self, observations, goal):
            return np.asarray(observations)[:, 0].astype(int)

    agent = ta.from_reach(Walker(), found)["top"]
    copies = SyncVectorEnv([lambda: Square("pair")] * 3)
    observations, _ = copies.reset(seed=1)
    rows = [env.unwrapped.place[0] for env in copies.envs]
    assert agent.act(observations, copies).tolist() == [int(row == 0) for row in rows]
