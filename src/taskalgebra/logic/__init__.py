"""Formulas over named tasks: parse, print, evaluate, simplify.

Knows nothing of reinforcement learning.
"""
