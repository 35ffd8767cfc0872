"""The tables of the back-test as text. PURE."""

from __future__ import annotations

import pandas as pd

from planner.costing.price_processes.fitting.backtest import table

LEAST_MOVES = 20
_HEAD = (
    f"{'kind':<11}{'family':<14}{'months':>6}{'series':>8}{'moves':>7}{'cases':>6}"
    f"{'unmoved':>9}{'p10-p90':>9}{'mass':>7}{'CRPS':>8}{'no change':>11}{'walk':>8}"
    f"{'walk in':>9}"
)


def lines(scores: pd.DataFrame, by: str = "family", least: int = LEAST_MOVES) -> list[str]:
    """One line for each kind, `by` and number of months, groups of few moves left out."""
    if scores.empty:
        return ["no move of 12 or 24 months"]
    rows = table(scores, ["kind", by, "lag"])
    return [_HEAD, *map(_line, rows[rows.moves >= least].itertuples(index=False))]


def _line(row: tuple[object, ...]) -> str:
    kind, name, lag, series, moves, cells, held, mass, same, crps, flat, walk, walk_in = row
    return (
        f"{kind:<11}{name:<14}{lag:>6}{series:>8}{moves:>7}{cells:>6}{same:>9.0%}{held:>9.0%}"
        f"{mass:>7.0%}{crps:>8.3f}{flat:>11.3f}{walk:>8.3f}{walk_in:>9.0%}"
    )
