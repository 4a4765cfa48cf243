"""The experiments with networks: their numbers against planning, their rules, their figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from boxman_skills import (
    BASE,
    LOW,
    WORLDS,
    oracle_skills,
    planned_returns,
    untrained_skills,
    write_untrained,
)
from taskalgebra.drawing.plots import film
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.folder import StoreError
from taskalgebra.learning.deep.threads import one_thread
from taskalgebra.logic.formulas import parse
from taskalgebra.paper.catalogue import PICTURES, QUESTIONS
from taskalgebra.paper.claims import verdicts
from taskalgebra.paper.experiments import suite
from taskalgebra.paper.experiments.boxman import returns as boxman_returns
from taskalgebra.paper.experiments.boxman import tables as boxman_tables
from taskalgebra.paper.experiments.boxman import training
from taskalgebra.paper.experiments.boxman import trajectories as boxman_trajectories
from taskalgebra.paper.experiments.boxman import values as boxman_values
from taskalgebra.paper.experiments.boxman.exact import (
    ExactSkills,
    returns_by_pick_up,
    returns_by_touch,
)
from taskalgebra.paper.experiments.boxman.settings import (
    SETTINGS,
    Shelf,
    expression_text,
)
from taskalgebra.paper.results.labels import AGENT
from taskalgebra.paper.results.record import Result, Table, load
from taskalgebra.sweeps.processes import Processes
from taskalgebra.sweeps.running import Sweep

DEEP = {name: e for name, e in suite.EXPERIMENTS.items() if e.half == suite.DEEP}
FEW = 6


@pytest.fixture(scope="module")
def perfect():
    """Skills that know every screen of the starts of a small evaluation."""
    config = boxman_returns.Config(episodes=FEW)
    skills = {}
    for name in SETTINGS:
        world = Boxman(**WORLDS[name])
        codes = boxman_tables.starts(world, FEW, config.seed)
        skills[name] = oracle_skills(name, boxman_tables.layouts(world, codes))
    return config, skills


@pytest.fixture(scope="module")
def evaluated(perfect):
    config, skills = perfect
    return boxman_returns.run(config, skills)


@pytest.fixture(scope="module")
def perfect_values(perfect):
    _, skills = perfect
    config = boxman_values.Config()
    shown = boxman_values.layout(skills["touch"].env, config.layout_seed)
    own = {"fixed": skills["fixed"], "touch": oracle_skills("touch", shown)}
    return boxman_values.run(config, own)


@pytest.fixture(scope="module")
def blank():
    return {name: untrained_skills(name) for name in SETTINGS}


@pytest.fixture(scope="module")
def blank_results(blank):
    return {
        name: experiment.module.run(experiment.config(quick=True), blank)
        for name, experiment in DEEP.items()
    }


@pytest.mark.parametrize("task", ["purple", "blue", "square"])
def test_exact_returns_by_touch_are_those_of_planning(task):
    world = Boxman(**WORLDS["touch"])
    codes = boxman_tables.starts(world, 8, 1)
    desired = world.desired_goals(world.tasks[task])
    found = returns_by_touch(world, codes, desired, LOW)
    for i, code in enumerate(codes):
        assert np.allclose(found[i], planned_returns(world, code, desired), rtol=0, atol=1e-12)


def test_an_object_behind_another_cannot_be_reached_by_touch():
    world = Boxman(collect="touch")
    corner, beside, below = (world.board.cell(place) for place in ((1, 1), (1, 2), (2, 1)))
    others = [world.board.cell(place) for place in ((8, 5), (8, 6), (8, 7))]
    code = np.array([[30, 0, corner, beside, below, *others]], np.uint8)
    squares = world.desired_goals(world.tasks["square"])
    found = returns_by_touch(world, code, squares, -2)  # a whole number, on purpose
    assert found.dtype == np.float64
    away = np.setdiff1d(np.arange(58), [corner, beside, below])
    assert (found[0, away, 0] == -2).all()  # the beige square lies in the corner
    assert (found[0, away, 1].max(axis=1) > -2).all()
    assert (found[0, corner, 0] == -2).all()  # nor can who stands there leave and come back


def test_exact_returns_by_pick_up_are_those_of_planning():
    world = Boxman(**WORLDS["random"])
    codes = boxman_tables.starts(world, 8, 2)
    found = returns_by_pick_up(world, codes, LOW)
    for i, code in enumerate(codes):
        assert np.allclose(found[i], planned_returns(world, code), rtol=0, atol=1e-12)


def ceiling(setting, task, n=1000, seed=2020):
    world = Boxman(**WORLDS[setting])
    codes = boxman_tables.starts(world, n, seed)
    exact = ExactSkills(world, {name: world.tasks[name] for name in BASE[setting]}, codes, LOW)
    q_bar = exact.q_bar(parse(task, BASE[setting]))
    return boxman_tables.play_table(world, codes, world.find_task(task), q_bar)


@pytest.mark.parametrize("task", ["purple", "blue", "square", "purple | blue"])
def test_by_touch_exact_composition_of_these_tasks_is_optimal(task):
    assert ceiling("touch", task).n_optimal == 1000


def test_by_touch_exact_composition_is_not_always_optimal():
    """min{Q̄_blue, Q̄_square} may like a wall best, where the two want opposite ways round."""
    both, one = ceiling("touch", "blue & square"), ceiling("touch", "blue ^ square")
    assert both.score == pytest.approx(0.944, abs=0.005)
    assert both.evaluation.unfinished == (~both.success).sum() > 0
    assert one.score == pytest.approx(0.998, abs=0.002)
    assert one.success.all()


@pytest.mark.parametrize("task", SETTINGS["random"].tasks)
def test_by_pick_up_exact_composition_is_optimal(task):
    assert ceiling("random", expression_text(task), n=200).n_optimal == 200


def test_perfect_networks_are_optimal_by_pick_up(evaluated):
    for setting in ("fixed", "random"):
        rows = evaluated.table.where(setting=setting)
        assert rows["task"].tolist() == list(SETTINGS[setting].tasks)
        assert (rows["episodes"] == (58 if setting == "fixed" else FEW)).all()
        assert (rows["optimal_episodes"] == rows["episodes"]).all()
        assert np.allclose(rows["score"], 1)
        assert (rows["failures"] == 0).all()
        subsets = evaluated.tables["boxman_subsets"].where(setting=setting)
        assert subsets.n_rows == len(set(subsets["objects"].tolist())) == 63
        assert (subsets["optimal_episodes"] == subsets["episodes"]).all()


def test_perfect_networks_reach_the_exact_composition_by_touch(evaluated):
    rows = evaluated.table.where(setting="touch")
    assert rows["task"].tolist() == list(SETTINGS["touch"].tasks)
    assert np.allclose(rows["mean"], rows["exact_composition"])
    assert np.allclose(rows["score_to_exact"], 1)


def test_tables_play_as_the_agents_do(blank):
    """What is worked out on all cells is what `agent.act` does in the game."""
    for setting, task in (("fixed", "blue ^ square"), ("touch", "blue & square")):
        skills = blank[setting]
        world, agent = skills.env, skills[task]
        codes = boxman_tables.starts(world, 3, 4)[:3]
        actions = boxman_tables.actions_on_cells(world, [agent.values], codes)[0]
        outcome = boxman_tables.play_actions(world, codes, agent.task, actions)
        world.task = agent.task
        for i, code in enumerate(codes):
            observation, _ = world.reset(options={"code": code.tolist()})
            total, ended, steps = 0.0, False, 0
            with one_thread():
                while not ended and steps < world.max_episode_steps:
                    observation, reward, ended, _, _ = world.step(agent.act(observation))
                    total, steps = total + reward, steps + 1
            assert total == pytest.approx(outcome.returns[i])
            assert steps == outcome.steps[i]


def test_the_figures_of_a_task_are_those_of_its_episodes(blank_results):
    result = blank_results["boxman_returns"]
    counts = result.tables["boxman_returns_counts"]
    assert (result.table["failures"] > 0).any()  # networks that know nothing fail, and it shows
    for row in result.table.rows():
        own = counts.where(setting=row["setting"], task=row["task"], policy=AGENT)
        returns = np.repeat(own["return"], own["episodes"])
        assert returns.size == row["episodes"]
        assert returns.mean() == pytest.approx(row["mean"])
        assert row["score"] == pytest.approx(row["mean"] / row["optimum"])
        failed = own["episodes"][own["outcome"] != "wanted object"].sum()
        assert failed == row["failures"] == round((1 - row["success"]) * row["episodes"])
        assert row["success_low"] <= row["success"] <= row["success_high"]
        half = 1.96 * returns.std(ddof=1) / np.sqrt(returns.size)
        exhaustive = row["setting"] == "fixed"
        assert row["mean_high"] - row["mean"] == pytest.approx(0 if exhaustive else half)
        best = counts.where(setting=row["setting"], task=row["task"], policy="optimal policy")
        optimum = np.average(best["return"], weights=best["episodes"])
        assert optimum == pytest.approx(row["optimum"])


def test_results_do_not_depend_on_workers_but_on_the_seed(blank):
    config = boxman_returns.Config(episodes=boxman_tables.LAYOUTS_AT_ONCE + 1)
    skills = {"touch": blank["touch"]}
    one = boxman_returns.run(config, skills)
    assert boxman_returns.run(config, skills, Sweep(Processes(3))) == one
    assert boxman_returns.run(replace(config, seed=1), skills).tables != one.tables


def test_values_of_perfect_networks_are_exact(perfect_values):
    result = perfect_values
    errors = result.tables["boxman_values_errors"]
    assert errors["largest_error"].max() < 1e-9
    fixed = errors.where(setting="fixed")
    assert (fixed["optimal_starts"] == 58).all()
    for setting, rows in ((s, result.table.where(setting=s)) for s in ("fixed", "touch")):
        assert rows.n_rows == 58 * len(SETTINGS[setting].tasks)
        goals = [name for name in rows if name.startswith("learned") and "max" not in name]
        assert np.allclose(np.max([rows[g] for g in goals], axis=0), rows["learned max"])
    assert max(result.table.where(setting="fixed")["learned max"]) == pytest.approx(1.9)


def test_values_of_other_networks_are_not_exact(blank_results):
    assert blank_results["boxman_values"].tables["boxman_values_errors"]["largest_error"].min() > 1


def test_trajectories_are_walks_and_their_returns_add_up(blank_results):
    result = blank_results["boxman_trajectories"]
    episodes = result.tables["boxman_trajectories_episodes"]
    assert {(s, t) for s in SETTINGS for t in SETTINGS[s].shown} == {
        (row["setting"], row["task"]) for row in episodes.rows()
    }
    for row in episodes.rows():
        steps = result.table.where(setting=row["setting"], task=row["task"], episode=row["episode"])
        moved = np.abs(np.diff(steps["row"])) + np.abs(np.diff(steps["column"]))
        assert moved.max(initial=0) <= 1
        assert steps["step"].tolist() == list(range(steps.n_rows))
        assert row["return"] <= row["optimum"] + 1e-9
        if row["success"]:
            assert row["return"] == pytest.approx(2 - 0.1 * (steps.n_rows - 2))
        else:
            assert row["return"] < 0


def test_boards_are_drawn_without_the_agent(blank_results):
    boards = blank_results["boxman_trajectories"].arrays["boards"]
    world = Boxman()
    code = np.array([[0, 0, *world.places]], np.uint8)
    assert np.array_equal(boards[0], world.picture(code, agent=False)[0])
    changed = (world.picture(code)[0] != boards[0]).any(axis=2)
    rows, columns = np.nonzero(changed)
    assert np.ptp(rows) < 48 and np.ptp(columns) < 48


def test_the_agent_s_sprite_is_the_agent(blank_results):
    sprite = blank_results["boxman_trajectories"].arrays["agent"].astype(float)
    world = Boxman()
    code = np.array([[20, 0, *world.places]], np.uint8)
    ground, seen = world.picture(code, agent=False)[0], world.picture(code)[0]
    row, column = 12 + 48 * world.board.cells[20]
    part = np.s_[row : row + 48, column : column + 48]
    alpha = sprite[..., 3:] / 255
    assert np.abs(alpha * sprite[..., :3] + (1 - alpha) * ground[part] - seen[part]).max() <= 2


def test_results_with_arrays_are_read_as_written(blank_results, tmp_path):
    result = blank_results["boxman_trajectories"]
    result.save(tmp_path)
    again = load(result.name, tmp_path)
    assert again == result
    changed = {**result.arrays, "agent": result.arrays["agent"] + 1}
    assert Result(result.name, result.config, result.tables, changed) != result
    before = (tmp_path / f"{result.name}.npz").read_bytes()
    result.save(tmp_path)
    assert (tmp_path / f"{result.name}.npz").read_bytes() == before
    (tmp_path / f"{result.name}.npz").write_bytes(before[: len(before) // 2])
    with pytest.raises(ValueError, match="--fresh"):
        load(result.name, tmp_path)


def test_results_are_kept_for_the_same_skills_only(blank, tmp_path):
    first = {"fixed": "a", "random": "b", "touch": "c"}
    shelf, other = Shelf(blank, first), Shelf(blank, {**first, "touch": "d"})
    experiment = DEEP[boxman_values.NAME]
    result, kept = suite.obtain(experiment, tmp_path, shelf=shelf)
    assert not kept and result.config["skills"] == first
    assert suite.obtain(experiment, tmp_path, shelf=shelf) == (result, True)
    assert not suite.obtain(experiment, tmp_path, shelf=other)[1]


def test_skills_are_loaded_from_a_directory(tmp_path):
    with pytest.raises(StoreError, match="no skills"):
        Shelf.load(tmp_path)
    write_untrained(tmp_path)
    before = Shelf.load(tmp_path)
    assert list(before.skills) == list(before.digests) == list(SETTINGS)
    write_untrained(tmp_path, seed=1)
    after = Shelf.load(tmp_path)
    assert all(before.digests[name] != new for name, new in after.digests.items())


DRAWN = {name: picture for name, picture in PICTURES.items() if set(picture.needs) <= set(DEEP)}
STILLS = [name for name, picture in DRAWN.items() if not picture.film]
FILMS = [name for name, picture in DRAWN.items() if picture.film]


@pytest.mark.parametrize("name", STILLS)
def test_figures_draw_from_their_results_alone(blank_results, name):
    picture = DRAWN[name]
    assert picture.draw({need: blank_results[need] for need in picture.needs}).axes


@pytest.mark.parametrize("name", FILMS)
def test_films_are_small_and_move(blank_results, name, tmp_path):
    (path,) = DRAWN[name].write(blank_results, tmp_path)
    assert path.stat().st_size < 600_000
    with Image.open(path) as picture:
        assert picture.size == (film.SIDE, film.SIDE + film.BAND)


def claims_of(results):
    return {claim.where: claim.holds for claim in verdicts.answer(QUESTIONS, results)}


def test_claims_hold_for_perfect_networks_and_fail_for_others(
    blank_results, evaluated, perfect_values
):
    good = claims_of({"boxman_returns": evaluated, "boxman_values": perfect_values})
    touch = "Supplement, Fig. 14"
    lossless = "Supplement, end of the section on function approximation"
    assert all(holds for where, holds in good.items() if where not in (touch, lossless))
    assert not good[lossless]  # networks that lose nothing outweigh nothing
    bad = claims_of(blank_results)
    dips = "Supplement, Figs. 11 to 13"
    assert not any(bad[where] for where in ("Fig. 4", "Fig. 5", "Fig. 6", dips, touch))


def test_only_values_that_were_learned_show_dips(perfect_values, blank_results):
    """Independently: who has touched one wanted object cannot get to another any more."""
    tables = perfect_values.tables
    touched, objects = tables["boxman_values_touched"], tables["boxman_values_objects"]
    wanted = {
        task: {r["object"] for r in objects.where(setting="touch").rows() if task in words(r)}
        for task in BASE["touch"]
    }
    pairs = {(t, a, b) for t, some in wanted.items() for a in some for b in some if a != b}
    assert {(r["task"], r["touched"], r["goal"]) for r in touched.rows()} == pairs
    assert np.allclose(touched["after"], LOW + 2)  # never, and what it would have paid
    assert (touched["beside"] - touched["after"] > 1.0).all()
    for kind in ("beside", "after"):
        assert np.allclose(touched[kind], touched[f"exact_{kind}"])
    blank = blank_results["boxman_values"].tables["boxman_values_touched"]
    assert blank["met"].all()  # it is given the goals, but has learned nothing about them
    assert np.abs(blank["beside"] - blank["after"]).max() < 0.2


def words(row):
    return row["wanted_by"].split(" ; ")


def test_goals_that_a_network_never_met_are_named(blank_results):
    objects = blank_results["boxman_values"].tables["boxman_values_objects"]
    for row in objects.where(setting="touch").rows():
        base = [task for task in words(row) if task in BASE["touch"]]
        assert row["met_by"].split(" ; ") == (base or [""])
    assert set(objects.where(setting="fixed")["met_by"].tolist()) == {"blue ; square ; purple"}


def test_how_often_networks_were_trained_is_what_the_documents_say():
    root = Path(__file__).parents[3]
    seeds, paper, changes = (
        load(name, root / "results" / "deep").table
        for name in ("boxman_seeds", "boxman_paper_seeds", "boxman_paper_changes")
    )
    assert (seeds.n_rows, paper.n_rows) == (5, 1)
    assert changes.n_rows == len(changes.distinct("undone"))
    index, guide = ((root / name).read_text() for name in ("PAPER.md", "docs/reproduce.md"))
    assert "Each of these scores is of one training, with one seed." in index
    assert "trained in full with one seed" in index and "against five of `fast`" in index
    assert "five seeds of the networks, and one of the paper's own network" in guide
    assert "one run each" in guide


def test_a_single_failure_in_fig_5_is_enough(evaluated, perfect_values):
    table = evaluated.table
    fewer = table["optimal_episodes"].copy()
    fewer[(table["setting"] == "fixed") & (table["task"] == "blue ^ square")] -= 1
    worse = Table({**table, "optimal_episodes": fewer})
    result = replace(evaluated, tables={**evaluated.tables, evaluated.name: worse})
    assert not claims_of({"boxman_returns": result, "boxman_values": perfect_values})["Fig. 5"]


def test_shipped_claims_follow_from_shipped_results(tmp_path):
    shipped = Path(__file__).parents[3] / "results" / "deep"
    results = {name: load(name, shipped) for name in DEEP}
    verdicts.save(verdicts.answer(QUESTIONS, results), tmp_path)
    for name in ("claims.csv", "claims.json"):
        assert (tmp_path / name).read_text() == (shipped / name).read_text()
    digests = Shelf.load().digests
    for result in results.values():
        assert result.config["skills"] == digests


def test_the_trajectories_are_on_the_layout_of_the_values():
    assert boxman_trajectories.Config().layout_seed == boxman_values.Config().layout_seed


def test_a_toy_training_keeps_all_but_its_length():
    for setting in SETTINGS.values():
        recipe = training.RECIPES[setting.skills]
        toy = training.toy(recipe)
        assert (toy.tasks, toy.world, toy.start) == (recipe.tasks, recipe.world, recipe.start)
        assert toy.learner.settings.n_updates < 10
