"""Claims that several parts of the report share; each is judged from a table of `measures`."""

from __future__ import annotations

import numpy as np

from taskalgebra.paper.claims.verdicts import Claim, judged
from taskalgebra.paper.results.record import Table
from taskalgebra.showcase.trust.measures import EXACT

MOST = 0.9
"""The share of agents that must be mended in fewer sweeps than planning from nothing takes."""


def improved_claim(table: Table, what: str) -> Claim:
    """Every improved agent is optimal."""
    after = table["after"]
    good = int((after <= EXACT).sum())
    return judged(
        "Ours",
        f"Every improved agent {what} is exactly optimal, from every start.",
        f"{good:,} of {after.size:,} agents; the furthest is {after.max(initial=0.0):.1g} from the "
        f"optimum that is planned apart; {int(table['rounds'].max(initial=0))} rounds at most",
        bool(after.size and good == after.size),
        "Some are not.",
    )


def bound_claim(table: Table) -> Claim:
    """No bound is below the optimum."""
    slack = table["slack"]
    good = int((slack >= -EXACT).sum())
    tight = int((table["bound"] <= EXACT).sum())
    none = int((table["worst_loss"] <= EXACT).sum())
    return judged(
        "Ours",
        "No agent loses more than the bound that is found without planning.",
        f"{good:,} of {slack.size:,} bounds hold; {tight:,} agents are certified to lose nothing, "
        f"of {none:,} that lose nothing",
        bool(slack.size and good == slack.size),
        "Some bounds are broken.",
    )


def sweeps_claim(table: Table, group: str) -> Claim:
    """Improving is cheaper than planning from nothing; the column `group` says where it is not."""
    own, other, values = table["sweeps"], table["nothing_sweeps"], table["value_sweeps"]
    fewer, less = own < other, own < values
    share = float(fewer.mean()) if fewer.size else 0.0
    short = [
        f"{_named(each)} ({int(rest.sum())} of {rest.size})"
        for each in table.distinct(group)
        if (rest := ~fewer[table[group] == each]).any()
    ]
    where = f"; not fewer in {', '.join(short)}" if short else ""
    return judged(
        "Ours",
        f"Improving a composed agent takes fewer sweeps than planning its task from nothing by the "
        f"same policy iteration, in at least {MOST:.0%} of cases.",
        f"{fewer.sum():,} of {fewer.size:,} ({share:.1%}), and as many in {(own == other).sum():,}"
        f"{where}; {np.median(own):.1f} sweeps "
        f"against {np.median(other):.1f} in the median; fewer than value iteration in "
        f"{less.sum():,}, which takes {np.median(values):.0f}",
        bool(share >= MOST),
        "In fewer cases.",
    )


def _named(value: object) -> str:
    return f"slip {value:g}" if isinstance(value, float) else str(value)
