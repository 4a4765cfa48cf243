"""Draw the pictures of `docs/images`: python docs/draw_pictures.py."""

from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.image import imsave

import taskalgebra as ta
from taskalgebra import files
from taskalgebra.paper.figures.solution import Map, draw_map
from taskalgebra.paper.figures.style import GREY, new_figure, styled

IMAGES = Path(__file__).parent / "images"
KNOWN, ASKED = ["top", "left"], "top ^ left"
CIRCLES, START = "(!red U (green & blue & aqua)) & F (orange & F (red & magenta))", (1.0, -1.7)


@styled
def draw_algebra() -> bytes:
    """Two base tasks and what is composed from them, as a PNG."""
    skills = ta.solve(ta.FourRooms(), KNOWN)
    maps = [map_of(skills[text]) for text in (*KNOWN, ASKED)]
    values = np.concatenate([each.values for each in maps])
    norm = Normalize(values.min(), values.max())
    figure = new_figure(8.6, 3.3, w_pad=0.12)
    for axes, each in zip(figure.subplots(1, 3), maps, strict=True):
        draw_map(axes, each, norm=norm)
        axes.set_title(each.title, family="DejaVu Sans Mono", size=14, pad=8)
        known = each.title in KNOWN
        axes.set_xlabel("known" if known else "composed, not learned", color=GREY, labelpad=7)
    out = BytesIO()
    figure.savefig(out, format="png", dpi=130, metadata={"Software": None})
    return out.getvalue()


def draw_automaton() -> str:
    """The automaton of the page on expressions, as an SVG."""
    letters = [{"coffee"}, {"office"}, {"decoration"}]
    return ta.automaton("coffee then office & avoid decoration", letters).svg(state=1)


def map_of(agent: ta.Agent) -> Map:
    """An agent's values and actions on its map."""
    mdp = agent.task.space.mdp
    live = np.flatnonzero(~mdp.is_goal)
    return Map(
        str(agent.expression),
        mdp.cells[live],
        agent.v[live],
        tuple(mdp.action_names[a] for a in agent.actions[live]),
        mdp.cells[mdp.goals],
        agent.task.desired,
    )


def draw_flat_world() -> bytes:
    """An episode of FlatWorld, as a PNG."""
    world = ta.FlatWorld()
    agent = ta.solve(world)[CIRCLES]
    position, _ = world.reset(options={"position": START})
    path = [position]
    while not agent.automaton.accepting[agent.states[0]]:
        position, *_, info = world.step(agent.act(position))
        agent.observe(info)
        path.append(position)
    out = BytesIO()
    imsave(out, world.picture(path), format="png", metadata={"Software": None})
    return out.getvalue()


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    files.replace(IMAGES / "algebra.png", draw_algebra())
    files.replace(IMAGES / "flat-world.png", draw_flat_world())
    files.replace(IMAGES / "automaton.svg", draw_automaton().encode())
