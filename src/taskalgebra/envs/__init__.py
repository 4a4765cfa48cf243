"""Worlds as Gymnasium environments."""
