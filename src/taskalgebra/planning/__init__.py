"""Exact planning of extended values."""
