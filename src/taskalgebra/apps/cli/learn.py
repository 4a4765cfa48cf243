"""`taskalgebra learn`: learn base tasks by interaction, and save them as skills."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from taskalgebra.apps.cli import OK
from taskalgebra.apps.cli.commands import (
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
from taskalgebra.skills import catalogue

if TYPE_CHECKING:
    from taskalgebra.envs.boxman.env import Boxman
    from taskalgebra.envs.world import World
    from taskalgebra.learning.deep.settings import DeepSettings
    from taskalgebra.skills.skills import Skills

EXAMPLES = (
    ("learn --out rooms", "Four Rooms by Q-learning, saved in rooms/"),
    ("learn maze.txt --out maze --steps 100000", "a map of your own, for so many steps a task"),
    ("learn four-rooms --slip 0.1 --out slippery", "where moves slip"),
    ("learn boxman --out game --seed 1", "networks, from pixels: some minutes"),
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
        bool, typer.Option("--fresh", help="Networks: forget a training that was stopped.")
    ] = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Learn base tasks by interaction (Algorithm 1) and save the skills.

    Four Rooms and maps are learned as tables, Boxman as networks, which need torch. By touch these
    plan, and see as boxman-random does. A training of networks that was stopped goes on when the
    same command is given again.
    """
    output = Output(json, quiet)
    from taskalgebra.envs.boxman.env import Boxman

    opened = catalogue.open_world(world, slip_probability=slip)
    if isinstance(opened, Boxman):
        if steps or episodes:
            raise typer.BadParameter(
                "--steps and --episodes are for tables; networks have --updates"
            )
        chosen, start = _recipe(world, settings, updates)
        skills = _networks(output, world, opened, tasks or [], chosen, start, out, fresh, seed)
    else:
        if updates or settings != "fast" or fresh:
            raise typer.BadParameter(
                "--updates, --settings and --fresh are for networks; tables have --steps"
            )
        skills = _tables(output, world, opened, tasks or [], steps, episodes, out, seed)
    _tell(output, skills, world, out, seed)
    return OK


def _tables(
    output: Output,
    name: str,
    world: World,
    tasks: list[str],
    steps: int | None,
    episodes: int | None,
    out: Path,
    seed: int,
) -> Skills:
    from taskalgebra.skills import store
    from taskalgebra.skills.making import learn

    base = catalogue.base_tasks(name, world, tasks)
    store.FOLDER.claim(out)
    try:
        with output.progress("learning") as meter:
            skills = learn(
                world,
                base,
                steps=steps,
                episodes=episodes,
                seed=seed,
                progress=lambda share, task: meter(share, f"learning {task}"),
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            "stopped; nothing was saved, give the same command to start again"
        ) from None
    except ValueError as error:
        raise Failure(str(error)) from error
    skills.save(out)
    return skills


def _recipe(name: str, preset: str, updates: int | None) -> tuple[DeepSettings, str | None]:
    """The settings that the shipped networks were trained with, and the skills to start from.

    The paper's own settings start from nothing.
    """
    from dataclasses import replace
    from importlib.util import find_spec

    for package in ("torch", "safetensors"):
        if find_spec(package) is None:
            raise Failure(f'networks need {package}: pip install "taskalgebra[deep]"')
    from taskalgebra.learning.deep.settings import PAPER
    from taskalgebra.paper.experiments.boxman_training import RECIPES

    recipe = RECIPES[name]
    chosen, start = (PAPER, None) if preset == "paper" else (recipe.settings, recipe.start)
    if updates is None:
        return chosen, start
    least = math.ceil(chosen.n_envs / chosen.steps_per_update)
    if updates < least:
        raise typer.BadParameter(f"--updates must be at least {least} with --settings {preset}")
    chapter = min(chosen.chapter, max(least, updates // 5))
    return replace(chosen, n_updates=updates, chapter=chapter), start


def _networks(
    output: Output,
    name: str,
    world: Boxman,
    tasks: list[str],
    settings: DeepSettings,
    start: str | None,
    out: Path,
    fresh: bool,
    seed: int,
) -> Skills:
    from taskalgebra.skills import network_store
    from taskalgebra.skills.catalogue import SHIPPED_AT
    from taskalgebra.skills.making import learn, load

    base = catalogue.base_tasks(name, world, tasks)
    network_store.FOLDER.claim(out)
    folder = out.with_name(f"{out.name}.training")
    _refuse_strangers(folder)
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    gone_on = any(folder.glob("*.safetensors"))
    if gone_on:
        output.note(f"going on with the training in {folder}; --fresh would start anew")
    if start is not None:
        output.note(f"taking the sight of the skills {start}; what a step does is learned")
    try:
        with output.progress("training") as meter:
            skills = learn(
                world,
                base,
                settings=settings,
                seed=seed,
                folder=folder,
                start=None if start is None else load(SHIPPED_AT / start),
                progress=lambda share, task: meter(share, f"training {task}"),
            )
    except KeyboardInterrupt:
        if not any(folder.glob("*.safetensors")):
            raise KeyboardInterrupt(
                "stopped before the first checkpoint; give the same command to start again"
            ) from None
        raise KeyboardInterrupt(
            f"stopped; the training so far is in {folder}, give the same command to go on"
        ) from None
    except ValueError as error:
        hint = f"; {folder} may be of another training: --fresh starts anew" if gone_on else ""
        raise Failure(f"{error}{hint}") from error
    skills.save(out)
    shutil.rmtree(folder, ignore_errors=True)
    return skills


def _refuse_strangers(folder: Path) -> None:
    """Take no folder for a training that holds other things: it is removed in the end."""
    for path in folder.glob("*"):
        if path.suffix not in (".safetensors", ".tmp"):
            raise Failure(
                f"{folder} is where the training would be kept, and it holds other files, such as "
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
