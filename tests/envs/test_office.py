"""Office, against a search on its map that shares nothing with the library."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import taskalgebra as ta
from taskalgebra.envs.office import FORMULAS, Office
from touch_oracle import (
    OFFICE_CELLS,
    OFFICE_LABELS,
    OFFICE_TASKS,
    TRAP,
    fewest_steps,
    office_letters,
    office_steps,
    used_up,
)

ID = "TaskAlgebra/Office-v0"
SHORT = {"coffee": "c", "mail": "m", "office": "o", "decoration": "d"} | {
    "mail_left": "tm",
    "people": "to",
}
VARIANTS = {
    "plain": {},
    "trap": {"trap": True},
    "visits": {"visits": True},
    "both": {"trap": True, "visits": True},
    "slips": {"slip_probability": 0.1},
}


def on_cells(name, *, trap=False, letters=used_up, starts=OFFICE_CELLS):
    """The fewest steps of a published task from every start, by the oracle."""
    automaton, first = OFFICE_TASKS[name]
    return {c: fewest_steps(c, automaton, first, office_steps(trap), letters) for c in starts}


def in_world(world, name, start):
    """The same on the table of the library; its labels are the goals of base tasks."""
    mdp = world.space.mdp
    labels = [
        frozenset(SHORT.get(task, task) for task in world.tasks if world.tasks[task].desired[goal])
        for goal in range(mdp.n_goals)
    ]

    def step(state):
        goal = mdp.goal_of_state[state]
        return mdp.next_state[state if goal < 0 else mdp.resumes[goal]].tolist()

    def letters(state, nothing):
        goal = mdp.goal_of_state[state]
        return (frozenset() if goal < 0 else labels[goal]), nothing

    automaton, first = OFFICE_TASKS[name]
    return fewest_steps(int(start), automaton, first, step, letters)


def published(name):
    """The cells in which episodes of a published task start."""
    ends = "o" if name == "CoffeeStrict" else "d"
    return [cell for cell in OFFICE_CELLS if OFFICE_LABELS.get(cell) != ends]


def figures(steps, starts):
    """Success, mean steps of successes and 100 · mean γⁿ⁻¹, which is how the table counts."""
    found = [steps[cell] for cell in starts]
    done = np.array([n for n in found if n is not None])
    return len(done) / len(found), done.mean(), 100 * (0.9 ** (done - 1)).sum() / len(found)


def test_the_exact_optimum_of_coffee_is_the_one_of_the_table():
    steps = on_cells("Coffee")
    success, mean, paid = figures(steps, published("Coffee"))
    assert (success, round(mean, 2), round(paid, 2)) == (1.0, 16.28, 25.69)


@pytest.mark.parametrize(
    ("name", "trap", "success", "mean", "paid"),
    [
        ("Patrol", False, 1.0, 54.9649, 0.443787),
        ("CoffeeMail", False, 1.0, 27.9298, 7.70819),
        ("Coffee", True, 113 / 114, 16.1681, 25.6474),
        ("CoffeeStrict", True, 118 / 119, 14.8390, 27.3088),
    ],
)
def test_the_exact_optima_of_the_other_tasks(name, trap, success, mean, paid):
    """As published, episodes in the office with a trap start in the trap as well."""
    found = figures(on_cells(name, trap=trap), published(name))
    assert found == pytest.approx((success, mean, paid), rel=1e-5)


@pytest.mark.parametrize("name", ["Coffee", "Patrol", "CoffeeMail", "CoffeeStrict"])
@pytest.mark.parametrize("trap", [False, True])
def test_the_world_has_the_fewest_steps_of_the_map_from_every_start(name, trap):
    world = Office(trap=trap)
    mdp = world.space.mdp
    expected = on_cells(name, trap=trap)
    assert mdp.starts.size == 120 - trap
    for s in mdp.starts:
        assert in_world(world, name, s) == expected[tuple(mdp.cells[s].tolist())]
    remaining = {tuple(mdp.cells[s].tolist()) for s in world.published_starts(name)}
    assert remaining == set(published(name)) - ({TRAP} if trap else set())


def test_the_long_task_has_the_fewest_steps_of_the_map():
    world = Office(visits=True)
    mdp = world.space.mdp
    some = mdp.starts[::13]
    cells = [tuple(mdp.cells[s].tolist()) for s in some]
    expected = on_cells("Long", letters=office_letters, starts=cells)
    assert [in_world(world, "Long", s) for s in some] == [expected[cell] for cell in cells]
    without = on_cells("Long", letters=used_up, starts=cells)
    assert all(expected[cell] > without[cell] for cell in cells)  # counters matter


def test_goals_are_named_after_what_lies_there():
    world = Office()
    mdp = world.space.mdp
    assert (mdp.n_states, mdp.n_goals, mdp.n_actions) == (134, 14, 4)
    assert world.space.task(["coffee 1", "coffee 2"]) == world.tasks["coffee"]
    named = {}
    for name, task in world.tasks.items():
        for goal in np.flatnonzero(task.desired):
            cell = tuple(mdp.cells[mdp.goals[goal]].tolist())
            assert named.setdefault(cell, SHORT.get(name, name)) == SHORT.get(name, name)
    assert named == OFFICE_LABELS


def test_visits_are_counted_in_goals_and_labels():
    world = Office(visits=True)
    mdp, tasks = world.space.mdp, world.tasks
    assert (mdp.n_goals, mdp.n_states) == (14 * 15, 134 * 15)
    assert tasks["mail_left"].desired.sum() == 2 * 5 and tasks["people"].desired.sum() == 4 * 3
    assert (tasks["mail"].desired >= tasks["mail_left"].desired).all()
    state, seen = int(mdp.starts[0]), []
    twin = {tuple(cell): s for s, cell in enumerate(mdp.cells[:120].tolist())}
    state = twin[(6, 9)]
    for action in (1, 3, 1, 3, 1):
        state = int(mdp.next_state[state, action])
        goal = int(mdp.goal_of_state[state])
        if goal >= 0:
            seen.append((mdp.goal_names[goal], bool(tasks["mail_left"].desired[goal])))
            state = int(mdp.resumes[goal])
    assert seen == [
        ("mail (mail 0, office 0)", True),
        ("mail (mail 1, office 0)", True),
        ("mail (mail 2, office 0)", False),
    ]


def test_values_without_counters_serve_the_world_that_counts():
    plain, world = ta.solve(Office()), Office(visits=True)
    pays = plain.space.r_universal[:, None]
    bounds = plain.family.bounds
    lifted = world.counts.returns(lambda states: bounds.at(states).universal - pays)
    skills = ta.from_values(lifted, world)
    played = skills["coffee"].evaluate(200)
    assert played.mean_return == pytest.approx(played.optimal_return, abs=1e-9)


@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS.keys())
def test_gymnasium_finds_nothing_to_complain_about(options):
    check_env(gym.make(ID, **options).unwrapped)
    assert gym.make_vec(ID, 3, **options).num_envs == 3


def test_the_library_finds_nothing_to_complain_about():
    assert ta.check_env(Office(), steps=4_000).holds
    assert ta.check_env(Office(trap=True), steps=4_000).holds


@pytest.mark.parametrize("options", [VARIANTS["plain"], VARIANTS["both"]])
def test_saved_skills_know_their_office(options, tmp_path):
    ta.solve(Office(**options), ["coffee", "mail"]).save(tmp_path / "office")
    again = ta.load(tmp_path / "office")
    assert again.env.spec.kwargs == Office(**options).spec.kwargs
    assert (again.env.trap, again.env.visits) == tuple(
        bool(options.get(k)) for k in ("trap", "visits")
    )


def test_it_is_drawn():
    env = Office(task="coffee", render_mode="ansi")
    env.reset(options={"state": 0})
    rows = env.render().split("\n")
    assert (len(rows), rows[1][3:6], rows[3][15:18], rows[6][18:21]) == (13, " @ ", " ◆ ", " ◇ ")
    for options in VARIANTS.values():
        image = Office(render_mode="rgb_array", **options)
        image.reset(seed=0)
        assert image.render().shape == (13 * 24, 17 * 24, 3)


def test_the_map_of_a_world_that_counts_shows_the_first_visits():
    counts = Office(visits=True, task="mail_left", render_mode="ansi")
    plain = Office(task="mail", render_mode="ansi")
    for env in (counts, plain):
        env.reset(options={"state": 0})
    assert counts.render() == plain.render()


def test_every_goal_is_worth_the_way():
    assert Office(r_universal="auto").space.r_universal.max() == pytest.approx(3.2)
    for options in ({}, {"trap": True}, {"visits": True}):
        world = Office(**options)
        assert world.space.check(world.tasks)["wanted goals are worth the way"].holds


def test_long_needs_visits():
    assert list(Office().formulas) == ["Coffee", "Patrol", "CoffeeMail", "CoffeeStrict"]
    assert Office(visits=True).formulas == FORMULAS
    with pytest.raises(ValueError, match="the published task"):
        Office().published_starts("Long")


@pytest.mark.parametrize("wrong", [{"trap": 1}, {"visits": "yes"}, {"slip_probability": 2}])
def test_mistakes_are_said(wrong):
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
        Office(**wrong)
