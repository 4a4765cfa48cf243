"""Draw the images of how-to/pictures.md: python docs/draw_plots.py.

Plots need nothing but the public names that the page shows.  What notebooks show is rendered by
Chromium, on light and on dark paper.
"""

import io
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot
from PIL import Image
from playwright.sync_api import sync_playwright

import taskalgebra as ta
from taskalgebra import files

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images" / "plots"
FORMULA = "F(coffee & F office) & G !decoration"
DPI = 75
PAPERS = {"light": ("#ffffff", "#1b1f24"), "dark": ("#111111", "#e0e0e0")}


def save(name: str, axes: object, *, dpi: int = DPI) -> None:
    """Write the figure of some axes, in few colours."""
    out = io.BytesIO()
    np.ravel(axes)[0].figure.savefig(out, format="png", dpi=dpi)
    pyplot.close("all")
    small = io.BytesIO()
    Image.open(out).convert("RGB").quantize(256).save(small, format="PNG", optimize=True)
    files.replace(IMAGES / f"{name}.png", small.getvalue())


def draw_plots() -> None:
    """All plots of the page, and its film."""
    skills = ta.solve(ta.FourRooms(), ["top", "left"])
    agent = skills["top ^ left"]
    slippery = ta.solve(ta.FourRooms(slip_probability=0.3), ["top", "left"])["top ^ left"]
    office = ta.solve(ta.Office())[FORMULA]
    save("agent", agent.plot())
    save("goals", skills.plot_goals("top ^ left"), dpi=92)
    save("composition", agent.plot_composition(), dpi=95)
    save("world", ta.Office().plot())
    save("pixels", ta.Boxman().plot(), dpi=55)
    save("formula", office.plot(state=1))
    save("automaton", office.automaton.plot(state=1))
    save("evaluation", slippery.evaluate(1000, seed=0).plot())
    save("certificate", slippery.certificate().plot())
    states = ta.solve(replace(ta.from_text("A..B\n.#..\nC..."), cells=None), {"a": ["A"]})
    save("graph", states["~a"].plot())
    with mpl.rc_context({"figure.dpi": 55}):
        office.film(IMAGES / "office.gif", episodes=1, seed=4)


def draw_notebooks() -> None:
    """What objects show in a notebook, in Chromium, on both papers."""
    sys.path.insert(0, str(ROOT / "tests"))
    import chromium

    world = ta.FourRooms()
    skills = ta.solve(world, ["top", "left"])
    office = ta.solve(ta.Office())
    shown = {
        "skills": skills,
        "agent": skills["top ^ left"],
        "formula": office[FORMULA],
        "world": ta.Office(),
        "task": skills["top ^ left"].task,
        "expression": ta.parse("(top | left) & ~(top & left)"),
        "report": ta.FourRooms(slip_probability=0.1).space.check(),
        "certificate": skills["top ^ left"].certificate(),
        "evaluation": skills["top ^ left"].evaluate(1000, seed=0),
        "automaton": office[FORMULA].automaton,
    }
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=["--no-sandbox"])
        for name, thing in shown.items():
            parts = []
            for paper, ink in PAPERS.values():
                page = browser.new_page(viewport={"width": 620, "height": 300})
                look = f"margin:0;padding:12px;background:{paper};color:{ink};width:max-content"
                page.set_content(
                    f"<body style='{look};max-width:596px;font-family:sans-serif'>"
                    f"{thing._repr_html_()}"
                )
                parts.append(Image.open(io.BytesIO(page.locator("body").screenshot())))
                page.close()
            width = max(part.width for part in parts)
            sheet = Image.new("RGB", (width, sum(part.height for part in parts)), "#ffffff")
            for k, (part, (paper, _)) in enumerate(zip(parts, PAPERS.values(), strict=True)):
                top = k * parts[0].height
                sheet.paste(paper, (0, top, width, top + part.height))
                sheet.paste(part, (0, top))
            out = io.BytesIO()
            sheet.quantize(256).save(out, format="PNG", optimize=True)
            files.replace(IMAGES / f"repr_{name}.png", out.getvalue())
        browser.close()


if __name__ == "__main__":
    IMAGES.mkdir(parents=True, exist_ok=True)
    mpl.use("agg")
    draw_plots()
    draw_notebooks()
