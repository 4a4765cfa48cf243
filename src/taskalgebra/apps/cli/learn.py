"""`taskalgebra learn`: learn base tasks by interaction, and save them as skills."""

from __future__ import annotations

import math
import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from taskalgebra import files
from taskalgebra.apps.cli.commands import (
    GAME,
    Failure,
    GoalReward,
    Json,
    LearnedWorld,
    Quiet,
    Seed,
    Slip,
    Tasks,
    Touch,
    usual_episodes,
)
from taskalgebra.apps.cli.exit_codes import OK
from taskalgebra.apps.cli.output import Output
from taskalgebra.limits import MOST
from taskalgebra.skills import SHIPPED_AT, catalogue

if TYPE_CHECKING:
    from taskalgebra.learning.learner import Learner
    from taskalgebra.skills.skills import Skills
    from taskalgebra.theory.goal_env import GoalEnv
    from taskalgebra.theory.tasks import Task

EXAMPLES = (
    ("learn --out rooms", "Four Rooms by Q-learning, saved in rooms/"),
    ("learn maze.txt --out maze --steps 100000", "a map of your own, 100,000 steps per task"),
    ("learn four-rooms --slip 0.1 --out slippery", "with slips"),
    (f"learn {GAME.name} --out game --seed 1", "networks, from pixels: a few minutes"),
    ('solve "top ^ left" --world rooms', "compose the saved skills"),
)


def learn(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where to save the skills.")
    ],
    world: LearnedWorld = catalogue.DEFAULT,
    tasks: Tasks = None,
    slip: Slip = 0.0,
    goal_reward: GoalReward = None,
    touch: Touch = False,
    steps: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=MOST, help="Tables: steps per task."),
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=MOST, help="Tables: episodes per task."),
    ] = None,
    updates: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=MOST, help="Networks: gradient steps.")
    ] = None,
    settings: Annotated[
        Literal["fast", "paper"],
        typer.Option(metavar="fast|paper", help="Networks: our settings, or the paper's."),
    ] = "fast",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start from scratch instead of resuming.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the skills that are in DIR.")
    ] = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Learn base tasks by interaction (Algorithm 1) and save the skills.

    Finite worlds are learned as tables, games as networks from pixels, which need torch. Learning
    that was stopped resumes when the same command is run again.
    """
    output, out = Output(json, quiet), files.at(out)
    env = catalogue.open_world(world, slip_probability=slip, goal_reward=goal_reward, touch=touch)
    base = catalogue.base_tasks(world, env, tasks or [])
    if env.space.finite:
        if updates or settings != "fast":
            raise typer.BadParameter(
                "--updates and --settings are for networks; tables have --steps and --episodes"
            )
        from taskalgebra.learning.tabular import CHECKPOINTS, QLearning
        from taskalgebra.theory.family import TableFamily

        learner = QLearning(episodes=episodes, steps=steps)
        plan = Plan(learner, TableFamily.FORMAT, CHECKPOINTS)
    else:
        if steps or episodes:
            raise typer.BadParameter(
                "--steps and --episodes are for tables; networks have --updates"
            )
        plan = _networks(output, world, settings, updates)
    folder = _claimed(out, plan, force=force, fresh=fresh)
    skills = _learned(output, env, base, plan, out, folder, seed)
    try:
        _report(output, skills, world, out, seed)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; the skills are saved in {out}") from None
    except OSError:
        print(f"the skills are saved in {out}", file=sys.stderr)
        raise
    return OK


class Plan(NamedTuple):
    """The learner, the format of the skills, and a pattern for the names of the checkpoints."""

    learner: Learner
    format: str
    checkpoints: str


def _networks(output: Output, name: str, preset: str, updates: int | None) -> Plan:
    """The network and settings that shipped skills were trained with, or the paper's."""
    from taskalgebra.learning.deep.learner import DeepQ
    from taskalgebra.skills import store
    from taskalgebra.skills.making import load

    found = catalogue.recipe(name, paper=preset == "paper")
    learner, start = found or (DeepQ.paper() if preset == "paper" else DeepQ(), None)
    if updates is not None:
        settings = learner.settings
        least = math.ceil(settings.n_envs / settings.steps_per_update)
        if updates < least:
            raise typer.BadParameter(f"--updates must be at least {least} with --settings {preset}")
        # Short trainings have checkpoints, too.
        iteration = min(settings.updates_per_iteration, max(least, updates // 5))
        learner = learner.changed(n_updates=updates, updates_per_iteration=iteration)
    training = store.torch_module("taskalgebra.learning.deep.training")
    if start is not None:
        output.note(f"starting from the network of the skills {start}")
        learner = learner.changed(start=load(SHIPPED_AT / start))
    return Plan(learner, training.NetworkFamily.FORMAT, training.CHECKPOINTS)


def _claimed(out: Path, plan: Plan, *, force: bool, fresh: bool) -> Path:
    """Make sure that skills can be saved and replaced; return the directory for checkpoints."""
    from taskalgebra.learning import checkpoint
    from taskalgebra.skills import store

    place = out if out.name not in ("", "..") else Path(os.path.abspath(out))
    if not place.name:
        raise Failure(f"cannot save skills in {out}; give a directory with a name")
    if store.claim(out, plan.format) and not force:
        raise Failure(f"{out} holds skills; --force replaces them, or choose another --out")
    folder = place.with_name(f"{place.name}.training")
    with files.made(folder, keep=False):
        checkpoint.claim(folder, plan.checkpoints)
        if fresh:
            shutil.rmtree(folder, ignore_errors=True)
    return folder


def _learned(
    output: Output,
    env: GoalEnv,
    base: dict[str, Task],
    plan: Plan,
    out: Path,
    folder: Path,
    seed: int,
) -> Skills:
    """Learn and save; checkpoints are kept beside the skills until these are saved."""
    from taskalgebra.learning.checkpoint import CheckpointError
    from taskalgebra.skills.making import learn

    def kept() -> str:
        some = any(re.fullmatch(plan.checkpoints, path.name) for path in folder.glob("*"))
        return f"; what was learned is in {folder}" if some else ""

    if kept():
        output.note(f"resuming from {folder}; --fresh starts from scratch")
    try:
        with files.made(folder), output.progress("learning") as meter:
            skills = learn(
                env,
                base,
                learner=plan.learner,
                seed=seed,
                folder=folder,
                listener=meter,
            )
        skills.save(out)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped{kept()}, and the same command resumes from there"
            if kept()
            else "stopped before the first checkpoint; run the same command to start again"
        ) from None
    except CheckpointError as error:
        raise Failure(f"{error}; --fresh starts from scratch") from error
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise Failure(f"cannot write {why}{kept()}") from error
    except ValueError as error:
        raise Failure(f"{error}{kept()}") from error
    shutil.rmtree(folder, ignore_errors=True)
    return skills


def _report(output: Output, skills: Skills, world: str, out: Path, seed: int) -> None:
    from taskalgebra.apps.cli.evaluate import document, played, show
    from taskalgebra.logic.text import quote

    agents = [skills[quote(name)] for name in skills]
    found = played(output, agents, usual_episodes(skills), seed)
    show(output, agents, found)
    names = [quote(name) for name in skills]
    example = f"~{names[-1]}" if skills.can_negate else " | ".join(names)
    more = " --improve" if any("improve()" in one.certificate for one in found) else ""
    output.line(f'saved in {out}; try: taskalgebra solve "{example}" --world {out}{more}')
    output.figures(
        {
            "world": world,
            "saved": str(out),
            "seed": seed,
            "n_expressible": skills.n_expressible,
            "tasks": [document(agent, one) for agent, one in zip(agents, found, strict=True)],
        }
    )
