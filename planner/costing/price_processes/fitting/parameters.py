"""The table of parameters out of histories, each row with its evidence. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from planner.costing.price_processes.fitting.fit import fit
from planner.costing.price_processes.fitting.moves import Moves
from planner.costing.price_processes.process import PriceProcess
from planner.costing.price_processes.table import Scope


def fit_parameters(series: pd.DataFrame, moves: Moves) -> Mapping[Scope, PriceProcess]:
    """Processes of all scopes, fitted on everything, with series, date and source of each."""
    fitted = fit(moves, int(moves.levels.month.max()) + 1)
    known = series[series.fitted]
    return {
        scope: _with_evidence(process, scope, known) for scope, process in fitted.processes.items()
    }


def _with_evidence(process: PriceProcess, scope: Scope, series: pd.DataFrame) -> PriceProcess:
    kind, name = scope
    level, _, value = name.partition(":")
    rows = series[series.kind == kind.value]
    if level != "general":
        rows = rows[rows[level] == value.split(":")[0]]
    if rows.empty:
        last = dt.date.fromisoformat(series["last"].max())
        return replace(process, level=level, fitted_to=last, source="no history: priors alone")
    sources = sorted({one for text in rows.source for one in text.split("; ")})
    return replace(
        process,
        level=level,
        series=len(rows),
        fitted_to=dt.date.fromisoformat(rows["last"].max()),
        source="; ".join(sources),
    )
