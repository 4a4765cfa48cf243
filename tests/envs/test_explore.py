"""Environments explored into tables, against their own tables and against searches by copies."""

import re
from collections import deque
from copy import deepcopy

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import SyncVectorEnv

import taskalgebra as ta
from known_label import among
from taskalgebra.progress import Event
from taskalgebra.theory.policy import Policy

TAXI = "Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"


@among(["there", "hole"])
def on_lake(observation, info, env):
    letter = env.desc.reshape(-1)[observation]
    return {b"G": "there", b"H": "hole"}.get(letter)


def lake(slippery=False, **options):
    return lambda **changes: gym.make("FrozenLake-v1", is_slippery=slippery, **options, **changes)


class Grid(gym.Env):
    """A square of cells with an exit at two corners; observations are (row, column)."""

    observation_space = Box(0, 9, (2,), np.float32)
    action_space = Discrete(4)
    slip, blind, hidden = 0.0, False, False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.n = [2, int(self.np_random.integers(1, 4)) if seed else 2], 0
        return self._seen(), {}

    def _seen(self):
        return np.array([0 if self.blind else self.at[0], self.at[1]], np.float32)

    def step(self, action):
        self.n += 1
        if self.slip and self.np_random.random() < self.slip:
            action = int(self.np_random.integers(4))
        move = [(0, 1), (1, 0), (0, -1), (-1, 0)][action]
        if self.hidden and self.n > 3:
            move = (0, 0)
        self.at = [min(max(self.at[i] + move[i], 0), 4) for i in range(2)]
        ends = self.at in ([0, 0], [4, 4], [0, 4])
        return self._seen(), 0.0, ends, False, {"at": tuple(self.at)}


def corner(observation, info, env):
    return {(0, 0): "first", (4, 4): "last"}.get(info["at"])


def wrapped(among=("first", "last"), elsewhere="other", **attributes):
    kind = type("Grid", (Grid,), attributes)
    return ta.wrap(kind, goals=corner, among=list(among), elsewhere=elsewhere, step_reward=-0.1)


def distances(env, label, actions, seed=0):
    """Steps to each goal by a search over deep copies, which knows nothing of the library."""
    env = env.unwrapped
    observation, _ = env.reset(seed=seed)
    found, seen, queue = {}, set(), deque([(env, 0)])
    while queue:
        here, steps = queue.popleft()
        for action in actions:
            there = deepcopy(here)
            observation, _, terminated, _, info = there.step(action)
            goal = label(observation, info, there)
            if goal is not None or terminated:
                found.setdefault(str(goal), steps + 1)
                continue
            key = fingerprint(there)
            if key not in seen:
                seen.add(key)
                queue.append((there, steps + 1))
    return found


def fingerprint(env):
    if hasattr(env, "grid"):
        carried = env.carrying and env.carrying.encode()
        where = (*map(int, env.agent_pos), env.agent_dir)
        return where, carried, env.grid.encode().tobytes()
    return tuple(env.at)


@pytest.mark.parametrize("options", [{}, {"map_name": "8x8"}])
def test_a_toy_text_world_is_that_of_its_table(options):
    explored = ta.explore(
        ta.wrap(lake(**options), goals=on_lake, step_reward=-0.01, r_universal=2.0)
    )
    mdp, table = explored.space.mdp, ta.from_gymnasium(lake(**options)(), step_cost=0.01)
    assert mdp.deterministic and mdp.goal_names == ("there", "hole")
    assert mdp.max_episode_steps == 100
    steps = ta.solve(
        ta.TaskSpace(table, r_universal=2, r_empty=-0.1), {"there": [table.goal_names[-1]]}
    )["there"]
    agent = ta.solve(explored)["there"]
    assert agent.v[mdp.starts].tolist() == pytest.approx(steps.v[table.starts].tolist())
    found = agent.play(lake(**options)(), 3)
    assert found.success_rate == 1.0
    assert found.mean_return == pytest.approx(agent.v[mdp.starts[0]])
    env = lake(**options)()
    state, _ = env.reset(seed=0)
    over = False
    while not over:
        state, reward, over, _, _ = env.step(agent.act(state, env))
    assert reward == 1.0
    copies = gym.vector.SyncVectorEnv([lake(**options)] * 2)
    assert agent.act(copies.reset(seed=0)[0], copies).shape == (2,)


class Backwards(gym.Env):
    """Six cells in a row; cell 5 is where episodes start, so that it is the first to be found."""

    observation_space = gym.spaces.Discrete(6)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 5
        return self.at, {}

    def step(self, action):
        self.at = int(np.clip(self.at + action - 1, 0, 5))
        return self.at, -0.125, False, False, {}


def backwards(continuing, **options):
    world = ta.wrap(
        Backwards, lambda at, info, env: "end" if at == 0 else None, among=["end"], **options
    )
    return ta.explore(world, continuing=continuing)


@pytest.mark.parametrize("key", ["end", "F end"])
def test_numbers_of_states_are_not_taken_for_observations(key):
    explored = backwards(key == "F end")
    agent = ta.solve(explored)[key]
    with pytest.raises(ValueError, match=r"say where .* agent\.act\(observation, env\)"):
        agent.act(5)
    real = Backwards()
    loops = {
        "real": (real, real.reset(seed=0)[0]),
        "explored": (explored, explored.reset(seed=0)[0]),
    }
    for env, at in loops.values():
        steps = 0
        while steps < 5:
            at, *_ = env.step(agent.act(at, env))
            steps += 1
        assert env is not real or at == 0
    copies = explored.continuing(2) if key == "F end" else explored.vector(2, task=agent.task)
    states, _ = copies.reset(seed=0)
    agent.reset([True, True])
    for _ in range(5 if key == "F end" else 6):  # the last action of a Boolean task is paid
        states, _, _, _, infos = copies.step(agent.act(states, copies))
    assert infos["goal"].tolist() == [0, 0]


def test_actions_in_the_explored_world_are_its_numbers():
    explored = backwards(False, actions={"back": 0, "on": 2})
    agent = ta.solve(explored)["end"]
    assert agent.act(5, Backwards()) == 0
    assert ta.solve(backwards(False, actions={"on": 2, "back": 0}))["end"].act(0, explored) == 1


def test_wrappers_and_attached_copies_show_numbers_of_states_too():
    explored = backwards(False)
    agent = ta.solve(explored)["end"]
    wrapped = gym.wrappers.TimeLimit(explored, 9)
    assert agent.act(wrapped.reset(seed=0)[0], wrapped) == 0
    copies = gym.wrappers.vector.RecordEpisodeStatistics(explored.vector(2, task=agent.task))
    assert agent.act(copies.reset(seed=0)[0], copies).tolist() == [0, 0]
    attached = explored.attach(Backwards(), task=agent.task)
    states, _ = attached.reset(seed=0)
    assert explored.see(states, attached).tolist() == states.tolist() == [0]


def test_a_vector_of_the_real_environment_is_looked_at_by_the_users_hooks():
    world = ta.wrap(Backwards, lambda at, info, env: "end" if at == 0 else None, among=["end"])
    explored = ta.explore(
        world,
        save=lambda env: ("at", env.at),
        restore=lambda env, saved: setattr(env, "at", saved[1]),
    )
    vector = gym.vector.SyncVectorEnv([Backwards] * 2)
    seen, _ = vector.reset(seed=0)
    seen, *_ = vector.step([0, 1])
    assert seen.tolist() == [4, 5]
    assert explored.see(seen, vector).tolist() == [
        explored.state_of(one) for one in vector.unwrapped.envs
    ]
    assert explored.see(seen, vector).tolist() != seen.tolist()


def test_where_both_numbers_are_the_same_nothing_need_be_said():
    class Forwards(Backwards):
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at = 0
            return self.at, {}

    world = ta.wrap(Forwards, lambda at, info, env: "end" if at == 5 else None, among=["end"])
    agent = ta.solve(ta.explore(world, continuing=True))["F end"]
    assert agent.act(0) == 2


def test_copies_are_kept_where_no_hooks_are_known():
    explored = ta.explore(wrapped())
    assert explored.space.mdp.n_states == 25 - 3 + 3  # one absorbing state per goal
    skills = ta.solve(explored)
    expected = distances(Grid(), corner, range(4))
    for expression, goal in (("first", "first"), ("last", "last"), ("first | last", None)):
        found = skills[expression].play(Grid(), 2)
        nearest = min(expected["first"], expected["last"])
        assert found.mean_steps == (expected[goal] if goal else nearest)
        assert found.success_rate == 1.0
    env = Grid()
    observation, _ = env.reset(seed=0)
    assert isinstance(skills["first"].act(observation), int | np.integer)


def test_several_seeds_are_several_starts():
    explored = ta.explore(wrapped(), seeds=range(6))
    assert len(set(starts(explored, 6))) > 1
    agent = ta.solve(explored)["first"]
    copies = SyncVectorEnv([Grid] * 3)
    found = agent.play(copies, 12)
    assert found.success_rate == 1.0
    assert found.mean_return == pytest.approx(np.mean([agent.v[s] for s in starts(explored, 6)]))


def test_a_start_of_several_seeds_is_as_likely_as_they_are_many():
    explored = ta.explore(wrapped(), seeds=range(20))
    among = starts(explored, 20)
    shares = {s: among.count(s) / len(among) for s in among}
    assert max(shares.values()) > min(shares.values())
    played, _ = explored.vector(10_000, task=explored.space.universal).reset(seed=0)
    for s, share in shares.items():
        assert np.mean(played == s) == pytest.approx(share, abs=0.02)
    agent = ta.solve(explored)["first"]
    expected = np.mean([agent.v[s] for s in among])
    assert np.mean([agent.v[s] for s in shares]) != pytest.approx(expected, abs=1e-3)
    found = agent.evaluate(20_000)
    assert found.mean_return == pytest.approx(expected, abs=4 * found.standard_error)
    assert found.score == pytest.approx(1.0)
    exact = ta.solve(explored, horizon=20)["first"].evaluate()
    assert exact.mean_return == pytest.approx(expected) == exact.optimal_return
    assert exact.success_rate == pytest.approx(1.0)


def starts(explored, n):
    env = Grid()
    return [explored.state_of(env, env.reset(seed=seed)[0]) for seed in range(n)] * 2


def test_hooks_of_ones_own():
    def save(env):
        return tuple(env.at)

    def restore(env, saved):
        env.at = list(saved)

    by_hooks = ta.explore(wrapped(blind=True), save=save, restore=restore)
    assert by_hooks.space.mdp.n_states == 25
    env = type("Grid", (Grid,), {"blind": True})()
    assert ta.solve(by_hooks)["last"].play(env, 1).mean_steps == 4
    observation, _ = env.reset(seed=0)
    with pytest.raises(ValueError, match=r"agent.act\(observation, env\)"):
        ta.solve(by_hooks)["last"].act(observation)
    ta.solve(by_hooks)["last"].act(observation, env)
    with pytest.raises(ValueError, match="save and restore belong together"):
        ta.explore(wrapped(), save=save)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"blind": True}, "observations do not tell states apart: give save= and restore="),
        ({"hidden": True}, "observations do not tell states apart"),
        ({"slip": 0.3}, r"is not deterministic: estimate what actions do, explore\(..., samples="),
    ],
)
def test_what_is_not_a_state_is_refused(attributes, message):
    with pytest.raises(ValueError, match=message):
        ta.explore(wrapped(**attributes))


def test_chance_is_found_behind_hooks_too():
    with pytest.raises(ValueError, match="is not deterministic"):
        ta.explore(ta.wrap(lake(True), goals=on_lake))


@pytest.mark.parametrize("samples", [40, 400])
def test_sampled_outcomes_are_as_close_as_stated(samples):
    world = ta.wrap(lake(True), goals=on_lake, step_reward=0.0, r_universal=1.0, r_empty=0.0)
    explored = ta.explore(world, samples=samples)
    real = lake(True)().unwrapped
    mdp, table = explored.space.mdp, real.P
    worst = 0.0

    def number(own):
        real.s = own
        return explored.state_of(real)

    for own, s in ((own, number(own)) for own in table if on_lake(own, {}, real) is None):
        for a in range(4):
            true = {}
            for p, t, _, _ in table[own][a]:
                letter = on_lake(t, {}, real)
                t = explored.space.mdp.goals[mdp.goal_index(letter)] if letter else number(t)
                true[int(t)] = true.get(int(t), 0.0) + p
            for k in range(mdp.offset[s * 4 + a], mdp.offset[s * 4 + a + 1]):
                t = int(mdp.successor[k])
                true[t] = true.get(t, 0.0) - mdp.probability[k]
            worst = max(worst, sum(map(abs, true.values())))
    assert 0 < worst <= explored.row_error
    n_rows, k = 11 * 4, 3
    assert explored.row_error == pytest.approx(
        np.sqrt(2 * np.log((2**k - 2) * n_rows / 0.05) / samples)
    )


def test_a_sampled_world_is_played():
    world = ta.wrap(lake(True), goals=on_lake, step_reward=0.0, r_universal=1.0, r_empty=0.0)
    explored = ta.explore(world, samples=300)
    agent = ta.solve(explored, ["there"], horizon=100)["there"]
    found = agent.play(SyncVectorEnv([lake(True)] * 20), 400)
    assert 0.6 < found.success_rate < 0.85  # 74 % are possible
    assert agent.evaluate().success_rate == pytest.approx(0.74, abs=0.1)


def test_limits_progress_and_wrong_uses():
    events: list[Event] = []
    ta.explore(ta.wrap(gym.make(TAXI), goals=at_taxi), seeds=range(3), listener=events.append)
    assert events and all(0 < event.share <= 1 for event in events)
    with pytest.raises(ValueError, match=re.escape("more than 10 states; use fewer actions")):
        ta.explore(wrapped(), limit=10)
    car = ta.wrap(
        "MountainCar-v0", goals=lambda o, i, e: "top" if o[0] > 0.5 else None, among=["top"]
    )
    with pytest.raises(ValueError, match="more than 500 states"):
        ta.explore(car, limit=500)
    with pytest.raises(TypeError, match=r"expected what taskalgebra\.wrap"):
        ta.explore(gym.make("FrozenLake-v1"))
    with pytest.raises(ValueError, match="seeds is empty"):
        ta.explore(wrapped(), seeds=())
    with pytest.raises(ValueError, match="the label names no goal"):
        ta.explore(wrapped(elsewhere=None))
    for wrong in ({"limit": 0}, {"samples": 0}, {"seeds": (-1,)}):
        with pytest.raises(ValueError, match="expected a whole number"):
            ta.explore(wrapped(), **wrong)
    push = ta.wrap("Pendulum-v1", goals=lambda o, i, e: "up" if o[0] > 0.9 else None, among=["up"])
    with pytest.raises(ValueError, match=r"name a few of them: wrap\(..., actions="):
        ta.explore(push)


@among({"place": list("RGYB")})
def at_taxi(observation, info, env):
    *_, passenger, place = env.decode(observation)
    return {"place": "RGYB"[place]} if passenger == place else None


def test_what_was_not_explored_is_said():
    agent = ta.solve(ta.explore(wrapped()))["first"]
    env = Grid()
    env.reset(seed=0)
    env.at = [9, 9]
    with pytest.raises(ValueError, match=r"a state that was not explored; .* explore more"):
        agent.act(env._seen())
    with pytest.raises(ValueError, match="give an environment of the same kind"):
        agent.play(gym.make("CartPole-v1"))
    with pytest.raises(TypeError, match="its states must be looked at"):
        agent.play(3)


def test_classic_control_is_put_back():
    def side(observation, info, env):
        x = env.state[0]
        return "right" if x > 0.15 else "left" if x < -0.15 else None

    world = ta.wrap("CartPole-v1", goals=side, among=["left", "right"], elsewhere="fallen", hold=6)
    explored = ta.explore(world, limit=5_000)
    skills = ta.solve(explored)
    for task in ("left", "right"):
        assert skills[task].play(gym.make("CartPole-v1"), 1).success_rate == 1.0


def test_skills_are_saved_and_played_again(tmp_path):
    explored = ta.explore(wrapped())
    ta.solve(explored).save(tmp_path / "grid")
    again = ta.load(tmp_path / "grid", explored)
    assert again["last & ~first"].play(Grid(), 1).success_rate == 1.0


class Narrow(gym.Env):
    """Five places in a row, in numbers of a size of their own; both ends are goals."""

    observation_space = Discrete(5)
    action_space = Discrete(2)
    kind, seeded = np.int32, True

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 2 if self.seeded else int(np.random.default_rng().integers(1, 4))
        return self.kind(self.place), {}

    def step(self, action):
        self.place += 1 if action else -1
        return self.kind(self.place), 0.0, self.place in (0, 4), False, {}


def at_an_end(observation, info, env):
    return {0: "west", 4: "east"}.get(int(observation))


def narrow(**attributes):
    env = type("Narrow", (Narrow,), attributes)
    return ta.wrap(env, goals=at_an_end, among=["west", "east"], max_episode_steps=9)


def test_numbers_of_states_are_the_same_in_any_size():
    agent, env = ta.solve(ta.explore(narrow()))["west"], Narrow()
    assert [agent.act(kind(3), env) for kind in (int, np.int32, np.int64, np.uint8)] == [0] * 4


def test_the_sign_of_zero_tells_no_states_apart():
    class Signed(Grid):
        def _seen(self):
            seen = super()._seen() - 2
            return np.where(seen == 0, -0.0 if self.n % 2 else 0.0, seen).astype(np.float32)

    world = ta.wrap(Signed, goals=corner, among=["first", "last"], elsewhere="other")
    assert ta.explore(world).space.mdp.n_states == 25


def test_episodes_that_seeds_do_not_begin_are_refused():
    with pytest.raises(ValueError, match="two episodes with seed 0 began in different states"):
        ta.explore(narrow(seeded=False))


def test_an_explored_world_is_played_to_its_limit():
    class Undecided(Policy):
        n = 0

        def actions(self, observations):
            self.n += 1
            return np.full(len(observations), self.n % 2)

    agent = ta.solve(ta.explore(narrow()))["west"]
    assert agent.play(max_steps=2).mean_steps == 2
    agent.policy = Undecided()
    assert agent.play().mean_steps == 9
    with pytest.raises(ValueError, match="max_steps is 0"):
        agent.play(max_steps=0)


def test_an_explored_world_prints_as_what_it_is():
    def there(observation, info, env):
        return "end" if observation == 47 else None

    explored = ta.explore(ta.wrap("CliffWalking-v1", there, among=["end"]))
    assert str(explored) == repr(explored)
    assert str(explored).startswith("Explored(end) of <deterministic world")
