"""Zero-shot composition of reinforcement-learning tasks with AND, OR and NOT.

    import taskalgebra as ta

    world = ta.FourRooms()
    skills = ta.solve(world, ["top", "left"])
    agent = skills["top ^ left"]

Implements "A Boolean Task Algebra for Reinforcement Learning" (Nangue Tasse, James and Rosman,
NeurIPS 2020).  A module is imported when one of its names is first used, so that importing the
package stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taskalgebra.apps.opening import Playground as Playground
    from taskalgebra.apps.opening import playground as playground
    from taskalgebra.envs.boxman.env import Boxman as Boxman
    from taskalgebra.envs.check import check_env as check_env
    from taskalgebra.envs.explore import Explored as Explored
    from taskalgebra.envs.explore import explore as explore
    from taskalgebra.envs.finite_env import FiniteEnv as FiniteEnv
    from taskalgebra.envs.flat_world.env import FlatWorld as FlatWorld
    from taskalgebra.envs.four_rooms import FourRooms as FourRooms
    from taskalgebra.envs.labels import GoalLabel as GoalLabel
    from taskalgebra.envs.letter_world import LetterWorld as LetterWorld
    from taskalgebra.envs.letter_world import RandomLetterWorld as RandomLetterWorld
    from taskalgebra.envs.map_file import from_file as from_file
    from taskalgebra.envs.office import Office as Office
    from taskalgebra.envs.open_env import OpenEnv as OpenEnv
    from taskalgebra.envs.wrap import wrap as wrap
    from taskalgebra.evaluation.continuing import ContinuingEvaluation as ContinuingEvaluation
    from taskalgebra.evaluation.exact import policy_return as policy_return
    from taskalgebra.evaluation.record import Evaluation as Evaluation
    from taskalgebra.folder import StoreError as StoreError
    from taskalgebra.learning.deep.learner import DeepQ as DeepQ
    from taskalgebra.learning.deep.log import TensorBoard as TensorBoard
    from taskalgebra.learning.deep.settings import DeepSettings as DeepSettings
    from taskalgebra.learning.few_steps.learner import FewSteps as FewSteps
    from taskalgebra.learning.few_steps.master import Ideas as Ideas
    from taskalgebra.learning.hindsight import Hindsight as Hindsight
    from taskalgebra.learning.hindsight import Replay as Replay
    from taskalgebra.learning.learner import Learner as Learner
    from taskalgebra.learning.onward import Experience as Experience
    from taskalgebra.learning.planned import Planner as Planner
    from taskalgebra.learning.q_learning import Settings as Settings
    from taskalgebra.learning.tabular import QLearning as QLearning
    from taskalgebra.logic.automaton import Automaton as Automaton
    from taskalgebra.logic.automaton import automaton as automaton
    from taskalgebra.logic.expression import Expression as Expression
    from taskalgebra.logic.formulas import all_functions as all_functions
    from taskalgebra.logic.formulas import parse as parse
    from taskalgebra.logic.text import ExpressionError as ExpressionError
    from taskalgebra.planning.brackets import Bracket as Bracket
    from taskalgebra.planning.exact import PositiveCycleError as PositiveCycleError
    from taskalgebra.planning.exact import optimal_v as optimal_v
    from taskalgebra.planning.exact import plan as plan
    from taskalgebra.planning.exact import q_bar_star as q_bar_star
    from taskalgebra.planning.horizon import HorizonFamily as HorizonFamily
    from taskalgebra.planning.improvement import Improvement as Improvement
    from taskalgebra.planning.policy_iteration import ConvergenceError as ConvergenceError
    from taskalgebra.progress import Event as Event
    from taskalgebra.progress import StopLearning as StopLearning
    from taskalgebra.skills.agent import Agent as Agent
    from taskalgebra.skills.foreign import from_policy as from_policy
    from taskalgebra.skills.foreign import from_values as from_values
    from taskalgebra.skills.lifelong import Lifelong as Lifelong
    from taskalgebra.skills.lifelong import Met as Met
    from taskalgebra.skills.lifelong import lifelong as lifelong
    from taskalgebra.skills.making import from_reach as from_reach
    from taskalgebra.skills.making import learn as learn
    from taskalgebra.skills.making import load as load
    from taskalgebra.skills.making import solve as solve
    from taskalgebra.skills.sb3 import from_sb3 as from_sb3
    from taskalgebra.skills.skills import Skills as Skills
    from taskalgebra.skills.temporal import TemporalAgent as TemporalAgent
    from taskalgebra.theory.ahead import AheadReach as AheadReach
    from taskalgebra.theory.base_tasks import expression_for_goals as expression_for_goals
    from taskalgebra.theory.base_tasks import minimal_base_tasks as minimal_base_tasks
    from taskalgebra.theory.certificate import Certificate as Certificate
    from taskalgebra.theory.certificate import Loss as Loss
    from taskalgebra.theory.certificate import Played as Played
    from taskalgebra.theory.family import Family as Family
    from taskalgebra.theory.family import ReachFamily as ReachFamily
    from taskalgebra.theory.family import TableFamily as TableFamily
    from taskalgebra.theory.findings import AssumptionReport as AssumptionReport
    from taskalgebra.theory.findings import Finding as Finding
    from taskalgebra.theory.goal_env import GoalEnv as GoalEnv
    from taskalgebra.theory.inference import Inference as Inference
    from taskalgebra.theory.inference import infer as infer
    from taskalgebra.theory.lifelong_bounds import tasks_learned_bounds as tasks_learned_bounds
    from taskalgebra.theory.lifelong_bounds import transfer_bound as transfer_bound
    from taskalgebra.theory.policy import Policy as Policy
    from taskalgebra.theory.reach import DirectedReach as DirectedReach
    from taskalgebra.theory.reach import OfferedReach as OfferedReach
    from taskalgebra.theory.reach import Reach as Reach
    from taskalgebra.theory.tables import TabularQ as TabularQ
    from taskalgebra.theory.tasks import Task as Task
    from taskalgebra.theory.tasks import TaskSpace as TaskSpace
    from taskalgebra.theory.values import ExtendedQ as ExtendedQ
    from taskalgebra.theory.values import GoalSetQ as GoalSetQ
    from taskalgebra.worlds.build import from_arrays as from_arrays
    from taskalgebra.worlds.finite import FiniteMDP as FiniteMDP
    from taskalgebra.worlds.grid import from_text as from_text
    from taskalgebra.worlds.gym_table import from_gymnasium as from_gymnasium
    from taskalgebra.worlds.image import from_image as from_image
    from taskalgebra.worlds.maze import maze as maze
    from taskalgebra.worlds.open_world import OpenWorld as OpenWorld
    from taskalgebra.worlds.outcomes import from_outcomes as from_outcomes

__version__ = "0.2.0"

_HOME = {
    "apps.opening": ("Playground", "playground"),
    "envs.boxman.env": ("Boxman",),
    "envs.check": ("check_env",),
    "envs.explore": ("Explored", "explore"),
    "envs.finite_env": ("FiniteEnv",),
    "envs.flat_world.env": ("FlatWorld",),
    "envs.four_rooms": ("FourRooms",),
    "envs.labels": ("GoalLabel",),
    "envs.letter_world": ("LetterWorld", "RandomLetterWorld"),
    "envs.map_file": ("from_file",),
    "envs.office": ("Office",),
    "envs.open_env": ("OpenEnv",),
    "envs.wrap": ("wrap",),
    "evaluation.continuing": ("ContinuingEvaluation",),
    "evaluation.exact": ("policy_return",),
    "evaluation.record": ("Evaluation",),
    "folder": ("StoreError",),
    "learning.deep.learner": ("DeepQ",),
    "learning.deep.log": ("TensorBoard",),
    "learning.deep.settings": ("DeepSettings",),
    "learning.few_steps.learner": ("FewSteps",),
    "learning.few_steps.master": ("Ideas",),
    "learning.hindsight": ("Hindsight", "Replay"),
    "learning.learner": ("Learner",),
    "learning.onward": ("Experience",),
    "learning.planned": ("Planner",),
    "learning.q_learning": ("Settings",),
    "learning.tabular": ("QLearning",),
    "logic.automaton": ("Automaton", "automaton"),
    "logic.expression": ("Expression",),
    "logic.formulas": ("all_functions", "parse"),
    "logic.text": ("ExpressionError",),
    "planning.brackets": ("Bracket",),
    "planning.exact": ("PositiveCycleError", "optimal_v", "plan", "q_bar_star"),
    "planning.horizon": ("HorizonFamily",),
    "planning.improvement": ("Improvement",),
    "planning.policy_iteration": ("ConvergenceError",),
    "progress": ("Event", "StopLearning"),
    "skills.agent": ("Agent",),
    "skills.foreign": ("from_policy", "from_values"),
    "skills.lifelong": ("Lifelong", "Met", "lifelong"),
    "skills.making": ("from_reach", "learn", "load", "solve"),
    "skills.sb3": ("from_sb3",),
    "skills.skills": ("Skills",),
    "skills.temporal": ("TemporalAgent",),
    "theory.certificate": ("Certificate", "Loss", "Played"),
    "theory.findings": ("AssumptionReport", "Finding"),
    "theory.ahead": ("AheadReach",),
    "theory.base_tasks": ("expression_for_goals", "minimal_base_tasks"),
    "theory.family": ("Family", "ReachFamily", "TableFamily"),
    "theory.goal_env": ("GoalEnv",),
    "theory.inference": ("Inference", "infer"),
    "theory.lifelong_bounds": ("tasks_learned_bounds", "transfer_bound"),
    "theory.policy": ("Policy",),
    "theory.reach": ("DirectedReach", "OfferedReach", "Reach"),
    "theory.tables": ("TabularQ",),
    "theory.tasks": ("Task", "TaskSpace"),
    "theory.values": ("ExtendedQ", "GoalSetQ"),
    "worlds.build": ("from_arrays",),
    "worlds.finite": ("FiniteMDP",),
    "worlds.grid": ("from_text",),
    "worlds.gym_table": ("from_gymnasium",),
    "worlds.image": ("from_image",),
    "worlds.maze": ("maze",),
    "worlds.open_world": ("OpenWorld",),
    "worlds.outcomes": ("from_outcomes",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Import the module of a public name on first use."""
    if name not in _MODULE_OF:
        from difflib import get_close_matches

        close = get_close_matches(name, __all__, 1)
        hint = f". Did you mean {close[0]!r}?" if close else ""
        raise AttributeError(f"module 'taskalgebra' has no attribute {name!r}{hint}")
    value = getattr(import_module(f"taskalgebra.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, imported or not, and no modules."""
    own = ("__all__", "__doc__", "__file__", "__name__", "__path__", "__version__")
    return sorted([*own, *__all__])
