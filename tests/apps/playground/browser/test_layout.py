"""What is seen without scrolling, and that many or long things fit."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
PRESETS = {
    "four rooms": "#world=four-rooms&task=top+%5E+left&agent=1.1",
    "forty goals": "#world=forty-goals&task=x1+%26+%7Ex2+%7C+x3+%26+x6&agent=1.1",
    "empty": "#world=empty&task=a+%7C+b",
    "boxman": "#boxman=boxman&task=blue+%5E+square&seed=0",
    "touch": "#boxman=boxman-touch&task=blue&seed=0",
}
LINK = """async ([world, expression]) => {
  const { encode } = await import("/static/share.js");
  return encode({ mode: "grid", world, expression, agent: null }, []);
}"""


def maze(rows, columns):
    """Corridors between walls with a gap each, alternating between the ends."""
    lines = ["#" * columns]
    for r in range(1, rows - 1):
        inner = "." * (columns - 2)
        if r % 2 == 0:
            inner = "#" * (columns - 3) + "." if r % 4 else "." + "#" * (columns - 3)
        lines.append(f"#{inner}#")
    return [*lines, "#" * columns]


def world(map_, cells, n_tasks=2, name="goal number {}"):
    goals = [{"name": name.format(i), "cell": c, "color": "#0072b2"} for i, c in enumerate(cells)]
    tasks = [
        {"name": f"t{k}", "goals": [g["name"] for i, g in enumerate(goals) if i >> k & 1]}
        for k in range(n_tasks)
    ]
    return {"map": map_, "goals": goals, "tasks": tasks}


def link(desk, document, expression="t0"):
    return desk.page.evaluate(LINK, [document, expression])


def seen(desk, *ids):
    """The elements that are not wholly in view, at the top of the page."""
    desk.page.evaluate("scrollTo(0, 0)")
    size = desk.page.viewport_size
    boxes = {name: desk[name].bounding_box() for name in ids}
    return {
        name: box
        for name, box in boxes.items()
        if box["y"] < 0
        or box["y"] + box["height"] > size["height"]
        or box["x"] < 0
        or box["x"] + box["width"] > size["width"]
    }


@pytest.mark.parametrize("size", [(1366, 768), (1366, 650), (1024, 768), (1920, 1080)])
def test_map_task_and_run_are_seen_without_scrolling(desk, size):
    desk.page.set_viewport_size({"width": size[0], "height": size[1]})
    mazes = {
        "wide maze": world(maze(41, 91), [[1, 1], [39, 89]]),
        "tall maze": world(maze(91, 31), [[1, 1], [89, 29]]),
    }
    hashes = PRESETS | {name: link(desk, document) for name, document in mazes.items()}
    for name, hash_ in hashes.items():
        desk.visit(hash_)
        picture = "screen" if hash_.startswith("#boxman") else "map"
        assert seen(desk, picture, "expression", "run") == {}, name
        assert min(desk[picture].bounding_box()[side] for side in ("width", "height")) > 100
        if size == (1366, 768):
            assert seen(desk, "caption", "figures", "error") == {}, name
            desk.shoot(f"laptop, {name}")


def test_notes_are_seen_without_scrolling(desk):
    corridor = ["#" * 42, "#" + "." * 40 + "#", "#" * 42]
    square = ["#" * 32, *["#" + "." * 30 + "#"] * 30, "#" * 32]
    shapes = {"corridor": (corridor, [[1, 1], [1, 40]]), "square": (square, [[1, 1], [30, 30]])}
    for size in ((1366, 768), (1366, 650), (1024, 768), (1920, 1080)):
        desk.page.set_viewport_size({"width": size[0], "height": size[1]})
        for name, (map_, cells) in shapes.items():
            desk.visit(link(desk, world(map_, cells, 1)))
            desk.say("notes", "may end in a goal that it does not desire")
            assert seen(desk, "notes", "map", "expression", "run") == {}, (name, size)
            desk.shoot(f"notes, {name}, {size[0]} x {size[1]}")


LABELS = """() => [...document.querySelectorAll("#map .names text")].map((one) => {
  const { x, y, width, height } = one.getBoundingClientRect();
  const scale = one.getScreenCTM().a;
  return { text: one.textContent, x, y, width, height, size: scale * parseFloat(
    getComputedStyle(one).fontSize) };
})"""


def overlaps(labels):
    """Pairs of labels of which more than a tenth of a line lies on another."""
    apart = 0.2 * min((one["height"] for one in labels), default=0)
    return [
        (a["text"], b["text"])
        for i, a in enumerate(labels)
        for b in labels[:i]
        if min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"]) > apart
        and min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"]) > apart
    ]


@pytest.mark.parametrize(("width", "least"), [(360, 8), (768, 11), (1366, 11), (1920, 12)])
def test_forty_goals_have_labels_that_can_be_read(desk, width, least):
    desk.page.set_viewport_size({"width": width, "height": 768})
    desk.visit(PRESETS["forty goals"])
    labels = desk.page.evaluate(LABELS)
    assert len({one["text"] for one in labels}) == 40
    assert min(one["size"] for one in labels) >= least
    assert overlaps(labels) == []
    # The same numbers stand in the table, and in what is said about a cell.
    numbers = desk.page.locator(".ticks .number").all_text_contents()
    assert sorted(numbers, key=int) == sorted((one["text"] for one in labels), key=int)
    desk.reads(1, 1, "goal 5, cell_1_1")


def test_the_tables_of_forty_goals_scroll_inside_themselves(desk):
    desk.page.set_viewport_size({"width": 1366, "height": 768})
    desk.visit(PRESETS["forty goals"])
    for table in (".ticks", ".truth"):
        sizes = desk.page.locator(f".scroll:has({table})").evaluate(
            "(one) => [one.scrollHeight, one.clientHeight, one.scrollWidth, one.clientWidth]"
        )
        assert sizes[0] > sizes[1] and sizes[1] < 500
        assert sizes[2] <= sizes[3], table  # all base tasks are seen
    scroller = desk.page.locator(".scroll:has(.ticks)")
    scroller.focus()
    desk.page.keyboard.press("End")
    desk.page.wait_for_timeout(300)
    assert scroller.evaluate("(one) => one.scrollTop") > 0
    expect(desk.page.get_by_label("Name of base task 1")).to_be_in_viewport()  # the head stays


def test_names_stand_beside_few_goals_and_short_names_in_many(desk):
    desk.visit(PRESETS["four rooms"])
    texts = [one["text"] for one in desk.page.evaluate(LABELS)]
    assert texts == ["top_left", "top_right", "bottom_left", "bottom_right"]
    room = ["#" * 12, *["#" + "." * 10 + "#"] * 8, "#" * 12]
    cells = [[r, c] for r in range(1, 9) for c in range(1, 9)]
    desk.visit(link(desk, world(room, cells, 6, "{}")))
    labels = desk.page.evaluate(LABELS)
    assert [one["text"] for one in labels] == [str(i) for i in range(64)]
    assert overlaps(labels) == []
    desk.visit(link(desk, world(maze(61, 91), cells[:10])))
    labels = desk.page.evaluate(LABELS)
    assert labels and overlaps(labels) == []
    assert min(one["size"] for one in labels) >= 9


@pytest.mark.parametrize("width", [360, 768, 1366, 1920])
def test_long_and_many_names_overflow_nothing(desk, width):
    desk.page.set_viewport_size({"width": width, "height": 768})
    long = "w" * 58 + "{:02}"
    room = ["#" * 12, *["#" + "." * 10 + "#"] * 8, "#" * 12]
    cells = [[r, c] for r in range(1, 9) for c in range(1, 9)]
    document = world(room, cells, 6, long)
    for k, task in enumerate(document["tasks"]):
        task["name"] = "a task with a very long name that never seems to end, no. " + str(k)
    desk.visit(link(desk, document, "true"))
    assert desk.page.evaluate(OVERFLOW) <= 0
    for part in ("meaning", "world", "figures", "keys", "examples", "picture-title"):
        box = desk.page.locator(f".card:has(#{part})").bounding_box()
        assert box["x"] + box["width"] <= width, part
    if width == 1366:
        assert seen(desk, "map", "expression", "run") == {}
    desk.shoot(f"long names, {width}")


FADES = """(at) => new Promise((done) => {
  const all = [...document.querySelectorAll(".segments, .keys, .examples, .strip, .scroll")];
  const strips = all.filter((one) => one.scrollWidth > one.clientWidth + 1)
    .filter((one) => getComputedStyle(one).overflowX === "auto");
  for (const one of strips) one.scrollLeft = at * one.scrollWidth;
  const edges = (one) => ["--left", "--right"].map((name) => {
    return parseFloat(getComputedStyle(one).getPropertyValue(name));
  });
  const seen = () => strips.map((one) => [
    one.id || one.className, getComputedStyle(one).maskImage !== "none", ...edges(one),
  ]);
  setTimeout(() => done(seen()), 200);
})"""


def test_what_goes_on_beyond_the_edge_of_a_phone_fades_there(desk):
    desk.page.set_viewport_size({"width": 390, "height": 844})
    desk.visit(PRESETS["four rooms"])
    begun = desk.page.evaluate(FADES, 0)
    assert {"presets", "keys", "examples", "bar strip grid-only"} <= {name for name, *_ in begun}
    assert all(mask and left == 0 and right > 0 for _, mask, left, right in begun), begun
    ended = desk.page.evaluate(FADES, 1)
    assert all(mask and right == 0 for _, mask, _, right in ended), ended
    assert all(left > 0 for name, _, left, _ in ended if "scroll" not in name), ended
    desk.page.set_viewport_size({"width": 1366, "height": 844})
    expect(desk.page.locator("#presets[data-more]")).to_have_count(0)


ODD = {
    "only walls": (world(["###", "###", "###"], []), "t0", "Place a goal to begin"),
    "no goals and no tasks": (world(["...", "..."], [], 0), "true", "Place a goal to begin"),
    "one cell": (world(["."], [[0, 0]], 0), "true", "takes goal number 0 in 2 steps"),
    "one goal": (world(["#####", "#...#", "#####"], [[1, 3]], 1), "~t0", "takes goal number 0"),
    "no task": (world([".....", "....."], [[0, 0], [1, 4]], 0), "false", "no goal is desired"),
    "unreachable": (
        world(["######", "#.#..#", "######"], [[1, 3], [1, 4]], 1),
        "t0",
        "the agent cannot reach a goal",
    ),
    "one row": (world(["." * 128], [[0, 0], [0, 127]], 1), "t0", "From row 0, column 1"),
    "one column": (world(["."] * 128, [[0, 0], [127, 0]], 1), "t0", "From row 1, column 0"),
}


@pytest.mark.parametrize("width", [360, 1366])
@pytest.mark.parametrize("name", ODD)
def test_odd_worlds_are_shown_and_explained(desk, name, width):
    document, expression, caption = ODD[name]
    desk.page.set_viewport_size({"width": width, "height": 768})
    desk.page.evaluate("(hash) => { location.hash = hash; }", link(desk, document, expression))
    desk.say("caption", caption)
    assert desk.page.evaluate(OVERFLOW) <= 0
    heights = desk.page.locator("#slices canvas").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().height)"
    )
    assert max(heights, default=0) <= 240
    around = desk["map"].bounding_box()
    for label in desk.page.evaluate(LABELS):
        for at, length in (("x", "width"), ("y", "height")):
            assert label[at] >= around[at] - 2, label
            assert label[at] + label[length] <= around[at] + around[length] + 2, label
    enabled = "takes" in caption or "no goal is desired" in caption or "column" in caption
    assert desk["run"].is_enabled() == enabled
    assert desk["python"].is_enabled() == bool(document["goals"])
    desk["clear"].click()
    desk.say("caption", "Place a goal to begin")
    desk["undo"].click()
    desk.say("caption", caption)
    desk.shoot(f"odd, {name}, {width}")
