"""Draw the pictures of the gallery: python docs/draw_gallery.py."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import gymnasium as gym
import matplotlib
from matplotlib.figure import Figure

import taskalgebra as ta
from taskalgebra import files
from taskalgebra.apps.cli import main

matplotlib.use("agg")
IMAGES = Path(__file__).parent / "images" / "gallery"
DPI = 100
FETCH = "(red | ball) & ~key"
GRID = [
    "S....#.....",
    ".##..#..L..",
    ".#........#",
    ".#..##.##.#",
    ".......#..K",
    "B..#...#...",
]


def saved(figure: Figure) -> bytes:
    """A figure as a PNG."""
    out = BytesIO()
    figure.savefig(out, format="png", dpi=DPI, bbox_inches="tight", metadata={"Software": None})
    return out.getvalue()


def drawn(plot: Callable[[Any], Any], width: float = 5.6, height: float = 4.4) -> bytes:
    """What a `plot(ax)` draws, as a PNG."""
    figure = Figure(figsize=(width, height), layout="constrained")
    plot(figure.subplots())
    return saved(figure)


def composition() -> bytes:
    """Every operator of an expression, on the slices of the extended values."""
    skills = ta.solve(ta.FourRooms(), ["top", "left"])
    figure = Figure(figsize=(7.7, 5.6), layout="constrained")
    skills["top ^ left"].plot_composition(figure)
    return saved(figure)


def own_grid() -> bytes:
    """A map drawn in text."""
    world = ta.from_text(GRID)
    tasks = {"warm": ["S", "K"], "quiet": ["L", "K", "B"]}
    return drawn(ta.solve(world, tasks)["warm ^ quiet"].plot, 5.6, 3.0)


def office() -> bytes:
    """A formula over time, with its automaton."""
    agent = ta.solve(ta.Office())["F(coffee & F office) & G !decoration"]
    return drawn(agent.plot)


def letters() -> bytes:
    """A published task in a layout of LetterWorld."""
    world = ta.LetterWorld(seed=4)
    return drawn(ta.solve(world)["F(a & F(b & F c))"].plot)


def maze() -> bytes:
    """A maze with four goals."""
    world = ta.maze(61, 61, goals=["A", "B", "C", "D"], seed=3, loops=0.05)
    tasks = {"A_or_B": ["A", "B"], "B_or_C": ["B", "C"]}
    return drawn(ta.solve(world, tasks)["A_or_B ^ B_or_C"].plot)


def fetch() -> bytes:
    """Layouts of MiniGrid, as it draws them, and what the agent fetches there."""
    agent = ta.load("minigrid-fetch")[FETCH]
    env = gym.make("MiniGrid-Fetch-8x8-N3-v0", render_mode="rgb_array", highlight=False)
    figure = Figure(figsize=(8, 2.9), layout="constrained")
    for seed, ax in enumerate(figure.subplots(1, 3)):
        seen, _ = env.reset(seed=seed)
        ax.imshow(env.render())
        ended = False
        while not ended:
            seen, _, terminated, truncated, _ = env.step(agent.act(seen, env))
            ended = terminated or truncated
        held = env.unwrapped.carrying
        ax.set_title(f"fetched a {held.color} {held.type}" if held else "fetched nothing")
        ax.set_axis_off()
    return saved(figure)


def ring() -> bytes:
    """The agent of the page on Stable-Baselines3: which way it goes round its ring."""
    page = (Path(__file__).parent / "how-to/other-agents.md").read_text()
    blocks = [part.split("```")[0] for part in page.split("```python\n")[1:3]]
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    agent, cells = names["skills"]["pole"], names["CELLS"]
    figure = Figure(figsize=(4.4, 4.4), layout="constrained")
    ax = figure.subplots()
    goals = {"east": 0, "north": 3, "west": 6, "south": 9}
    for i, at in enumerate(cells):
        wanted = i in (goals["north"], goals["south"])
        ax.plot(
            *at, "D" if i in goals.values() else "o", ms=16, color="#e8a000" if wanted else "#ccc"
        )
        if i in goals.values():
            continue
        seen = {"observation": at, "achieved_goal": at, "desired_goal": cells[0]}
        to = cells[(i + (-1, 1)[agent.act(seen)]) % 12]
        ax.annotate("", at + 0.75 * (to - at), at, arrowprops={"arrowstyle": "-|>", "lw": 2})
    for name, i in goals.items():
        ax.annotate(name, 1.3 * cells[i], ha="center", va="center", size=12)
    ax.set(xlim=(-1.6, 1.6), ylim=(-1.45, 1.45), aspect="equal", title="pole")
    ax.set_axis_off()
    return saved(figure)


PICTURES = {
    "composition": composition,
    "own-grid": own_grid,
    "office": office,
    "letters": letters,
    "maze": maze,
    "fetch": fetch,
    "ring": ring,
}

if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True, parents=True)
    for name, draw in PICTURES.items():
        files.replace(IMAGES / f"{name}.png", draw())
    main(["solve", "top ^ left", "--start", "1,1", "--save", str(IMAGES / "rooms.gif"), "--quiet"])
