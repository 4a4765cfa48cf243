"""Everything public travels to workers: by pickle and cloudpickle in memory, and by copying.

`INSTANCES` has a real object for every public class; `FUNCTIONS` travel by name.  A new public name
without an entry fails.
"""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from functools import cache, partial

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.content import own_fields
from taskalgebra.learning.deep import networks
from taskalgebra.planning import exact
from taskalgebra.theory.ahead import Ahead

WAYS = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "cloudpickle": lambda thing: pickle.loads(cloudpickle.dumps(thing)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}
TRAVEL = [WAYS["pickle"], WAYS["cloudpickle"], WAYS["deepcopy"]]


@cache
def rooms():
    return ta.FourRooms()


@cache
def skills():
    return ta.solve(rooms(), ["top", "left"])


@cache
def slippery():
    return ta.solve(ta.FourRooms(slip_probability=0.1), ["top", "left"])


@cache
def flat():
    return ta.solve(ta.FlatWorld())


def corridor(n):
    return gym.make_vec("CliffWalking-v1", n)


def at_end(observation, info, env):
    return "end" if observation == 47 else None


def cliff():
    return ta.wrap("CliffWalking-v1", goals=at_end, among=["end"], max_episode_steps=30)


class Nearness(ta.Reach):
    """A user's own critic, defined in a module."""

    def returns(self, observations):
        states = np.asarray(observations)
        return -0.1 * (1 + np.abs(states[:, None, None] - np.arange(4)[:, None]) + np.arange(5))

    def __eq__(self, other):
        """They have no state."""
        return type(other) is Nearness

    def __hash__(self):
        """All are equal."""
        return 1


class Way(ta.DirectedReach):
    """A user's own agent without an action axis."""

    def values(self, observations):
        return -np.ones((len(observations), 4))

    def act(self, observations, goal):
        return np.full(len(observations), goal)


class Offers(ta.OfferedReach):
    """A user's own critic of continuous actions."""

    def offers(self, observations):
        return np.zeros((len(observations), 2, 3))

    def returns(self, observations):
        return np.zeros((len(observations), 4, 2)) - np.arange(2)


class Steps(ta.AheadReach):
    """A user's own simulator."""

    def ahead(self, observations):
        shape = (len(observations), 5)
        return Ahead(np.zeros(shape), np.zeros((*shape, 1), np.int64), np.ones((*shape, 1)))

    def returns(self, observations):
        return np.zeros((len(observations), 4, 5))

    to_goal = np.zeros((4, 1))


class Colour(ta.GoalLabel):
    """A user's own label."""

    among = ("end",)

    def __call__(self, observation, info, env):
        return at_end(observation, info, env)


def composed():
    """A composition that is computed on demand, of values of two kinds."""
    table, family = skills()["top"].values, skills().family
    return table & ta.GoalSetQ.of(rooms().tasks["left"], family.bounds)


INSTANCES = {
    "Agent": lambda: skills()["top ^ left"],
    "AheadReach": Steps,
    "AssumptionReport": lambda: rooms().space.check(rooms().tasks),
    "Automaton": lambda: ta.automaton("F(a & F b) & G !c"),
    "Boxman": ta.Boxman,
    "Bracket": lambda: slippery().bounds("top | left"),
    "Certificate": lambda: slippery()["top ^ left"].certificate(),
    "ContinuingEvaluation": lambda: ta.ContinuingEvaluation(
        np.array([1.0, np.nan]), np.array([3, 4]), np.eye(2, dtype=np.int64), *np.eye(2) > 0
    ),
    "ConvergenceError": lambda: ta.ConvergenceError("no"),
    "DeepQ": lambda: ta.DeepQ(networks.egocentric, n_updates=5),
    "DeepSettings": lambda: ta.DeepSettings(n_updates=5),
    "DirectedReach": Way,
    "Evaluation": lambda: skills()["top"].evaluate(20, seed=0),
    "Event": lambda: ta.Event("learning", 0.5),
    "Experience": lambda: ta.Experience(1, 2, 3, 4, 0.5, True),
    "Explored": lambda: ta.explore(cliff()),
    "Expression": lambda: ta.parse("a & ~(b ^ F c)"),
    "ExpressionError": lambda: ta.ExpressionError("no", "a &", 3),
    "ExtendedQ": composed,
    "Family": lambda: flat().family,
    "FewSteps": ta.FewSteps,
    "Finding": lambda: next(iter(rooms().space.check(rooms().tasks).findings)),
    "FiniteEnv": lambda: ta.FiniteEnv(rooms().space, rooms().tasks),
    "FiniteMDP": lambda: ta.from_text("A..B", slip_probability=0.1),
    "FlatWorld": ta.FlatWorld,
    "FourRooms": lambda: ta.FourRooms(slip_probability=0.1),
    "GoalEnv": cliff,
    "GoalLabel": Colour,
    "GoalSetQ": lambda: skills().by_goal_set("top").values,
    "Hindsight": ta.Hindsight,
    "HorizonFamily": lambda: ta.solve(rooms(), ["top"], horizon=9).family,
    "Ideas": ta.Ideas,
    "Improvement": lambda: slippery()["top ^ left"].improve().improvement,
    "Inference": lambda: ta.infer(rooms().tasks["top"], skills()),
    "Learner": ta.QLearning,
    "LetterWorld": ta.LetterWorld,
    "Lifelong": lambda: ta.lifelong(skills()),
    "Loss": lambda: slippery()["top"].certificate().loss,
    "Met": lambda: ta.lifelong(skills()).meet(rooms().tasks["top"]),
    "OfferedReach": Offers,
    "Office": ta.Office,
    "OpenEnv": lambda: ta.OpenEnv(corridor, ["end"], {"go": ["end"]}, max_episode_steps=9),
    "OpenWorld": lambda: ta.OpenWorld(("a", "b"), ("go",)),
    "Planner": ta.Planner,
    "Played": lambda: ta.Played(1, 0.5, (0.0, 1.0), "", float("nan"), (0.0, float("nan"))),
    "Playground": lambda: ta.Playground("http://127.0.0.1:1/#map=a", 700),
    "Policy": lambda: slippery()["top"].policy,
    "PositiveCycleError": lambda: ta.PositiveCycleError("no"),
    "QLearning": lambda: ta.QLearning(steps=50),
    "RandomLetterWorld": ta.RandomLetterWorld,
    "Reach": Nearness,
    "ReachFamily": lambda: ta.from_reach(Nearness(), rooms(), ["top"]).family,
    "Replay": ta.Replay,
    "Settings": ta.Settings,
    "Skills": lambda: slippery(),
    "StopLearning": lambda: ta.StopLearning("enough"),
    "StoreError": lambda: ta.StoreError("no"),
    "TableFamily": lambda: slippery().family,
    "TabularQ": lambda: skills()["top & ~left"].values,
    "Task": lambda: rooms().tasks["top"],
    "TaskSpace": lambda: rooms().space,
    "TemporalAgent": lambda: ta.solve(ta.Office())["F(coffee & F office) & G !decoration"],
    "TensorBoard": "it holds an open file of its log",
}
FUNCTIONS = """
    all_functions automaton check_env explore expression_for_goals from_arrays from_file
    from_gymnasium from_image from_outcomes from_policy from_reach from_sb3 from_text from_values
    infer learn lifelong load maze minimal_base_tasks optimal_v parse plan playground policy_return
    q_bar_star solve tasks_learned_bounds transfer_bound wrap
""".split()
STATEFUL = """
    Boxman Explored FiniteEnv FlatWorld FourRooms GoalEnv LetterWorld Lifelong Office OpenEnv Policy
    RandomLetterWorld
""".split()
"""They are somewhere in an episode or in learning, so that two of them are never the same one."""
UNHASHABLE = ["AssumptionReport", "Certificate", "Finding"]
"""They hold dictionaries."""
OF_THE_USER = ["AheadReach", "DirectedReach", "GoalLabel", "OfferedReach"]
"""Classes of the user's own, who says when two objects are equal."""
CLASSES = [name for name, make in INSTANCES.items() if not isinstance(make, str)]


def test_every_public_name_travels_or_says_why_not():
    assert sorted([*INSTANCES, *FUNCTIONS]) == ta.__all__
    for name in INSTANCES:
        assert isinstance(getattr(ta, name), type)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_travel_by_name(name):
    function = getattr(ta, name)
    assert all(travel(function) is function for travel in WAYS.values())


def read_only_arrays(thing, seen):
    """The paths of all arrays that cannot be written, in what an object holds."""
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        if not thing.flags.writeable:
            yield ""
        return
    if isinstance(thing, dict):
        parts = thing.items()
    elif isinstance(thing, tuple | list):
        parts = enumerate(thing)
    elif type(thing).__module__.startswith("taskalgebra") and hasattr(thing, "__dict__"):
        parts = [item for item in own_fields(thing).items() if item[0] != "_plans"]  # kept plans
    else:
        return
    for name, part in list(parts):
        for path in read_only_arrays(part, seen):
            yield re.sub(r"q\d+", "q", f".{name}{path}")  # leaves have other names elsewhere


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CLASSES)
def test_it_arrives_equal_with_its_arrays_read_only(name, way):
    thing = INSTANCES[name]()
    assert isinstance(thing, getattr(ta, name)) or name == "Learner"
    arrived = WAYS[way](thing)
    assert type(arrived) is type(thing)
    if isinstance(thing, Exception):
        assert str(arrived) == str(thing) and arrived.args == thing.args
    elif name in STATEFUL:
        space = getattr(thing, "space", None)
        assert space is None or arrived.space == space
    elif name not in OF_THE_USER:
        assert arrived == thing and not arrived != thing
        if name not in UNHASHABLE:
            assert hash(arrived) == hash(thing)
    protected = set(read_only_arrays(thing, {}))
    assert set(read_only_arrays(arrived, {})) == protected
    if name in ("FiniteMDP", "TaskSpace", "Task", "TabularQ", "TableFamily", "Skills"):
        assert protected


@pytest.mark.parametrize("travel", TRAVEL)
def test_arrays_that_were_read_only_cannot_be_written_after(travel):
    world = travel(rooms().space.mdp)
    for array in (world.successor, world.step_reward, world.goals, world.cells, world.starts):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    for array in (travel(rooms().tasks["top"]).goal_reward, travel(skills()["top"].values).table):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("travel", TRAVEL)
def test_cached_properties_stay_behind(travel):
    world = ta.from_text(["A" + "." * 500, "." * 500 + "B"])
    small = len(pickle.dumps(world))
    world.predecessors, world.is_goal, world.ending, world.diameter  # noqa: B018
    assert len(pickle.dumps(world)) == small
    arrived = travel(world)
    assert not {"predecessors", "is_goal", "ending", "diameter"} & set(vars(arrived))
    assert arrived.diameter == world.diameter
    agent = skills()["top"]
    small = len(pickle.dumps(agent))
    agent.actions, agent.v  # noqa: B018
    assert len(pickle.dumps(agent)) == small


def test_plans_of_formulas_stay_behind():
    office = ta.solve(ta.Office())
    small = len(pickle.dumps(office))
    agent = office["F(coffee & F office)"]
    assert len(pickle.dumps(office)) <= small
    assert pickle.loads(pickle.dumps(office))["F(coffee & F office)"] == agent


@pytest.mark.parametrize("travel", TRAVEL)
@pytest.mark.parametrize(
    "make",
    [
        lambda: skills()["top ^ left"],
        lambda: slippery()["top & ~left"],
        lambda: slippery()["top ^ left"].improve(),
        lambda: ta.solve(rooms(), ["top", "left"], horizon=12)["top | left"],
        lambda: ta.learn(rooms(), ["top", "left"], learner=ta.QLearning(steps=20_000))["top"],
    ],
)
def test_agents_act_the_same_bit_for_bit(make, travel):
    agent = make()
    arrived = travel(agent)
    states = np.arange(rooms().space.mdp.n_states)
    assert np.array_equal(arrived.q_bar(states), agent.q_bar(states))
    assert np.array_equal(arrived.actions, agent.actions)
    assert arrived.evaluate(20, seed=3) == agent.evaluate(20, seed=3)


@pytest.mark.parametrize("travel", TRAVEL)
def test_an_agent_for_a_formula_goes_on_where_it_was(travel):
    agent = ta.solve(ta.Office())["F(coffee & F office) & G !decoration"]
    agent.reset()
    arrived = travel(agent)
    assert np.array_equal(arrived.states, agent.states)
    assert arrived.evaluate(5, seed=1) == agent.evaluate(5, seed=1)


@pytest.mark.parametrize("travel", TRAVEL)
@pytest.mark.parametrize(
    "make",
    [ta.FourRooms, ta.Office, ta.Boxman, ta.FlatWorld, ta.LetterWorld, ta.RandomLetterWorld],
)
def test_environments_go_on_in_the_middle_of_an_episode(make, travel):
    world = make()
    world.reset(seed=4)
    world.action_space.seed(4)
    for _ in range(3):
        if any(world.step(world.action_space.sample())[2:4]):
            world.reset()
    if make is ta.Boxman:
        world.picture(world._games.codes)  # drawn once, and not shipped
    arrived = travel(world)
    for _ in range(20):
        action = world.action_space.sample()
        ours, theirs = world.step(action), arrived.step(action)
        assert np.array_equal(ours[0], theirs[0]) and ours[1:4] == theirs[1:4]
        if ours[2] or ours[3]:
            assert np.array_equal(world.reset()[0], arrived.reset()[0])


@pytest.mark.parametrize("travel", TRAVEL)
def test_wrapped_worlds_play_the_same(travel):
    for world in (cliff(), INSTANCES["OpenEnv"]()):
        runs = []
        for each in (world, travel(world)):
            copies = each.vector(2, task=each.tasks[next(iter(each.tasks))])
            seen = [copies.reset(seed=1)[0]]
            seen += [copies.step(np.array([action, 0]))[0] for action in (0, 1, 1, 2)]
            runs.append(np.array(seen))
        assert np.array_equal(*runs)


def test_networks_arrive_equal_and_act_the_same():
    boxman = ta.load("boxman")
    agent = boxman["blue & square"]
    frames = ta.Boxman().vector(1, task=ta.Boxman().space.universal).reset(seed=0)[0]
    q_bar = agent.q_bar(frames)
    for travel in TRAVEL:
        arrived = travel(agent)
        assert arrived == agent
        assert np.array_equal(arrived.q_bar(frames), q_bar)


def test_what_travels_together_still_composes():
    top, left = WAYS["pickle"]((skills()["top"], skills()["left"]))
    together, ours = top & ~left, skills()["top & ~left"]
    assert together == ours and np.array_equal(together.actions, ours.actions)


def test_what_travels_apart_is_refused_as_ever():
    top, left = (WAYS["pickle"](skills()[name]) for name in ("top", "left"))
    with pytest.raises(ValueError, match="different skills; compose agents of one"):
        top & left
    with pytest.raises(ValueError, match="different bounds"):
        top.values & left.values
    assert top.values == skills()["top"].values


def test_tasks_that_travel_apart_are_tasks_of_equal_spaces():
    top, left = (WAYS["pickle"](rooms().tasks[name]) for name in ("top", "left"))
    assert (
        top.space is not left.space and top & ~left == rooms().tasks["top"] & ~rooms().tasks["left"]
    )
    assert len({top, rooms().tasks["top"], ta.FourRooms().tasks["top"]}) == 1
    planned = ta.solve(rooms(), {"top": top, "left": left})
    assert planned == skills()
    assert all(task.space is rooms().space for task in planned.tasks.values())
    assert skills()[top].actions.tolist() == skills()["top"].actions.tolist()
    assert rooms().find_task(top) is top
    assert ta.infer(top, skills()).expression == ta.parse("top")
    other = WAYS["pickle"](ta.FourRooms(r_universal=3.0).tasks["top"])
    assert other != top
    with pytest.raises(ValueError, match="two spaces"):
        top & other


def test_worlds_differ_in_every_field():
    world = ta.from_text("A.#B", {"C": (0, 1)})
    for other in (
        ta.from_text("A..B", {"C": (0, 1)}),
        ta.from_text("A.#B", {"D": (0, 1)}),
        ta.from_text("A.#B", {"C": (0, 1)}, step_reward=-0.2),
        ta.from_text("A.#B", {"C": (0, 1)}, slip_probability=0.1),
        ta.from_text("A.#B", {"C": (0, 1)}, starts=[(0, 0)]),
        ta.from_text("A.#B", {"C": (0, 1)}, touch=True),
        ta.from_text("A#.B", {"C": (0, 2)}),
    ):
        assert world != other
    assert world == ta.from_text("A.#B", {"C": (0, 1)})
    assert hash(world) == hash(ta.from_text("A.#B", {"C": (0, 1)}))
    assert world != "A.#B"


def test_names_of_leaves_do_not_clash_after_travelling():
    """Leaves are named by where they are in memory, which is another place elsewhere."""
    here = composed()
    arrived = WAYS["pickle"](here)
    mixed = arrived | ~arrived.leaves[next(iter(arrived.leaves))]
    states = np.arange(rooms().space.mdp.n_states)
    assert set(arrived.leaves) == {f"q{id(leaf)}" for leaf in arrived.leaves.values()}
    family = skills().family
    expected = here | ~here.leaves[next(iter(here.leaves))]
    assert np.array_equal(mixed.q_bar(states), expected.q_bar(states))
    assert arrived.bounds == family.bounds and arrived.bounds is not family.bounds


def test_another_process_sees_the_same():
    """A fresh interpreter has other hashes of strings and other places in memory."""
    top = rooms().tasks["top"]
    payload = pickle.dumps((top, skills()["top ^ left"], ta.parse("a & F b")))
    code = (
        "import pickle, sys\n"
        "task, agent, formula = pickle.loads(sys.stdin.buffer.read())\n"
        "import taskalgebra as ta\n"
        "own = ta.FourRooms().tasks['top']\n"
        "assert task == own and len({task, own}) == 1\n"
        "assert formula == ta.parse('a & F b') and not task.goal_reward.flags.writeable\n"
        "sys.stdout.buffer.write(pickle.dumps((task, agent, agent.actions)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=payload, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    task, agent, actions = pickle.loads(done.stdout)
    assert task == top and agent == skills()["top ^ left"]
    assert np.array_equal(actions, skills()["top ^ left"].actions)


def test_functions_of_the_user_need_cloudpickle_or_a_module():
    world = ta.wrap("CliffWalking-v1", goals=lambda *given: at_end(*given), among=["end"])
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(world)
    assert WAYS["cloudpickle"](world).space == world.space
    assert (
        WAYS["pickle"](ta.OpenEnv(partial(corridor), ["end"], {"go": ["end"]})).space.n_goals == 1
    )


@pytest.mark.parametrize("travel", TRAVEL)
@pytest.mark.parametrize("slip_probability", [0.0, 0.1])
def test_values_computed_on_demand_travel(travel, slip_probability, monkeypatch):
    monkeypatch.setattr(exact, "LARGEST_TABLE", 0)
    monkeypatch.setattr(exact, "LARGEST_TABLES", 0)
    world = ta.from_text(["A..B", "C..D"], slip_probability=slip_probability)
    planned = ta.solve(world, {"top": ["A", "B"], "left": ["A", "C"]})
    assert not isinstance(planned.family, ta.TableFamily)
    arrived = travel(planned)
    assert arrived == planned and hash(arrived) == hash(planned)
    agent = planned["top ^ left"]
    states = np.arange(world.n_states)
    assert (travel(agent).act(states) == agent.act(states)).all()
    assert (travel(agent.policy).actions(states) == agent.act(states)).all()
    assert (arrived["top ^ left"].v == agent.v).all()
    assert set(read_only_arrays(arrived, {})) == set(read_only_arrays(planned, {}))
