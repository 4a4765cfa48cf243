"""Worlds, the data of tasks: finite ones as tables, open ones as names."""
