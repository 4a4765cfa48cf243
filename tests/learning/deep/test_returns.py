"""Heads: what the outputs of a network mean, and what they are trained towards."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from taskalgebra.learning.deep.uvfa import Categorical, Scalar

LOW, HIGH, SPACING = -2.3, 0.0, 0.1
CLOSE = {"atol": 2e-5, "rtol": 0.0}  # single precision; atoms are 0.1 apart


def head():
    return Categorical(LOW, HIGH, SPACING)


def logits_of(chances):
    """Outputs whose softmax is a distribution; 0 becomes e^-90."""
    return torch.tensor(np.log(np.maximum(chances, 1e-39)), dtype=torch.float32)


def slow_projection(chances, reward, discount, low, high, spacing):
    """The C51 projection, atom by atom, in double precision; the lowest atom stays."""
    n = len(chances)
    atoms = [low + i * spacing for i in range(n)]
    result = np.zeros(n)
    for i, chance in enumerate(chances):
        moved = low if i == 0 else min(max(reward + discount * atoms[i], low), high)
        place = (moved - low) / spacing
        left = min(int(np.floor(place + 1e-9)), n - 1)
        part = max(0.0, place - left)
        result[left] += chance * (1 - part)
        if part > 0 and left + 1 < n:
            result[left + 1] += chance * part
    return result


distributions = st.lists(st.integers(0, 20), min_size=24, max_size=24).filter(any)
rewards = st.floats(-3.0, 3.0)
discounts = st.floats(0.0, 1.0)


def one_action(chances):
    return logits_of(np.asarray(chances))[None, None, None]


def test_atoms_are_evenly_spaced_from_never_to_the_highest_return():
    atoms = head().atoms.double().numpy()
    assert head().n_outputs == len(atoms) == 24
    np.testing.assert_allclose(atoms, np.linspace(LOW, HIGH, 24), atol=1e-6)


@pytest.mark.parametrize(
    ("low", "high", "spacing"), [(-2.3, 0.0, 0.7), (-1.0, 1.0, 0.3), (-1.0, 0.0, 3.0)]
)
def test_a_spacing_that_does_not_divide_the_returns_is_refused(low, high, spacing):
    with pytest.raises(ValueError, match=f"spacing = {spacing} does not divide"):
        Categorical(low, high, spacing)


@given(distributions)
def test_a_step_that_costs_the_spacing_moves_a_distribution_by_one_atom(weights):
    chances = np.array(weights) / sum(weights)
    target = head().backup(one_action(chances), torch.tensor([-SPACING]), 1.0)[0, 0].numpy()
    expected = np.append(chances[1:], 0.0)
    expected[0] += chances[0]  # never stays never, and what falls below joins it
    np.testing.assert_allclose(target, expected, **CLOSE)


@given(rewards, discounts)
def test_never_stays_never_whatever_is_paid_meanwhile(reward, discount):
    chances = np.eye(24)[0]
    target = head().backup(one_action(chances), torch.tensor([reward]), discount)[0, 0].numpy()
    np.testing.assert_allclose(target, chances, **CLOSE)


@given(distributions, rewards, discounts)
def test_a_backup_is_the_slow_projection_and_keeps_all_mass(weights, reward, discount):
    chances = np.array(weights) / sum(weights)
    target = head().backup(one_action(chances), torch.tensor([reward]), discount)[0, 0].numpy()
    expected = slow_projection(chances, reward, discount, LOW, HIGH, SPACING)
    np.testing.assert_allclose(target, expected, **CLOSE)
    assert target.sum() == pytest.approx(1.0, abs=2e-5)
    assert (target >= 0).all()


@given(st.lists(st.integers(0, 20), min_size=8, max_size=8).filter(any), st.floats(-0.7, 0.7))
def test_away_from_the_ends_the_expectation_is_moved_by_the_reward(middle, reward):
    chances = np.zeros(24)
    chances[8:16] = np.array(middle) / sum(middle)
    outputs = one_action(chances)
    target = head().backup(outputs, torch.tensor([reward]), 1.0)[0, 0].double().numpy()
    moved = float(head().values(outputs)) + reward
    assert target @ head().atoms.double().numpy() == pytest.approx(moved, abs=1e-5)


@given(st.floats(-4.0, 2.0))
def test_a_known_return_has_its_own_expectation_on_at_most_two_atoms(value):
    target = head().certain(torch.tensor(value)).double().numpy()
    assert (target > 1e-4).sum() in (1, 2)
    assert target.sum() == pytest.approx(1.0, abs=1e-5)
    expected = min(max(value, LOW), HIGH)
    assert target @ head().atoms.double().numpy() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("kind", [head(), Scalar(LOW)], ids=["categorical", "scalar"])
def test_a_backup_takes_the_outputs_of_the_greedy_action_of_each_goal(kind):
    outputs = torch.randn(5, 3, 4, kind.n_outputs, generator=torch.Generator().manual_seed(0))
    reward = torch.linspace(-0.4, 0.0, 5)
    together = kind.backup(outputs, reward, 0.9)
    values = kind.values(outputs)
    assert together.shape == (5, 3, kind.n_outputs)
    for b in range(5):
        for g in range(3):
            best = int(values[b, g].argmax())
            alone = kind.backup(
                outputs[b : b + 1, g : g + 1, best : best + 1], reward[b : b + 1], 0.9
            )
            torch.testing.assert_close(together[b, g], alone[0, 0])


def test_the_value_of_a_distribution_is_its_mean_with_the_atoms():
    chances = np.random.default_rng(0).dirichlet(np.ones(24), (3, 2))
    expected = chances @ np.linspace(LOW, HIGH, 24)
    np.testing.assert_allclose(head().values(logits_of(chances)), expected, atol=1e-5)


def test_a_scalar_is_its_value_and_its_backup_is_bounded_below():
    scalar = Scalar(-1.0)
    outputs = torch.tensor([[[[0.5], [0.75]], [[-3.0], [-2.0]]]])
    assert scalar.n_outputs == 1
    assert scalar.values(outputs).tolist() == [[[0.5, 0.75], [-3.0, -2.0]]]
    assert scalar.backup(outputs, torch.tensor([-0.25]), 0.5).tolist() == [[[0.125], [-1.0]]]
    assert scalar.certain(torch.tensor([[2.0, -1.0]])).tolist() == [[[2.0], [-1.0]]]


@pytest.mark.parametrize("kind", [head(), Scalar(LOW)], ids=["categorical", "scalar"])
def test_the_loss_is_least_at_the_target_and_leads_there(kind):
    returns = torch.tensor([[-0.35, -1.0], [-2.3, 0.0]])
    target = kind.certain(returns)
    outputs = torch.zeros(2, 2, kind.n_outputs, requires_grad=True)
    if kind.n_outputs > 1:
        least = float(-(target * torch.log(target.clamp(min=1e-30))).sum(-1).mean())
        at_target = logits_of(target.numpy())
    else:
        least, at_target = 0.0, target
    assert float(kind.loss(at_target, target)) == pytest.approx(least, abs=1e-6)
    optimiser = torch.optim.Adam([outputs], 0.3)
    first = kind.loss(outputs, target).item()
    for _ in range(400):
        loss = kind.loss(outputs, target)
        assert loss.item() >= least - 1e-6
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.item() < least + 0.02 < first
    np.testing.assert_allclose(kind.values(outputs.detach()), returns, atol=0.03)


def test_the_loss_is_the_mean_over_transitions_and_goals():
    for kind in (head(), Scalar(LOW)):
        outputs = torch.randn(3, 2, kind.n_outputs, generator=torch.Generator().manual_seed(1))
        target = kind.certain(torch.tensor([[-0.3, -1.2], [0.0, -2.3], [-0.1, -0.7]]))
        parts = [kind.loss(outputs[b, g], target[b, g]) for b in range(3) for g in range(2)]
        torch.testing.assert_close(kind.loss(outputs, target), torch.stack(parts).mean())
