"""Functions of a user's own as skills: values of actions, or values and a way to every goal."""

import gymnasium as gym
import numpy as np
import pytest

import taskalgebra as ta

PLACES = np.array([[-0.8, 0.0], [0.8, 0.0], [0.0, 0.8]])
NAMES = ["west", "east", "north"]
MOVES = {"left": [-0.1, 0], "right": [0.1, 0], "down": [0, -0.1], "up": [0, 0.1]}


class Field(gym.Env):
    """A point that moves by its action."""

    observation_space = gym.spaces.Box(-1, 1, (2,), np.float64)
    action_space = gym.spaces.Box(-0.1, 0.1, (2,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = self.np_random.uniform(-0.5, 0.5, 2)
        return self.at.copy(), {}

    def step(self, action):
        self.at = np.clip(self.at + np.clip(action, -0.1, 0.1), -1, 1)
        return self.at.copy(), -0.1, False, False, {}


def label(observation, info, env):
    near = np.abs(PLACES - observation).max(axis=1) < 0.1
    return NAMES[int(np.argmax(near))] if near.any() else None


def world(**changes):
    tasks = {"side": ["west", "east"], "positive": ["east", "north"]}
    return ta.wrap(Field, label, among=NAMES, tasks=tasks, max_episode_steps=60, **changes)


def distance(observations, goal):
    return -0.1 * np.abs(observations - PLACES[goal]).sum(axis=1)


def walk(observations, goal):
    return np.clip(PLACES[goal] - observations, -0.1, 0.1)


def q(observations, goal):
    moved = np.asarray(observations)[:, None] + np.array(list(MOVES.values()))
    return -0.1 * np.abs(moved - PLACES[goal]).sum(axis=2)


def test_a_script_that_walks_to_each_goal_composes_with_continuous_actions():
    skills = ta.from_policy(world(), values=distance, act=walk)
    for expression, wanted in {"side & ~positive": 0, "side ^ positive": None, "~side": 2}.items():
        found = skills[expression].evaluate(50, seed=0)
        assert found.success_rate == 1.0, expression
        if wanted is not None:
            at = np.array([0.3, 0.1])
            np.testing.assert_array_equal(skills[expression].act(at), walk(at[None], wanted)[0])
    assert skills["side"].play(Field(), 5).success_rate == 1.0


def test_values_of_numbered_actions_compose():
    named = world(actions={name: np.array(move) for name, move in MOVES.items()})
    skills = ta.from_values(q, named)
    for expression in ("side & ~positive", "side ^ positive", "~side"):
        assert skills[expression].evaluate(50, seed=0).success_rate == 1.0, expression
    action = skills["~side"].act(np.array([0.0, 0.0]))
    np.testing.assert_array_equal(action, MOVES["up"])


def test_values_of_all_goals_at_once_are_the_same_skills():
    named = world(actions={name: np.array(move) for name, move in MOVES.items()})
    seen = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    each = ta.from_values(q, named)
    at_once = ta.from_values(lambda o: np.stack([q(o, g) for g in range(3)], axis=1), named)
    np.testing.assert_array_equal(each["~side"].q_bar(seen), at_once["~side"].q_bar(seen))
    open_world = world()
    each = ta.from_policy(open_world, values=distance, act=walk)
    at_once = ta.from_policy(
        open_world, values=lambda o: np.stack([distance(o, g) for g in range(3)], 1), act=walk
    )
    np.testing.assert_array_equal(each["~side"].q_bar(seen), at_once["~side"].q_bar(seen))


def test_tensors_are_taken_as_they_come_from_a_network():
    torch = pytest.importorskip("torch")
    named = world(actions={name: np.array(move) for name, move in MOVES.items()})

    def critic(observations, goal):
        return torch.as_tensor(q(observations, goal)).requires_grad_() * 1.0

    seen = np.zeros((2, 2))
    expected = ta.from_values(q, named)["side"].q_bar(seen)
    np.testing.assert_allclose(ta.from_values(critic, named)["side"].q_bar(seen), expected)


def test_functions_are_passed_again_when_skills_are_loaded(tmp_path):
    field = world()
    ta.from_policy(field, values=distance, act=walk).save(tmp_path / "walk")
    again = ta.load(
        tmp_path / "walk", field, reach=ta.from_policy(field, values=distance, act=walk)
    )
    assert again["~side"].evaluate(10).success_rate == 1.0
    with pytest.raises(ta.StoreError, match="code of your own"):
        ta.load(tmp_path / "walk", field)
    with pytest.raises(ta.StoreError, match="code of your own"):
        ta.load(tmp_path / "walk", field, reach=ta.solve(ta.FourRooms()))


class Compass(ta.OfferedReach):
    """Offers the four moves, in another order in each half of the field."""

    def offers(self, observations):
        moves = np.array(list(MOVES.values()))
        return np.stack([moves if at[0] < 0 else moves[::-1] for at in observations])

    def returns(self, observations):
        moved = np.asarray(observations)[:, None] + self.offers(observations)
        apart = np.abs(moved[:, None] - PLACES[:, None]).sum(axis=3)
        return -0.1 * apart


def test_the_action_on_offer_that_is_worth_most_is_handed_out():
    skills = ta.from_reach(Compass(), world())
    np.testing.assert_array_equal(skills["~side"].act(np.array([0.05, 0.0])), MOVES["up"])
    np.testing.assert_array_equal(skills["~side"].act(np.array([-0.05, 0.0])), MOVES["up"])
    for expression in ("side & ~positive", "side ^ positive", "~side"):
        assert skills[expression].evaluate(50, seed=0).success_rate == 1.0
    assert skills.by_goal_set("~side").evaluate(10).success_rate == 1.0


def test_offers_that_do_not_fit_the_returns_are_told_in_a_sentence():
    class Short(Compass):
        def offers(self, observations):
            return np.zeros((len(observations), 3, 2))

        def returns(self, observations):
            return np.zeros((len(observations), 3, 4))

    with pytest.raises(ValueError, match=r"Short.offers gave an array of shape \(1, 3, 2\)"):
        ta.from_reach(Short(), world())["side"].act(np.zeros(2))


WRONG = {
    "q of continuous actions": (lambda w: ta.from_values(q, w), ValueError, "not numbered.*wrap"),
    "q is a number": (lambda w: ta.from_values(3, FOUR), TypeError, "q must be a function"),
    "q takes three": (lambda w: ta.from_values(lambda a, b, c: 0, FOUR), TypeError, "called as q"),
    "q takes nothing": (lambda w: ta.from_values(lambda: 0, FOUR), TypeError, "called as q"),
    "q gives too little": (
        lambda w: ta.from_values(lambda o, g: np.zeros(len(o)), FOUR)["top"].act(3),
        ValueError,
        r"q\(observations, 0\) gave an array of shape \(1,\)",
    ),
    "q gives other goals": (
        lambda w: ta.from_values(lambda o: np.zeros((len(o), 2, 5)), FOUR)["top"].act(3),
        ValueError,
        "G = 4",
    ),
    "q gives other actions": (
        lambda w: ta.from_values(lambda o, g: np.zeros((len(o), 3)), FOUR)["top"].act(3),
        ValueError,
        "3 actions, the world has 5",
    ),
    "q gives NaN": (
        lambda w: ta.from_values(lambda o, g: np.full((len(o), 5), np.nan), FOUR)["top"].act(3),
        ValueError,
        "NaN",
    ),
    "q gives words": (
        lambda w: ta.from_values(lambda o, g: "far", FOUR)["top"].act(3),
        ValueError,
        "what q returned must hold numbers",
    ),
    "act is none": (
        lambda w: ta.from_policy(w, values=distance, act=None),
        TypeError,
        "act must be a function",
    ),
    "act takes no goal": (
        lambda w: ta.from_policy(w, values=distance, act=lambda o: o),
        TypeError,
        r"act\(observations, goal\)",
    ),
    "values are per action": (
        lambda w: ta.from_policy(w, values=q, act=walk)["side"].act(np.zeros(2)),
        ValueError,
        r"expected \[B\]",
    ),
    "too few actions": (
        lambda w: ta.from_policy(w, values=distance, act=lambda o, g: [])["side"].act(np.zeros(2)),
        ValueError,
        "one action each",
    ),
    "no world": (lambda w: ta.from_values(q, gym.make("CartPole-v1")), TypeError, "names no goals"),
    "learning continuous actions": (lambda w: ta.learn(w), ValueError, r"actions=\{name: action\}"),
}
FOUR = ta.FourRooms()


@pytest.mark.parametrize("case", WRONG)
def test_wrong_uses_are_told_in_a_sentence(case):
    use, kind, words = WRONG[case]
    with pytest.raises(kind, match=words):
        use(world())
