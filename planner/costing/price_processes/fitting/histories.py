"""Price histories in their compact form: one row a series, a price a month. PURE.

`prices` holds one entry for each month from `start` on: a price of four digits, "=" for the
price before, "." for a month without one. `on_demand` is written likewise, for spot.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import zstandard

from planner.costing.price_processes.families import read_family
from planner.costing.price_processes.process import PriceKind
from pricing.market.families import instance_family

TABLE = Path(__file__).parents[1] / "histories.csv.zst"
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
    ends = _longest(ends)
    rows = [_row(one) for _, one in ends.groupby(_KEY)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _longest(ends: pd.DataFrame) -> pd.DataFrame:
    """The rows of one machine of each size family: sizes move alike and would count twice."""
    sizes = ends.groupby(_KEY, as_index=False).agg(months=("month", "size"))
    sizes["size_family"] = sizes.machine.map(instance_family)
    sizes["family"] = [read_family(text).name for text in sizes.accelerator]
    by_length = sizes.sort_values(["months", "machine"], ascending=[False, True], kind="stable")
    same = ["kind", "provider", "place", "size_family", "family", "option"]
    return ends.merge(by_length.drop_duplicates(same)[_KEY], on=_KEY)


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
