"""The benchmarks measure the right thing: at toy size, what they compare agrees."""

import numpy as np
import pytest

import algebra as algebra_benchmark
import imports as imports_benchmark
import planning as planning_benchmark
from maze import LOOPS, maze_world
from report import Report
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.formulas import parse
from taskalgebra.planning.exact import q_bar_star, return_to_goal
from taskalgebra.theory.tables import compose_values
from taskalgebra.threads import OWN
from taskalgebra.worlds.maze import maze_map


def test_the_maze_is_one_piece_inside_walls():
    free = maze_map(21, 31, seed=3, loops=LOOPS)
    assert not (free[0].any() or free[-1].any() or free[:, 0].any() or free[:, -1].any())
    mdp = maze_world(21, 31, 3, seed=3)
    assert mdp.n_states == free.sum() + 3
    assert mdp.ending.all()
    assert np.isfinite(return_to_goal(mdp).to_goal[:, : free.sum()]).all()


def test_scipy_and_plain_python_agree_with_the_planner_on_a_small_maze():
    mdp = maze_world(21, 21, 4)
    returns = return_to_goal(mdp)
    for _, distances in planning_benchmark.scipy_distances(mdp).values():
        assert np.allclose(-0.1 * distances, returns.to_goal)
    space = FourRooms().space
    task = space.task(["top_left"])
    solved = q_bar_star(space, [task])
    plain = planning_benchmark.plain_value_iteration(space.mdp, task.goal_reward, solved.r_bar_min)
    assert np.allclose(solved.values[0].table, plain)


def test_bare_numpy_composes_the_same():
    bounds, values = algebra_benchmark.family()
    tables = {name: q.table for name, q in values.items()}
    expression = parse("(a ^ b) & ~c | ~(d & e)")
    bare = algebra_benchmark.bare(expression, tables, bounds.tables.total)
    assert np.array_equal(compose_values(expression, values, bounds).table, bare)


def test_a_second_start_compiles_no_kernel():
    imports_benchmark.run(imports_benchmark.SOLVE)
    loaded, compiled = map(int, imports_benchmark.run(imports_benchmark.CACHED).split())
    assert loaded > 0 and compiled == 0


@pytest.mark.parametrize(("figure", "code"), [(3.0, 0), (1.0, 1)])
def test_a_bar_that_falls_short_fails_the_run(figure, code, capsys):
    report = Report()
    report.at_least("speed", figure, 2)
    with pytest.raises(SystemExit) as stop:
        report.finish()
    assert stop.value.code == code
    assert ("short" in capsys.readouterr().out) == bool(code)


def test_boxman_with_pygame_is_the_same_game(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    pytest.importorskip("pygame")
    import boxman as boxman_benchmark

    world = Boxman("blue ^ square", layout="random")
    games = [boxman_benchmark.PygameBoxman(world, walls_once=once) for once in (False, True)]
    actions = np.random.default_rng(1).integers(5, size=300).tolist()
    for game in games:
        rng = np.random.default_rng(0)
        game.reset(rng)
        numbers = {cell: i for i, cell in enumerate(game.cells)}
        start = [numbers[game.here], 0, *(numbers[cell] for cell in game.where.values())]
        world.reset(options={"code": start})
        for action in actions:
            seen, *paid = game.step(action)
            ours, reward, terminated, _, info = world.step(action)
            assert seen.shape == ours.shape
            assert paid[:2] == [reward, terminated]
            assert paid[2]["goal"] == info["goal"]
            assert (world.code[1] > 0) == (game.held is not None)
            if terminated:
                game.reset(rng)
                start = [numbers[game.here], 0, *(numbers[cell] for cell in game.where.values())]
                world.reset(options={"code": start})
    seen = [game.reset(np.random.default_rng(5)) for game in games]
    assert np.array_equal(*seen)


def test_learning_boxman_is_judged_on_all_goal_sets(monkeypatch, capsys):
    import boxman_learning

    tiny = {"n_updates": 4, "updates_per_iteration": 4, "learning_starts": 3200, "threads": 1}
    found = boxman_learning.learned("fixed", 0, **tiny)
    assert found.scores.shape == (63,)
    assert 3200 <= found.steps <= 3200 + 4 * 40 + 64
    assert 0.0 <= found.optimal < 1.0
    perfect = boxman_learning.Learned(1.0, 1.0, 1000, np.ones(63), 1.0)
    for made, code in ((found, 1), (perfect, 0)):
        monkeypatch.setattr(boxman_learning, "learned", lambda *_, made=made, **__: made)
        with pytest.raises(SystemExit) as stop:
            boxman_learning.main(["--layout", "fixed"])
        assert stop.value.code == code
    assert "seed 2: share of optimal episodes" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["numpy value iteration", "scipy.sparse value iteration", "stormpy"]
)
def test_others_agree_with_the_planner_on_a_small_slippery_world(name):
    import stochastic_worlds

    world = stochastic_worlds.grid(100)
    terminal = stochastic_worlds.one_goal(world)
    exact = stochastic_worlds.planner(world, terminal)()
    found = stochastic_worlds.LIBRARIES[name](world, terminal)()
    assert np.abs(found - exact).max() <= stochastic_worlds.AGREE


@pytest.mark.parametrize("n_goals", [1, 4, 7, 16])
def test_goals_of_a_grid_are_apart_from_each_other(n_goals):
    import stochastic_worlds

    world = stochastic_worlds.grid(100, n_goals)
    assert world.n_goals == n_goals and world.n_states == 100 + n_goals


def test_a_chain_of_lost_states_is_lost():
    import stochastic_worlds
    from taskalgebra.worlds import graph

    assert graph.almost_surely(*stochastic_worlds.lost_chain(50)).sum() == 1


def test_the_bars_of_big_worlds_run_at_toy_size(monkeypatch, capsys):
    import big_worlds

    monkeypatch.setattr(
        big_worlds, "apart", lambda part, *arguments: getattr(big_worlds, part)(*arguments)
    )
    monkeypatch.setattr(big_worlds, "limit_threads", lambda n: monkeypatch.setenv(OWN, str(n)))
    monkeypatch.setattr(big_worlds, "warm", lambda: None)
    with pytest.raises(SystemExit) as stop:
        big_worlds.main(["--quick"])
    shown = capsys.readouterr().out
    assert stop.value.code == 0, shown
    assert "sampled paths that are optimal" in shown and "T1 / (2 T2)" in shown


def test_the_searches_of_big_worlds_agree_with_the_planner():
    import big_worlds

    mdp = maze_world(21, 21, 4)
    returns = return_to_goal(mdp).to_goal
    search, start = big_worlds.Forwards(mdp), int(mdp.starts[5])
    assert np.allclose(-0.1 * search.steps(start), returns[:, start])
