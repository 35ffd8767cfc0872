"""What each provider is known to sell, whether its price is known or not. PURE.

`pricing/data/sold_options.csv` says which purchase options a provider sells for which families of
machines, with source and date. The first row whose machines match counts; `*` is every machine.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pricing.market import machine_types
from pricing.market.families import instance_family

TABLE = Path(__file__).parents[1] / "data" / "sold_options.csv"
COLUMNS = (
    "provider",
    "purchase_option",
    "machines",
    "sold",
    "needs_account",
    "as_of",
    "source",
)
EVERY_MACHINE = "*"


@dataclass(frozen=True)
class SoldOption:
    """Whether a provider sells machines of some families under a purchase option."""

    families: frozenset[str]
    """Families of machines; `*` is every one."""
    is_sold: bool | None
    """None where that depends on the machine and no source says it of each."""
    needs_account: bool
    """Whether its prices are read with an account alone."""
    source: str


@cache
def sold_options() -> dict[tuple[str, str], tuple[SoldOption, ...]]:
    """(provider, purchase option) → what is known, the first match first."""
    table: dict[tuple[str, str], tuple[SoldOption, ...]] = {}
    with TABLE.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            key = row["provider"], row["purchase_option"]
            table[key] = (*table.get(key, ()), _parse(row))
    return table


def find_sold_option(provider: str, purchase_option: str, instance_type: str) -> SoldOption | None:
    """What is known of one machine, None where nothing is.

    >>> find_sold_option("aws", "savings_plan", "p5.48xlarge").is_sold
    True
    >>> find_sold_option("gcp", "dws_calendar_mode", "a2-highgpu-8g").is_sold
    False
    >>> find_sold_option("aws", "reserved", "p5.48xlarge").is_sold is None
    True
    """
    machine_type = machine_types.find(provider, instance_type)
    if machine_type is not None and purchase_option in machine_type.not_sold_as:
        return SoldOption(frozenset({instance_type}), False, False, machine_type.source)
    family = machine_family(instance_type)
    for known in sold_options().get((provider, purchase_option), ()):
        if known.families & {EVERY_MACHINE, family}:
            return known
    return None


def machine_family(instance_type: str) -> str:
    """The family of a machine; of a host with attached accelerators, that of the host.

    >>> machine_family("p6-b200.48xlarge"), machine_family("n1-standard-8+1xnvidia-tesla-t4")
    ('p6-b200', 'n1-standard')
    """
    return instance_family(instance_type.split("+", 1)[0])


def _parse(row: dict[str, str]) -> SoldOption:
    return SoldOption(
        families=frozenset(row["machines"].split()),
        is_sold={"yes": True, "no": False, "unknown": None}[row["sold"]],
        needs_account=row["needs_account"] == "yes",
        source=row["source"],
    )
