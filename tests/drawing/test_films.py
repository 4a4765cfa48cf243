"""Films: what agents do, frame by frame."""

import numpy as np
import pytest
from PIL import Image, ImageSequence

import taskalgebra as ta


def frames(path):
    with Image.open(path) as film:
        return [np.asarray(one.convert("RGB")) for one in ImageSequence.Iterator(film)]


def dark(frame):
    """The middle of the agent's disc."""
    rows, columns = np.nonzero((np.abs(frame.astype(int) - (0x20, 0x22, 0x28)) < 12).all(axis=2))
    return rows.mean(), columns.mean()


def test_the_agent_moves_over_the_map_to_the_goal(tmp_path):
    world = ta.from_text("....A")
    agent = ta.solve(world, {"a": ["A"]})["a"]
    path = agent.film(tmp_path / "new" / "walk.gif", episodes=1, start=0)
    assert path == tmp_path / "new" / "walk.gif"
    seen = frames(path)
    columns = [dark(frame)[1] for frame in seen]
    assert len(seen) >= 1 + 3 * 4
    assert (np.diff(columns[: 1 + 3 * 4]) > 5).all()  # to the right, three pictures a move


def test_equal_seeds_make_equal_films_and_others_do_not(tmp_path):
    agent = ta.solve(ta.FourRooms())["top"]
    one, two, three = (
        agent.film(tmp_path / f"{k}.gif", episodes=1, seed=seed).read_bytes()
        for k, seed in enumerate((3, 3, 5))
    )
    assert one == two != three


def test_the_map_of_a_formula_follows_the_automaton(tmp_path):
    world = ta.from_text("A.....B", touch=True)
    agent = ta.solve(world, {"a": ["A"], "b": ["B"]})["F(a & F b)"]
    seen = frames(agent.film(tmp_path / "f.gif", episodes=1, start=3))
    first, last = seen[0].astype(int), seen[-2].astype(int)
    assert (np.abs(first - last).max(axis=2) > 40).mean() > 0.05  # values of another state


def test_a_world_without_a_map_is_filmed_as_it_renders_itself(tmp_path):
    def end(observation, info, env):
        return "end" if observation == 47 else None

    skills = ta.solve(ta.explore(ta.wrap("CliffWalking-v1", goals=end, among=["end"])))
    path = skills["end"].film(tmp_path / "cliff.gif", episodes=1)
    assert len(frames(path)) > 5
    with pytest.raises(ValueError, match="begins in a given state only on a map"):
        skills["end"].film(tmp_path / "cliff.gif", start=3)


def test_what_cannot_be_filmed_is_refused_in_words(tmp_path):
    agent = ta.solve(ta.FourRooms())["top"]
    with pytest.raises(ValueError, match=r"a film is a \.gif file, got '.*a\.mp4'"):
        agent.film(tmp_path / "a.mp4")
    with pytest.raises(ValueError, match="episodes"):
        agent.film(tmp_path / "a.gif", episodes=0)
    with pytest.raises(ValueError, match="cannot start in state 9999"):
        agent.film(tmp_path / "a.gif", start=9999)
    from dataclasses import replace

    flat = ta.solve(replace(ta.from_text("A..B"), cells=None), {"a": ["A"]})
    with pytest.raises((TypeError, ValueError), match=r"no map|cannot be drawn"):
        flat["a"].film(tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_film_keeps_the_colours_of_goals_on_every_map_of_a_formula(tmp_path):
    agent = ta.solve(ta.Office())["F(coffee & F office) & G !decoration"]
    seen = frames(agent.film(tmp_path / "office.gif", episodes=1, start=0))
    for frame in (seen[0], seen[-2]):  # on the way to the coffee, and then to the office
        apart = np.abs(frame.astype(int) - (230, 159, 0)).max(axis=2)
        assert (apart < 16).sum() > 20


def test_a_film_of_many_steps_leaves_pictures_out_but_no_end(monkeypatch, tmp_path):
    monkeypatch.setattr("taskalgebra.drawing.plots.film.MOST_PICTURES", 8)
    agent = ta.solve(ta.from_text("......A"), {"a": ["A"]})["a"]
    path = agent.film(tmp_path / "walk.gif", episodes=3, start=0)
    with Image.open(path) as film:
        times = [one.info["duration"] for one in ImageSequence.Iterator(film)]
    assert len(times) < 16
    assert sum(time >= 1200 for time in times) == 3


def test_a_film_shows_in_red_who_fails_also_if_the_last_one_does_not(tmp_path):
    world = ta.from_text("." * 12 + "A")
    agent = ta.solve(world, {"a": ["A"]})["a"]
    films = {
        seed: agent.film(tmp_path / f"{seed}.gif", episodes=2, seed=seed, max_steps=6)
        for seed in range(12)
    }
    ends = [[is_red(frame) for frame in frames(path)] for path in films.values()]
    mixed = [found for found in ends if any(found) and not found[-1]]
    assert mixed  # the first one fails, the second does not


def test_a_film_says_how_its_agent_was_made(monkeypatch, tmp_path):
    from taskalgebra.drawing.plots import film

    said = []
    monkeypatch.setattr(film, "write_frames", lambda title, shown, path, below: said.append(below))

    def end(observation, info, env):
        return {47: "end"}.get(observation)

    skills = ta.solve(ta.explore(ta.wrap("CliffWalking-v1", goals=end, among=["end"])))
    for agent in (skills["end"], skills["~~end"], skills["~~end"].improve()):
        agent.film(tmp_path / "cliff.gif", episodes=1)
    composed = "composed from base tasks, no further learning"
    improved = "composed from base tasks, then improved"
    assert said == ["a base task", composed, improved]


def is_red(frame):
    return bool((np.abs(frame.astype(int) - (255, 0, 0)).max(axis=2) < 40).sum() > 10)
