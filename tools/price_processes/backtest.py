"""Back-test of the price processes by days: `python -m tools.price_processes FOLDER --test`. PURE.

A move is from a day on which a price was seen to the price that was in force 182 or 365 days
later. It is predicted by a fit on what was seen before the month of its first day.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.costing.price_processes.draw import draw_paths
from planner.costing.price_processes.process import (
    Family,
    Floats,
    PriceKind,
    PriceProcess,
    Tier,
    find_in,
)
from tools.price_processes.fit import CHANGE, fit
from tools.price_processes.histories import Moves, read_family

LAGS = {182: 6, 365: 12}
"""Days of a move, and the months for which it is predicted."""
STALE_DAYS = 45
"""Most days before the end of a move on which its last price was seen."""
SAMPLES = 2_000
DISCOUNT_STEP = 0.1
FEW_SHOCKS = 30
"""Shocks below which the share within the range may lie anywhere in the band of chance."""
_SERIES = ["kind", "provider", "place", "machine", "accelerator", "option"]


def day_moves(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each series, first day and length: `move` of the log price, `discount` of spot on
    the first day, and `shocks`, the days on which the price was seen to have changed."""
    parts = [part for _, one in table.groupby(_SERIES) for part in _moves_of(one)]
    return pd.concat(parts, ignore_index=True)


def _moves_of(one: pd.DataFrame) -> Iterator[pd.DataFrame]:
    one = one.sort_values("date").drop_duplicates("date", keep="last")
    day, log = one.date.to_numpy("datetime64[D]").astype(int), np.log(one.price.to_numpy(float))
    family, first = read_family(str(one.accelerator.iloc[0])), one.iloc[0]
    listed = one.on_demand.to_numpy(float)
    discount = np.where(listed > 0, log - np.log(np.where(listed > 0, listed, 1.0)), np.nan)
    changed = np.abs(np.diff(log, prepend=log[0])) > CHANGE
    for days, months in LAGS.items():
        end = np.searchsorted(day, day + days, side="right") - 1
        seen = (day[end] >= day + days - STALE_DAYS) & (end > np.arange(len(day)))
        origin = np.flatnonzero(seen)
        yield pd.DataFrame(
            {
                "kind": first.kind,
                "provider": first.provider,
                "family": family.name,
                "tier": family.tier.value,
                "year": family.year,
                "months": months,
                "month": one.date.dt.to_period("M").map(lambda m: m.ordinal).to_numpy()[origin],
                "discount": discount[origin],
                "move": log[end[origin]] - log[origin],
                "shocks": [
                    tuple(day[i + 1 : end[i] + 1][changed[i + 1 : end[i] + 1]]) for i in origin
                ],
            }
        )


def score(moves: pd.DataFrame, known: Moves) -> pd.DataFrame:
    """The same with `held`, whether p10 to p90 held each move, and `mass`, the share of it that a
    range of 80 % holds where no change is likely by itself."""
    rows = moves.assign(
        move=moves.move.where(moves.move.abs() > CHANGE, 0.0),
        discount=(moves.discount / DISCOUNT_STEP).round() * DISCOUNT_STEP,
    )
    parts = []
    keys = ["kind", "provider", "family", "tier", "year", "months", "discount"]
    for month, of_month in rows.groupby("month"):
        used = fit(known, int(str(month)))
        for _, group in of_month.groupby(keys, dropna=False):
            first = group.iloc[0]
            known_as = Family(first.family, Tier(first.tier), int(first.year))
            year = 1970.0 + first.month / 12.0
            process = find_in(used, first.kind, known_as, year, first.provider)
            if not np.isnan(first.discount):
                process = process.at_discount(float(np.exp(first.discount)))
            draws = _draws(process, int(first.months))
            held, mass = inside(draws, group.move.to_numpy())
            parts.append(group.assign(held=held, mass=mass))
    return pd.concat(parts, ignore_index=True)


def _draws(process: PriceProcess, months: int) -> Floats:
    paths = draw_paths([process], months + 1, SAMPLES, 20_260_820)
    return np.sort(np.log(paths[0, :, months]))


def inside(draws: Floats, moves: Floats) -> tuple[Floats, Floats]:
    """Whether p10 to p90 of ascending draws hold moves, and which share of each lies within the
    middle 80 %."""
    n = len(draws)
    below = np.searchsorted(draws, moves - 1e-9, side="left") / n
    up_to = np.searchsorted(draws, moves + 1e-9, side="right") / n
    within = np.minimum(up_to, 0.9) - np.maximum(below, 0.1)
    atom = up_to - below
    mass = np.where(atom > 1.5 / n, np.maximum(within, 0.0) / np.maximum(atom, 1e-12), within >= 0)
    low, high = draws[int(0.1 * n)], draws[int(0.9 * n)]
    return ((moves >= low - CHANGE) & (moves <= high + CHANGE)).astype(float), mass


def chance_of_few(shocks: int) -> tuple[float, float]:
    """Shares of so many shocks that a range of 80 % holds in 95 of 100 such sets (the binomial
    band), and at least from 75 to 95 %."""
    n = max(shocks, 1)
    up_to = np.cumsum([math.comb(n, k) * 0.8**k * 0.2 ** (n - k) for k in range(n + 1)])
    low, high = np.searchsorted(up_to, [0.025, 0.975]) / n
    return min(0.75, float(low)), max(0.95, float(high))


def summarize(scored: pd.DataFrame) -> pd.DataFrame:
    """By kind and length, of clouds by provider and family, of rents and hardware by tier: moves,
    independent shocks, shares held, and whether these are as they should be.

    A shock is a day on which a provider was seen to have changed a price of the family; of rents
    and hardware, which share one market, a calendar year.
    """
    is_shared = scored.kind.isin([PriceKind.MARKET, PriceKind.HARDWARE])
    named = scored.assign(
        provider=scored.provider.where(~is_shared, ""),
        group=scored.family.where(~is_shared, scored.tier),
    )
    rows = []
    for key, group in named.groupby(["kind", "provider", "group", "months"]):
        kind, *_ = key
        if kind in (PriceKind.MARKET, PriceKind.HARDWARE):
            shocks = group.month.floordiv(12).nunique()
        else:
            shocks = len({day for days in group.shocks for day in days})
        seldom = kind in (PriceKind.LIST, PriceKind.COMMITMENT)
        share = (group["mass"] if seldom else group.held).mean()
        low, high = chance_of_few(shocks) if shocks < FEW_SHOCKS else (0.75, 0.95)
        unchanged, held = (group.move == 0).mean(), group.held.mean()
        mass, as_wanted = group["mass"].mean(), bool(low <= share <= high)
        rows.append((*key, len(group), shocks, unchanged, held, mass, as_wanted))
    names = ["kind", "provider", "group", "months", "moves", "shocks"]
    return pd.DataFrame(rows, columns=[*names, "unchanged", "held", "mass", "as_wanted"])
