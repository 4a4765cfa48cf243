"""The report on trust: what is measured, by oracles written apart, and claims that can fail."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.logic.expression import And, Name, Not
from taskalgebra.paper.claims.verdicts import Verdict
from taskalgebra.paper.results.record import Result, Table, load
from taskalgebra.showcase.trust import lakes, lifelong, noise, samples, slips
from taskalgebra.showcase.trust import run as report
from taskalgebra.showcase.trust.measures import LIMIT, earned, measured, value_sweeps
from taskalgebra.showcase.trust.table import page

SHIPPED = Path(__file__).parents[2] / "results" / "trust"
MODULES = {"lakes": lakes, "slips": slips, "noise": noise, "lifelong": lifelong}


@pytest.fixture(scope="module")
def quick():
    """Results at toy size."""
    small = replace(lakes.QUICK, expressions=2)
    return {
        "lakes": lakes.run(small),
        "slips": slips.run(replace(slips.QUICK, expressions=3)),
        "noise": noise.run(noise.QUICK),
    }


def changed(result, name=None, **columns):
    """A result with some columns replaced, in one of its tables."""
    name = name or result.name
    table = result.tables[name]
    full = {each: np.broadcast_to(columns.get(each, table[each]), table.n_rows) for each in table}
    return Result(result.name, result.config, {**result.tables, name: Table(full)})


# what is measured


def returns_by_hand(task, actions, steps):
    """[S], what a policy earns within so many moves, and how often it ends well: state by state."""
    mdp = task.space.mdp
    worth, well = np.zeros(mdp.n_states), np.zeros(mdp.n_states)
    worth[mdp.goals], well[mdp.goals] = task.goal_reward, task.wanted
    for _ in range(steps):
        before, good = worth.copy(), well.copy()
        for s in np.flatnonzero(~mdp.is_goal):
            pair = s * mdp.n_actions + actions[s]
            outcomes = slice(mdp.offset[pair], mdp.offset[pair + 1])
            chance, after = mdp.probability[outcomes], mdp.successor[outcomes]
            worth[s] = task.steps[s, actions[s]] + chance @ before[after]
            well[s] = chance @ good[after]
    return worth, well


@pytest.fixture(scope="module")
def small():
    """A small slippery world."""
    world = ta.from_text(["######", "#A..B#", "#.##.#", "#C..D#", "######"], slip_probability=0.4)
    return lakes.both(world, {"top": ["A", "B"], "left": ["A", "C"]})


def test_an_agent_is_measured_as_its_certificate_says(small):
    skills, letter = small
    for text in ("top", "top ^ left", "~top & ~left", "false"):
        agent = skills.for_task(text)
        found, certificate = measured(agent, letter.for_task(text)), agent.certificate()
        assert found.mean_loss == pytest.approx(certificate.mean_loss, abs=1e-9)
        assert found.worst_loss == pytest.approx(certificate.worst_loss, abs=1e-9)
        assert found.bound == pytest.approx(certificate.bound, abs=1e-12)
        assert found.letter_worst == pytest.approx(
            letter.for_task(text).certificate().worst_loss, abs=1e-9
        )
        assert found.endless == 0 and found.slack >= -1e-9 and found.after <= 1e-9
        assert found.rounds == agent.improve().improvement.rounds
        assert found.nothing_sweeps >= 1 and found.value_sweeps == value_sweeps(agent.task) > 1


def test_success_within_the_limit_and_returns_that_are_cut_off(small):
    agent = small[0].for_task("top")
    starts = agent.task.space.mdp.starts
    for steps in (3, 20):
        _, well = returns_by_hand(agent.task, agent.actions, steps)
        assert lakes.success_within(agent, steps) == pytest.approx(well[starts].mean(), abs=1e-12)
    stay = np.full(agent.task.space.mdp.n_states, 4)  # never ends, except in the cells of goals
    found = earned(agent.task, stay)
    cut, _ = returns_by_hand(agent.task, stay, LIMIT)
    assert np.isfinite(found).all() and found[starts] == pytest.approx(cut[starts])
    assert found[starts].min() == pytest.approx(-0.1 * LIMIT)
    short, _ = returns_by_hand(agent.task, stay, 7)
    assert earned(agent.task, stay, 7)[starts] == pytest.approx(short[starts])


def test_value_iteration_takes_as_many_sweeps_as_the_way_is_long_without_slips():
    world = ta.from_text(["#######", "#A....#", "#######"])
    task = ta.solve(world, {"a": ["A"]}).for_task("a").task
    assert value_sweeps(task) == 4 + 1 + 1  # moves, the stay, and a sweep that changes nothing


def test_mazes_are_in_one_piece_and_differ():
    config = slips.Config(side=7, walls=14)
    seen = set()
    for seed in range(4):
        world = slips.maze(config, slips.Job(slips.MAZES, seed, 0.2))
        mdp = world.mdp
        assert mdp.n_goals == 4 and mdp.n_states - 4 == 49 - 14 == mdp.starts.size
        seen.add(str(mdp.cells.tolist()))
    assert len(seen) == 4
    again = slips.maze(config, slips.Job(slips.MAZES, 3, 0.2))
    assert np.array_equal(again.mdp.cells, world.mdp.cells)


def literals(expression, negated=False):
    """The names of an expression with their signs, negations moved down by De Morgan."""
    if isinstance(expression, Name):
        return {(expression.name, negated)}
    if isinstance(expression, Not):
        return literals(expression.operands[0], not negated)
    return set().union(*(literals(part, negated) for part in expression.operands))


def test_what_errors_are_allowed_is_that_of_the_worst_literal():
    rng = np.random.default_rng(0)
    errors = {"a": 0.1, "b": 0.4, "c": 0.2}
    assert noise.allowed_error(~Name("a"), errors, 0.5) == pytest.approx(0.6)
    assert noise.allowed_error(~~Name("a"), errors, 0.5) == pytest.approx(0.1)
    for depth in (0, 1, 2, 3, 4) * 6:
        expression = noise.random_expression(list(errors), depth, rng)
        worst = max(errors[n] + 0.5 * negated for n, negated in literals(expression))
        assert noise.allowed_error(expression, errors, 0.5) == pytest.approx(worst)


def test_random_expressions_have_as_many_levels_as_they_should():
    def levels(expression):
        inside = max((levels(part) for part in expression.operands), default=0)
        return inside + (not isinstance(expression, (Name, Not)))

    rng = np.random.default_rng(1)
    found = [noise.random_expression(["a", "b"], depth, rng) for depth in range(6)]
    assert [levels(each) for each in found] == list(range(6))
    assert any(isinstance(each, And) or "&" in str(each) for each in found)


def test_the_bound_on_noise_is_met_and_not_exceeded_by_the_worst_noise():
    """All signs of the largest noise, on numbers in place of tables."""
    low, high, eps = 0.0, 1.0, 0.05

    def value(expression, names, total):
        if isinstance(expression, Name):
            return names[expression.name]
        parts = [value(part, names, total) for part in expression.operands]
        if isinstance(expression, Not):
            return total - parts[0]
        return min(parts) if isinstance(expression, And) else max(parts)

    rng = np.random.default_rng(2)
    for depth in (1, 2, 3):
        for _ in range(5):
            expression = noise.random_expression(["a", "b"], depth, rng)
            exact = {"a": 0.3, "b": 0.3}
            right, most = value(expression, exact, high + low), 0.0
            for signs in product((-eps, eps), repeat=4):
                noisy = {"a": exact["a"] + signs[0], "b": exact["b"] + signs[1]}
                wrong = value(expression, noisy, high + low + signs[2] + signs[3])
                most = max(most, abs(wrong - right))
            allowed = noise.allowed_error(expression, dict.fromkeys("ab", eps), 2 * eps)
            assert most <= allowed + 1e-12


def test_plain_learning_is_looked_at_more_and_more_rarely():
    task = ta.FourRooms(slip_probability=0.1).find_task("top")
    looks = samples.plain_learning(task, lambda actions: float(actions.size), 4_000, 0)
    assert looks == [
        (n, float(task.space.mdp.n_states)) for n in (1_000, 1_500, 2_250, 3_375, 4_000)
    ]


# the parts at toy size


def test_the_parts_say_what_they_should(quick, tmp_path):
    for name, result in quick.items():
        assert result.name == name
        result.save(tmp_path)
        assert load(name, tmp_path) == result
    table = quick["lakes"].table
    assert set(table.distinct("world")) == {job.world for job in lakes.jobs(lakes.QUICK)}
    limited = quick["lakes"].tables[lakes.OWN_LIMITED]
    for name in ("letter", "composed", "improved", "planned", "planned_improved"):
        assert (limited[name] <= limited["possible"] + 1e-9).all()
    own = limited.where(world=lakes.LAKE_8, task="gift")
    assert own["possible"][0] == pytest.approx(0.641, abs=1e-3)  # within Gymnasium's 100 steps
    sweep = quick["slips"].table
    assert sweep.n_rows == 3 * 4 and (sweep["after"] <= 1e-9).all()
    assert (sweep["mean_loss"] <= sweep["worst_loss"] + 1e-12).all()
    assert (sweep["worst_loss"] <= sweep["bound"] + 1e-9).all()
    noisy = quick["noise"].table
    assert (noisy["optimal"] + noisy["endless"] <= 1 + 1e-9).all()
    assert (noisy["ratio"] <= 1 + 1e-9).all()


def test_pictures_are_drawn_of_what_was_found(quick):
    pytest.importorskip("matplotlib")
    from taskalgebra.showcase.trust.figures import noise as of_noise
    from taskalgebra.showcase.trust.figures import slips as of_slips

    titles = [axes.get_title(loc="left") for axes in of_slips.draw(quick["slips"]).axes]
    assert "What is lost on average" in titles and len(titles) == 6
    first, *_ = of_noise.draw(quick["noise"]).axes
    assert any("3 ε" in text.get_text() for text in first.texts)


def test_the_page_shows_all_parts(quick):
    claims = report.judged(quick)
    titles = {name: report.PARTS[name].title for name in quick}
    text = page(quick, claims, titles, ["slips"])
    assert all(f"## {title}" in text for title in titles.values())
    assert text.count("](figures/") == 1 and "(figures/slips.png)" in text
    assert text.count("**holds**") == sum(c.holds for each in claims.values() for c in each)


# claims that can fail


REFUTED = [
    ("lakes", 0, {"mean_loss": 0.1}),
    ("lakes", 0, {"letter_mean": 0.0}),
    ("lakes", 1, {"worst_loss": 0.02}),
    ("lakes", 2, {"after": 1e-8}),
    ("lakes", 3, {"slack": -1e-8}),
    ("lakes", 4, {"sweeps": 1e6}),
    ("lakes", 5, {"planned_after": 1e-8}),
    ("slips", 0, {"worst_loss": 1e-8}),
    ("slips", 1, {"mean_loss": lambda table: 1.0 - table["slip"]}),
    ("slips", 1, {"mean_loss": 0.0}),
    ("slips", 2, {"worst_loss": 0.1}),
    ("slips", 3, {"letter_mean": 0.0}),
    ("slips", 4, {"slack": -1e-8}),
    ("slips", 5, {"after": 1e-8}),
    ("slips", 6, {"sweeps": 1e6}),
    ("slips", 7, {"plain_steps": 1}),
    ("slips", 8, {"again_loss": 0.0}),
    ("noise", 0, {"ratio": 1.001}),
    ("noise", 1, {"mean_loss": lambda table: 1.0 * table["depth"]}),
    ("noise", 2, {"worst_loss": 0.1}),
]


BORNE_OUT = [
    ("lakes", 4, {"sweeps": 0.5}),
    ("slips", 1, {"mean_loss": lambda table: table["slip"]}),
    ("slips", 3, {"letter_mean": 10.0}),
    ("slips", 8, {"again_loss": 1e3}),
]
"""For each claim that does not hold of the shipped results, results of which it does."""


def fabricated(name, columns):
    """The verdicts of a shipped result in which a column is another."""
    result = load(name, SHIPPED)
    (column,) = columns
    (where,) = [each for each, table in result.tables.items() if column in table]
    made = {each: of(result.tables[where]) if callable(of) else of for each, of in columns.items()}
    return [claim.verdict for claim in MODULES[name].judge(changed(result, where, **made))]


@pytest.mark.parametrize(("name", "place", "columns"), REFUTED)
def test_each_claim_can_fail(name, place, columns):
    assert fabricated(name, columns)[place] is Verdict.FAILS


@pytest.mark.parametrize(("name", "place", "columns"), BORNE_OUT)
def test_claims_that_fail_could_hold(name, place, columns):
    assert fabricated(name, columns)[place] is Verdict.HOLDS


def test_every_claim_that_fails_is_borne_out_somewhere():
    for name, claims in report.judged(report.results(SHIPPED)).items():
        failing = {place for place, claim in enumerate(claims) if not claim.holds}
        assert failing == {place for part, place, _ in BORNE_OUT if part == name}


def test_every_claim_is_refuted_somewhere():
    for name, module in MODULES.items():
        if name != "lifelong":  # tests/showcase/test_trust_lifelong.py
            n_claims = len(list(module.judge(load(name, SHIPPED))))
            assert {place for part, place, _ in REFUTED if part == name} == set(range(n_claims))


def test_a_claim_about_nothing_does_not_hold(quick):
    for result in quick.values():
        tables = {
            name: Table({each: table[each][:0] for each in table})
            for name, table in result.tables.items()
        }
        empty = Result(result.name, result.config, tables)
        try:
            (claims,) = report.judged({result.name: empty}).values()
            assert not any(claim.holds for claim in claims)
        except ValueError as error:
            assert "run again with --fresh" in str(error)


# what is shipped


def test_the_shipped_results_are_those_of_the_full_size():
    found = report.results(SHIPPED)
    assert list(found) == list(report.PARTS)
    for name, result in found.items():
        assert report.kept(name, json.loads(json.dumps(dict(result.config))), SHIPPED) is not None
        assert result.config == report.as_json(MODULES[name].Config())


def test_the_shipped_page_and_verdicts_follow_from_the_shipped_results():
    found = report.results(SHIPPED)
    claims = report.judged(found)
    titles = {name: report.PARTS[name].title for name in found}
    drawn = [name for name in found if report.PARTS[name].drawn]
    assert (SHIPPED / report.PAGE).read_text() == page(found, claims, titles, drawn)
    assert report.verdicts.load(SHIPPED) == [claim for each in claims.values() for claim in each]
    for name in drawn:
        assert (SHIPPED / "figures" / f"{name}.png").stat().st_size > 10_000


def test_what_holds_at_full_size():
    """Improved agents are optimal, bounds hold, and without slips nothing is lost."""
    claims = report.judged(report.results(SHIPPED))
    lake, sweep, noisy = (claims[name] for name in ("lakes", "slips", "noise"))
    assert all(lake[i].holds for i in (0, 1, 2, 3, 5))
    assert all(sweep[i].holds for i in (0, 2, 4, 5, 6))
    assert noisy[0].holds and noisy[2].holds
