"""What agents say of themselves, and how they are made optimal."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.learning.onward import NothingRepeatsError
from taskalgebra.planning.exact import optimal_v
from taskalgebra.theory.rewards import default_r_bar_min, r_bar_min_of


@pytest.fixture(scope="module")
def slippery():
    return ta.solve(ta.FourRooms(slip_probability=0.3))


def test_the_loss_is_the_optimum_less_the_return(slippery):
    agent = slippery["top ^ left"]
    found = agent.certificate()
    starts = agent.task.space.mdp.starts
    lost = (optimal_v(agent.task) - policy_return(agent.task, agent.actions))[starts]
    assert found.worst_loss == pytest.approx(lost.max(), abs=1e-9)
    assert found.mean_loss == pytest.approx(lost.mean(), abs=1e-9)
    assert not found.optimal
    assert [f.name for f in found.blame] == ["deterministic"]
    assert found.worst_loss <= found.bound <= 3 * found.worst_loss
    assert "random outcomes" in found.line
    assert "agent.improve()" in found.line


def test_without_planning_there_is_a_bound_and_no_loss(slippery):
    found = slippery["top ^ left"].certificate(exact=False)
    assert np.isnan(found.worst_loss)
    assert found.bound > 0
    assert found.line.startswith("loses a return of at most")


def test_an_improved_agent_is_optimal_acts_and_says_so(slippery):
    agent = slippery["top ^ left"]
    better = agent.improve()
    assert better.certificate().optimal
    assert better.certificate().bound == 0.0
    assert better.improvement.optimal
    assert np.abs(better.v - optimal_v(agent.task)).max() < 1e-9
    assert better.act(0) == better.actions[0]
    assert "optimal from all 104 starts" in str(better.evaluate(100))
    with pytest.raises(ValueError, match="compose first"):
        better & agent


def test_in_a_deterministic_world_nothing_is_lost():
    skills = ta.solve(ta.FourRooms())
    for expression in ("top", "top ^ left", "~top & ~left"):
        certificate = skills[expression].certificate()
        assert certificate.optimal
        assert certificate.blame == ()
        assert certificate.line == "optimal from all 104 starts"
        assert skills[expression].improve().improvement.rounds == 0


def test_learned_values_are_blamed_where_nothing_else_fails():
    learned = ta.learn(ta.FourRooms(), learner=ta.QLearning(steps=3_000))
    certificate = learned["top ^ left"].certificate()
    assert not certificate.optimal
    assert [f.name for f in certificate.blame] == ["exact values"]
    better = learned["top ^ left"].improve()
    assert better.certificate().optimal


def test_the_penalty_of_a_stochastic_world_is_mild_and_said():
    env = ta.FourRooms(slip_probability=0.1)
    assert default_r_bar_min(env.space) == env.space.r_empty.min()
    assert default_r_bar_min(ta.FourRooms().space) == r_bar_min_of(ta.FourRooms().space)
    assert ta.solve(env).family.r_bar_min == env.space.r_empty.min()
    harsh = ta.solve(env, r_bar_min=-40)["top"].certificate()
    assert not harsh["mild penalty"].holds
    assert ta.solve(env)["top"].certificate()["mild penalty"].holds


def test_frozen_lake_is_crossed_by_default():
    lake = ta.TaskSpace(ta.from_gymnasium(gymnasium.make("FrozenLake-v1"), step_cost=0.001))
    agent = ta.solve(lake, {"there": lake.original})["there"]
    assert agent.evaluate(1000).success_rate > 0.75
    assert agent.improve().certificate().optimal


def test_a_horizon_has_its_own_loss_and_repair():
    env = ta.FourRooms(slip_probability=0.4)
    agent = ta.solve(env, horizon=12)["top ^ left"]
    certificate = agent.certificate()
    assert certificate.worst_loss > 0
    better = agent.improve()
    assert better.certificate().worst_loss < 1e-12
    exact = better.evaluate()
    assert exact.mean_return == pytest.approx(exact.optimal_return, abs=1e-12)
    assert agent.evaluate().mean_return < exact.mean_return
    assert "within 12 steps" in str(better.certificate())


def test_formulas_are_certified_and_improved_on_the_product():
    learned = ta.learn(ta.FourRooms(slip_probability=0.2), learner=ta.QLearning(steps=200_000))
    agent = learned["F(top & F left)"]
    certificate = agent.certificate()
    assert certificate.loss is not None
    assert not certificate.optimal
    better = agent.improve()
    assert better.certificate().optimal
    pairs = better.plan.product
    start = pairs.labelled.automaton.start
    states = pairs.states
    assert np.allclose(better.v(states), pairs.values[start][states], atol=1e-8)
    assert agent.improve().improvement.rounds > 1
    some = agent.improve(rounds=1).certificate()
    assert not some.optimal
    assert some.mean_loss <= agent.certificate().mean_loss


def test_deterministic_formulas_certify_by_the_theorem():
    skills = ta.solve(ta.FourRooms())
    agent = skills["F(top & F left)"]
    assert agent.certificate().optimal
    assert agent.improve().improvement.rounds == 0


def test_impossible_starts_are_left_out():
    world = ta.from_text("A..#..B")
    skills = ta.learn(world, {"a": ["A"], "b": ["B"]}, learner=ta.QLearning(steps=5_000))
    certificate = skills["F a"].certificate()
    assert certificate.loss is not None
    assert certificate.loss.starts.size == 3


def test_a_few_episodes_mend_learned_values():
    env = ta.FourRooms(slip_probability=0.2)
    agent = ta.learn(env, learner=ta.QLearning(steps=20_000))["top ^ left"]
    taught = agent.improve(episodes=300, seed=1)
    assert taught.improvement.episodes == 300
    before, after = (a.evaluate(500, max_steps=200).mean_return for a in (agent, taught))
    assert taught.improvement.kept
    assert after > before
    again = agent.improve(episodes=300, seed=1)
    assert np.array_equal(again.actions, taught.actions)


def test_what_does_not_gain_is_not_taken():
    agent = ta.solve(ta.FourRooms())["top"]
    kept = agent.improve(episodes=5, seed=0)
    assert not kept.improvement.kept
    assert np.array_equal(kept.actions, agent.actions)


class Corridor(gymnasium.Env):
    """Seven cells; an episode ends at either end."""

    observation_space = gymnasium.spaces.Discrete(7)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = int(self.np_random.integers(1, 6))
        return self.x, {}

    def step(self, action):
        self.x += 1 if action else -1
        return self.x, -0.1, self.x in (0, 6), False, {}


def corridor(wrong=False):
    """Skills that know the ways, or that take left for right."""
    among = {"left": [True, False]}
    world = ta.wrap(
        Corridor, goals=lambda o, i, e: {"left": o == 0} if o in (0, 6) else None, among=among
    )
    left = world.space.goal_names.index("left")

    def returns(observations):
        x = np.asarray(observations)
        found = np.full((len(x), 2, 2), -1.0)
        towards = 1 if wrong else 0
        found[:, left, towards] = -0.1 * x
        found[:, 1 - left, 1 - towards] = -0.1 * (6 - x)
        return found

    return ta.from_values(returns, world)


def test_open_worlds_are_played_beside_the_best_known():
    good, bad = corridor(), corridor(wrong=True)
    certificate = good["left"].certificate(episodes=50)
    low, high = certificate.played.interval
    assert low <= certificate.played.mean_return <= high
    assert not certificate.optimal  # nothing proves it
    assert "50 episodes" in certificate.line
    assert bad["left"].certificate(episodes=50).played.mean_return < low
    either = good["left | ~left"].certificate(episodes=50).played
    assert either.lost[1] <= 0  # no agent that goes for one end is better
    with pytest.raises(TypeError, match="episodes"):
        good["left"].improve()


def test_agents_of_open_worlds_are_mended_by_playing():
    bad = corridor(wrong=True)["left"]
    taught = bad.improve(episodes=200, seed=0)
    assert taught.improvement.kept
    assert taught.evaluate(50).success_rate == 1.0
    assert bad.evaluate(50).success_rate < 0.2


def test_observations_that_never_repeat_teach_nothing():
    class Drift(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-1e9, 1e9, (1,), np.float64)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.x, self.t = self.np_random.random(1), 0
            return self.x, {}

        def step(self, action):
            self.x, self.t = self.x + 0.1 + 0.001 * self.np_random.random(1), self.t + 1
            return self.x, -0.1, self.t >= 30, False, {}

    world = ta.wrap(Drift, goals=lambda o, i, e: "far" if o[0] > 2 else None, among=["far"])
    skills = ta.from_values(
        lambda observations: np.zeros((len(observations), world.space.n_goals, 2)), world
    )
    with pytest.raises(NothingRepeatsError, match="learns nothing"):
        skills["far"].improve(episodes=3)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"gap": -1}, "gap"),
        ({"gap": float("nan")}, "gap"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": 1.5}, "rounds"),
        ({"episodes": 0}, "episodes"),
        ({"episodes": 5, "gap": 0.1}, "without them"),
    ],
)
def test_wrong_calls_are_refused(slippery, call, said):
    with pytest.raises(ValueError, match=said):
        slippery["top"].improve(**call)


def test_the_two_sided_bounds_hold(slippery):
    for expression in ("top | left", "top & left", "top ^ left", "~(top | left)"):
        found = slippery.bounds(expression)
        best = optimal_v(found.task)
        assert (found.lower <= best + 1e-8).all()
        assert (best <= found.upper + 1e-8).all()
        assert found.width < 0.1


def test_bounds_are_refused_where_expressions_mean_something_else(slippery):
    dense = ta.solve(ta.FourRooms(dense=True))
    with pytest.raises(ValueError, match=r"certificate\(\)"):
        dense.bounds("top & left")
    with pytest.raises(ValueError, match="over time"):
        slippery.bounds("F top")


def test_a_world_that_was_sampled_certifies_nothing(tmp_path):
    world = ta.wrap(
        Corridor,
        goals=lambda o, i, e: {"left": o == 0} if o in (0, 6) else None,
        among={"left": [True, False]},
    )
    sampled = ta.explore(world, samples=30)
    assert sampled.row_error > 0
    planned = ta.solve(sampled)
    planned.save(tmp_path / "sampled")
    others = [
        planned,
        ta.solve(sampled.space, sampled.tasks),
        ta.load(tmp_path / "sampled"),
        ta.learn(sampled, learner=ta.QLearning(steps=20_000)),
    ]
    for skills in others:
        certificate = skills["left"].certificate()
        assert certificate.loss.none
        assert not certificate.optimal
        assert "sampled" in certificate.line


def test_far_goals_of_formulas_are_not_given_up():
    world = ta.from_text(["A" + "." * 30, "#" * 30 + "B"], slip_probability=0.05)
    tasks = {"a": ["A"], "b": ["B"]}
    agent = ta.solve(world, tasks).fewest_violations("a", avoid="b")
    assert agent.certificate().optimal
    learned = ta.learn(world, tasks, learner=ta.QLearning(steps=60_000))["F a"]
    assert "low penalty" in [finding.name for finding in learned.certificate().blame]


def test_rewards_of_any_size_are_evaluated_alike():
    rows = ["".join("A" if (r, c) == (0, 0) else "." for c in range(50)) for r in range(50)]
    found = []
    for unit in (1.0, 2.0**-40):
        world = ta.from_text(rows, step_reward=-0.125 * unit, slip_probability=0.2)
        space = ta.TaskSpace(world, r_universal=16.0 * unit, r_empty=-unit)
        up, left, stay = (world.action_names.index(name) for name in ("up", "left", "stay"))
        towards = np.where(world.cells[:, 0] > 0, up, left)
        towards[(world.cells == 0).all(axis=1)] = stay
        found.append(policy_return(space.task(["A"]), towards) / unit)
    assert np.abs(found[0] - found[1]).max() < 1e-9


def test_settings_that_do_not_apply_are_refused(slippery):
    agent = ta.solve(ta.FourRooms(), horizon=12)["top"]
    with pytest.raises(ValueError, match="backward induction"):
        agent.improve(gap=0.1)
    with pytest.raises(ValueError, match="horizon"):
        ta.solve(ta.FourRooms(), horizon=3).bounds("top & left")
    with pytest.raises((TypeError, ValueError), match="exact"):
        slippery["top"].certificate(exact="no")
    with pytest.raises(ValueError, match="episodes"):
        slippery["top"].improve(episodes=10**12)
    with pytest.raises(ValueError, match="read-only"):
        slippery["top"].improve().improvement.actions[0] = 1
    with pytest.raises(ValueError, match="nothing is played for it; leave episodes out"):
        slippery["top"].certificate(episodes=50)


def test_what_a_prompt_shows_is_a_line(slippery):
    agent = slippery["top ^ left"]
    certificate = agent.certificate()
    for shown in (certificate, certificate.loss, agent.improve().improvement):
        assert "\n" not in repr(shown) and len(repr(shown)) < 320
        assert repr(shown).startswith(type(shown).__name__)
    assert certificate.line in repr(certificate)
    assert repr(slippery.space.check()) == "AssumptionReport(fails: deterministic)"
    world = repr(ta.FourRooms())
    assert world == "FourRooms(top, left) of <deterministic world: 108 states, 4 goals, 5 actions>"


def test_formulas_say_what_is_lost_and_what_mends_it():
    world = ta.FourRooms(slip_probability=0.2)
    agent = ta.learn(world, learner=ta.QLearning(steps=3_000))["F(top & F left)"]
    said = agent.evaluate(50).certificate
    assert said.endswith("agent.improve() mends it")
    assert agent.improve().evaluate(50).certificate.startswith("optimal from")


def test_an_agent_that_is_not_known_to_be_optimal_says_why():
    world = ta.wrap(
        Corridor,
        goals=lambda o, i, e: {"left": o == 0} if o in (0, 6) else None,
        among={"left": [True, False]},
    )
    skills = ta.learn(world, learner=ta.QLearning(steps=5_000))
    line = skills["F left"].certificate().line
    assert line.startswith("not known to be optimal: ")
    assert "the returns to goals are estimates (Corollary 1)" in line
    played = skills["left | ~left"].certificate(episodes=20).line
    assert played.endswith(
        "; the best agent that always goes to the same wanted goal earns no more"
    )
