"""GCP price lists as offers: whole machines, and accelerators attached to a host. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from pricing.bundled.draft import Draft, Terms, offer_of, split, standing
from pricing.bundled.machine import machine
from pricing.bundled.row_audit import Account, Outcome
from pricing.bundled.source import Row, day, read
from pricing.market import machine_types
from pricing.market.machine_types import AttachedMachineType
from pricing.market.offers import PurchaseOption

PRICES = "data/prices/gcp.csv"
HOSTS = "data/prices/gcp_hosts_n1.csv"
AVAILABILITY = "data/specs/gcp_machine_type_region_availability.csv"

HOST_SERIES = "n1-standard-"
"""Hosts that attached accelerators are listed with; live prices add the other N1 series."""
SLICES = {"nvidia-b200": "a4-highgpu-8g"}
"""Accelerators whose price is their share of the whole machine: A4 has no SKUs for cores and
memory."""

HostKey = tuple[str, str, str, str]
"""host, region, purchase option, term."""


@dataclass(frozen=True)
class Market:
    """What the other lists say: where machines are offered, what hosts cost."""

    listed: Mapping[tuple[str, str], bool]
    """(region, machine) → whether a second list has it there."""
    hosts: Mapping[HostKey, Row]

    @classmethod
    def of(cls, folder: Path, account: Account) -> Market:
        columns = "listed_in_karpenter_2026-08-03"
        rows = read(folder, AVAILABILITY)
        listed = {(r["region"], r["machine_type"]): r[columns] == "yes" for r in rows}
        hosts = {}
        for row in map(account.enter, read(folder, HOSTS)):
            account.tell(row, Outcome.HOST_UNUSED, row["instance_type"])
            key = (row["instance_type"], row["region"], row["purchase_option"], row["term_months"])
            hosts[key] = row
        return cls(listed, hosts)

    def offers(self, region: str, name: str) -> bool:
        """Whether a machine, or an attachable accelerator, can be had in a region."""
        known = self.listed.get((region, name))
        return (
            region in machine_types.regions_by_machine_type().get(name, frozenset())
            if known is None
            else known
        )


def drafts(folder: Path, account: Account, market: Market) -> Iterator[Draft]:
    """Every GCP machine price under `folder`; TPU slices are in `gcp_tpu`."""
    for row in map(account.enter, read(folder, PRICES)):
        if row["per"] == "accelerator":
            yield from _accelerator(row, market, account)
        else:
            yield from _machine(row, row["instance_type"], Decimal(1), market, account)


def _machine(
    row: Row, name: str, times: Decimal, market: Market, account: Account
) -> Iterator[Draft]:
    machine_type, outcome, detail = machine("gcp", name)
    if machine_type is None:
        account.tell(row, outcome, detail)
        return
    offered = market.offers(row["region"], machine_type.instance_type)
    terms = _terms(row, row.price("usd_per_hour") * times)
    note = "" if times == 1 else f"{times} x the price of one accelerator's share"
    outcome, detail = standing(machine_type, terms, row, offered=offered)
    yield Draft(row, offer_of("gcp", row, machine_type, terms, row["as_of"], note), outcome, detail)


def _accelerator(row: Row, market: Market, account: Account) -> Iterator[Draft]:
    """An accelerator alone: its host comes on top, or the price stays out."""
    name = row["instance_type"]
    if name in SLICES:
        machine_type = machine_types.find("gcp", SLICES[name])
        count = None if machine_type is None else machine_type.accelerator_count
        yield from _machine(row, SLICES[name], Decimal(int(count or 0)), market, account)
        return
    found = [s for s in machine_types.attached_machine_types() if s.accelerator_type == name]
    hosted = [s for s in found if s.host.startswith(HOST_SERIES)]
    made = [
        draft for machine_type in hosted for draft in _attached(row, machine_type, market, account)
    ]
    if not made:
        account.tell(row, Outcome.HOST_UNKNOWN, f"{name} {row['region']}")
    yield from made


def _attached(
    row: Row, machine_type: AttachedMachineType, market: Market, account: Account
) -> Iterator[Draft]:
    """price = host + count · accelerator, dated by the older of the two."""
    key = (machine_type.host, row["region"], row["purchase_option"], row["term_months"])
    host = market.hosts.get(key)
    if host is None or machine_type.accelerator_count is None:
        return
    account.tell(host, Outcome.HOST_PRICE, machine_type.host)
    count = Decimal(int(machine_type.accelerator_count))
    terms = _terms(row, host.price("usd_per_hour") + count * row.price("usd_per_hour"))
    offered = market.offers(row["region"], machine_type.accelerator_type)
    outcome, detail = standing(machine_type, terms, row, offered=offered)
    note = f"{machine_type.host} {host['usd_per_hour']} + {count} x {row['usd_per_hour']}"
    offer = offer_of("gcp", row, machine_type, terms, row["as_of"], note)
    older = min(filter(None, (offer.as_of, day(host["as_of"]))), default=None)
    dated = replace(offer, as_of=older if offer.as_of else None)
    yield Draft(row, dated, outcome, detail)


def _terms(row: Row, price: Decimal) -> Terms:
    months = int(row["term_months"] or 0)
    option = PurchaseOption(row["purchase_option"])
    return split(option, months, row["payment_option"], price, None)
