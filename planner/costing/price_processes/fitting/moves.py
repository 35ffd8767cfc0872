"""Moves of log prices over fixed numbers of months, taken from month-end prices. PURE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

LAGS = (1, 3, 6, 12, 24)
"""Months of a move."""
SLACK = {1: 0, 3: 1, 6: 1, 12: 3, 24: 3}
"""Months by which the second price may be late: some lists are a few snapshots a year."""


@dataclass(frozen=True)
class Moves:
    """Everything the fit and the back-test read; months count from January 1970."""

    lagged: pd.DataFrame
    """A row for each series, origin and lag: `lag` wanted, `months` found, `move` of the log
    price, `discount` at the origin, `origin` and `end`."""
    steps: pd.DataFrame
    """A row for each two consecutive prices of a series: `months` between, `move`, `end`."""
    levels: pd.DataFrame
    """The observations themselves."""


def find_moves(observations: pd.DataFrame) -> Moves:
    """The moves of all series."""
    ordered = observations.sort_values(["series", "month"], kind="stable")
    lagged, steps = [], []
    for _, one in ordered.groupby("series", sort=False):
        month, log = one.month.to_numpy(), one.log_price.to_numpy()
        first = one.index.to_numpy()
        steps.append(_pairs(first[:-1], month[:-1], month[1:], log[:-1], log[1:], 0))
        for lag in LAGS:
            later = _first_from(month, lag)
            origin = np.flatnonzero(later >= 0)
            end = later[origin]
            pairs = _pairs(first[origin], month[origin], month[end], log[origin], log[end], lag)
            lagged.append(pairs)
    facts = ordered.drop(columns=["month", "log_price"])
    return Moves(
        lagged=pd.concat(lagged).join(facts, on="row").reset_index(drop=True),
        steps=pd.concat(steps).join(facts, on="row").reset_index(drop=True),
        levels=ordered,
    )


def _first_from(month: np.ndarray, lag: int) -> np.ndarray:
    """For each month the position of the first one `lag` months later, −1 if it is too late."""
    wanted = month + lag
    first = np.searchsorted(month, wanted)
    in_time = month[np.minimum(first, len(month) - 1)] - wanted
    return np.where((first < len(month)) & (in_time <= SLACK[lag]), first, -1)


def _pairs(
    row: np.ndarray,
    origin: np.ndarray,
    end: np.ndarray,
    log: np.ndarray,
    log_end: np.ndarray,
    lag: int,
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "row": row,
            "lag": lag,
            "origin": origin,
            "end": end,
            "months": end - origin,
            "move": log_end - log,
        }
    )
