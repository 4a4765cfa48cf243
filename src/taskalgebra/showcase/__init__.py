"""Other people's worlds and agents, each in a few lines, as `taskalgebra reproduce worlds` shows.

A row is a record (`record.py`): the lines that a user writes, and a judge that plays the agents in
the real environment and finds the optimum in another way.
"""
