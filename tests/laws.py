"""The Boolean laws as one check for every carrier."""

from __future__ import annotations

from taskalgebra.logic.algebra import LAWS


def broken_laws(a, b, c, zero, one, laws=LAWS, same=lambda x, y: x == y):
    """The names of the laws that these three elements break."""
    return {
        law.name
        for law in laws
        for left, right in law.sides(a, b, c, zero, one)
        if not same(left, right)
    }
