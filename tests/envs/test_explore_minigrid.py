"""MiniGrid put back and explored, against replays and a search that knows only the rules."""

import gymnasium as gym
import numpy as np
import pytest

import taskalgebra as ta
from known_label import among
from taskalgebra.envs import minigrid_state

pytest.importorskip("minigrid")
COLOURS = ["red", "green", "blue", "purple", "yellow", "grey"]
MOVES = [(1, 0), (0, 1), (-1, 0), (0, -1)]


@among({"colour": COLOURS, "type": ["key", "ball"]})
def carried(observation, info, env):
    thing = env.carrying
    return None if thing is None else {"colour": thing.color, "type": thing.type}


@among({"colour": COLOURS, "type": ["key", "ball", "box"]})
def faced(observation, info, env):
    thing = env.grid.get(*env.front_pos)
    if thing is None or thing.type not in ("key", "ball", "box"):
        return None
    return {"colour": thing.color, "type": thing.type}


@among(["goal"])
def on_goal(observation, info, env):
    thing = env.grid.get(*env.agent_pos)
    return "goal" if thing is not None and thing.type == "goal" else None


def layout(env):
    """The cells of a layout by what is in them, from its own grid."""
    grid = env.unwrapped.grid
    found = {}
    for y in range(grid.height):
        for x in range(grid.width):
            thing = grid.get(x, y)
            if thing is not None:
                found[x, y] = (thing.type, thing.color)
    return found, tuple(map(int, env.unwrapped.agent_pos)), int(env.unwrapped.agent_dir)


def shortest(env, ends, wanted):
    """The fewest steps to an end that is wanted, with none before, by a search of its own.

    `ends(what lies ahead, what was done, where)` is the end that a step makes, if any.
    """
    cells, place, direction = layout(env)
    start = (place, direction, False, False)  # has the key, door is open
    seen, frontier, steps = {start}, [start], 0
    while frontier:
        steps, after = steps + 1, []
        for here, facing, key, door in frontier:
            for action in ("left", "right", "forward", "pickup", "toggle"):
                place, direction, has, opened = here, facing, key, door
                ahead = here[0] + MOVES[facing][0], here[1] + MOVES[facing][1]
                thing = cells.get(ahead)
                if thing is not None and thing[0] == "key" and key:
                    thing = None
                if action in ("left", "right"):
                    direction = (facing + (1 if action == "right" else -1)) % 4
                elif action == "forward":
                    free = thing is None or thing[0] == "goal" or (thing[0] == "door" and door)
                    place = ahead if free else here
                elif action == "pickup" and thing is not None and thing[0] == "key":
                    has = True
                elif action == "toggle" and thing is not None and thing[0] == "door":
                    opened = not door if (key or door) else door
                end = ends(cells, action, thing, place, direction)
                if end is not None:
                    if wanted(end):
                        return steps
                    continue
                state = (place, direction, has, opened)
                if state not in seen:
                    seen.add(state)
                    after.append(state)
        frontier = after
    return None


def picked(cells, action, thing, place, direction):
    took = action == "pickup" and thing is not None and thing[0] in ("key", "ball")
    return thing if took else None


def looked(cells, action, thing, place, direction):
    ahead = place[0] + MOVES[direction][0], place[1] + MOVES[direction][1]
    found = cells.get(ahead)
    return found if found is not None and found[0] in ("key", "ball", "box") else None


def arrived(cells, action, thing, place, direction):
    return cells.get(place) if cells.get(place, ("", ""))[0] == "goal" else None


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize(
    ("name", "label", "actions", "ends"),
    [
        ("MiniGrid-Fetch-8x8-N3-v0", carried, {"l": 0, "r": 1, "f": 2, "p": 3}, picked),
        ("BabyAI-GoToLocal-v0", faced, {"l": 0, "r": 1, "f": 2}, looked),
        ("MiniGrid-DoorKey-6x6-v0", on_goal, None, arrived),
    ],
)
def test_every_composed_task_is_optimal_in_the_real_environment(name, label, actions, ends, seed):
    world = ta.wrap(name, goals=label, actions=actions)
    skills = ta.solve(ta.explore(world, seeds=[seed]))
    env = gym.make(name)
    env.reset(seed=seed)
    things = {thing for thing in layout(env)[0].values() if thing[0] not in ("wall", "door")}
    expressions = ["true"]
    if label is not on_goal:
        expressions += [*{colour for _, colour in things}, *{kind for kind, _ in things}]
        expressions += [f"{c} & {k}" for k, c in things] + [f"~{c}" for _, c in things]
        expressions += ["(red | ball) & ~key", "key ^ grey", "~(blue | key)"]
    for expression in expressions:
        agent = skills[expression]

        def wanted(end, task=agent.task):
            word = end[0] if label is on_goal else f"{end[1]} {end[0]}"
            return task.wanted[task.space.goal_names.index(word)]

        env.reset(seed=seed)
        best = shortest(env, ends, wanted)
        found = agent.play(env, 1)
        if best is None:
            assert found.success_rate == 0.0, expression
        else:
            assert (found.success_rate, found.mean_steps) == (1.0, best), expression


@pytest.mark.parametrize(
    "name",
    [
        "MiniGrid-DoorKey-5x5-v0",
        "MiniGrid-KeyCorridorS3R2-v0",
        "MiniGrid-ObstructedMaze-1Dlh-v0",  # keys hidden in boxes
        "MiniGrid-UnlockPickup-v0",
        "BabyAI-PickupLoc-v0",
        "MiniGrid-LavaCrossingS9N1-v0",
    ],
)
def test_a_state_that_is_put_back_is_the_state_that_it_was(name):
    env, rng = gym.make(name).unwrapped, np.random.default_rng(0)
    for seed in range(3):
        env.reset(seed=seed)
        kept = []
        for action in rng.integers(0, 6, 300):
            kept.append(minigrid_state.save(env))
            if env.step(action)[2]:
                env.reset(seed=seed)
        for i in rng.permutation(len(kept))[:40]:
            minigrid_state.restore(env, kept[i])
            assert minigrid_state.save(env) == kept[i]
            grid = env.grid.grid
            placed = [thing for thing in grid if thing is not None and thing.type != "wall"]
            assert len({id(thing) for thing in placed}) == len(placed)
            for action in rng.integers(0, 6, 8):
                one = env.step(action)
                here = minigrid_state.save(env)
                encoded = env.grid.encode().tobytes()
                minigrid_state.restore(env, here)
                assert env.grid.encode().tobytes() == encoded
                assert np.array_equal(env.gen_obs()["image"], one[0]["image"])
                if one[2]:
                    break


def test_equal_states_of_two_environments_are_equal():
    one, other = (gym.make("MiniGrid-DoorKey-5x5-v0") for _ in range(2))
    for env in (one, other):
        env.reset(seed=4)
        for action in (1, 2, 3, 2, 5, 0):
            env.step(action)
    assert minigrid_state.save(one.unwrapped) == minigrid_state.save(other.unwrapped)
    hash(minigrid_state.save(one.unwrapped))


def test_labels_may_look_at_observations():
    def seen(observation, info, env):
        assert set(observation) == {"image", "direction", "mission"}
        return "key" if observation["image"][3, 5, 0] == 5 else None

    world = ta.wrap("MiniGrid-DoorKey-5x5-v0", goals=seen, among=["key"], elsewhere="goal")
    explored = ta.explore(world)
    assert ta.solve(explored)["key"].play(gym.make("MiniGrid-DoorKey-5x5-v0"), 1).success_rate == 1
    assert "gen_obs" not in vars(explored.make().unwrapped)


def test_actions_that_do_not_matter_are_too_many():
    with pytest.raises(ValueError, match="use fewer actions, those that matter"):
        ta.explore(ta.wrap("BabyAI-PickupLoc-v0", goals=on_goal, elsewhere="told"), limit=3_000)


def test_moving_obstacles_are_not_certain():
    world = ta.wrap("MiniGrid-Dynamic-Obstacles-5x5-v0", goals=on_goal, elsewhere="hit")
    with pytest.raises(ValueError, match="is not deterministic"):
        ta.explore(world)
