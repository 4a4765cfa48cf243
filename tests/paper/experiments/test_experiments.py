"""Every protocol at toy size: repeatable, independent of workers, sensitive to the seed."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.paper.experiments import (
    composition,
    forty_goals,
    layout,
    n_tasks,
    optimal_forty,
    optimal_sixteen,
    relaxed,
    rewards,
    samples,
    slips,
)
from taskalgebra.paper.experiments.rooms import R_BAR_MIN, shifted_bounds
from taskalgebra.paper.experiments.suite import EXPERIMENTS, obtain
from taskalgebra.planning.exact import q_bar_star
from taskalgebra.sweeps.processes import Processes
from taskalgebra.sweeps.running import Sweep

TOY = {
    composition: composition.Config(learning_episodes=30),
    samples: samples.Config(runs=1, tolerance=0.5),
    forty_goals: forty_goals.Config(runs=1, tolerance=0.5),
    optimal_forty: optimal_forty.Config(tasks=5, learning_steps=3000),
    optimal_sixteen: optimal_sixteen.Config(seeds=2, learning_episodes=100),
    relaxed: relaxed.Config(learning_episodes=20, runs=2, evaluation_episodes=50),
    slips: slips.Config(
        slip_probabilities=(0.2,), learning_episodes=200, runs=2, evaluation_episodes=50
    ),
}


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as engine:
        yield engine


def never(*_):
    raise AssertionError("a cell was run again")


@pytest.mark.parametrize("module", TOY, ids=lambda module: module.NAME)
def test_equal_seeds_give_equal_results_on_every_engine(module, processes, tmp_path, monkeypatch):
    config = TOY[module]
    one = module.run(config)
    assert module.run(config, Sweep(processes)) == one
    assert module.run(config, Sweep(processes, keep=tmp_path)) == one
    monkeypatch.setattr(processes, "outcomes", never)  # all cells are kept
    assert module.run(config, Sweep(processes, keep=tmp_path)) == one
    assert module.run(replace(config, seed=1)).tables != one.tables


@pytest.mark.parametrize("module", [layout, n_tasks, rewards], ids=lambda module: module.NAME)
def test_experiments_without_chance_repeat(module):
    assert module.run(module.QUICK) == module.run(module.QUICK)


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda e: e.name)
def test_an_experiment_is_a_module_with_a_name_and_frozen_configurations(experiment):
    assert experiment.module.NAME == experiment.name
    config = experiment.config()
    assert is_dataclass(config)
    same = ("composition", "layout", "rewards", "boxman_values")
    assert config != experiment.config(quick=True) or experiment.name in same
    with pytest.raises(AttributeError):
        setattr(config, fields(config)[0].name, 1)


def test_the_paper_s_protocol_is_the_default():
    assert samples.Config() == samples.Config(
        runs=100, epsilon=1, learning_rate=1, r_universal=1, step_reward=-0.01, tolerance=1e-5
    )
    assert relaxed.Config().learning_episodes == 500
    assert relaxed.Config().evaluation_episodes == 100_000
    assert slips.Config().learning_episodes == 50_000
    assert (slips.Config().epsilon, slips.Config().learning_rate) == (0.5, 0.1)
    assert optimal_forty.Config().tasks == 1000
    assert optimal_sixteen.Config().seeds == 100
    assert pytest.approx(-46.2) == R_BAR_MIN


def test_runs_do_not_depend_on_how_many_there_are():
    few = samples.run(samples.Config(runs=1, tolerance=0.5)).table
    more = samples.run(samples.Config(runs=2, tolerance=0.5)).table
    assert more.where(run=0) == few


@pytest.mark.parametrize("n_goals", [4, 40])
def test_bounds_from_one_table_are_those_of_planning(n_goals):
    """Corollary 1: the table of one task holds Q̄_U and Q̄_∅."""
    world = FourRooms(n_goals)
    task = next(iter(world.tasks.values()))
    planned = q_bar_star(world.space, [task], r_bar_min=R_BAR_MIN)
    states = np.arange(world.space.mdp.n_states)
    bounds = shifted_bounds(planned.values[0].q_bar(states), task)
    exact = planned.bounds.at(states)
    assert np.allclose(bounds.universal, exact.universal, rtol=0, atol=1e-12)
    assert np.allclose(bounds.empty, exact.empty, rtol=0, atol=1e-12)


def test_composed_policies_of_learned_tables_are_optimal():
    result = optimal_sixteen.run(optimal_sixteen.QUICK)
    assert result.table["optimal"].all()
    assert result.table["largest_gap"].max() < 1e-12


def test_tables_that_are_not_learned_well_do_not_pass():
    """The examiner is awake: after 100 episodes some policies are wrong, and it says so."""
    result = optimal_sixteen.run(TOY[optimal_sixteen])
    assert not result.table["optimal"].all()


def test_random_tasks_of_forty_goals_are_optimal():
    result = optimal_forty.run(replace(optimal_forty.QUICK, tasks=10))
    assert result.table["optimal"].all()


def test_finished_results_are_reused_and_others_are_not(tmp_path, monkeypatch):
    experiment = EXPERIMENTS[rewards.NAME]
    first, kept = obtain(experiment, tmp_path)
    assert not kept
    again, kept = obtain(experiment, tmp_path)
    assert kept
    assert again == first
    assert not obtain(experiment, tmp_path, fresh=True)[1]
    monkeypatch.setattr(rewards, "QUICK", rewards.Config(resolution=4))
    other, kept = obtain(experiment, tmp_path, quick=True)
    assert not kept
    assert other.table.n_rows == 16
    (tmp_path / "rewards.json").write_text("{")
    assert not obtain(experiment, tmp_path, quick=True)[1]


def test_an_interrupted_experiment_leaves_nothing(tmp_path, monkeypatch):
    def stopped(config, sweep):
        raise KeyboardInterrupt

    monkeypatch.setattr(rewards, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        obtain(EXPERIMENTS["rewards"], tmp_path)
    assert list(tmp_path.iterdir()) == []
