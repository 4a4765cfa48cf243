"""FlatWorld: its facts, its lattices, and agents for the published tasks, against an oracle."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import flat_oracle as oracle
import taskalgebra as ta
from taskalgebra.envs.flat_world.lattice import FlatReach, Lattice, between, goals_at, nearest
from taskalgebra.envs.flat_world.picture import INK, PAINT, SIDE
from taskalgebra.envs.flat_world.plane import (
    ACTIONS,
    COLOURS,
    HALF,
    MOVES,
    STEP,
    codes_at,
    names_of,
    random_starts,
)
from taskalgebra.planning.product import product
from taskalgebra.skills.plans import labelled

FORMULAS = list(oracle.TASKS)


@pytest.fixture(scope="module")
def world():
    return ta.FlatWorld()


@pytest.fixture(scope="module")
def skills(world):
    return ta.solve(world)


def points_of_the_square(seed, count):
    return np.random.default_rng(seed).uniform(-HALF, HALF, (count, 2))


def played(world, agent, starts, limit=500):
    """[N], the number of steps after which each episode succeeded, 0 if it did not; and paths."""
    env = world.continuing(len(starts))
    observations, _ = env.reset(options={"position": starts})
    agent.reset(np.ones(len(starts), bool))
    steps, on = np.zeros(len(starts), int), np.ones(len(starts), bool)
    paths = [observations]
    for n in range(1, limit + 1):
        observations, _, terminated, _, infos = env.step(agent.act(observations))
        agent.observe(infos)
        paths.append(observations)
        succeeded = agent.automaton.accepting[agent.states]
        steps[on & succeeded] = n
        on &= ~(succeeded | terminated | agent.automaton.dead[agent.states])
        if not on.any():
            break
    return steps, np.stack(paths, axis=1)


# The plane


def test_the_published_tasks_are_given(world):
    assert list(world.formulas.values()) == FORMULAS


def test_all_eight_moves_have_one_length_and_eight_directions():
    lengths = np.hypot(*MOVES.T)
    np.testing.assert_allclose(
        lengths, np.where(np.array(ACTIONS) == "stay", 0.0, STEP), atol=1e-15
    )
    angles = np.degrees(np.arctan2(MOVES[:, 1], MOVES[:, 0]))[lengths > 0]
    assert sorted(np.rint(angles).tolist()) == [-135, -90, -45, 0, 45, 90, 135, 180]
    assert dict(zip(ACTIONS, np.sign(MOVES).astype(int).tolist(), strict=True))["up_left"] == [
        -1,
        1,
    ]


def test_twelve_sets_of_colours_occur_and_are_those_of_the_circles():
    axis = np.linspace(-HALF, HALF, 401)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    codes = codes_at(grid)
    assert len(np.unique(codes)) == 13  # with the empty one
    assert {"blue", "green", "aqua"} in [set(names_of(c)) for c in np.unique(codes).tolist()]
    for point in points_of_the_square(0, 3000):
        assert set(names_of(int(codes_at(point)))) == oracle.colours(*point)


def test_a_point_on_the_edge_is_outside_of_its_circle():
    assert names_of(int(codes_at((0.1, 0.8)))) == ()
    assert names_of(int(codes_at((0.1, 0.8 - 1e-9)))) == ("blue",)


def test_colours_are_read_after_a_step_and_not_at_the_start(world):
    observation, info = world.reset(options={"position": (-1.0, -1.2)})
    assert observation.tolist() == [-1.0, -1.2]
    assert info == {"goal": -1, "colours": ()}
    _, reward, terminated, truncated, info = world.step(ACTIONS.index("stay"))
    assert info["colours"] == ("yellow",) and (terminated, truncated) == (False, False)
    assert reward == -0.1
    assert world.space.goal_names[info["goal"]].startswith("yellow at -1.04, -1.20")


def test_leaving_the_square_ends_an_episode(world):
    world.reset(options={"position": (1.93, 1.9)})
    assert not world.step(ACTIONS.index("down_right"))[2]  # 1.93 + 0.08/√2 < 2
    observation, _, terminated, truncated, info = world.step(ACTIONS.index("down_right"))
    assert observation[0] > HALF and (terminated, truncated) == (True, False)
    assert observation in world.observation_space
    assert info == {"goal": -1, "colours": ()}
    with pytest.raises(gym.error.ResetNeeded):
        world.step(0)


def test_episodes_start_where_those_of_the_published_evaluation_do(world):
    for seed in (1, 5):
        world.reset(seed=seed)
        starts = np.array([world.reset()[0] for _ in range(40)])
        np.testing.assert_array_equal(starts, oracle.published_starts(seed, 40))


def test_starts_are_uniform_over_the_square_without_the_circles():
    starts = random_starts(np.random.default_rng(0), 20_000)
    assert not codes_at(starts).any() and (np.abs(starts) <= HALF).all()
    cells = np.floor((starts + HALF) * 2).astype(int)
    counts = np.bincount(cells[:, 0] * 8 + cells[:, 1], minlength=64)
    free = codes_at(points_of_the_square(1, 400_000)) == 0
    there = np.floor((points_of_the_square(1, 400_000)[free] + HALF) * 2).astype(int)
    expected = np.bincount(there[:, 0] * 8 + there[:, 1], minlength=64) * (20_000 / free.sum())
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected.max())
    again = random_starts(np.random.default_rng(0), 20_000)
    assert np.array_equal(starts, again)
    assert not np.array_equal(starts, random_starts(np.random.default_rng(1), 20_000))


# Copies


def test_copies_do_what_single_environments_do(world):
    rng, n = np.random.default_rng(3), 40
    starts = points_of_the_square(4, n)
    copies = world.continuing(n)
    copies.reset(seed=0, options={"position": starts})
    singles = [ta.FlatWorld() for _ in range(n)]
    for single, start in zip(singles, starts, strict=True):
        single.reset(options={"position": start})
    on = np.ones(n, bool)
    for _ in range(120):
        actions = rng.integers(0, 9, n)
        actions[:10] = rng.integers(0, 2, 10)  # some soon leave at the top or on the right
        observations, rewards, terminated, truncated, infos = copies.step(actions)
        for i in np.flatnonzero(on):
            one = singles[i].step(int(actions[i]))
            assert np.array_equal(one[0], observations[i]) and one[1] == rewards[i]
            assert one[2:4] == (terminated[i], truncated[i])
            assert one[4]["goal"] == infos["goal"][i]
        on &= ~terminated
    assert 10 <= (~on).sum() < n


def test_a_copy_that_has_left_begins_again_with_the_next_step(world):
    env = world.continuing(2)
    env.reset(seed=0, options={"position": [(1.99, 0.99), (0.1, 0.0)]})
    _, _, terminated, _, infos = env.step([1, 4])
    assert terminated.tolist() == [True, False] and infos["goal"][1] >= 0
    observations, rewards, terminated, truncated, infos = env.step([1, 4])
    assert codes_at(observations[0]) == 0 and rewards.tolist() == [0.0, -0.1]
    assert not terminated.any() and not truncated.any() and infos["goal"][0] == -1


def test_episodes_go_on_after_goals_up_to_the_limit(world):
    env = world.continuing(1, max_episode_steps=5)
    env.reset(options={"position": (0.1, 0.0)})
    ends = [env.step([4])[2:4] for _ in range(5)]
    assert [bool(t[0]) for t, _ in ends] == [False] * 5
    assert [bool(t[0]) for _, t in ends] == [False] * 4 + [True]


def test_copies_with_a_task_end_in_goals_and_are_paid(world):
    yellow = world.tasks["yellow"]
    env = world.vector(3, task=yellow)
    env.reset(seed=0, options={"position": [(-1.0, -0.86), (0.1, 0.84), (1.99, 1.5)]})
    _, rewards, terminated, truncated, infos = env.step([2, 2, 1])
    assert terminated.tolist() == [True, True, False]
    assert truncated.tolist() == [False, False, True]  # out of the square, which is no goal
    np.testing.assert_allclose(rewards, [-0.1 + 10.0, -0.1 - 0.1, -0.1])
    assert infos["goal"][2] == -1


def test_a_goal_has_the_colours_of_the_point_that_entered_it(world):
    points = points_of_the_square(5, 20_000)
    goals = goals_at(world.points, points)
    codes = codes_at(points)
    assert ((goals == -1) == (codes == 0)).all()
    met = goals >= 0
    at = world.standing()[goals[met]]
    assert np.array_equal(codes_at(at), codes[met])
    apart = np.hypot(*(at - points[met]).T)
    assert np.median(apart) < STEP / 2 and apart.max() < 3 * STEP
    colours = np.array([task.desired for task in world.tasks.values()]).T[goals[met]]
    assert all(
        set(names_of(int(code))) == {c for c, on in zip(COLOURS, row, strict=True) if on}
        for code, row in zip(codes[met][:500], colours[:500], strict=True)
    )


def test_gymnasium_knows_it_and_its_checker_finds_nothing(recwarn):
    one = gym.make("taskalgebra.envs:TaskAlgebra/FlatWorld-v0", max_episode_steps=500)
    check_env(one.unwrapped, skip_render_check=True)
    many = gym.make_vec("TaskAlgebra/FlatWorld-v0", 3, step_reward=-1.0)
    many.reset(seed=0)
    assert many.step([0, 1, 2])[1].tolist() == [-1.0] * 3


# Lattices


@pytest.mark.parametrize("seed", range(3))
def test_the_lattice_through_a_position_is_what_straight_moves_do(world, seed):
    """Every state with every action, played in the plane."""
    (start,) = points_of_the_square(seed, 1)
    finite = world.lattice(start)
    mdp = finite.space.mdp
    lattice = Lattice.through(start)
    points, n = lattice.points, len(lattice.points)
    assert mdp.n_states == n + mdp.n_goals + 1 and 2_400 < n <= 2_601
    np.testing.assert_allclose(points[mdp.starts], [start])
    assert np.array_equal(mdp.resumes, np.flatnonzero(codes_at(points)))
    for action in range(5):
        assert mdp.action_names[action] == ACTIONS[action]
        env = world.continuing(n)
        env.reset(seed=0, options={"position": points})
        after, _, gone, _, _ = env.step(np.full(n, action))
        following = mdp.next_state[:n, action]
        assert np.array_equal(following == mdp.n_states - 1, gone)
        goal = mdp.goal_of_state[following]
        entered = goal >= 0
        assert np.array_equal(entered, codes_at(after) != 0)
        place = np.where(entered, mdp.resumes[goal], following)[~gone]
        np.testing.assert_allclose(points[place], after[~gone], atol=1e-12)
    desired = np.array([finite.tasks[colour].desired for colour in COLOURS])
    for goal in range(0, mdp.n_goals, 7):
        seen = oracle.colours(*points[mdp.resumes[goal]])
        assert seen == {c for c, on in zip(COLOURS, desired[:, goal], strict=True) if on}
    assert (mdp.next_state[-1] == mdp.n_states - 1).all()


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_optimum_of_a_lattice_is_that_of_a_breadth_first_search(world, formula):
    """The library's automaton, product and planner, against a search and an automaton by hand."""
    step = oracle.TASKS[formula][0]
    for start in oracle.published_starts(2, 3):
        finite = world.lattice(start)
        pairs = product(finite.space, labelled(ta.parse(formula), finite.tasks, finite.space))
        value = pairs.values[pairs.labelled.automaton.start, finite.space.mdp.starts[0]]
        moves = oracle.fewest_straight(step, start)
        assert (10.0 - value) / 0.1 == pytest.approx(len(moves))
        world.reset(options={"position": start})
        path = [start, *(world.step(ACTIONS.index(name))[0] for name in moves)]
        assert oracle.steps_to_success(step, path) == len(moves)


def test_distances_on_the_fixed_lattice_are_those_of_the_plane(world):
    lattice = Lattice.fixed()
    mdp = lattice.world(-1.0)
    start = nearest(lattice, np.array([[-1.0, -1.84]]))[0]
    reach = FlatReach(lattice, -1.0)
    yellow = np.flatnonzero(world.tasks["yellow"].desired)
    at = lattice.points[lattice.coloured[yellow]] - lattice.points[start]
    across, up = np.abs(at).T / STEP
    octagonal = np.maximum(across, up) + (np.sqrt(2) - 1) * np.minimum(across, up)
    found = -reach.to_goal[yellow, start]
    assert (found >= octagonal - 1e-9).all()  # other goals of the circle are in the way of some
    assert np.isclose(found, octagonal).sum() >= 5
    assert found.min() == pytest.approx(octagonal.min())
    assert reach.to_goal.shape == (mdp.n_goals, mdp.n_states)
    assert (reach.to_goal[np.arange(mdp.n_goals), mdp.goals] == 0).all()
    assert (reach.to_goal[:, -1] == -np.inf).all()


def test_the_returns_at_a_point_of_the_lattice_are_its_own(world, skills):
    """There, the best action of `returns` is worth the planned return."""
    reach, lattice = world.planned_reach(), world.points
    free = np.flatnonzero(lattice.codes == 0)[::97]
    best = reach.returns(lattice.points[free]).max(axis=2)
    np.testing.assert_allclose(best, reach.to_goal[:, free].T)
    assert skills.family.to_goals() is reach


def test_points_lie_between_places_of_the_same_colours(world):
    lattice = world.points
    points = points_of_the_square(6, 5_000)
    place, weight = between(lattice, points)
    np.testing.assert_allclose(weight.sum(axis=1), 1.0)
    n = len(lattice.points)
    codes = codes_at(points)
    used = weight > 0
    goal = place >= n
    assert (goal[used] == np.repeat(codes != 0, 4).reshape(-1, 4)[used]).all()
    at = np.where(goal, lattice.coloured[np.where(goal, place - n, 0)], np.where(goal, 0, place))
    same = lattice.codes[at] == codes[:, None]
    assert same[goal & used].all()
    around = np.abs(lattice.points[at] - points[:, None]).max(axis=2) <= STEP + 1e-12
    assert around[used].mean() > 0.99
    mean = (lattice.points[at] * weight[..., None]).sum(axis=1)
    np.testing.assert_allclose(mean[codes == 0], points[codes == 0], atol=1e-12)
    corner, whole = between(lattice, np.array([[HALF, HALF], [-HALF, -HALF], [HALF, 2.01]]))
    assert corner[0, whole[0].argmax()] == n - 1 and corner[1, whole[1].argmax()] == 0
    assert corner[2, 0] == n + lattice.coloured.size and whole[2, 0] == 1


# Agents


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_published_tasks_always_succeed_in_fewer_steps(world, skills, formula):
    """The 500 starts of the published evaluation with seed 1, and paths judged by hand."""
    step, _, their_steps = oracle.TASKS[formula]
    agent = skills[formula]
    starts = oracle.published_starts(1, 500)
    steps, paths = played(world, agent, starts)
    assert (steps > 0).all()
    assert steps.mean() < 0.9 * their_steps
    for path, n in zip(paths[:100], steps[:100], strict=True):
        assert oracle.steps_to_success(step, path) == n


@pytest.mark.parametrize("formula", [FORMULAS[k] for k in (1, 3, 4)])
def test_no_way_is_more_than_two_steps_shorter(world, skills, formula):
    """A search over every point that the moves reach, for starts not too far away."""
    step = oracle.TASKS[formula][0]
    starts = oracle.published_starts(3, 60)
    steps, _ = played(world, skills[formula], starts)
    near = np.flatnonzero(steps <= 22)[:4]
    assert near.size == 4
    for i in near:
        assert steps[i] - 2 <= oracle.fewest(step, starts[i], int(steps[i])) <= steps[i]


def test_straight_moves_alone_take_longer(world, skills):
    formula = FORMULAS[0]
    starts = oracle.published_starts(4, 4)
    steps, _ = played(world, skills[formula], starts)
    straight = [len(oracle.fewest_straight(oracle.TASKS[formula][0], start)) for start in starts]
    assert (steps <= straight).all() and steps.mean() < 0.95 * np.mean(straight)


def test_evaluation_plays_the_plane_itself(skills):
    found = skills[FORMULAS[4]].evaluate(200, seed=1)
    assert found.success_rate == 1.0 and 20 < found.mean_steps < 30
    assert found.mean_return == pytest.approx(10.0 - 0.1 * found.mean_steps)
    assert not skills[FORMULAS[4]].certificate().optimal


def test_avoided_colours_are_never_entered(world, skills):
    agent = skills.avoiding("orange", "red | magenta | yellow")
    starts = oracle.published_starts(5, 200)
    steps, paths = played(world, agent, starts)
    assert (steps > 0).all()
    for path, n in zip(paths, steps, strict=True):
        seen = [oracle.colours(*point) for point in path[1 : n + 1]]
        assert not any({"red", "magenta", "yellow"} & each for each in seen)
        assert "orange" in seen[-1]


def test_a_goal_can_be_entered_twice_in_a_row_by_staying(skills):
    assert skills["F (yellow & X F yellow)"].evaluate(50).success_rate == 1.0


def test_boolean_tasks_end_in_the_first_circle(skills):
    for expression in ("yellow", "blue & ~green & ~aqua", "green ^ blue", "~(red | blue)"):
        assert skills[expression].evaluate(200).success_rate == 1.0


def test_sets_of_colours_that_do_not_meet_are_said_to_be_missing(skills):
    with pytest.raises(ValueError, match="orange & yellow, and this world has none"):
        skills["F (yellow & orange)"]


def test_saved_skills_act_as_before(skills, tmp_path):
    skills.save(tmp_path / "flat")
    again = ta.load(tmp_path / "flat", reach=skills)
    assert isinstance(again.env, ta.FlatWorld)
    starts = oracle.published_starts(6, 20)
    one, other = (each[FORMULAS[1]] for each in (skills, again))
    for agent in (one, other):
        agent.reset(np.ones(20, bool))
    assert np.array_equal(one.act(starts), other.act(starts))


# Pictures


def test_a_picture_shows_circles_and_the_path(world):
    empty = world.picture()
    assert empty.shape == (SIDE, SIDE, 3) and empty.dtype == np.uint8

    def at(image, x, y):
        scale = SIDE / (2 * (HALF + 0.1))
        return image[int((HALF + 0.1 - y) * scale), int((x + HALF + 0.1) * scale)].astype(int)

    assert at(empty, 0.0, 1.8).min() > 245  # the ground
    for name, x, y in (("yellow", -1.0, -1.2), ("orange", -1.53, -0.5), ("blue", -0.3, 0.0)):
        tint = 255 - at(empty, x, y)
        paint = 255 - np.array(PAINT[name])
        assert np.corrcoef(tint, paint)[0, 1] > 0.98
    path = np.array([(-1.8, 1.8), (0.0, 1.8), (1.8, 1.8)])
    drawn = world.picture(path)
    assert np.abs(at(drawn, 0.5, 1.8) - INK).max() < 30
    assert at(drawn, -1.8, 1.8).min() > 250  # a ring at the start
    assert np.abs(at(drawn, 1.8, 1.8) - INK).max() < 10
    changed = (drawn != empty).any(axis=2)
    assert 0.005 < changed.mean() < 0.02


def test_rendering_shows_the_episode_so_far():
    world = ta.FlatWorld(render_mode="rgb_array")
    before = world.render()
    world.reset(seed=0)
    for _ in range(5):
        world.step(1)
    assert (world.render() != before).any()
    assert np.array_equal(before, ta.FlatWorld().picture())
    with pytest.warns(UserWarning, match="without a render mode"):
        assert ta.FlatWorld().render() is None


# Wrong uses


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: ta.FlatWorld(step_reward=0.1), "step_reward is 0.1, expected at most 0"),
        (lambda w: ta.FlatWorld(render_mode="human"), "render_mode is 'human'"),
        (lambda w: w.reset(options={"position": (0.0, 2.5)}), "between -2 and 2"),
        (lambda w: w.reset(options={"position": "here"}), "between -2 and 2"),
        (lambda w: w.reset(options={"position": (0.0, np.nan)}), "between -2 and 2"),
        (lambda w: w.reset(options={"place": (0.0, 0.0)}), "this reset knows 'position'"),
        (lambda w: w.lattice((0.0, 0.0, 0.0)), "the position is"),
        (lambda w: w.lattice((-3.0, 0.0)), "the position is"),
        (lambda w: w.continuing(3).reset(options={"position": [(0.0, 0.0)] * 2}), "of 3 copies"),
        (lambda w: w.picture([1.0, 2.0, 3.0]), "the path has shape"),
        (lambda w: w.vector(1, task=ta.FlatWorld(r_universal=3.0).tasks["red"]), "another space"),
        (lambda w: ta.solve(w, horizon=5), "horizon is 5, but FlatWorld"),
    ],
)
def test_wrong_uses_are_said_in_words(world, call, message):
    with pytest.raises(ValueError, match=message):
        call(world)


def test_an_action_that_does_not_exist_is_refused(world):
    world.reset(seed=0)
    with pytest.raises(ValueError, match="action 9 does not exist"):
        world.step(9)
    env = world.continuing(2)
    with pytest.raises(gym.error.ResetNeeded):
        env.step([0, 0])
