"""The same as a program: Python lines that do with the public API what the page shows."""

from __future__ import annotations

from taskalgebra.playground.schema import WorldDocument


def world_lines(document: WorldDocument, expression: str) -> str:
    """Lines that build a drawn world, solve its tasks and ask for the expression."""
    rows = "\n".join(f"    {row!r}," for row in document.map)
    goals = "\n".join(f"    {goal.name!r}: {tuple(goal.cell)}," for goal in document.goals)
    tasks = "\n".join(
        f"    {task.name!r}: "
        + (f"space.task({list(task.goals)!r})," if task.goals else "space.empty,")
        for task in document.tasks
    )
    low = document.step_reward if document.r_empty is None else document.r_empty
    return f"""import taskalgebra as ta

rows = [
{rows}
]
goals = {{
{goals}
}}
world = ta.from_text(rows, goals, step_reward={document.step_reward!r})
space = ta.TaskSpace(world, r_universal={document.r_universal!r}, r_empty={low!r})
tasks = {{
{tasks}
}}
skills = ta.solve(space, tasks)
agent = skills[{expression!r}]
agent.show()
"""
