"""Price histories in their compact form: one row a series, a price a month. PURE.

`prices` holds one entry for each month from `start` on: a price of four digits, "=" for the
price before, "." for a month without one. `on_demand` is written likewise, for spot.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import zstandard

from planner.costing.price_processes.process import (
    Family,
    PriceKind,
    Tier,
    families_by_name,
    family_name,
)
from pricing.market.machine_types import instance_family

TABLE = Path(__file__).with_name("histories.csv.zst")
COLUMNS = [
    *("kind", "provider", "place", "machine", "family", "tier", "year", "option", "fitted"),
    *("start", "prices", "on_demand", "first", "last", "source"),
]
_KEY = ["kind", "provider", "place", "machine", "accelerator", "option"]
_LEVEL = 19


def compact(table: pd.DataFrame) -> pd.DataFrame:
    """One row a series; of machines that differ in size alone, the one with the most months."""
    months = table.assign(month=table.date.dt.to_period("M")).sort_values("date", kind="stable")
    ends = months.groupby([*_KEY, "month"], as_index=False).agg(
        price=("price", "last"),
        on_demand=("on_demand", "last"),
        fitted=("fitted", "min"),
        first=("date", "min"),
        last=("date", "max"),
        source=("source", "last"),
    )
    sizes = ends.groupby(_KEY, as_index=False).agg(months=("month", "size"))
    sizes["size_family"] = sizes.machine.map(instance_family)
    sizes["family"] = [read_family(text).name for text in sizes.accelerator]
    by_length = sizes.sort_values(["months", "machine"], ascending=[False, True], kind="stable")
    same = ["kind", "provider", "place", "size_family", "family", "option"]
    ends = ends.merge(by_length.drop_duplicates(same)[_KEY], on=_KEY)
    rows = [_row(one) for _, one in ends.groupby(_KEY)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(one: pd.DataFrame) -> dict[str, object]:
    key = {column: str(one[column].iloc[0]) for column in _KEY}
    family = read_family(key["accelerator"])
    index = pd.period_range(one.month.min(), one.month.max(), freq="M")
    prices = one.set_index("month").price.reindex(index)
    listed = one.set_index("month").on_demand.reindex(index)
    listed = listed.where(listed > 0)
    return {
        **key,
        "family": family.name,
        "tier": family.tier.value,
        "year": family.year,
        "fitted": bool(one.fitted.min()),
        "start": str(index[0]),
        "prices": _encode(prices.to_list()),
        "on_demand": _encode(listed.to_list()) if listed.notna().any() else "",
        "first": one["first"].min().date().isoformat(),
        "last": one["last"].max().date().isoformat(),
        "source": "; ".join(sorted(set(one.source))),
    }


def _encode(values: list[float]) -> str:
    """Prices as text; `_decode` reads it.

    >>> _encode([3.5, 3.5, float("nan"), 3.5, 2.0])
    '3.5 = . = 2'
    """
    words, before = [], ""
    for value in values:
        word = "." if np.isnan(value) else f"{value:.4g}"
        words.append("=" if word == before else word)
        before = before if word == "." else word
    return " ".join(words)


def _decode(text: str) -> list[float]:
    """The prices of `_encode`, NaN where a month has none.

    >>> _decode("3.5 = . 2")
    [3.5, 3.5, nan, 2.0]
    """
    values: list[float] = []
    before = float("nan")
    for word in text.split():
        if word != "=":
            before = before if word == "." else float(word)
        values.append(float("nan") if word == "." else before)
    return values


def write(series: pd.DataFrame, path: Path = TABLE) -> None:
    """Write the compact form, compressed; the same series give the same bytes."""
    text = series.to_csv(index=False, lineterminator="\n")
    path.write_bytes(zstandard.ZstdCompressor(level=_LEVEL).compress(text.encode()))


def read(path: Path = TABLE) -> pd.DataFrame:
    """The compact form, a row a series."""
    packed = zstandard.ZstdDecompressor().decompress(path.read_bytes())
    return pd.read_csv(
        io.BytesIO(packed), keep_default_na=False, dtype={"year": int, "fitted": bool}
    )


def observations(series: pd.DataFrame) -> pd.DataFrame:
    """One row an observed month: `series` (its row), `month` (0 is January 1970), `log_price`,
    `discount` (ln(spot / on demand), NaN where unknown), and what the series belongs to."""
    columns = ["kind", "start", "prices", "on_demand"]
    parts = [
        _months(*map(str, texts)).assign(series=row)
        for row, texts in enumerate(series[columns].to_numpy().tolist())
    ]
    long = pd.concat(parts, ignore_index=True).dropna(subset="log_price")
    facts = ["kind", "provider", "place", "machine", "family", "tier", "year", "option", "fitted"]
    return long.join(series[facts], on="series")


def _months(kind: str, start: str, prices: str, on_demand: str) -> pd.DataFrame:
    logs = np.log(_decode(prices))
    listed = np.log(_decode(on_demand) or [np.nan])
    first = pd.Period(start, freq="M").ordinal
    discount = logs - listed if kind == PriceKind.SPOT else np.full(len(logs), np.nan)
    month = np.arange(first, first + len(logs))
    return pd.DataFrame({"month": month, "log_price": logs, "discount": discount})


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


def read_family(text: str) -> Family:
    """The family that a price list's own words mean; a family of its own where none is known.

    >>> read_family("NVIDIA A100 SXM4 40 GB").name, read_family("RTXPRO6000").name
    ('a100', 'rtx-pro-6000')
    >>> read_family("GeForce GTX 1660 Super").name, read_family("tpu-v3-2048").name
    ('gtx-1660-super', 'tpu-v3')
    """
    name = family_name(text)
    known = families_by_name().get(name)
    return known or Family(name, _tier_in_words(text.casefold()))


def _tier_in_words(text: str) -> Tier:
    if re.search(r"geforce|gtx|radeon|\brx\b|\barc\b|rtx[ -]?[2345]0[5-9]0|titan", text):
        return Tier.CONSUMER
    if re.search(r"quadro|rtx|firepro|\bnvs\b|\bt\d00", text):
        return Tier.WORKSTATION
    return Tier.INFERENCE if re.search(r"[a-z]\d{1,2}\b|inf", text) else Tier.TRAINING
