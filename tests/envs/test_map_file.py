"""A map file, read in Python as the command reads it; its mistakes are named by line and column."""

from __future__ import annotations

import os

import pytest

import taskalgebra as ta
from taskalgebra.skills.catalogue import open_world

MAP = "#####\n#A.B#\n#...#\n#####\n"
TASKS = MAP + "\nnorth = A, B\nwest=A\n"


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "map.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def same(a, b):
    return (a.space.mdp.successor == b.space.mdp.successor).all() and {
        name: task.goal_reward.tolist() for name, task in a.tasks.items()
    } == {name: task.goal_reward.tolist() for name, task in b.tasks.items()}


def test_it_is_the_world_that_the_command_opens(file):
    path = file(TASKS)
    for given in (path, str(path)):
        world = ta.from_file(given)
        assert isinstance(world, ta.FiniteEnv) and list(world.tasks) == ["north", "west"]
        assert same(world, open_world(str(path)))
    assert ta.solve(world)["north & ~west"].evaluate(20).success_rate == 1.0
    slippery = ta.from_file(path, slip_probability=0.1, step_reward=-0.5)
    assert not slippery.space.mdp.deterministic
    assert slippery.space.mdp.step_reward.min() == -0.5


def test_without_lines_of_tasks_every_goal_is_one(file):
    assert list(ta.from_file(file(MAP)).tasks) == ["A", "B"]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + TASKS.encode(),
        TASKS.replace("\n", "\r\n"),
        TASKS.replace("\n", "\r"),
        TASKS.replace("\n", "   \n"),
        TASKS.replace("\n", " \t\n"),
        "\n\n  \n" + TASKS,
        TASKS.rstrip("\n"),
        "".join(f"    {line}\n" for line in TASKS.splitlines()),
        "".join(f"\t{line}\n" for line in TASKS.splitlines()),
        "north = A, B\n" + MAP + "west = A",
        "#####\n#A.B#\nnorth = A, B\nwest = A\n#...#\n#####\n",
    ],
    ids=[
        "BOM",
        "CRLF",
        "CR",
        "blanks",
        "tabs",
        "above",
        "no end",
        "spaces",
        "tab",
        "first",
        "within",
    ],
)
def test_the_ways_of_editors_do_not_matter(content, file, tmp_path):
    plain = tmp_path / "plain.txt"
    plain.write_text(TASKS)
    assert same(ta.from_file(file(content)), ta.from_file(plain))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the map is empty"),
        ("\n \n", "the map is empty"),
        ("north = A\n", "the map is empty"),
        ("#..#\n", "the map has no goal; put letters on it$"),
        ("\n\n#A.#\n#.?#\n", "'?' at line 4, column 3"),
        ("   #A.#\n   #.?#\n", "'?' at line 2, column 6"),
        ("#A\t#\n", r"a tab at line 1, column 3"),
        ("#A #\n", "' ' at line 1, column 3"),
        ("x = A\n#A.#\n#\u2028.#\n", r"'\\u2028' at line 3, column 2"),
        ("#A.#\n#..\n", "3 columns, where its first row has 4, at line 2"),
        ("#A.#\n\n#..#\n", "line 3: '#..#' follows a blank line"),
        (MAP + "\n" + MAP, "line 6: '#####' follows a blank line"),
        *(
            (MAP + between + line, f"line {n}: '{line}' is neither .*; write NAME = GOAL, GOAL")
            for line in ("north A", "n : A", "// comment", "# comment", "# five", "A, B")
            for between, n in (("", 5), ("\n", 6), ("\nx = A\n\n", 8), ("x = A\n", 6))
        ),
        (MAP + "\nnorth", "line 6: 'north' follows a blank line.* write NAME = GOAL, GOAL"),
        (MAP + "north1", "6 columns.* at line 5.* write NAME = GOAL, GOAL"),
        ("// comment\n" + MAP, "line 1: '// comment' is neither"),
        ("# my map\n\n" + MAP, "line 1: '# my map' is neither"),
        ("#A.#\n#.A#\n", "'A' is drawn twice, at line 1, column 2 and line 2, column 3"),
        (MAP + "\nx = A\nx = B", "line 7: the task 'x' is given twice"),
        (MAP + "x = Z", "line 5: unknown goal 'Z'; this world has A, B"),
        *(
            (MAP + f"{word} = A", f"line 5: .*'{word}' is a word of expressions; .*{word}_task")
            for word in ("true", "not", "AND", "iff", "nand")
        ),
        (MAP + "'' = A", "line 5: the task \"'' = A\" has no name"),
        (MAP + "= A", "line 5: the task '= A' has no name"),
        (MAP + "x = ,", "line 5: the task 'x = ,' has no name or no goals"),
        (MAP.encode() + b"\n\xff\xfe", "line 6: it is not a text file in UTF-8"),
        ("#A.#".encode("utf-16"), "line 1: it is not a text file in UTF-8"),
        (b"#" * 1_000_001, "more than 1,000,000 bytes"),
    ],
)
def test_a_mistake_is_named_with_its_line(content, words, file):
    path = file(content)
    with pytest.raises(ValueError, match=words.replace("?", r"\?")) as refused:
        ta.from_file(path)
    assert str(refused.value).startswith(str(path))
    with pytest.raises(ValueError, match=words.replace("?", r"\?")):
        open_world(str(path))


def test_quotes_around_a_name_are_not_part_of_it(file):
    world = ta.from_file(file(MAP + "'a b' = A\n\"it's\" = B\n"))
    assert list(world.tasks) == ["a b", "it's"]
    assert ta.solve(world)["'a b' & ~\"it's\""].evaluate(5).success_rate == 1.0


def test_a_path_may_begin_with_the_home(file, monkeypatch):
    monkeypatch.setenv("HOME", str(file(MAP).parent))
    assert list(ta.from_file("~/map.txt").tasks) == ["A", "B"]
    assert list(open_world("~/map.txt").tasks) == ["A", "B"]
    with pytest.raises(ValueError, match="the path of the map is empty"):
        ta.from_file("")


def test_what_is_no_file_is_refused_at_once(tmp_path):
    with pytest.raises(ValueError, match="is a directory"):
        ta.from_file(tmp_path)
    with pytest.raises(ValueError, match="no file"):
        ta.from_file(tmp_path / "nothing.txt")
    os.mkfifo(tmp_path / "pipe")
    for read in (ta.from_file, open_world):
        with pytest.raises(ValueError, match="is not a file"):
            read(str(tmp_path / "pipe"))
