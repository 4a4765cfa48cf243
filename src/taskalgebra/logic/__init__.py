"""Formulas over named tasks: parse, print, evaluate, simplify; automata of temporal ones.

Knows nothing of reinforcement learning.
"""
