"""TPU price lists as slices: the unit of each row decides how many of it a slice takes. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from pricing.bundled.draft import Draft, with_note
from pricing.bundled.row_audit import Account, Outcome
from pricing.bundled.source import Row, day, read
from pricing.market import machine_types
from pricing.market.machine_types import TpuSlice
from pricing.market.offers import Offer, PurchaseOption

PRICES = "data/prices/gcp_tpu.csv"

_UNIT_UNCLEAR = "MIXED"
_WHOLE_SLICE = "whole slice"
_GENERATION = re.compile(r"v\d+[a-z]*")
_COLUMNS = {
    PurchaseOption.ON_DEMAND: "usd_per_hour_on_demand",
    PurchaseOption.SPOT: "usd_per_hour_spot",
}


def drafts(folder: Path, account: Account) -> Iterator[Draft]:
    """Every TPU slice priced under `folder`; of two lists the later in the file is the older."""
    priced: set[tuple[str, str]] = set()
    for row in map(account.enter, read(folder, PRICES)):
        place = (row["region"], row["tpu"])
        if _UNIT_UNCLEAR in row["basis"]:
            account.tell(row, Outcome.UNIT_MIXED, f"{row['tpu']} {row['region']}")
        elif place in priced:
            account.tell(row, Outcome.DUPLICATE, f"{row['tpu']} {row['region']}")
        else:
            priced.add(place)
            yield from _row(row, account)


def _row(row: Row, account: Account) -> Iterator[Draft]:
    slices = list(_slices(row))
    if not slices:
        account.tell(row, Outcome.UNKNOWN_MACHINE, row["tpu"])
    for one in slices:
        for option, column in _COLUMNS.items():
            price = row.amount(column)
            if price is not None:
                yield _draft(row, one, option, price)


def _slices(row: Row) -> Iterator[TpuSlice]:
    """The slices that a row prices: itself, or every size of its generation by the chip."""
    generation = _GENERATION.match(row["tpu"])
    accelerator = f"google-tpu-{generation.group()}" if generation else ""
    whole = _WHOLE_SLICE in row["basis"]
    for one in machine_types.tpu_slices():
        if one.name == row["tpu"] if whole else one.accelerator == accelerator:
            yield one


def _draft(row: Row, one: TpuSlice, option: PurchaseOption, price: Decimal) -> Draft:
    whole = _WHOLE_SLICE in row["basis"]
    hourly = price if whole else price * one.chips
    note = "" if whole else f"{one.chips} chips x {price}"
    offer = Offer(
        provider="gcp",
        region=row["region"],
        instance_type=one.name,
        accelerator=one.accelerator,
        accelerator_count=Fraction(one.chips),
        purchase_option=option,
        price_per_hour=hourly,
        vcpus=one.vcpus,
        memory_gib=None if one.memory_gib is None else float(one.memory_gib),
        source=with_note(row["source"], note),
        as_of=day(row["source_date"]),
    )
    if _is_offered(row["region"], one):
        return Draft(row, offer, Outcome.PUBLISHED)
    return Draft(row, offer, Outcome.NOT_SOLD_THERE, f"{row['tpu']} {row['region']}")


def _is_offered(region: str, one: TpuSlice) -> bool:
    if not one.machine_types:
        return False
    listed = machine_types.regions_by_machine_type().items()
    return any(region in where for name, where in listed if name.startswith(one.machine_types))
