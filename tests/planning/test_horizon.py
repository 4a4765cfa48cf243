"""Planning for the steps left, against backward induction written from the definitions."""

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taskalgebra as ta
from taskalgebra.logic.formulas import all_functions
from taskalgebra.planning import horizon as planning
from taskalgebra.planning.exact import optimal_v
from taskalgebra.worlds.build import from_arrays


def dense(mdp):
    """[S, A, S] probabilities."""
    table = np.zeros((mdp.n_states * mdp.n_actions, mdp.n_states))
    for pair in range(len(table)):
        for k in range(mdp.offset[pair], mdp.offset[pair + 1]):
            table[pair, mdp.successor[k]] += mdp.probability[k]
    return table.reshape(mdp.n_states, mdp.n_actions, mdp.n_states)


def extended_within(mdp, steps, goal_reward, low, horizon):
    """[H, S, G, A], Q̄_h for h = 1 … H, by numpy."""
    p, found = dense(mdp), []
    v = np.zeros((mdp.n_states, mdp.n_goals))
    paid = np.full((mdp.n_goals, mdp.n_goals), low)
    np.fill_diagonal(paid, goal_reward)
    v[mdp.goals] = paid
    for _ in range(horizon):
        q = steps[:, None, :] + np.einsum("sat,tg->sga", p, v)
        q[mdp.goals] = paid[:, :, None]
        found.append(q)
        v = q.max(axis=2)
    return np.array(found)


def best_within(mdp, steps, goal_reward, horizon):
    """[H + 1, S], V_h of the task itself."""
    p = dense(mdp)
    v = np.zeros(mdp.n_states)
    v[mdp.goals] = goal_reward
    found = [v]
    for _ in range(horizon):
        q = steps + p @ v
        q[mdp.goals] = goal_reward[:, None]
        v = q.max(axis=1)
        found.append(v)
    return np.array(found)


def followed(agent, horizon):
    """Return and success from every start, by recursion over the agent's own actions."""
    mdp, task = agent.task.space.mdp, agent.task
    p = dense(mdp)
    v, success = np.zeros(mdp.n_states), np.zeros(mdp.n_states)
    v[mdp.goals], success[mdp.goals] = task.goal_reward, task.wanted
    at_goals = v[mdp.goals], success[mdp.goals]
    for left in range(1, horizon + 1):
        a = agent.policy.with_left(np.arange(mdp.n_states), np.full(mdp.n_states, left))
        row = p[np.arange(mdp.n_states), a]
        v, success = task.steps[np.arange(mdp.n_states), a] + row @ v, row @ success
        v[mdp.goals], success[mdp.goals] = at_goals
    return v[mdp.starts].mean(), success[mdp.starts].mean()


@st.composite
def worlds(draw, stochastic):
    n, n_goals = draw(st.integers(3, 7)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_actions = draw(st.integers(1, 3))
    if stochastic:
        table = rng.dirichlet(np.full(n + n_goals, 0.4), (n + n_goals, n_actions))
        table[table < 1e-3] = 0.0
        table /= table.sum(axis=2, keepdims=True)
    else:
        table = rng.integers(0, n + n_goals, (n + n_goals, n_actions))
    steps = -rng.integers(0, 4, (n + n_goals, n_actions)) / 8
    try:
        return from_arrays(table, steps, range(n, n + n_goals), starts=None)
    except ValueError:  # no goal can be reached
        return draw(st.nothing())


@pytest.mark.parametrize("stochastic", [False, True])
@given(data=st.data())
def test_values_are_those_of_backward_induction(stochastic, data):
    mdp = data.draw(worlds(stochastic))
    horizon = data.draw(st.integers(1, 9))
    space = ta.TaskSpace(mdp)
    tasks = {"first": space.task([mdp.goal_names[0]]), "last": space.task([mdp.goal_names[-1]])}
    skills = ta.solve(space, tasks, horizon=horizon)
    assert skills.family.r_bar_min == space.r_empty.min()
    for expression in ("first", "~first", "first | last", "first ^ last", "true", "false"):
        agent = skills[expression]
        expected = extended_within(
            mdp, mdp.step_reward, agent.task.goal_reward, skills.family.r_bar_min, horizon
        )
        for left in range(1, horizon + 1):
            pairs = [(s, left) for s in range(mdp.n_states)]
            np.testing.assert_allclose(agent.q_bar(pairs), expected[left - 1], atol=1e-12)
        np.testing.assert_allclose(agent.q_bar(np.arange(mdp.n_states)), expected[-1], atol=1e-12)
        best = best_within(mdp, mdp.step_reward, agent.task.goal_reward, horizon)[-1]
        np.testing.assert_allclose(optimal_v(agent.task, horizon=horizon), best, atol=1e-12)
        value, success = followed(agent, horizon)
        found = agent.evaluate()
        assert found.exact and found.standard_error == 0 and found.success_interval[0] <= 1
        np.testing.assert_allclose(
            (found.mean_return, found.success_rate, found.optimal_return),
            (value, success, best[mdp.starts].mean()),
            atol=1e-12,
        )
        if not stochastic:  # Lemma 1, for every number of steps left
            np.testing.assert_allclose(agent.v, best, atol=1e-12)
            np.testing.assert_allclose(found.mean_return, found.optimal_return, atol=1e-12)


def played(mdp, steps, goal_reward, n_steps, act=None):
    """[S], what n steps earn, the action in a goal counted: at best, or by `act(left)`."""
    p, v = dense(mdp), np.zeros(mdp.n_states)
    for left in range(1, n_steps + 1):
        q = steps + p @ v
        q[mdp.goals] = goal_reward[:, None]
        v = q.max(axis=1) if act is None else q[np.arange(mdp.n_states), act(left)]
    return v


@pytest.mark.parametrize("stochastic", [False, True])
@given(data=st.data())
def test_an_episode_that_is_cut_off_is_compared_with_the_best_of_its_length(stochastic, data):
    mdp = data.draw(worlds(stochastic))
    space = ta.TaskSpace(mdp)
    agent = ta.solve(space, {"a": [0]}, horizon=5)["a"]
    task = agent.task
    every = np.arange(mdp.n_states)
    for n in range(1, 8):
        found = agent.evaluate(max_steps=n)

        def act(left, n=n):
            return agent.policy.with_left(every, np.full(mdp.n_states, 5 - n + left))

        if n <= 5:
            best = played(mdp, task.steps, task.goal_reward, n)
            earned = played(mdp, task.steps, task.goal_reward, n, act)
            assert found.mean_return == pytest.approx(earned[mdp.starts].mean(), abs=1e-12)
        else:  # five moves and the action that is paid
            best = best_within(mdp, task.steps, task.goal_reward, 5)[-1]
        assert found.optimal_return == pytest.approx(best[mdp.starts].mean(), abs=1e-12)
        assert found.mean_return <= found.optimal_return + 1e-12


def reach_probability(mdp, wanted, horizon):
    """The largest probability of reaching some goals within the horizon, per state."""
    return best_within(mdp, np.zeros_like(mdp.step_reward), wanted.astype(float), horizon)[-1]


@pytest.mark.parametrize(("name", "least"), [("4x4", 0.73), ("8x8", 0.63)])
def test_the_slippery_lake_is_crossed_as_often_as_its_limit_allows(name, least):
    env = gym.make("FrozenLake-v1", map_name=name)
    lake = ta.from_gymnasium(env)
    assert lake.max_episode_steps == 100
    space = ta.TaskSpace(lake, r_universal=1, r_empty=0)
    skills = ta.solve(space, {"there": space.original}, horizon=100)
    found = skills["there"].evaluate()
    possible = reach_probability(lake, space.original.wanted, 100)[lake.starts].mean()
    assert found.success_rate == pytest.approx(possible, abs=1e-12)
    assert found.success_rate > least
    assert "exact" in str(found)


def test_the_lake_as_the_environment_plays_it():
    env = gym.make("FrozenLake-v1", map_name="8x8")
    lake = ta.from_gymnasium(env)
    agent = ta.solve(lake, {"there": [lake.goal_names[-1]]}, horizon=100)["there"]
    success, episodes = 0, 2000
    for seed in range(episodes):
        state, _ = env.reset(seed=seed)
        agent.reset()
        over = False
        while not over:
            state, reward, terminated, truncated, _ = env.step(agent.act(state))
            over = terminated or truncated
        success += reward
    assert success / episodes == pytest.approx(agent.evaluate().success_rate, abs=0.035)
    assert success / episodes > 0.6


def test_a_policy_counts_the_steps_of_each_episode():
    #   0 - 1 - 2 - near(3) at one end; far(4) pays from 0 with chance one half at each try
    table = np.zeros((5, 2, 5))
    table[0, 0, 1] = table[1, 0, 2] = table[2, 0, 3] = 1
    table[0, 1] = [0.5, 0, 0, 0, 0.5]
    table[1, 1, 1] = table[2, 1, 2] = 1
    table[3:, :] = np.eye(5)[3:, None]
    world = from_arrays(table, 0.0, [3, 4], goal_names=["near", "far"])
    skills = ta.solve(world, {"near": ["near"], "far": ["far"]}, horizon=3)
    agent = skills["near | far"]
    agent.reset([True, True])
    assert agent.act([0, 2]).tolist() == [0, 0]
    assert agent.act([0, 0]).tolist() == [1, 1]  # two moves left are too few to get near
    agent.reset([True, False])
    left = agent.policy.horizon - agent.policy._taken
    assert left.tolist() == [3, 1]
    assert agent.actions.tolist() == skills["near | far"].actions.tolist()
    assert (agent.policy.horizon - agent.policy._taken).tolist() == [3, 1]  # nothing was counted
    with pytest.raises(ValueError, match=r"3 observations, but the steps of 2"):
        agent.act([0, 0, 0])
    for _ in range(3):
        agent.act([0, 0])
    with pytest.raises(ValueError, match=r"more than the 3 steps .* agent.reset\(\)"):
        agent.act([0, 0])


def test_operators_expressions_and_goal_sets_are_one_agent():
    world = ta.FourRooms(slip_probability=0.2)
    skills = ta.solve(world, horizon=12)
    states = np.arange(world.space.mdp.n_states)
    for expression in all_functions(list(skills.tasks)):
        composed = skills[expression]
        same = skills.by_goal_set(expression)
        for left in (1, 5, 12):
            pairs = np.stack((states, np.full(states.size, left)), axis=1)
            np.testing.assert_allclose(composed.q_bar(pairs), same.q_bar(pairs), atol=1e-12)
    built = skills["top"] & ~skills["left"]
    assert (built.actions == skills["top & ~left"].actions).all()
    assert built.picture()


def test_dense_tasks_and_other_rewards_are_planned_too():
    mdp = ta.FourRooms().space.mdp
    space = ta.TaskSpace(mdp)
    rng = np.random.default_rng(0)
    steps = -rng.integers(1, 4, mdp.step_reward.shape) / 8
    steps[mdp.goals] = 0
    rewards = np.array([2.0, 1.0, -0.1, 0.5])
    tasks = {"dense": space.from_rewards(rewards, steps), "graded": space.from_rewards(rewards)}
    skills = ta.solve(space, tasks, horizon=20, r_bar_min=-3.0)
    for name, task in tasks.items():
        expected = extended_within(mdp, task.steps, task.goal_reward, -3.0, 20)
        np.testing.assert_allclose(
            skills[name].q_bar(np.arange(mdp.n_states)), expected[-1], atol=1e-12
        )


def test_saved_and_loaded(tmp_path):
    lake = ta.from_gymnasium(gym.make("FrozenLake-v1"))
    skills = ta.solve(lake, {"there": ["s15"], "first": ["s5"]}, horizon=17, r_bar_min=-0.25)
    skills.save(tmp_path / "lake")
    again = ta.load(tmp_path / "lake")
    assert again.family.horizon == 17 and again.family.r_bar_min == -0.25
    assert again.space.mdp.max_episode_steps == 100
    assert again.space.mdp.ends.tolist() == lake.ends.tolist()
    one, other = skills["there & ~first"], again["there & ~first"]
    assert one.evaluate() == other.evaluate()
    pairs = [(s, h) for s in range(lake.n_states) for h in (1, 9, 17)]
    assert np.array_equal(one.q_bar(pairs), other.q_bar(pairs))


def test_a_level_that_stays_is_kept_once():
    mdp = from_arrays([[0, 1], [0, 2], [2, 2]], -1.0, [2])
    family = ta.solve(mdp, {"goal": [0]}, horizon=10_000).family
    space = family.space
    expected = extended_within(mdp, mdp.step_reward, space.r_universal, space.r_empty.min(), 50)
    assert np.array_equal(family["goal"].q_bar([(0, 50), (0, 9000)])[0], expected[-1][0])
    assert len(family["goal"].planned.levels) < 10


@pytest.mark.parametrize("horizon", [0, -1, 2.5, "ten", True])
def test_wrong_horizons(horizon):
    with pytest.raises(ValueError, match=r"horizon is .*, expected a whole number of at least 1"):
        ta.solve(ta.FourRooms(), horizon=horizon)


def test_what_is_too_large_is_refused_with_the_way_out(monkeypatch):
    monkeypatch.setattr(planning, "LARGEST", 10_000)
    world = ta.FourRooms()
    with pytest.raises(ValueError, match=r"needs .* numbers .* plan for at most \d+ steps") as told:
        ta.solve(world, horizon=100)
    most = int(str(told.value).split("at most ")[1].split(" ")[0])
    assert ta.solve(world, horizon=most).family.horizon == most
    with pytest.raises(ValueError, match="needs"):
        ta.solve(world, horizon=most + 1)


def test_a_limit_that_is_ignored_is_named(tmp_path):
    lake = ta.from_gymnasium(gym.make("FrozenLake-v1", map_name="8x8"), step_cost=0.001)
    space = ta.TaskSpace(lake, r_universal=1, r_empty=0)
    skills = ta.solve(space, {"there": space.original}, r_bar_min=0.0)
    way_out = "end after 100 steps; plan for it with solve(world, horizon=100)"
    assert way_out in skills["there"].evaluate(200).note
    assert way_out in str(space.check())
    skills.save(tmp_path / "lake")
    assert way_out in ta.load(tmp_path / "lake")["there"].evaluate(200).note
    planned = ta.solve(space, {"there": space.original}, horizon=100)["there"]
    assert "horizon" not in planned.evaluate().note
    easy = ta.from_gymnasium(gym.make("FrozenLake-v1", is_slippery=False), step_cost=0.01)
    assert ta.solve(easy, {"there": ["s15"]})["there"].evaluate(100).note == ""
    cliff = ta.from_gymnasium(gym.make("CliffWalking-v1"))
    assert cliff.max_episode_steps is None and "solve(" not in str(ta.TaskSpace(cliff).check())
    assert ta.from_gymnasium(gym.make("FrozenLake-v1").unwrapped).max_episode_steps is None
