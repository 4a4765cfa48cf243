"""The paper: algebra, tasks, extended values, bounds, base tasks, assumptions, policies."""
