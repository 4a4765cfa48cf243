"""`taskalgebra learn`: learn base tasks by interaction, and save them as skills."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from taskalgebra.apps.cli import OK
from taskalgebra.apps.cli.commands import (
    GAME,
    Failure,
    Json,
    Quiet,
    Seed,
    Slip,
    Tasks,
    WorldArgument,
    usual_episodes,
)
from taskalgebra.apps.cli.output import Output
from taskalgebra.skills import SHIPPED_AT, catalogue

if TYPE_CHECKING:
    from taskalgebra.learning.deep.settings import DeepSettings
    from taskalgebra.learning.learner import Learner
    from taskalgebra.skills.skills import Skills
    from taskalgebra.theory.goal_env import GoalEnv
    from taskalgebra.theory.tasks import Task

EXAMPLES = (
    ("learn --out rooms", "Four Rooms by Q-learning, saved in rooms/"),
    ("learn maze.txt --out maze --steps 100000", "a map of your own, 100,000 steps per task"),
    ("learn four-rooms --slip 0.1 --out slippery", "where moves slip"),
    (f"learn {GAME.name} --out game --seed 1", "networks, from pixels: some minutes"),
    ('solve "top ^ left" --world rooms', "what to do with them"),
)


def learn(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where to save the skills.")
    ],
    world: WorldArgument = catalogue.DEFAULT,
    tasks: Tasks = None,
    slip: Slip = 0.0,
    steps: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Tables: steps to learn each task for."),
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Tables: episodes to learn each task for."),
    ] = None,
    updates: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Networks: gradient steps.")
    ] = None,
    settings: Annotated[
        Literal["fast", "paper"],
        typer.Option(metavar="fast|paper", help="Networks: our settings, or the paper's own."),
    ] = "fast",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do not resume learning that was stopped.")
    ] = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Learn base tasks by interaction (Algorithm 1) and save the skills.

    Finite worlds are learned as tables, games from pixels as networks, which need torch. Learning
    that was stopped resumes when the same command is given again.
    """
    output = Output(json, quiet)
    env = catalogue.open_world(world, slip_probability=slip)
    base = catalogue.base_tasks(world, env, tasks or [])
    if env.space.finite:
        if updates or settings != "fast":
            raise typer.BadParameter(
                "--updates and --settings are for networks; tables have --steps and --episodes"
            )
        plan = _tables(steps, episodes)
    else:
        if steps or episodes:
            raise typer.BadParameter(
                "--steps and --episodes are for tables; networks have --updates"
            )
        plan = _networks(output, world, settings, updates)
    skills = _learned(output, env, base, plan, out, fresh, seed)
    _tell(output, skills, world, out, seed)
    return OK


class Plan(NamedTuple):
    """What learns, the format of the skills, and how the files of its checkpoints end."""

    learner: Learner
    format: str
    suffix: str


def _tables(steps: int | None, episodes: int | None) -> Plan:
    from taskalgebra.learning.tabular import QLearning
    from taskalgebra.theory.family import TableFamily

    return Plan(QLearning(episodes=episodes, steps=steps), TableFamily.FORMAT, ".npz")


def _networks(output: Output, name: str, preset: str, updates: int | None) -> Plan:
    """The network and the settings that shipped skills were trained with, or the paper's own."""
    from taskalgebra.learning.deep.learner import DeepQ
    from taskalgebra.skills import store
    from taskalgebra.skills.making import load

    found = catalogue.recipe(name, paper=preset == "paper")
    chosen, start = found or (DeepQ.paper() if preset == "paper" else DeepQ(), None)
    settings = chosen.settings if updates is None else _short(chosen.settings, updates, preset)
    family = store.torch_module("taskalgebra.learning.deep.family").NetworkFamily
    if start is not None:
        output.note(f"starting from the network of the skills {start}")
    learner = DeepQ(
        chosen.network,
        settings=settings,
        start=None if start is None else load(SHIPPED_AT / start),
    )
    return Plan(learner, family.FORMAT, ".safetensors")


def _short(settings: DeepSettings, updates: int, preset: str) -> DeepSettings:
    """The settings for this number of gradient steps; short trainings have checkpoints, too."""
    least = math.ceil(settings.n_envs / settings.steps_per_update)
    if updates < least:
        raise typer.BadParameter(f"--updates must be at least {least} with --settings {preset}")
    iteration = min(settings.updates_per_iteration, max(least, updates // 5))
    return replace(settings, n_updates=updates, updates_per_iteration=iteration)


def _learned(
    output: Output,
    env: GoalEnv,
    base: dict[str, Task],
    plan: Plan,
    out: Path,
    fresh: bool,
    seed: int,
) -> Skills:
    """Learn and save; checkpoints are kept beside the skills until these are there."""
    from taskalgebra.learning.checkpoint import CheckpointError
    from taskalgebra.skills import store
    from taskalgebra.skills.making import learn

    store.claim(out, plan.format)
    folder = out.with_name(f"{out.name}.training")
    _refuse_strangers(folder, plan.suffix)
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    resumed = any(folder.glob(f"*{plan.suffix}"))
    if resumed:
        output.note(f"resuming from {folder}; --fresh would start anew")
    try:
        with output.progress("learning") as meter:
            skills = learn(
                env,
                base,
                learner=plan.learner,
                seed=seed,
                folder=folder,
                listener=lambda event: meter(event.share, f"learning {event.what}"),
            )
    except KeyboardInterrupt:
        if not any(folder.glob(f"*{plan.suffix}")):
            raise KeyboardInterrupt(
                "stopped before the first checkpoint; give the same command to start again"
            ) from None
        raise KeyboardInterrupt(
            f"stopped; what was learned is in {folder}, and the same command resumes from there"
        ) from None
    except CheckpointError as error:
        raise Failure(f"{error}; --fresh starts anew") from error
    except ValueError as error:
        kept = f"; checkpoints are in {folder}" if any(folder.glob(f"*{plan.suffix}")) else ""
        raise Failure(f"{error}{kept}") from error
    skills.save(out)
    shutil.rmtree(folder, ignore_errors=True)
    return skills


def _refuse_strangers(folder: Path, suffix: str) -> None:
    """Take no directory for checkpoints that holds other things: it is removed in the end."""
    for path in folder.glob("*"):
        if path.suffix not in (suffix, ".tmp"):
            raise Failure(
                f"{folder} is where checkpoints would be kept, and it holds other files, such as "
                f"{path.name!r}; give another --out"
            )


def _tell(output: Output, skills: Skills, world: str, out: Path, seed: int) -> None:
    from taskalgebra.apps.cli.evaluate import document, played, show
    from taskalgebra.logic.text import quote

    agents = [skills[quote(name)] for name in skills]
    last = list(skills)[-1]
    found = played(output, agents, usual_episodes(skills), seed)
    show(output, agents, found)
    tried = f"~{quote(last)}" if skills.can_negate else " | ".join(quote(name) for name in skills)
    output.line(f'saved in {out}; try: taskalgebra solve "{tried}" --world {out}')
    output.figures(
        {
            "world": world,
            "saved": str(out),
            "seed": seed,
            "n_expressible": skills.n_expressible,
            "tasks": [document(agent, one) for agent, one in zip(agents, found, strict=True)],
        }
    )
