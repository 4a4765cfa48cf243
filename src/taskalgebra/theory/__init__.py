"""The theory of the paper: tasks, extended values, base tasks, assumptions, policies."""
