"""Zero-shot composition of reinforcement-learning tasks with AND, OR and NOT.

    import taskalgebra as ta

    world = ta.FourRooms()
    skills = ta.solve(world, ["top", "left"])
    agent = skills["top ^ left"]

Implements "A Boolean Task Algebra for Reinforcement Learning" (Nangue Tasse, James and Rosman,
NeurIPS 2020).  Modules are imported when a name of theirs is first used, so that importing the
package stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taskalgebra.assumptions import AssumptionReport as AssumptionReport
    from taskalgebra.assumptions import Finding as Finding
    from taskalgebra.base_tasks import expression_for_goals as expression_for_goals
    from taskalgebra.base_tasks import minimal_base_tasks as minimal_base_tasks
    from taskalgebra.envs.boxman import Boxman as Boxman
    from taskalgebra.envs.four_rooms import FourRooms as FourRooms
    from taskalgebra.envs.goal_world import GoalWorld as GoalWorld
    from taskalgebra.envs.world import World as World
    from taskalgebra.evaluation import Evaluation as Evaluation
    from taskalgebra.evaluation import policy_return as policy_return
    from taskalgebra.expression import Expression as Expression
    from taskalgebra.expression import all_functions as all_functions
    from taskalgebra.expression import parse as parse
    from taskalgebra.expression_text import ExpressionError as ExpressionError
    from taskalgebra.extended import ExtendedQ as ExtendedQ
    from taskalgebra.extended import GoalSetQ as GoalSetQ
    from taskalgebra.extended import TabularQ as TabularQ
    from taskalgebra.folder import StoreError as StoreError
    from taskalgebra.grid import from_text as from_text
    from taskalgebra.gym_table import from_gymnasium as from_gymnasium
    from taskalgebra.learning.deep_settings import DeepSettings as DeepSettings
    from taskalgebra.learning.q_learning import Settings as Settings
    from taskalgebra.mdp import FiniteMDP as FiniteMDP
    from taskalgebra.mdp import from_arrays as from_arrays
    from taskalgebra.open_world import OpenWorld as OpenWorld
    from taskalgebra.planning import Plan as Plan
    from taskalgebra.planning import PositiveCycleError as PositiveCycleError
    from taskalgebra.planning import optimal_v as optimal_v
    from taskalgebra.planning import plan as plan
    from taskalgebra.planning import q_bar_star as q_bar_star
    from taskalgebra.skills import Agent as Agent
    from taskalgebra.skills import Skills as Skills
    from taskalgebra.skills import learn as learn
    from taskalgebra.skills import load as load
    from taskalgebra.skills import solve as solve
    from taskalgebra.stochastic_planning import ConvergenceError as ConvergenceError
    from taskalgebra.tasks import Task as Task
    from taskalgebra.tasks import TaskSpace as TaskSpace

__version__ = "0.1.0"

_HOME = {
    "assumptions": ("AssumptionReport", "Finding"),
    "base_tasks": ("expression_for_goals", "minimal_base_tasks"),
    "envs.boxman": ("Boxman",),
    "envs.four_rooms": ("FourRooms",),
    "envs.goal_world": ("GoalWorld",),
    "envs.world": ("World",),
    "evaluation": ("Evaluation", "policy_return"),
    "expression": ("Expression", "all_functions", "parse"),
    "expression_text": ("ExpressionError",),
    "extended": ("ExtendedQ", "GoalSetQ", "TabularQ"),
    "grid": ("from_text",),
    "folder": ("StoreError",),
    "gym_table": ("from_gymnasium",),
    "learning.deep_settings": ("DeepSettings",),
    "learning.q_learning": ("Settings",),
    "mdp": ("FiniteMDP", "from_arrays"),
    "open_world": ("OpenWorld",),
    "planning": ("Plan", "PositiveCycleError", "optimal_v", "plan", "q_bar_star"),
    "skills": ("Agent", "Skills", "learn", "load", "solve"),
    "stochastic_planning": ("ConvergenceError",),
    "tasks": ("Task", "TaskSpace"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Import the module of a public name when it is first asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'taskalgebra' has no attribute {name!r}")
    value = getattr(import_module(f"taskalgebra.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, imported or not."""
    return sorted({*globals(), *_MODULE_OF})
