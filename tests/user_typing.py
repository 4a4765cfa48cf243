"""A user's own file, as strict as it can be: the public API has the types that it says.

`test_typing.py` runs mypy on it, and Python.
"""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import taskalgebra as ta


def composed() -> ta.Evaluation:
    """From a world to figures."""
    world = ta.FourRooms(slip_probability=0.1)
    assert_type(world, ta.FourRooms)
    assert_type(world.space, ta.TaskSpace)
    assert_type(world.tasks["top"], ta.Task)
    skills = ta.solve(world, ["top", "left"])
    assert_type(skills, ta.Skills)
    assert_type(skills["top ^ left"], ta.Agent | ta.TemporalAgent)
    agent = skills.for_task("top ^ left")
    assert_type(agent, ta.Agent)
    assert_type(agent & ~skills.for_task("top"), ta.Agent)
    assert_type(agent.actions, NDArray[np.int64])
    assert_type(agent.v, NDArray[np.float64])
    assert_type(agent.certificate(), ta.Certificate)
    assert_type(agent.improve(), ta.Agent)
    found = agent.evaluate(episodes=20, seed=0)
    assert_type(found, ta.Evaluation)
    assert_type(found.mean_return, float)
    assert_type(found.success_interval, tuple[float, float])
    assert_type(found.returns, NDArray[np.float64])
    assert_type(found.success, NDArray[np.bool_])
    assert_type(found.to_dict(), dict[str, Any])
    return found


def over_time() -> ta.Automaton:
    """Formulas over time."""
    agent = ta.solve(ta.Office()).for_formula("F(coffee & F office) & G !decoration")
    assert_type(agent, ta.TemporalAgent)
    assert_type(agent.evaluate(5), ta.Evaluation)
    assert_type(ta.parse("a & ~b"), ta.Expression)
    assert_type(ta.infer(ta.FourRooms().tasks["top"], ta.FourRooms().tasks), ta.Inference)
    return agent.automaton


class Mirror(ta.Reach):
    """A critic of one's own."""

    def returns(self, observations: Any) -> NDArray[np.float64]:
        """The same everywhere."""
        return np.zeros((len(observations), 4, 5)) - np.arange(4)[:, None]


def plugged_in() -> ta.Skills:
    """Values of one's own, a world of one's own, a listener of one's own."""

    def listen(event: ta.Event) -> None:
        assert_type(event.share, float)

    world = ta.from_text(["A..B", "C..D"])
    assert_type(world, ta.FiniteMDP)
    learner = ta.QLearning(steps=2000)
    learned = ta.learn(world, {"A": ["A"]}, learner=learner, listener=listen)
    assert_type(learned, ta.Skills)
    return ta.from_reach(Mirror(), ta.FourRooms(), ["top", "left"])


if __name__ == "__main__":
    print(composed())
    print(over_time().n_states, plugged_in()["top"])
