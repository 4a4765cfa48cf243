"""Wrong inputs of every kind at the public doors: each is refused in words that help."""

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete
from gymnasium.vector import SyncVectorEnv

import taskalgebra as ta

ROOMS = ta.FourRooms()
SKILLS = ta.solve(ROOMS)
LAKE = gymnasium.make("CliffWalking-v1")
CORRIDOR = ta.from_text("A..B")
SPACE = ta.TaskSpace(CORRIDOR)
BASE = {"a": ["A"]}
STEPS = np.array([[1], [1]])  # from_arrays: one step to the goal


class Line(gymnasium.Env):
    """Cells 0 to 4 with a goal at either end; `change` spoils what a step returns."""

    observation_space, action_space = Discrete(5), Discrete(2)

    def __init__(self, change=lambda *step: step, actions=None):
        self.change = change
        if actions is not None:
            self.action_space = actions

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(1, 4))
        return self.at, {}

    def step(self, action):
        self.at += 1 if action else -1
        ended = self.at in (0, 4)
        info = {"goal": int(self.at == 4) if ended else -1}
        self.at = min(max(self.at, 0), 4)
        return self.change(self.at, -0.1, ended, False, info)


def line(change=lambda *step: step, actions=None, limit=20):
    def make(n):
        return SyncVectorEnv([lambda: Line(change, actions)] * n)

    return ta.OpenEnv(make, ["left", "right"], {"l": ["left"]}, max_episode_steps=limit)


def learned(change, limit=20):
    return ta.learn(line(change, limit=limit), learner=ta.QLearning(steps=400))


def paying(reward):
    return lambda at, _, ended, cut, info: (at, reward, ended, cut, info)


class Foreign:
    """A learner that learns other tasks than it was asked to."""

    def learn(self, env, tasks, *, seed, folder, listener):
        return ta.plan(env.space, {"other": env.space.task(["B"])})


def tables(**words):
    shape = (CORRIDOR.n_states, 2, 5)
    given = {"r_bar_min": -1.0, "error_bound": None, **words}
    return ta.TableFamily.of(SPACE, {}, [np.zeros(shape)] * 2, **given)


class OddReach(ta.Reach):
    """Returns that are complex numbers."""

    def returns(self, observations):
        return np.full((len(observations), 2, 5), 3 + 4j)


WELCOME, NUMBERS, TRUTH = (
    "wrong goal would be welcome",
    "must hold numbers",
    "expected True or False",
)
REFUSED = {
    # a penalty that is none
    "tables": (lambda: ta.learn(ROOMS, learner=ta.QLearning(r_bar_min=1.9)), ValueError, WELCOME),
    "few steps": (lambda: ta.learn(ROOMS, learner=ta.FewSteps(r_bar_min=1.9)), ValueError, WELCOME),
    "open": (lambda: ta.learn(line(), learner=ta.QLearning(r_bar_min=1.9)), ValueError, WELCOME),
    "plan": (lambda: ta.plan(SPACE, [], r_bar_min=1.9), ValueError, WELCOME),
    "solve": (lambda: ta.solve(SPACE, BASE, r_bar_min=1.9), ValueError, WELCOME),
    # tolerances
    "tolerance inf": (lambda: ta.solve(SPACE, BASE, tolerance=np.inf), ValueError, "tolerance is"),
    "tolerance 1e9": (lambda: ta.solve(SPACE, BASE, tolerance=1e9), ValueError, "at most"),
    "tolerance text": (lambda: ta.solve(SPACE, BASE, tolerance="1"), ValueError, "tolerance is"),
    "tolerance true": (lambda: ta.optimal_v(SPACE.empty, tolerance=True), ValueError, "tolerance"),
    # flags
    "dense": (lambda: ta.FourRooms(dense="no"), ValueError, TRUTH),
    "absorbing": (lambda: ta.FourRooms(shared_absorbing="no"), ValueError, TRUTH),
    "absorbing 0": (lambda: ta.FiniteEnv(SPACE, shared_absorbing=0), ValueError, TRUTH),
    "replay": (lambda: ta.Ideas(replay="no"), ValueError, TRUTH),
    "categorical": (lambda: ta.DeepSettings(categorical="no"), ValueError, TRUTH),
    "annealed": (lambda: ta.DeepSettings(annealed=None), ValueError, TRUTH),
    # what is no number
    "step text": (lambda: ta.from_text("A.", step_reward="-0.1"), ValueError, NUMBERS),
    "step bytes": (lambda: ta.from_text("A.", step_reward=b"1"), ValueError, NUMBERS),
    "step true": (lambda: ta.from_text("A.", step_reward=True), ValueError, NUMBERS),
    "step complex": (lambda: ta.from_text("A.", step_reward=1j), ValueError, NUMBERS),
    "slip text": (lambda: ta.from_text("A.", slip_probability="0.1"), ValueError, "in [0, 1]"),
    "slip true": (lambda: ta.from_text("A.", slip_probability=True), ValueError, "in [0, 1]"),
    "low text": (lambda: ta.TaskSpace(CORRIDOR, r_empty="-3"), ValueError, NUMBERS),
    "high true": (lambda: ta.TaskSpace(CORRIDOR, r_universal=True), ValueError, NUMBERS),
    "high complex": (lambda: ta.TaskSpace(CORRIDOR, r_universal=3 + 4j), ValueError, NUMBERS),
    "penalty text": (
        lambda: ta.solve(SPACE, BASE, r_bar_min="-3"),
        ValueError,
        "r_bar_min is '-3'",
    ),
    "penalty true": (lambda: ta.QLearning(r_bar_min=True), ValueError, "r_bar_min is True"),
    "penalty bytes": (lambda: ta.FewSteps(r_bar_min=b"-3"), ValueError, "r_bar_min is b'-3'"),
    "cost text": (lambda: ta.from_gymnasium(LAKE, step_cost="0.1"), ValueError, NUMBERS),
    "rewards text": (lambda: SPACE.from_rewards(["1", "1"]), ValueError, NUMBERS),
    "rewards complex": (lambda: SPACE.from_rewards([1j, 1]), ValueError, NUMBERS),
    "rewards mixed": (
        lambda: SPACE.from_rewards(np.array([1, "1"], object)),
        ValueError,
        NUMBERS,
    ),
    "goal rewards": (
        lambda: ta.from_arrays(STEPS, -1, [1], goal_reward=["1"]),
        ValueError,
        NUMBERS,
    ),
    "complex returns": (
        lambda: ta.from_reach(OddReach(), SPACE, BASE)["a"].act(0),
        ValueError,
        "not numbers",
    ),
    "alpha true": (lambda: ta.Settings(learning_rate=True), ValueError, "in [0, 1]"),
    "epsilon none": (lambda: ta.Settings(epsilon=None), ValueError, "in [0, 1]"),
    "rate text": (lambda: ta.DeepSettings(learning_rate="1e-3"), ValueError, "a positive number"),
    "rate true": (lambda: ta.DeepSettings(learning_rate=True), ValueError, "a positive number"),
    "tau text": (lambda: ta.DeepSettings(tau="0.1"), ValueError, "in [0, 1]"),
    "v_min text": (lambda: ta.DeepSettings(v_min="-1"), ValueError, "v_min is '-1'"),
    "v_min above": (lambda: ta.DeepSettings(v_min=2.0, v_max=1.0), ValueError, "is not below"),
    "spacing 0": (lambda: ta.DeepSettings(spacing=0), ValueError, "a positive number"),
    "family nan": (lambda: tables(r_bar_min=np.nan), ValueError, "r_bar_min is nan"),
    "family text": (lambda: tables(r_bar_min="x"), ValueError, "r_bar_min is 'x'"),
    "error text": (lambda: tables(error_bound="x"), ValueError, "error_bound is 'x'"),
    "error below 0": (lambda: tables(error_bound=-1), ValueError, "error_bound is -1"),
    "rooms none": (lambda: ta.FourRooms(r_universal=None), ValueError, "r_universal is None"),
    "rooms text": (lambda: ta.FourRooms(r_empty="0"), ValueError, "r_empty is '0'"),
    # one thing in another's place
    "goal names": (
        lambda: ta.from_arrays([[1], [2], [2]], -1, [1, 2], goal_names="we"),
        TypeError,
        "expected a list of names",
    ),
    "world": (lambda: ta.FiniteEnv(CORRIDOR), TypeError, "TaskSpace(world)"),
    "goals": (lambda: ta.FiniteEnv(SPACE, {"x": ["A"]}), TypeError, "space.task(['A'])"),
    "tasks": (lambda: ta.FiniteEnv(SPACE, ["x"]), TypeError, "{name: task}"),
    "a bare task": (lambda: ta.solve(SPACE, [SPACE.empty]), ValueError, "{name: task}"),
    "no goals": (lambda: SPACE.task(None), ValueError, "a list of goals"),
    "half goals": (lambda: SPACE.task(1.5), ValueError, "a list of goals"),
    "labels": (lambda: SPACE.from_labels([0, 1]), TypeError, "must be a Mapping"),
    "listener": (lambda: SKILLS["top"].evaluate(listener=3), TypeError, "listener must be"),
    "options": (lambda: ROOMS.reset(options=[1]), TypeError, "options"),
    "option": (lambda: ROOMS.reset(options={"start": 1}), ValueError, "'state'"),
    "vector option": (
        lambda: ROOMS.vector(2, task=ROOMS.task).reset(options={"start": 1}),
        ValueError,
        "'state'",
    ),
    "boxman option": (lambda: ta.Boxman().reset(options={"state": 1}), ValueError, "'code'"),
    # maps
    **{
        f"map {given!r}": (
            lambda given=given: ta.from_text(given),
            TypeError,
            "a map is a string or a list of strings",
        )
        for given in (b"A.", [1, 2], ["#A#", 5], [list("A.B")], None, 5)
    },
    # environments that break their contract
    "nan": (lambda: learned(paying(np.nan)), ValueError, "the environment paid nan at step"),
    "minus inf": (lambda: learned(paying(-np.inf)), ValueError, "the environment paid -inf at"),
    "cut off": (
        lambda: learned(lambda at, r, ended, _, info: (at, r, False, ended, info)),
        ValueError,
        'info["goal"] came on a step that did not terminate',
    ),
    "goals only": (
        lambda: learned(lambda at, r, ended, cut, info: (at, r, False, cut, info)),
        ValueError,
        'info["goal"] came on a step that did not terminate',
    ),
    "endless": (
        lambda: learned(lambda at, r, *_: (at, r, False, False, {"goal": -1})),
        ValueError,
        "no episode terminated",
    ),
    "outside": (
        lambda: learned(lambda at, *rest: (at + 7, *rest)),
        ValueError,
        "outside Discrete(5)",
    ),
    "below": (
        lambda: learned(lambda at, *rest: (at - 7, *rest)),
        ValueError,
        "outside Discrete(5)",
    ),
    "actions from 1": (lambda: line(actions=Discrete(2, start=1)), ValueError, "starting at 0"),
    # learners and skills
    "foreign": (lambda: ta.learn(SPACE, BASE, learner=Foreign()), TypeError, "values of other"),
    "another world": (lambda: SKILLS[SPACE.task(["A"])], ValueError, "another space"),
    "three rewards": (
        lambda: SKILLS[ROOMS.space.from_rewards([0.5, 2, 2, 2])],
        ValueError,
        "other rewards than",
    ),
}


@pytest.mark.parametrize(("ask", "kind", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_it_is_refused_in_words(ask, kind, words):
    with pytest.raises(kind) as refusal:
        ask()
    assert words in str(refusal.value)


def test_evaluation_refuses_an_environment_that_pays_no_number():
    spoilt = []
    env = line(lambda at, r, *rest: (at, np.nan if spoilt else r, *rest))
    agent = ta.learn(env, learner=ta.QLearning(steps=400))["l"]
    spoilt.append(True)
    with pytest.raises(ValueError, match="the environment paid nan at step 1"):
        agent.evaluate(3)


def test_numbers_of_other_kinds_are_still_numbers():
    world = ta.from_text("A.", step_reward=np.float32(-0.5), slip_probability=np.int8(0))
    assert world.step_reward.min() == -0.5
    space = ta.TaskSpace(world, r_universal=10**30, r_empty=np.array(-1))
    assert space.r_universal.tolist() == [1e30]
    assert ta.FourRooms(dense=np.bool_(False)).dense is False


def test_what_an_agent_and_its_skills_hold_cannot_be_written():
    agent = SKILLS["top"]
    for array in (agent.actions, agent.v):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    SKILLS.tasks["more"] = SKILLS.space.empty
    SKILLS.tasks.clear()
    assert list(SKILLS.tasks) == ["top", "left"]
    again = pickle.loads(pickle.dumps(SKILLS))
    assert (again["top"].actions == agent.actions).all()


@pytest.mark.parametrize("nothing", [[], np.array([], np.int64), ()])
def test_no_observations_have_no_actions(nothing):
    assert SKILLS["top"].act(nothing).tolist() == []


def test_a_greedy_action_exists_where_no_value_is_a_number():
    from taskalgebra.learning.kernels import _greedy_action

    q = np.full((1, 1, 3), np.nan)
    seen = np.zeros(1, np.int32)
    assert _greedy_action(q, np.full((1, 1), np.nan), 0, seen, 1) == 0
    assert _greedy_action(q, np.zeros((1, 1)), 0, seen, 1) == 0
