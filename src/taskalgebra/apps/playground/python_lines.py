"""The same as a program: Python lines that do with the public API what the page shows."""

from __future__ import annotations

from taskalgebra.apps.playground.schema import BoxmanRequest, WorldDocument


def world_lines(document: WorldDocument) -> str:
    """Lines that build a drawn world and solve its tasks; `skills[expression]` follows them."""
    rows = "\n".join([f'    "{row}",' for row in document.map])
    goals = "\n".join([f"    {goal.name!r}: {goal.cell}," for goal in document.goals])
    tasks = "\n".join(
        f"    {task.name!r}: "
        + (f"space.task({list(task.goals)!r})," if task.goals else "space.empty,")
        for task in document.tasks
    )
    low = document.step_reward if document.r_empty is None else document.r_empty
    space = f"ta.TaskSpace(world, r_universal={document.r_universal!r}, r_empty={low!r})"
    if not document.tasks:  # solve wants one; the expression is a constant and names none
        tasks = '    "nothing": space.empty,'
    return f"""import taskalgebra as ta

rows = [
{rows}
]
goals = {{
{goals}
}}
world = ta.from_text(rows, goals, step_reward={document.step_reward!r})
space = {space}
tasks = {{
{tasks}
}}
skills = ta.solve(space, tasks)
"""


def boxman_lines(request: BoxmanRequest) -> str:
    """Lines that load the shipped networks and play the episode."""
    moved = ""
    if request.agent is not None:
        moved = f"""code = world.code
code[0] = world.board.cell({tuple(request.agent)})
observation, info = world.reset(options={{"code": code}})
"""
    return f"""import taskalgebra as ta

skills = ta.load({request.skills!r})
agent = skills[{request.expression!r}]
world = skills.world
world.task = agent.task
observation, info = world.reset(seed={request.seed})
{moved}optimum = info["optimal_return"]
terminated, total, steps = False, 0.0, 0
while not terminated and steps < world.max_steps:
    observation, reward, terminated, _, info = world.step(agent.act(observation))
    total += reward
    steps += 1
print(f"return {{total:.2f}}, optimum {{optimum:.2f}}, {{steps}} steps")
"""
