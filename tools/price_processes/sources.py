"""Dated price lists of a folder, read into one table of prices. PURE.

Files are known by how their names begin; each rule says what kind of price a file holds, which
of its rows are left out, and whether it may be fitted on or only tested against. Every row is
accounted for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from planner.costing.price_processes.process import PriceKind
from pricing.common.invalid_input import InvalidInput
from pricing.market import machine_types

COLUMNS = [
    *("kind", "provider", "place", "machine", "accelerator", "option", "date"),
    *("price", "on_demand", "fitted", "source"),
]
"""Of the table: `price` in USD per hour (or USD of hardware), `on_demand` the list price of the
same machine then, 0 where it is unknown; `fitted` is False where a file is too coarse."""
CLOUDS = frozenset({"aws", "azure", "gcp", "aws ec2", "amazon-web-services", "google-cloud"}) | {
    "microsoft-azure",
    "oracle",
}
_NAMES = {"amazon-web-services": "aws", "google-cloud": "gcp", "microsoft-azure": "azure"}
_TESTED_ONLY = ("cloud_gpus_lists", "epoch_rental_points", "hw_epoch_purchase_points")
"""Files too coarse to fit on."""
_PREVIEW_RISE = 0.6
"""A rise of ln 2 within Azure's lists of 2017 to 2019 ends a preview price."""


@dataclass
class Prices:
    """What a folder holds: the table, and what became of every row of every file."""

    table: pd.DataFrame
    outcomes: dict[str, Counter[str]] = field(default_factory=dict)


def read_folder(folder: Path) -> Prices:
    """Every price history under `folder`; `InvalidInput` where there is none."""
    files = sorted(path for path in folder.rglob("*.csv") if _rule(path) is not None)
    if not files:
        raise InvalidInput("folder", f"{folder} holds no price history")
    outcomes: dict[str, Counter[str]] = {}
    tables = []
    for path in files:
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
        outcomes[path.name] = Counter(rows=len(rows))
        table = _read(path, rows)
        outcomes[path.name]["prices"] = len(table)
        tables.append(table)
    return Prices(_with_on_demand(pd.concat(tables, ignore_index=True)), outcomes)


def _read(path: Path, rows: pd.DataFrame) -> pd.DataFrame:
    rule = _rule(path)
    assert rule is not None
    try:
        table = rule(rows)
    except (KeyError, AttributeError) as missing:
        raise InvalidInput(path.name, f"lacks a column: {missing}") from None
    table["fitted"] = not path.name.startswith(_TESTED_ONLY)
    table["date"] = pd.to_datetime(table["date"])
    table["price"] = pd.to_numeric(table["price"], errors="coerce")
    return table.loc[table["price"] > 0, COLUMNS]


def _series(rows: pd.DataFrame, kind: str | pd.Series = "", price: str = "") -> pd.DataFrame:
    if isinstance(kind, str) and not kind:
        kind = rows.purchase_option.map(_kind)
    column = price or ("usd_per_hour" if "usd_per_hour" in rows else "price_usd")
    return pd.DataFrame(
        {
            "kind": kind
            if isinstance(kind, pd.Series)
            else (kind or rows.purchase_option.map(_kind)),
            "provider": rows.provider.replace(_NAMES),
            "place": rows.region_or_zone,
            "machine": rows.instance_type_or_gpu,
            "accelerator": rows.accelerator,
            "option": rows.purchase_option,
            "date": rows.date.str[:10],
            "price": rows[column],
            "on_demand": 0.0,
            "source": rows.source.map(repository),
        }
    )


def repository(source: str) -> str:
    """The repository or page behind a source, without commit and path.

    >>> repository("aws/karpenter-provider-aws@0ef00ab:pkg/a.go")
    'aws/karpenter-provider-aws'
    """
    return re.split(r"[@;]", source, maxsplit=1)[0].strip()


def _kind(option: str) -> str:
    if re.match(r"reserved|committed|savings", option):
        return PriceKind.COMMITMENT
    if re.match(r"spot|low_priority", option):
        return PriceKind.SPOT
    return PriceKind.LIST


def _azure(rows: pd.DataFrame) -> pd.DataFrame:
    faulty = (rows.region_or_zone == "polandcentral") & rows.accelerator.str.startswith("A100")
    faulty |= rows.instance_type_or_gpu.str.startswith("Standard_NCC40ads")
    return _series(rows[~faulty])


def _azure_preview(rows: pd.DataFrame) -> pd.DataFrame:
    table = _series(rows).sort_values("date")
    key = ["place", "machine", "option"]
    logs = np.log(pd.to_numeric(table.price))
    doubled = logs.groupby([table[k] for k in key]).diff() > _PREVIEW_RISE
    ends = table.date.where(doubled).groupby([table[k] for k in key]).transform("max")
    return table[ends.isna() | (table.date >= ends)]


def _zones(rows: pd.DataFrame) -> pd.DataFrame:
    table = _series(rows)
    table["window"] = (
        (rows.note == "segment_start").groupby([table.place, table.machine], sort=False).cumsum()
    )
    table["date"] = pd.to_datetime(table.date)
    key = ["place", "machine", "window"]
    ends = []
    for _, window in table.sort_values("date").groupby(key, sort=False):
        last = window.date.iloc[-1]
        months = pd.date_range(window.date.iloc[0], last, freq="ME")
        filled = window.set_index("date").reindex(months.union([last]), method="ffill")
        ends.append(filled.rename_axis("date").reset_index())
    return pd.concat(ends, ignore_index=True).drop(columns="window")


def _savings(rows: pd.DataFrame) -> pd.DataFrame:
    table = _series(rows, PriceKind.SPOT, "value")
    table["price"] = 1.0 - pd.to_numeric(rows.value) / 100.0
    table["on_demand"] = 1.0
    table["option"] = "spot_share"
    return table


def _trackers(rows: pd.DataFrame) -> pd.DataFrame:
    table = _series(rows, PriceKind.MARKET)
    table["option"] += "|" + table.source.str.split("/").str[0]
    return table[~table.provider.str.casefold().isin(CLOUDS)]


def _points(rows: pd.DataFrame) -> pd.DataFrame:
    kinds = rows.purchase_option.map(_kind)
    own = ~rows.provider.replace(_NAMES).isin(CLOUDS)
    return _series(rows, kinds.mask(own, PriceKind.MARKET.value))


def _market(rows: pd.DataFrame) -> pd.DataFrame:
    return _series(rows[rows.accelerator != "legacy"], PriceKind.MARKET)


def _neo_lists(rows: pd.DataFrame) -> pd.DataFrame:
    return _market(rows[~rows.provider.isin(CLOUDS)])


def _hardware(rows: pd.DataFrame) -> pd.DataFrame:
    return _series(rows, PriceKind.HARDWARE)


def _cloud_list(
    rows: pd.DataFrame, provider: str, machine: str, date: str, price: str
) -> pd.DataFrame:
    known = {name: machine_types.find(provider, name) for name in rows[machine].unique()}
    slugs = rows[machine].map({n: m.accelerator for n, m in known.items() if m and m.accelerator})
    table = pd.DataFrame(
        {
            "kind": PriceKind.LIST.value,
            "provider": provider,
            "place": rows.region if "region" in rows else "us-east-1",
            "machine": rows[machine],
            "accelerator": slugs.str.split("-", n=1).str[1],
            "option": "on_demand",
            "date": rows[date].str[:10],
            "price": rows[price],
            "on_demand": 0.0,
        }
    )
    return table[slugs.notna()].copy()


def _aws_changes(rows: pd.DataFrame) -> pd.DataFrame:
    table = _cloud_list(rows, "aws", "instance_type", "first_seen_date", "usd_per_hour")
    last = table.sort_values("date").groupby("machine").tail(1).assign(date=table.date.max())
    table = pd.concat([table, last]).drop_duplicates(["machine", "date"])
    table["date"] = pd.to_datetime(table.date)
    months = pd.date_range(table.date.min(), table.date.max(), freq="MS")
    selected = []
    for _, one in table.groupby("machine"):
        span = months[months >= one.date.iloc[0]].union(one.date)
        selected.append(one.set_index("date").reindex(span, method="ffill").rename_axis("date"))
    return pd.concat(selected).reset_index().assign(source="aws/karpenter-provider-aws")


def _azure_snapshots(rows: pd.DataFrame) -> pd.DataFrame:
    kinds = {"on_demand": PriceKind.LIST, "spot": PriceKind.SPOT, "low_priority": PriceKind.SPOT}
    linux = rows[rows.price_model.isin(kinds)]
    table = _cloud_list(linux, "azure", "arm_sku_name_inferred", "snapshot_at", "retail_price_usd")
    table["option"] = linux.price_model
    table["kind"] = linux.price_model.map({k: v.value for k, v in kinds.items()})
    return table.assign(source="andy-diericks/azure-pricing-radar")


def _gcp_months(rows: pd.DataFrame) -> pd.DataFrame:
    columns = {"hour": "on_demand", "hour_spot": "spot"}
    columns |= {"month_1y": "committed_1y", "month_3y": "committed_3y"}
    tables = []
    for column, option in columns.items():
        table = _cloud_list(rows, "gcp", "machine_type", "snapshot_date", column)
        tables.append(table.assign(option=option, kind=_kind(option)))
    source = "Cyclenerd/google-cloud-pricing-cost-calculator"
    return pd.concat(tables, ignore_index=True).assign(source=source)


def _with_on_demand(table: pd.DataFrame) -> pd.DataFrame:
    month = table.date.dt.to_period("M")
    keys = ["provider", "place", "machine"]
    lists = table[(table.kind == PriceKind.LIST) & table.fitted].assign(month=month)
    exact = lists.groupby([*keys, "month"]).price.last()
    rough = lists[lists.place == "us-east-1"].groupby(["provider", "machine"]).price.last()
    spot = (table.kind == PriceKind.SPOT) & (table.on_demand == 0)
    rows = table.loc[spot, keys].assign(month=month)
    matched = exact.reindex(pd.MultiIndex.from_frame(rows)).to_numpy()
    other = rough.reindex(pd.MultiIndex.from_frame(rows[["provider", "machine"]])).to_numpy()
    table.loc[spot, "on_demand"] = np.nan_to_num(np.where(np.isnan(matched), other, matched))
    return table


_RULES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "aws_price_changes": _aws_changes,
    "azure_prices_history_radar": _azure_snapshots,
    "gcp_prices_history_monthly": _gcp_months,
    "aws_spot_by_zone": _zones,
    "aws_spot_saving": _savings,
    "azure_od_reserved_lowpri": _azure_preview,
    "azure_od": _azure,
    "market_rental": _trackers,
    "cloud_gpus_lists": _neo_lists,
    "epoch_rental_points": _points,
    "published_index_points": _market,
    "hw_epoch_purchase_points": _hardware,
    "hw_price_history": _hardware,
    "aws_": _series,
    "azure_": _series,
    "gcp_": _series,
    "market_": _trackers,
    "hw_": _hardware,
}
"""By beginning of the file's name; the first that fits."""


def _rule(path: Path) -> Callable[[pd.DataFrame], pd.DataFrame] | None:
    if path.name.startswith("hw_release_dates"):
        return None
    return next((rule for start, rule in _RULES.items() if path.name.startswith(start)), None)
