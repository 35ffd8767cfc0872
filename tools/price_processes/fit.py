"""Parameters of every process from the moves before a month, shrunk level by level. PURE.

Whatever a family has too little history for it borrows from its tier, and the tier from all
families of the kind:

    estimate = (Σ cells + k · estimate of the level above) / (n + k)

A cell is one provider, family and year: prices of one list move together, so a cell counts
once however many regions it has. k is `BORROWED_CELLS`; the figures of the highest level start
from `PRIORS` with the same weight, which says what is believed before any history.
"""

from __future__ import annotations

import csv
import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from planner.costing.price_processes.process import (
    COLUMNS,
    GENERAL,
    NUMBERS,
    TABLE,
    YOUNG_YEARS,
    PriceKind,
    PriceProcess,
    Scope,
)
from tools.price_processes.histories import Moves


def fit(moves: Moves, before: int) -> Mapping[Scope, PriceProcess]:
    """The processes fitted on prices seen before month `before` (months since January 1970)."""

    def select(table: pd.DataFrame, column: str) -> pd.DataFrame:
        return table[(table[column] < before) & table.fitted]

    steps, lagged = select(moves.steps, "end"), select(moves.lagged, "end")
    return {
        **fit_lists(steps, PriceKind.LIST),
        **fit_lists(steps, PriceKind.COMMITMENT),
        **fit_spot(lagged, select(moves.levels, "month"), before),
        **fit_walks(lagged, PriceKind.MARKET),
        **fit_walks(lagged, PriceKind.HARDWARE),
    }


def fit_parameters(series: pd.DataFrame, moves: Moves) -> Mapping[Scope, PriceProcess]:
    """Processes of all scopes, fitted on everything, with series, date and source of each."""
    fitted = fit(moves, int(moves.levels.month.max()) + 1)
    known = series[series.fitted]
    return {scope: _with_evidence(process, scope, known) for scope, process in fitted.items()}


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


def write(processes: Mapping[Scope, PriceProcess], path: Path = TABLE) -> None:
    """Write the parameters; the same processes give the same bytes."""
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (kind, scope), one in sorted(processes.items()):
            facts = (one.series, one.cells, one.fitted_to.isoformat(), one.source)
            numbers = (f"{getattr(one, name):.4g}" for name in NUMBERS)
            writer.writerow([kind.value, scope, *numbers, *facts])


# List prices and commitments: how often they change, and by how much

CHANGE = 0.01
"""|ln| from which a difference is a change: smaller ones are rounding and exchange rates."""
PRIOR_CHANGES_PER_YEAR = 0.05
PRIOR_LIST_YEARS = 10.0
"""Before any history: one change in twenty years of one provider's family, held for ten."""
LIST_YEARS = 12.0
"""Years of the level above that count as much as a family's own."""
PRIOR_SIZE = 0.2
PRIOR_SIZE_SD = 0.8
PRIOR_SIZES = 3.0
"""Before any history: a change is about 20 % and seldom above two thirds."""
MIN_SHAPE = 0.5
LIST_WIDENING = 1.5
"""Factor on the highest λ of a kind, for accelerators about which nothing is known."""


def fit_lists(steps: pd.DataFrame, kind: PriceKind) -> dict[tuple[PriceKind, str], PriceProcess]:
    """Processes of all scopes; families and tiers have one for each age."""
    own = _weighted(steps[steps.kind == kind])
    size, size_sd, rise = _sizes(own)
    rates = _rates(own)
    processes = {}
    for scope, (rate, changes, cells, tier) in rates.items():
        processes[kind, scope] = PriceProcess(
            family="",
            kind=kind,
            tier=tier,
            changes_per_year=rate,
            changes_shape=max(changes, MIN_SHAPE),
            change_size=size,
            change_size_sd=size_sd,
            rise_share=rise,
            cells=cells,
        )
    return processes


def _weighted(steps: pd.DataFrame) -> pd.DataFrame:
    rows = steps.assign(is_change=steps.move.abs() > CHANGE)
    together = rows.groupby(["provider", "family", "end"]).move.transform("size")
    rows["weight"] = 1.0 / together
    rows["years"] = rows.months / 12.0 * rows.weight
    rows["changes"] = rows.is_change * rows.weight
    age = 1970.0 + rows.end / 12.0 - rows.year
    rows["age"] = np.where((rows.year == 0) | (age < YOUNG_YEARS), "young", "old")
    return rows


def _sizes(rows: pd.DataFrame) -> tuple[float, float, float]:
    changed = rows[rows.is_change]
    events = changed.groupby(["provider", "family", "end"]).move.median().to_numpy()
    logs = np.log(np.maximum(np.abs(events), CHANGE))
    middle = shrink(float(logs.sum()), len(logs), math.log(PRIOR_SIZE), PRIOR_SIZES)
    squares = float(((logs - middle) ** 2).sum())
    spread = math.sqrt(shrink(squares, len(logs), PRIOR_SIZE_SD**2, PRIOR_SIZES))
    rise = (float((events > 0).sum()) + 0.5) / (len(events) + 2.0)
    return float(np.exp(middle)), spread, rise


def _rates(rows: pd.DataFrame) -> dict[str, tuple[float, float, int, str]]:
    changes, years = float(rows.changes.sum()), float(rows.years.sum())
    general = shrink(changes, years, PRIOR_CHANGES_PER_YEAR, PRIOR_LIST_YEARS)
    rates: dict[str, tuple[float, float, int, str]] = {}
    for (tier, age), group in rows.groupby(["tier", "age"]):
        changes, years = float(group.changes.sum()), float(group.years.sum())
        middle = shrink(changes, years, general, LIST_YEARS)
        seen = changes + LIST_YEARS * general
        rates[f"tier:{tier}:{age}"] = (middle, seen, _list_cells(group), str(tier))
        for family, own in group.groupby("family"):
            changes, years = float(own.changes.sum()), float(own.years.sum())
            rate = shrink(changes, years, middle, LIST_YEARS)
            seen = changes + LIST_YEARS * middle
            rates[f"family:{family}:{age}"] = (rate, seen, _list_cells(own), str(tier))
    steepest = max([general, *(rate for rate, _, _, tier in rates.values() if tier)])
    rates["general"] = (LIST_WIDENING * steepest, MIN_SHAPE, _list_cells(rows), "")
    return rates


def _list_cells(rows: pd.DataFrame) -> int:
    return int((rows.provider + rows.family + (rows.end // 12).astype(str)).nunique())


# Spot: its usual discount, how often it is set anew, and how far

PRIOR_DISCOUNT = math.log(0.19)
"""Before any history: the middle, by logarithm, of the discounts of 60 to 91 % that GCP
announces for spot; AWS and Azure announce up to 90 %."""
SPOT_YEARS = 12.0
"""Provider-years of the level above, and before that of what is believed before any history, that
count as much as a family's own resets: a provider sets all its prices at once, so that even many
of them tell of few cases."""
PRIOR_DISCOUNT_SD = 0.45
"""Before any history: τ; with it p10 to p90 of the discount are about the announced 60 to 91 %."""
PRIOR_RESET = 0.6
"""Before any history: share of spot prices that are set anew within a year. Assumed; a provider's
year that is a year older counts half."""
RESET = 0.05
"""|ln| from which a year's move is a reset and not one of many small ones."""
UNSURE_YEARS = 1.5
"""Provider-years of resets of its own after which a family's usual discount is known twice as
well; a family that takes the process of its tier has none."""
_CASE = ["provider", "year_seen"]
"""All families and regions of a provider in a year count once: it sets them together."""


STEP = 0.15
"""Most of |ln| in a month that counts as steps; what is beyond is a reset."""
STEPS_HALF_LIFE = 3.0
"""Months after which a month of a provider's steps counts half: whether it steps is what the last
year tells. Google set spot rarely until 2025, and every fortnight from February 2026 on."""
PRIOR_STEP_SD = 0.075
PRIOR_MOMENTUM = 0.9
"""Before any history: a month's steps, and the share of them that the next month repeats. Assumed
as large as those that Google began in February 2026, as any provider may begin or stop them."""
STEP_MONTHS = 8.0
"""Months that what is believed before any history, and of a provider the figures of all, count."""


def fit_spot(
    lagged: pd.DataFrame, observations: pd.DataFrame, before: int
) -> dict[tuple[PriceKind, str], PriceProcess]:
    """Processes of all scopes of spot: of every family with a price, if only by its tier; and the
    steps of each provider."""
    known = observations[(observations.kind == PriceKind.SPOT) & observations.discount.notna()]
    known = known.assign(year_seen=known.month // 12)
    spot = lagged[lagged.kind == PriceKind.SPOT].assign(year_seen=lagged.end // 12)
    moves = spot[spot.lag == 12]
    # Where a price stands that was never set anew tells of its first price alone.
    after = moves[moves.move.abs() > RESET]
    after = after.assign(discount=after.discount + after.move)
    after = after[after.discount.notna()]
    usual = levels(after, "discount", PRIOR_DISCOUNT, _CASE, weight=SPOT_YEARS)
    middle = after.family.map(lambda family: usual[f"family:{family}"]).astype(float)
    rows = after.assign(square=(after.discount - middle) ** 2)
    variances = levels(rows, "square", PRIOR_DISCOUNT_SD**2, _CASE, weight=SPOT_YEARS)
    reset = (moves.move.abs() > RESET).groupby([moves.provider, moves.year_seen]).mean()
    recent = 0.5 ** (before // 12 - reset.index.get_level_values("year_seen").to_numpy(float))
    share = shrink(float((reset * recent).sum()), float(recent.sum()), PRIOR_RESET)
    steps = _steps(observations, before)
    general_sd, momentum = steps.pop(GENERAL)
    counts, resets = cells(known), cells(after)
    processes = {}
    for scope, above in _scopes(known).items():
        own = resets.get(scope, 0) if scope.startswith("family:") else 0
        unsure = 1.0 + UNSURE_YEARS / (own + UNSURE_YEARS)
        wide = GENERAL_WIDENING if scope == "general" else 1.0
        nearest = next(name for name in (scope, above, "general") if name in usual)
        processes[PriceKind.SPOT, scope] = PriceProcess(
            family="",
            kind=PriceKind.SPOT,
            tier="",
            resets_per_year=-math.log1p(-share),
            usual_discount=usual[nearest],
            discount_sd=wide * math.sqrt(variances[nearest] * unsure),
            shock_sd=wide * general_sd,
            momentum=momentum,
            cells=counts[scope],
        )
    months = known[["provider", "year_seen"]].drop_duplicates().provider.value_counts()
    for provider, (sd, again) in steps.items():
        processes[PriceKind.SPOT, f"provider:{provider}"] = PriceProcess(
            family="",
            kind=PriceKind.SPOT,
            tier="",
            shock_sd=sd,
            momentum=again,
            cells=int(months[provider]),
        )
    return processes


def _scopes(known: pd.DataFrame) -> dict[str, str]:
    pairs = known[["tier", "family"]].drop_duplicates()
    above = {"general": "general"}
    above |= {f"tier:{tier}": "general" for tier in pairs.tier}
    return above | {
        f"family:{family}": f"tier:{tier}"
        for tier, family in zip(pairs.tier, pairs.family, strict=True)
    }


def _steps(observations: pd.DataFrame, before: int) -> dict[str, tuple[float, float]]:
    """σ and ρ of all providers together and of each: from the covariances of moves of a month that
    are one to three months apart, which what one month alone has does not touch."""
    priors = [PRIOR_STEP_SD**2 * PRIOR_MOMENTUM**lag for lag in (1, 2, 3)]
    spot = observations[observations.kind == PriceKind.SPOT]
    if spot.empty:
        return {GENERAL: _step_figures(*priors)}
    wide = spot.pivot_table(index=["provider", "series"], columns="month", values="log_price")
    wide = wide.reindex(columns=range(int(wide.columns.min()), before))
    moves = wide.diff(axis=1).clip(-STEP, STEP)
    age = before - 1 - np.asarray(moves.columns, dtype=float)
    weight = pd.Series(0.5 ** (age / STEPS_HALF_LIFE), moves.columns)
    by_month = [(moves * moves.shift(lag, axis=1)).groupby("provider").mean() for lag in (1, 2, 3)]
    above = [
        shrink(
            float((mean * weight).sum().sum()),
            float((mean.notna() * weight).sum().sum()),
            prior,
            STEP_MONTHS,
        )
        for mean, prior in zip(by_month, priors, strict=True)
    ]
    found = {GENERAL: _step_figures(*above)}
    for provider in by_month[0].index:
        own = [
            shrink(
                float((mean.loc[provider] * weight).sum()),
                float((mean.loc[provider].notna() * weight).sum()),
                general,
                STEP_MONTHS,
            )
            for mean, general in zip(by_month, above, strict=True)
        ]
        found[provider] = _step_figures(*own)
    return found


def _step_figures(first: float, second: float, third: float) -> tuple[float, float]:
    floor = (PRIOR_STEP_SD / 4.0) ** 2
    first = max(first, floor)
    momentum = min(max((second + third) / (first + max(second, floor)), 0.0), 0.95)
    return math.sqrt(12.0 * first / max(momentum, 0.5)), momentum


# Rents and hardware: drift and volatility of a random walk

PRIOR_DRIFT = {PriceKind.MARKET: -0.15, PriceKind.HARDWARE: -0.43}
"""Before any history. Rents: 15 % a year, about half of the gain of performance per dollar of
accelerators (Epoch AI: 10^0.14 a year). Hardware: it keeps 65 % of its value a year, as
published guides to residual values have it (2026)."""
PRIOR_MOVE_SD = {PriceKind.MARKET: 0.4, PriceKind.HARDWARE: 0.6}
"""Before any history: sd of a year's move around the drift."""
TREND_SHARE = 0.35
"""Share of the variance of a year's move that is persistent drift, not shock: 24-month moves
of hardware vary 2.5 times as much as 12-month ones from the same origins; a pure walk says 2, a
pure trend 4, this share 2.7."""
DRIFT_LAG = 6
"""Months from which a move says something of the drift."""
GENERAL_WIDENING = 1.25


def fit_walks(lagged: pd.DataFrame, kind: PriceKind) -> dict[tuple[PriceKind, str], PriceProcess]:
    """Processes of all scopes of one kind.

    A calendar year counts once in drift and variance: all rents and cards share its market.
    """
    moves = lagged[(lagged.kind == kind) & (lagged.lag <= 12)].assign(year_seen=lagged.end // 12)
    longest = moves.groupby("series").lag.transform("max")  # noise of months says little of years
    moves = moves[np.asarray(moves.lag == longest)]
    moves["years"] = moves.months / 12.0
    long = moves[moves.lag >= DRIFT_LAG]
    drifts = levels(long, "move", PRIOR_DRIFT[kind], ["year_seen"], size="years")
    expected = moves.family.map(lambda f: drifts.get(f"family:{f}", drifts["general"]))
    rest = moves.move - expected.astype(float) * moves.years
    moves["variance"] = rest**2 / (TREND_SHARE * moves.years**2 + (1.0 - TREND_SHARE) * moves.years)
    variances = levels(moves, "variance", PRIOR_MOVE_SD[kind] ** 2, ["year_seen"], weight=5.0)
    counts = cells(moves)
    processes = {}
    for scope, variance in variances.items():
        wide = GENERAL_WIDENING if scope == "general" else 1.0
        processes[kind, scope] = PriceProcess(
            family="",
            kind=kind,
            tier="",
            drift=drifts.get(scope, drifts["general"]),
            drift_sd=wide * math.sqrt(TREND_SHARE * variance),
            shock_sd=wide * math.sqrt((1.0 - TREND_SHARE) * variance),
            cells=counts[scope],
        )
    return processes


# Shrinkage of cell means towards the level above

BORROWED_CELLS = 3.0
"""k: the level above counts as much as three cells of a family's own."""


def shrink(total: float, cells: float, above: float, weight: float = BORROWED_CELLS) -> float:
    """(total + k · above) / (cells + k).

    >>> shrink(total=0.0, cells=3, above=0.5)
    0.25
    """
    return (total + weight * above) / (cells + weight)


def levels(
    rows: pd.DataFrame,
    value: str,
    prior: float,
    once: list[str],
    size: str = "",
    weight: float = BORROWED_CELLS,
) -> dict[str, float]:
    """Estimate of every scope: general, tier by tier, family by family.

    `once` names what makes a case of its own: rows that agree in it count as one, their mean.
    With `size`, estimates are Σ value / Σ size, in units of size.
    """
    sized = rows.assign(size=rows[size] if size else 1.0, value=rows[value])[
        ["tier", "family", *once, "value", "size"]
    ]
    whole = sized.groupby(once)[["value", "size"]].mean().sum()
    general = shrink(float(whole["value"]), float(whole["size"]), prior, weight)
    estimates = {"general": general}
    for (name,), value_sum, size_sum in _sums(sized, ["tier"], once):
        estimates[f"tier:{name}"] = shrink(value_sum, size_sum, general, weight)
    for (tier, family), value_sum, size_sum in _sums(sized, ["tier", "family"], once):
        above = estimates[f"tier:{tier}"]
        estimates[f"family:{family}"] = shrink(value_sum, size_sum, above, weight)
    return estimates


def _sums(
    rows: pd.DataFrame, scope: list[str], once: list[str]
) -> list[tuple[tuple[str, ...], float, float]]:
    cases = rows.groupby([*scope, *once])[["value", "size"]].mean()
    sums = cases.groupby(level=scope).sum()
    keys = [key if isinstance(key, tuple) else (key,) for key in sums.index]
    return list(zip(keys, sums["value"].tolist(), sums["size"].tolist(), strict=True))


def cells(rows: pd.DataFrame) -> dict[str, int]:
    """Providers × years of every scope."""
    years = rows[["tier", "family", "provider", "year_seen"]].drop_duplicates()
    of_tier = years.drop_duplicates(["tier", "provider", "year_seen"])
    counts = {"general": len(years.drop_duplicates(["provider", "year_seen"]))}
    counts |= {f"tier:{t}": int(n) for t, n in of_tier.tier.value_counts().items()}
    return counts | {f"family:{f}": int(n) for f, n in years.family.value_counts().items()}
