"""The published tasks of Office and LetterWorld: formulas, agents and the fewest steps.

Formulas are held to automata written by hand, agents to a search on cells (`touch_oracle`).
"""

import random

import numpy as np
import pytest

import taskalgebra as ta
from taskalgebra.envs import letter_world, letters, office
from touch_oracle import (
    DONE,
    LETTER_TASKS,
    OFFICE_TASKS,
    fewest_steps,
    letters_of,
    office_letters,
    office_steps,
    torus_step,
    used_up,
)

SHORT = {"coffee": "c", "mail": "m", "office": "o", "decoration": "d"} | {
    "mail_left": "tm",
    "people": "to",
}
IN_OFFICE = [
    *([name] for name in ("A", "B", "C", "D", "coffee", "office", "mail", "decoration")),
    ["office", "people"],
    ["mail", "mail_left"],
    [],
]
ALL = [
    *((text, *OFFICE_TASKS[name], IN_OFFICE) for name, text in office.FORMULAS.items()),
    *(
        (text, *LETTER_TASKS[name], [[], *map(list, letters.LETTERS)])
        for name, text in letter_world.FORMULAS.items()
    ),
]


def first_done(automaton, state, trace):
    """The step after which an automaton that may guess is done; None if it never is."""
    states = {state}
    for i, names in enumerate(trace):
        found = {SHORT.get(name, name) for name in names}
        states = {after for state in states for after in automaton(state, found)}
        if DONE in states:
            return i
    return None


def first_accepted(machine, trace):
    state = machine.start
    for i, names in enumerate(trace):
        state = machine.step(state, machine.letter(names))
        if machine.accepting[state]:
            return i
    return None


@pytest.mark.parametrize(("text", "automaton", "first", "labels"), ALL)
def test_formulas_say_what_the_automata_by_hand_say(text, automaton, first, labels):
    machine, rng = ta.automaton(text, labels), random.Random(0)
    weights = [0.01 if label == ["decoration"] else 1.0 for label in labels]
    done = 0
    for _ in range(2_000):
        trace = rng.choices(labels, weights, k=rng.randint(1, 150))
        expected = first_done(automaton, first, trace)
        assert first_accepted(machine, trace) == expected
        done += expected is not None
    assert 50 < done < 2_000


def steps_of(agent, states):
    """The fewest steps, from the values of an agent: a step costs 0.1."""
    pays = agent.skills.family.space.r_universal.max()
    steps = (pays - agent.v(states)) / 0.1
    assert steps == pytest.approx(np.rint(steps), abs=1e-6)
    return np.rint(steps).astype(int).tolist()


@pytest.mark.parametrize(
    ("options", "names", "every"),
    [
        ({}, ["Coffee", "Patrol", "CoffeeMail", "CoffeeStrict"], 1),
        ({"trap": True}, ["Coffee", "CoffeeStrict"], 1),
        ({"visits": True}, ["Long"], 13),
        ({"visits": True, "trap": True}, ["Long"], 40),
    ],
    ids=["plain", "trap", "visits", "both"],
)
def test_agents_in_the_office_take_the_fewest_steps_from_every_start(options, names, every):
    world = ta.Office(**options)
    skills, mdp = ta.solve(world), world.space.mdp
    starts = mdp.starts[::every]
    for name in names:
        automaton, first = OFFICE_TASKS[name]
        agent = skills[world.formulas[name]]
        rules = office_steps(world.trap), office_letters if world.visits else used_up
        expected = [
            fewest_steps(tuple(mdp.cells[s].tolist()), automaton, first, *rules) for s in starts
        ]
        assert agent.certificate().optimal and steps_of(agent, starts) == expected
        played = agent.evaluate(300)
        assert played.success_rate == 1.0
        assert played.mean_return == pytest.approx(played.optimal_return, abs=1e-9)


def test_nothing_can_be_done_in_the_trap_but_to_have_coffee():
    world = ta.Office(trap=True)
    skills, mdp = ta.solve(world), world.space.mdp
    trapped = [int(mdp.resumes[mdp.goal_index("coffee 2")])]
    assert skills["F(coffee & F office)"].v(trapped)[0] == -np.inf
    assert skills["F coffee"].v(trapped)[0] == world.space.r_universal.max() - 0.1


def test_values_that_know_no_counters_are_enough_for_the_long_task():
    plain, world = ta.solve(ta.Office()), ta.Office(visits=True)
    pays, bounds = plain.space.r_universal[:, None], plain.family.bounds
    lifted = world.counts.returns(lambda states: bounds.at(states).universal - pays)
    text, starts = world.formulas["Long"], world.space.mdp.starts
    agent = ta.from_values(lifted, world)[text]
    assert steps_of(agent, starts) == steps_of(ta.solve(world)[text], starts)


@pytest.mark.parametrize("name", letter_world.FORMULAS)
def test_agents_in_letter_world_take_the_fewest_steps(name):
    automaton, first = LETTER_TASKS[name]
    for seed in range(25):
        world = ta.LetterWorld(seed)
        board = letters.drawn([0, *world.letters]).replace("@", ".").split("\n")
        expected = fewest_steps((0, 0), automaton, first, torus_step, letters_of(board))
        played = ta.solve(world)[world.formulas[name]].evaluate(1)
        assert (played.success_rate, round(played.mean_steps)) == (1.0, expected)
