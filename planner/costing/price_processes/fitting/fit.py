"""Parameters of every process from the moves before a month, shrunk level by level. PURE.

Whatever a family has too little history for it borrows from its tier, and the tier from all
families of the kind:

    estimate = (Σ cells + k · estimate of the level above) / (n + k)

A cell is one provider, family and year: prices of one list move together, so a cell counts
once however many regions it has. k is `BORROWED_CELLS`; the figures of the highest level start
from `PRIORS` with the same weight, which says what is believed before any history.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from planner.costing.price_processes.families import Family
from planner.costing.price_processes.fitting import resets, steps, walks
from planner.costing.price_processes.fitting.moves import Moves
from planner.costing.price_processes.process import PriceKind, PriceProcess
from planner.costing.price_processes.table import Scope, find_in


@dataclass(frozen=True)
class Fit:
    """The processes fitted on what was known before a month."""

    processes: Mapping[Scope, PriceProcess]

    def find(self, kind: PriceKind, family: Family, year: float) -> PriceProcess:
        """The most specific process: of the family, of its tier, or of the kind."""
        return find_in(self.processes, kind, family, year)


def fit(moves: Moves, before: int, without_family: str = "") -> Fit:
    """Fits on prices seen before month `before` (months since January 1970)."""
    known = _before(moves, before, without_family)
    processes = {
        **steps.fit_kind(known.steps, PriceKind.LIST),
        **steps.fit_kind(known.steps, PriceKind.COMMITMENT),
        **resets.fit_kind(known.lagged, known.levels),
        **walks.fit_kind(known.lagged, PriceKind.MARKET),
        **walks.fit_kind(known.lagged, PriceKind.HARDWARE),
    }
    return Fit(processes)


def _before(moves: Moves, before: int, without_family: str) -> Moves:
    def select(table: pd.DataFrame, column: str) -> pd.DataFrame:
        rows = (table[column] < before) & table.fitted & (table.family != without_family)
        return table[rows]

    return Moves(
        lagged=select(moves.lagged, "end"),
        steps=select(moves.steps, "end"),
        levels=select(moves.levels, "month"),
    )
