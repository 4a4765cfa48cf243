"""Worlds: finite ones as tables, open ones as names; from text, arrays and Gymnasium."""
