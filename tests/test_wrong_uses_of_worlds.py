"""Wrong uses of other people's environments: each is refused, or reported, in words that help."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import taskalgebra as ta

NAMES = ["west", "east"]


class Row(gym.Env):
    """Cells 0 to 6, with a goal at either end; `see` makes observations of them."""

    def __init__(self, see=lambda at: np.array([at], np.float32), space=None, acts=None):
        self.see = see
        self.observation_space = space or spaces.Box(0, 6, (1,), np.float32)
        self.action_space = acts or spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 3
        return self.see(self.at), {}

    def step(self, action):
        self.at = min(max(self.at + (-1, 1)[int(np.max(action) > 0.5)], 0), 6)
        return self.see(self.at), 0.0, False, False, {}


class Chance(Row):
    """Its actions do what they like."""

    def step(self, action):
        return super().step(self.np_random.integers(2))


def label(observation, info, env):
    return {0: "west", 6: "east"}.get(env.at)


def row(make=Row, goals=label, among=NAMES, **options):
    return ta.wrap(make, goals, among=among, max_episode_steps=20, **options)


def seen(see, space=None, **options):
    return ta.check_env(row(lambda: Row(see, space), **options))


def at_east(given):
    """A label that gives this in the east, found by chance."""
    return row(goals=lambda observation, info, env: given if env.at == 6 else None, among=None)


def far(goal, **options):
    """A row whose goal in the east chance does not find while `wrap` looks, but the check does."""

    class Uphill(Row):
        n_made = 0

        def __init__(self):
            super().__init__()
            Uphill.n_made += 1
            self.steep = Uphill.n_made == 1

        def step(self, action):
            return super().step(action and not self.steep)

    return row(
        Uphill, lambda o, i, env: goal(env.at) if env.at in (2, 6) else None, None, **options
    )


class Unseeded(Row):
    """As environments were written long ago."""

    def reset(self):
        return super().reset()


def breaks(reset=lambda *of: of, step=lambda *of: of):
    """A row that returns other things than Gymnasium asks for."""

    class Broken(Row):
        def reset(self, **options):
            return reset(*super().reset(**options))

        def step(self, action):
            return step(*super().step(action))

    return row(Broken)


def saved(save, restore=lambda env, at: None):
    return ta.explore(row(), save=save, restore=restore)


def zone(observation, info, env):
    return NAMES[int(observation[0] > 0)] if abs(observation[0]) > 0.1 else None


def still(observations, goal):
    return np.zeros(len(observations))


def right(observations, goal):
    return np.ones(len(observations), int)


EXPLORED = ta.explore(row())
TABLE = ta.solve(EXPLORED)
AGENT = TABLE["west"]
CART = ta.wrap("CartPole-v1", zone, among=NAMES, elsewhere="fall")
WALKER = ta.from_policy(CART, values=still, act=right)


def policy(values=still, act=right):
    return ta.from_policy(CART, values=values, act=act)["west"].evaluate(1)


def copies(n):
    return gym.make_vec("CartPole-v1", num_envs=n)


WRONG = {
    # labels
    "never fires": (lambda: ta.explore(row(goals=lambda *_: None)), "no goal in the 7 states"),
    "two arguments": (
        lambda: row(goals=lambda a, b: None),
        r"must take \(observation, info, env\)",
    ),
    "no function": (lambda: row(goals={0: "west"}), "goals must be a label, a function"),
    "truth": (lambda: at_east(True), "the label gave True, expected the name of a goal"),
    "number": (lambda: at_east(3), "the label gave 3, expected the name of a goal"),
    "list": (lambda: at_east(["a"]), r"the label gave \['a'\], expected the name"),
    "no name": (lambda: at_east(""), "the label gave '', expected the name"),
    "fraction": (lambda: at_east({"x": 0.5}), "'x' the value 0.5, expected a word"),
    "mixed": (lambda: row(among=["west", {"a": True}]), "some goals are names and others predic"),
    "other case": (lambda: ta.explore(row(among=["West", "East"])), "Did you mean '(We|Ea)st'"),
    "predicates": (lambda: ta.explore(row(among={"a": [True]})), "none of the goals a; give all"),
    "no goals": (lambda: row(among=[]), "among is empty; name at least one goal"),
    "one word": (lambda: row(among="west"), "among is 'west', expected the names of all goals"),
    "numbers": (lambda: row(among=[0, 1]), "a goal name must be a non-empty string, got 0"),
    "many": (lambda: row(among={f"p{i}": [0, 1] for i in range(30)}), "gives 1,073,741,824 goals"),
    "elsewhere": (lambda: row(elsewhere=""), "elsewhere is '', expected a name for ends"),
    "not elsewhere": (lambda: row(elsewhere=True), "elsewhere is True, expected a name"),
    "elsewhere a goal": (lambda: row(elsewhere="west"), "which is a goal of the label"),
    "no tasks": (lambda: row(tasks={}), "tasks is empty; give .name: goals., or leave it out"),
    "found one": (
        lambda: ta.check_env(far(lambda at: "near" if at == 2 else "far")),
        r"the label gave 'far', which is none of the goals near; these were found by acting at "
        r"random, which may miss some: wrap\(\.\.\., among=\['near', 'far'\]\)",
    ),
    "found one of predicates": (
        lambda: ta.check_env(far(lambda at: {"near": at == 2, "side": "west"}, elsewhere="no")),
        r"which may miss some: wrap\(\.\.\., "
        r"among=\{'near': \[True, False\], 'side': \['west'\]\}\)",
    ),
    "wants what was not found": (
        lambda: far(lambda at: "near" if at == 2 else "far", tasks={"all": ["near", "far"]}),
        r"task 'all' wants 'far', but the goals found by acting at random are near; name all "
        r"goals: wrap\(\.\.\., among=\['near', 'far'\]\)",
    ),
    "finds none": (
        lambda: row(goals=lambda *_: None, among=None),
        r"among=\['left hill', 'right hill'\]\), or .*among=\{'colour': \['red', 'blue'\]\}",
    ),
    # numbers
    "hold": (lambda: row(hold=1.5), "hold is 1.5, expected a whole number of at least 1"),
    "limit": (lambda: ta.wrap(Row, label, max_episode_steps=True), "max_episode_steps is True"),
    "cost": (lambda: row(step_reward=np.nan), "step_reward is nan, expected a finite number"),
    "gain": (lambda: row(step_reward=1), "step_reward is 1, expected a cost, at most 0"),
    "horizon": (lambda: ta.solve(EXPLORED, horizon=1.5), "horizon is 1.5, expected a whole number"),
    "far": (lambda: ta.solve(EXPLORED, horizon=10**9), "plan for at most 4,793,489 steps"),
    # environments
    "vector": (
        lambda: ta.wrap(copies(2), zone),
        r"a function of n .*wrap\(lambda n: .*make_vec",
    ),
    "cannot be reset": (
        lambda: ta.check_env(ta.wrap(copies, zone, among=NAMES, elsewhere="fall")),
        'cannot be reset one by one; make copies that can: .*vectorization_mode="sync"',
    ),
    "cannot be looked at": (
        lambda: row(copies, goals=lambda o, i, env: env.at, among=None),
        "looks at env.at, but the copies of this vector environment are not in this process; use "
        'only the observation and info.*vectorization_mode="sync"',
    ),
    "cannot be put back": (
        lambda: ta.explore(row(copies, goals=zone, elsewhere="fall")),
        "cannot be put back into a state; give a function that makes one environment",
    ),
    "makes no vector": (lambda: row(lambda n: Row()), "made <.*Row .*expected a vector env"),
    "makes nothing": (lambda: row(lambda n: None), "function of n made None, expected a vector"),
    "misspelt": (lambda: row("CartPol-v1"), "registers it, .* Did you mean 'CartPole-v1'?"),
    "ends nowhere": (lambda: ta.check_env(row("CartPole-v1", zone)), 'elsewhere="lost"'),
    # observations and actions
    "shape": (lambda: seen(lambda at: np.zeros(3)), r"gave an observation of shape \(3,\), but"),
    "shapes": (lambda: seen(lambda at: np.zeros(at - 2)), r"of shape \((2|0|3),\), but says"),
    "none": (lambda: seen(lambda at: None), r"gave an observation of shape \(\), but says"),
    "text": (lambda: seen(lambda at: "a", spaces.Text(3)), "give a function that makes an array"),
    "a number": (lambda: row(observation=3), "observation is 3, expected a key or keys of a Dict"),
    "a key": (lambda: row(observation="image"), "'image', but the observations are no Dict"),
    "one argument": (lambda: row(observation=lambda o: o), r"must take \(observation, env\)"),
    "grows": (
        lambda: ta.check_env(row(observation=lambda o, env: np.zeros(env.at + 1))),
        r"array of shape \((3|5),\), and one of shape \(4,\) before",
    ),
    "few actions": (lambda: row(actions=["l"]), r"1 action names for 2 actions: l; name all, or"),
    "number of action": (lambda: row(actions=[0, 1]), "an action name must be a non-empty string"),
    "no action": (lambda: row(actions={"jump": 7}), r"'jump' is 7, which is not in Discrete\(2\)"),
    # what reset and step return
    "four things": (
        lambda: breaks(step=lambda *of: of[:3] + of[4:]),
        r"step\(\) of Broken returned 4 things, expected \(observation, reward, terminated, trunc",
    ),
    "no info": (lambda: breaks(step=lambda *of: (*of[:4], None)), "info = None, expected a dict"),
    "a word for an end": (
        lambda: breaks(step=lambda *of: (*of[:2], "no", *of[3:])),
        "terminated = 'no', expected True or False",
    ),
    "a word for a reward": (
        lambda: breaks(step=lambda *of: (of[0], "r", *of[2:])),
        "paid 'r', expected a number",
    ),
    "no tuple": (
        lambda: breaks(reset=lambda seen, info: seen),
        r"reset\(\) of Broken returned one ndarray, expected \(observation, info\)",
    ),
    "no info at first": (lambda: breaks(reset=lambda seen, info: (seen, 3)), "info = 3, expected"),
    "no seed": (lambda: row(Unseeded), r"does not take a seed, expected reset\(\*, seed=None"),
    # exploring
    "chance": (lambda: ta.explore(row(Chance)), "is not deterministic: .*samples=1000"),
    "seeds": (lambda: ta.explore(row(), seeds=5), r"seeds is 5, expected a list, such as \[5\]"),
    "no restore": (lambda: ta.explore(row(), save=id), "save and restore belong together"),
    "list saved": (lambda: saved(lambda env: [env.at]), r"save gave \[3\], which cannot be a key"),
    "objects saved": (lambda: saved(lambda env: object()), "another thing for the same state"),
    "restore": (lambda: saved(id, lambda at: None), r"called as save\(env\) and restore\(env, sav"),
    "too large": (lambda: ta.explore(CART, limit=500), "more than 500 states; use fewer actions"),
    "not explored": (lambda: ta.solve(row()), r"open world.* use learn, or, .*solve\(explore"),
    "not wrapped": (lambda: ta.learn(Row()), r"it names no goals; .* wrap\(env, goals=label\)"),
    "no table": (lambda: ta.from_gymnasium(Row()), r"no transition table .*explore\(wrap\(env"),
    # playing
    "name": (lambda: WALKER["west"].play("CartPole-v1"), "cannot play 'CartPole-v1'; expected an"),
    "other": (lambda: WALKER["west"].play(Row()), "has observations Box.* but the skills are for"),
    "other actions": (
        lambda: AGENT.play(Row(acts=spaces.Box(0, 1, (1,)))),
        r"has actions Box.*, but action 'a0' of these skills is 0",
    ),
    "vector that goes on": (
        lambda: WALKER["west"].play(copies(2), 5),
        "make copies that can",
    ),
    "no steps": (lambda: AGENT.play(max_steps=0), "max_steps is 0, expected a whole number"),
    "film": (lambda: WALKER["west"].play(render="film"), "render modes human, rgb_array"),
    "render": (lambda: WALKER["west"].play(render=5), "render is 5, expected a mode"),
    "made without": (lambda: row(lambda: Row()).make(render_mode="human"), "with render_mode; mak"),
    "act": (lambda: WALKER["west"].act(np.zeros(3)), r"has shape \(3,\), but those of the envir"),
    "act batch": (lambda: WALKER["west"].act(np.zeros((2, 3))), r"has shape \(2, 3\), but those"),
    "act explored": (lambda: AGENT.act(np.zeros(3)), "is not in Box.*; give one of the environm"),
    # functions
    "NaN": (lambda: policy(lambda o, g: np.full(len(o), np.nan)), "values gave NaN for goal 0"),
    "values": (lambda: policy(lambda o: 0.0), r"values\(observations\) gave .* expected \[B, G\]"),
    "one action": (
        lambda: policy(act=lambda o, g: 0),
        r"act\(observations, 0\) gave array\(0\)",
    ),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", WRONG)
def test_wrong_uses_are_refused_in_words(name):
    use, words = WRONG[name]
    with pytest.raises((ValueError, TypeError), match=words):
        use()


def test_skills_are_loaded_with_the_world_that_they_need(tmp_path):
    TABLE.save(tmp_path / "table")
    WALKER.save(tmp_path / "walker")
    assert ta.load(tmp_path / "table", EXPLORED)["west"].play(Row()).success_rate == 1.0
    with pytest.raises(ta.StoreError, match=r"is open; if it was explored.*load\(path, explore"):
        ta.load(tmp_path / "table", row())
    with pytest.raises(TypeError, match=r"load\(path, explore\(world\)\)"):
        ta.load(tmp_path / "table")["west"].play(Row())
    with pytest.raises(ta.StoreError, match=r"code of your own.*reach=from_policy\(world"):
        ta.load(tmp_path / "walker", CART)


def test_a_label_that_names_one_goal_everywhere_is_reported():
    found = ta.check_env(row(goals=lambda *_: "west", among=["west"]))["episodes end"]
    assert not found.holds and "after their first step, in 'west'" in found.detail


def test_an_action_that_always_ends_the_episode_matters_one_that_is_not_seen_does_not():
    def bust(observation, info, env):
        return "bust" if observation[0] > 21 else None

    stick = ta.wrap("Blackjack-v1", bust, among=["bust"], elsewhere="over")
    assert "or ends the episode" in ta.check_env(stick, steps=400)["actions matter"].detail
    blind = row(observation=lambda observation, env: np.zeros(2))
    assert not ta.check_env(blind, steps=400)["actions matter"].holds


def test_minigrid_is_registered_when_one_of_its_environments_is_named():
    pytest.importorskip("minigrid")
    world = ta.wrap("MiniGrid-LavaGapS5-v0", lambda *_: None, among=["there"], elsewhere="lava")
    assert world.space.goal_names == ("there", "lava")
