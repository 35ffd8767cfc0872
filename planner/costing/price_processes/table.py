"""The fitted processes, by accelerator and purchase option. PURE."""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from planner.costing.price_processes.families import Family, Tier, find_family
from planner.costing.price_processes.process import KINDS, PriceKind, PriceProcess
from pricing.market.offers import PurchaseOption

TABLE = Path(__file__).with_name("parameters.csv")
_SPOT_OF_EDITION_1 = Path(__file__).with_name("spot_parameters_of_edition_1.csv")
"""What stood in it for spot until November 2026; fitted on levels that were never set anew too."""
CURRENT_EDITION = 2
"""Edition of the fit, which an answer with spot names; others have no parameter that changed."""
GENERAL = "general"
NUMBERS = (
    *("changes_per_year", "changes_shape", "change_size", "change_size_sd", "rise_share"),
    *("drift", "drift_sd", "resets_per_year", "usual_discount", "discount_sd", "shock_sd"),
)
"""Columns of `parameters.csv` that hold a number with a fraction; units as in `PriceProcess`."""
COLUMNS = ("kind", "scope", *NUMBERS, "series", "cells", "fitted_to", "source")

Scope = tuple[PriceKind, str]


def find_process(
    accelerator: str,
    purchase_option: PurchaseOption | PriceKind,
    year: int | None = None,
    edition: int = CURRENT_EDITION,
) -> PriceProcess:
    """The process of an accelerator's price: its family's, its tier's, or that of the kind.

    `accelerator` is a canonical slug; one that is not known takes the general process of the
    kind, whose range is wider. `year` is the year asked in, by default that of the evidence:
    list prices of young families are cut more often. `edition` is that of the fit.

    >>> find_process("nvidia-h100-80gb-sxm", PurchaseOption.SPOT).level
    'family'
    >>> find_process("nvidia-x900", PurchaseOption.SPOT).level
    'general'
    """
    kind = purchase_option if isinstance(purchase_option, PriceKind) else KINDS[purchase_option]
    family = find_family(accelerator)
    if family is None:
        return replace(all_processes(edition)[kind, GENERAL], family=accelerator)
    return find_in(all_processes(edition), kind, family, year)


def find_in(
    processes: Mapping[Scope, PriceProcess],
    kind: PriceKind,
    family: Family,
    year: float | None = None,
) -> PriceProcess:
    """The most specific process of a family among `processes`."""
    general = processes[kind, GENERAL]
    age = "young" if family.is_young(year or general.fitted_to.year) else "old"
    names = (f"family:{family.name}", f"tier:{family.tier}")
    scopes = [scope for name in names for scope in (f"{name}:{age}", name)]
    best = next((processes[kind, s] for s in scopes if (kind, s) in processes), general)
    return replace(best, family=family.name, tier=family.tier.value)


@cache
def all_processes(edition: int = CURRENT_EDITION) -> Mapping[Scope, PriceProcess]:
    """Every fitted process by kind and scope, such as "family:h100"."""
    rows = _read(TABLE)
    if edition < CURRENT_EDITION:
        rows |= _read(_SPOT_OF_EDITION_1)
    return MappingProxyType(rows)


def _read(path: Path) -> dict[Scope, PriceProcess]:
    with path.open(newline="", encoding="utf-8") as lines:
        return {(PriceKind(r["kind"]), r["scope"]): _process(r) for r in csv.DictReader(lines)}


def _process(row: Mapping[str, str]) -> PriceProcess:
    level, _, name = row["scope"].partition(":")
    values: dict[str, Any] = {column: float(row[column] or 0) for column in NUMBERS}
    return PriceProcess(
        family=name.split(":")[0] if level == "family" else "",
        kind=PriceKind(row["kind"]),
        tier=Tier(name.split(":")[0]).value if level == "tier" else "",
        level=level,
        series=int(row["series"]),
        cells=int(row["cells"]),
        fitted_to=dt.date.fromisoformat(row["fitted_to"]),
        source=row["source"],
        **values,
    )


def write(processes: Mapping[Scope, PriceProcess], path: Path = TABLE) -> None:
    """Write the parameters; the same processes give the same bytes."""
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (kind, scope), one in sorted(processes.items()):
            facts = (one.series, one.cells, one.fitted_to.isoformat(), one.source)
            writer.writerow([kind.value, scope, *_numbers(one), *facts])


def _numbers(one: PriceProcess) -> Iterable[str]:
    return (f"{getattr(one, name):.4g}" for name in NUMBERS)
