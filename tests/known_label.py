"""A function as a label that knows its goals."""

import taskalgebra as ta


class Known(ta.GoalLabel):
    """Calls the function."""

    among = ()

    def __init__(self, label, among):
        self.label, self.among = label, among

    def __call__(self, observation, info, env):
        return self.label(observation, info, env)


def among(goals):
    """A decorator that names all goals of a label."""
    return lambda label: Known(label, goals)
