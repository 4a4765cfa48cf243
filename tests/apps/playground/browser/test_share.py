"""The address carries the state; pictures and Python lines can be kept."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from base64 import urlsafe_b64encode
from xml.etree import ElementTree

from playwright.sync_api import expect


def test_a_shared_link_restores_world_task_and_agent(new_desk):
    desk = new_desk(clipboard=True).open()
    desk.choose("Wall")
    desk.click(2, 6)
    desk.page.get_by_label("Name of goal 2").fill("<b>Ziel ❀</b>")
    desk.page.get_by_label("Name of goal 2").press("Enter")
    desk.page.get_by_label("Desired goal r_U").fill("3")
    desk.page.get_by_label("Desired goal r_U").press("Enter")
    desk.choose("Agent")
    desk.click(8, 2)
    desk.type("top nor ~left")
    caption = desk["caption"].inner_text()
    desk["share"].click()
    expect(desk["share"]).to_have_text("Link copied")
    link = desk.page.evaluate("navigator.clipboard.readText()")
    assert len(link) < 500
    other = new_desk()
    other.page.goto(link)
    expect(other["expression"]).to_have_value("top nor ~left")
    expect(other["caption"]).to_have_text(caption)
    other.reads(2, 6, "wall")
    expect(other.page.get_by_label("Name of goal 2")).to_have_value("<b>Ziel ❀</b>")
    other.shoot("shared")


def test_boxman_is_shared_too(new_desk):
    desk = new_desk().open("#boxman=boxman-touch&task=blue+%7C+purple&seed=7&agent=1.1")
    expect(desk["expression"]).to_have_value("blue | purple")
    expect(desk.page.locator("input[value=boxman-touch]")).to_be_checked()
    expect(desk.page.get_by_label("Seed")).to_have_value("7")


def packed(*parts):
    """A drawn world as a link holds it."""
    packed = zlib.compress(json.dumps(parts).encode())
    return urlsafe_b64encode(packed).decode().rstrip("=")


TINY = [["..."], [["A", 0, 0, "0072b2"]], [["a", [0]]], [None, None, None], False]
USELESS = {
    "#map=eJwTV&task=top": "map is damaged or cut off",
    "#map=eJyLVlBWVlaK1QEA&task=top&agent=1.1": "map is damaged or cut off",
    f"#map={packed(*TINY, 7)}&task=a": "slip is not a share from 0 to 0.9",
    f"#map={packed(['#..'], *TINY[1:])}&task=a": "a goal is in a wall",
    f"#map={packed(*TINY)}": "task is missing",
    "#world=nowhere&task=top": "world is 'nowhere', expected four-rooms, forty-goals, office, maze",
    "#table=nowhere&task=top": "table is 'nowhere', expected frozen-lake, taxi or minigrid",
    "#boxman=cat&task=blue": "boxman is 'cat', expected boxman, boxman-random or boxman-touch",
    "#nonsense": "names no world",
}
LESSER = {
    "#world=four-rooms&task=top&agent=0.0": "agent is '0.0', expected row and column of a free",
    "#world=four-rooms&task=top&agent=x": "agent is 'x'",
    "#world=four-rooms&task=top&step=0": "step is '0', expected a number from 1",
    "#world=four-rooms&task=top&step=7": "step is 7, and this task has 1 step",
    "#world=four-rooms&task=top&agent=x&repaired=yes": "agent is 'x', expected row and column of a "
    "free cell, such as 1.1; repaired is 'yes', expected 1",
    "#table=taxi&task=top&state=99999": "state is '99999'",
    "#table=taxi&task=top&state=-1&tasks=[[]]": "tasks is '[[]]'",
    "#table=taxi&task=top&tasks=[[%22a%22,%22length%22]]": 'tasks is \'[["a","length"]]\'',
}


def test_a_link_says_which_part_is_wrong_and_shows_what_it_can(new_desk):
    desk = new_desk().open("#world=four-rooms&task=top")
    for link, words in USELESS.items():
        desk.visit(link)
        desk.solved("top ^ left")
        desk.say("notice", words)
        desk.visit("#world=four-rooms&task=top")
        expect(desk["notice"]).to_be_hidden()
    for link, words in LESSER.items():
        desk.page.evaluate("(hash) => { location.hash = hash; }", link)
        desk.say("notice", words)
        expect(desk["expression"]).to_have_value("top")
    desk.open(next(iter(USELESS)))
    desk.say("notice", "map is damaged")
    desk.visit("#world=office")  # with the task of that world
    desk.solved("coffee then office & avoid decoration")


def test_back_and_forward_go_between_worlds_not_between_letters(desk):
    desk.type("top")
    desk.type("top & left")
    desk.choose("Boxman")
    desk.solved("blue ^ square")
    desk.page.wait_for_function("() => location.hash.startsWith('#boxman')")
    desk.page.go_back()
    desk.solved("top & left")
    desk.page.go_forward()
    desk.solved("blue ^ square")


def test_pictures_and_python_lines_are_downloaded(desk, tmp_path):
    desk.type("top & ~left")
    saved = {}
    for button, ending in (("png", "png"), ("svg", "svg"), ("python", "py")):
        with desk.page.expect_download() as download:
            desk[button].click()
        assert download.value.suggested_filename == f"top_and_not_left.{ending}"
        saved[ending] = desk.shots / f"download.{ending}"
        download.value.save_as(saved[ending])
    head = saved["png"].read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(head[16:20]) > 600
    root = ElementTree.parse(saved["svg"]).getroot()
    words = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"top & ~left", "top_right", "1.90"} <= set(words)
    run = subprocess.run([sys.executable, saved["py"]], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert "top_right" in saved["py"].read_text() + run.stdout
