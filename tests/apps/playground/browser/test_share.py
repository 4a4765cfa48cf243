"""The address carries the state; pictures and Python lines can be kept."""

from __future__ import annotations

import subprocess
import sys
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


DAMAGED = (
    "#map=eJwTV&task=top",
    "#map=eJyLVlBWVlaK1QEA&task=top&agent=1.1",
    "#world=nowhere&task=top",
    "#world=four-rooms&task=top&agent=0.0",
    "#world=four-rooms&task=top&agent=x",
    "#boxman=cat&task=blue",
    "#nonsense",
)


def test_a_damaged_link_says_so_and_shows_the_default_world(new_desk):
    desk = new_desk().open("#world=four-rooms&task=top")
    for damaged in DAMAGED:
        desk.visit(damaged)
        desk.solved("top ^ left")
        desk.say("notice", "This link is damaged")
        desk.visit("#world=four-rooms&task=top")
        expect(desk["notice"]).to_be_hidden()
    desk.open(DAMAGED[0])
    desk.say("notice", "This link is damaged")


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
