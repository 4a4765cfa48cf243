"""A lesson of ten steps by keyboard alone: on the served page, and on the exported one from a disk.

Draw, name, compose, step through the operators, break an assumption, see the certificate, repair,
add time, share, and open the shared link in a second browser.
"""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from playwright.sync_api import expect

import taskalgebra as ta

WIDTHS = {"laptop": (1366, 768), "phone": (390, 844)}
FOCUSED = """(({ tagName, id, dataset, parentElement }) =>
  id || dataset.key || (tagName === "SUMMARY" ? parentElement.id : ""))(document.activeElement)"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
ROOM = [
    "###########",
    "#.........#",
    "#.........#",
    "#....#....#",
    "#....#....#",
    "#....#....#",
    "#.........#",
    "#.........#",
    "###########",
]
GOALS = {"bed": (4, 2), "desk": (4, 8), "door": (1, 5)}
SLIP = 0.3


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The address of an exported page, on a disk."""
    folder = tmp_path_factory.mktemp("export") / "page"
    command = [sys.executable, "-m", "taskalgebra.apps.cli", "play", "--export", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "index.html").as_uri()


class Keyboard:
    """Someone who has only a keyboard."""

    def __init__(self, desk):
        self.desk, self.keys = desk, desk.page.keyboard

    def to(self, name, back=False):
        """Press Tab until an element has the focus."""
        for _ in range(160):
            if self.desk.page.evaluate(FOCUSED) == name:
                return
            self.keys.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"Tab does not reach {name}")

    def press(self, *keys):
        for key in keys:
            self.keys.press(key)

    def write(self, text):
        self.keys.press("Control+a")
        self.keys.type(text)

    def cursor(self, row, column):
        """Move to a cell of the map."""
        self.press("PageUp", "Home", *["ArrowDown"] * row, *["ArrowRight"] * column)


def planned(slip=0.0):
    """The same world, and its skills."""
    world = ta.from_text(ROOM, GOALS, step_reward=-0.1, slip_probability=slip)
    space = ta.TaskSpace(world, r_universal=2.0, r_empty=-0.1)
    tasks = {"rest": space.task(["bed", "door"]), "work": space.task(["desk", "door"])}
    return ta.solve(space, tasks)


def draw_and_name(board):
    """A world of one's own, from the empty room."""
    desk, page = board.desk, board.desk.page
    board.press("Tab", "Enter")  # skip to the expression
    expect(desk["expression"]).to_be_focused()
    board.keys.press("Shift+Tab")  # Challenge
    board.keys.press("Shift+Tab")  # the worlds
    page.keyboard.press("ArrowLeft")  # round to the last one
    expect(page.get_by_role("radio", name="Empty room")).to_be_checked()
    desk.solved("a | b")
    board.to("map")
    board.press("w")
    for row in (3, 4, 5):
        board.cursor(row, 5)
        board.press("Enter")
    board.press("g")
    board.cursor(1, 5)
    board.press("Enter")
    desk.solved("a | b")
    board.to("goal-0")
    for i, name in enumerate(("bed", "desk", "door")):
        board.to(f"goal-{i}")
        board.write(name)
    # Back to the heads of the table: names of base tasks.
    board.to("task-1", back=True)
    board.write("work")
    board.to("task-0", back=True)
    board.write("rest")
    for goal, task in ((2, 0), (2, 1)):
        board.to(f"tick-{goal}-{task}")
        board.press("Space")
    desk.solved("rest | work")


@pytest.mark.parametrize(
    ("where", "width", "shade"),  # any two of them in all ways
    [
        ("address", "laptop", "light"),
        ("address", "phone", "dark"),
        ("exported", "laptop", "dark"),
        ("exported", "phone", "light"),
    ],
)
def test_a_lesson_of_ten_steps_by_keyboard(new_desk, request, where, width, shade):
    home, dark = request.getfixturevalue(where), shade == "dark"
    desk = new_desk(*WIDTHS[width], dark=dark, clipboard=where == "address")
    desk.address = home
    page, board = desk.open().page, Keyboard(desk)
    what = f"lesson, {where}, {width}, {shade}"

    draw_and_name(board)  # steps 1 and 2
    goals = page.locator("#map .goal").count()
    assert goals == 3

    board.to("expression", back=True)  # step 3: compose
    board.write("~(rest & work)")
    desk.solved("~(rest & work)")
    desk.say("caption", "reach bed or desk")
    agent = planned()["~(rest & work)"]
    desk.say("optimum", f"{float(agent.v[0]):.2f}")  # from the first free cell
    desk.say("certificate", "Yes: optimal")

    board.to("composition")  # step 4: the operators, one by one
    board.press("Enter")
    desk.say("composition-node", "Step 1 of 4: rest")
    seen = []
    board.to("composition-next")
    for _ in range(4):
        seen.append(page.locator("#composition-node code").inner_text())
        board.press("Enter")
    assert seen == ["rest", "work", "rest & work", "~(rest & work)"]
    desk.shoot(f"{what}, step 4")

    board.to("slip", back=True)  # step 5: break an assumption
    board.press(*["ArrowRight"] * round(100 * SLIP))
    desk.say("slip-value", "30 %")

    desk.say("certificate", "No: it loses")  # step 6: the certificate
    skills = planned(SLIP)
    lost = skills["~(rest & work)"].certificate()
    assert lost.mean_loss > 0
    desk.say("losses", np.format_float_positional(lost.mean_loss, 2, fractional=False))
    desk.shoot(f"{what}, step 6")

    board.to("repair", back=True)  # step 7: the repair
    board.press("Enter")
    desk.say("certificate", "Yes: optimal")
    desk.say("repaired", "The map shows the repaired agent")

    board.to("slip")
    board.press("Home")
    desk.say("slip-value", "0 %")
    board.to("expression", back=True)  # step 8: time
    board.write("rest then work & avoid door")
    desk.solved("rest then work & avoid door")
    desk.say("caption", "enters bed, then desk, satisfies the formula")
    expect(page.locator("#automaton svg")).to_be_visible()
    board.press("Enter")  # runs
    desk.say("automaton-state", "the formula is satisfied")
    assert page.evaluate(OVERFLOW) <= 0
    desk.shoot(f"{what}, step 8")

    board.to("share", back=True)  # step 9
    page.wait_for_function("() => location.hash.startsWith('#map=')")
    board.press("Enter")
    expect(
        page.locator("#share, #notice").filter(has_text=re.compile("copied|Copy"))
    ).to_be_visible()
    notice = desk["notice"]
    if notice.is_visible():
        link = notice.inner_text().removeprefix("Copy this link: ")
    else:
        link = page.evaluate("navigator.clipboard.readText()")

    second = new_desk(*WIDTHS[width], dark=dark)  # step 10
    second.page.goto(link)
    second.solved("rest then work & avoid door")
    expect(second["caption"]).to_have_text(desk["caption"].inner_text())
    for name in (*GOALS, "rest", "work"):
        assert name in second["world"].evaluate(
            "(one) => [...one.querySelectorAll('input')].map((i) => i.value)"
        )
