"""Formulas over time against an outside model checker, on worlds that are exported to it.

Storm makes automata of its own and solves the product by itself.  It reads infinite traces and the
state in which an episode starts, so formulas are co-safe, where a finite prefix decides, and stand
behind an X.
"""

from __future__ import annotations

import numpy as np
import pytest
import stormpy

import taskalgebra as ta
import temporal_oracle as oracle

RISKY = (
    "!{0} U {1}",
    "!{0} U ({1} & X (!{1} U {2}))",
    "!({0} | {2}) U ({1} & X (!{0} U {2}))",
    "F ({0} & X (!{1} U {2})) & (!{2} U {0})",
    "(!{0} U {1}) | (!{1} U ({0} & X (!{2} U {1})))",
)
"""Formulas that an unlucky step violates for good."""
CHEAP = 2.0**-30  # of a step: the return is then the probability of success


def random_world(rng, *, chance):
    """A world in which every state leads to every other, so that no episode need go on forever."""
    while True:
        n_goals, n_actions = int(rng.integers(3, 5)), int(rng.integers(1, 4))
        n_states = n_goals + int(rng.integers(2, 7))
        dynamics = np.zeros((n_states, n_actions, n_states))
        for s in range(n_states):
            for a in range(n_actions):
                n = int(rng.integers(1, 4)) if chance else 1
                to = rng.choice(n_states, min(n, n_states), replace=False)
                dynamics[s, a, to] = rng.dirichlet(np.ones(to.size)).round(3) + 1e-3
                dynamics[s, a] /= dynamics[s, a].sum()
        goals = rng.choice(n_states, n_goals, replace=False)
        resumes = rng.choice(np.setdiff1d(np.arange(n_states), goals), n_goals)
        support = dynamics.sum(axis=1) > 0
        support[goals] = support[resumes]
        reached = np.linalg.matrix_power(support.astype(float) + np.eye(n_states), n_states) > 0
        if reached.all():
            return dynamics, goals, resumes


def exported(dynamics, goals, resumes, names, start):
    """The world in the language of PRISM; a goal acts as the state in which episodes go on."""
    n_states, n_actions, _ = dynamics.shape
    lines = ["mdp", "module world", f"  s : [0..{n_states - 1}] init {start};"]
    row = np.arange(n_states)
    row[goals] = resumes
    for s in range(n_states):
        for a in range(n_actions):
            chances = dynamics[row[s], a]
            outcomes = [f"{float(chances[t])!r} : (s'={t})" for t in np.flatnonzero(chances)]
            lines.append(f"  [a{a}] s={s} -> {' + '.join(outcomes)};")
    lines.append("endmodule")
    for name, states in names.items():
        held = " | ".join(f"s={s}" for s in states) or "false"
        lines.append(f'label "{name}" = {held};')
    return "\n".join(lines)


def probability(path, formula):
    """The largest probability that a trace from the first state satisfies a formula."""
    program = stormpy.parse_prism_program(str(path))
    properties = stormpy.parse_properties(f"Pmax=? [ X ({formula}) ]", program)
    model = stormpy.build_model(program, properties)
    result = stormpy.model_checking(model, properties[0])
    (start,) = model.initial_states
    return result.get_value(start)


@pytest.mark.parametrize("seed", range(50))
def test_the_probability_of_success_is_that_of_storm(seed, tmp_path):
    rng = np.random.default_rng([7, seed])
    chance = seed % 5 > 0
    dynamics, goals, resumes = random_world(rng, chance=chance)
    names = [f"g{i}" for i in range(len(goals))]
    tasks = {"some": names[:2], "last": names[-1:]}
    if seed % 3:
        text = rng.choice(RISKY).format(*(f"'{name}'" for name in rng.permutation(names)))
    else:
        text = oracle.random_mission(rng, [*names, *tasks], safety=False)
    world = ta.from_arrays(dynamics, -CHEAP, goals, goal_names=names, resumes=resumes)
    space = ta.TaskSpace(world, r_universal=1.0, r_empty=0.0)
    skills = ta.solve(space, tasks)
    held = {name: [goals[i]] for i, name in enumerate(names)}
    held |= {name: [goals[names.index(g)] for g in wanted] for name, wanted in tasks.items()}
    cells = np.setdiff1d(np.arange(len(dynamics)), goals)
    expected = []
    for s in cells:
        path = tmp_path / f"from_{s}.prism"
        path.write_text(exported(dynamics, goals, resumes, held, s))
        expected.append(probability(path, text.replace("'", '"')))
    try:
        agent = skills[text]
    except ValueError:  # it can never be satisfied
        assert not any(expected)
        return
    assert chance or set(expected) <= {0.0, 1.0}
    assert np.maximum(agent.v(cells), 0.0) == pytest.approx(expected, abs=2e-5), text
