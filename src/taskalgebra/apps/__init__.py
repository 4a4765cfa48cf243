"""Shells over the public API: the command, the playground, the demo."""
