"""Commitments of bills: what they cost, how much of them was used, and what of them a plan can take
over as signed already. PURE."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from planner.usage.sums import MoneySum
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput
from pricing.common.pluralize import pluralize
from pricing.market.offers import HOURS_PER_MONTH

NEARLY_WHOLE = 0.03
"""Share by which a mean number of machines may miss a whole one: meters round."""
UPFRONT_ALONE = "was paid upfront in these files, or charges no fee in them"


class CoveredMachine(NamedTuple):
    """A kind of machine that a commitment covers."""

    machine: str
    accelerator: str
    accelerators: float
    region: str


class CommitmentSums:
    """What a commitment cost and how much of it was used, by its identifier."""

    def __init__(self, provider: str, kind: str, currency: str) -> None:
        self.provider, self.kind, self.currency = provider, kind, currency
        self.billed = MoneySum()
        """Unknown in a file of amortised cost, which states no payments."""
        self.amortised_used = MoneySum()
        self.amortised_unused = MoneySum()
        """Both unknown in a file of actual cost."""
        self.fee_hours = 0.0
        """Hours of the periods that its recurring fees are for."""
        self.fees = Decimal(0)
        """Recurring fees of those hours."""
        self.committed_hours = 0.0
        """Machine-hours that its fees are for; 0 where they state none."""
        self.used: dict[CoveredMachine, float] = defaultdict(float)
        """Machine-hours that were used, by machine."""
        self.unused: dict[CoveredMachine, float] = defaultdict(float)
        """Machine-hours that were paid for and stood idle."""
        self.ends = ""
        """Last month, where the file says it."""

    def add_fee(self, hours: float, amount: Decimal, committed_hours: float = 0.0) -> None:
        """A recurring fee of a period of so many hours."""
        self.fee_hours += hours
        self.fees += amount
        self.committed_hours += committed_hours

    @property
    def amounts(self) -> tuple[Decimal | None, Decimal | None, Decimal | None]:
        """Billed, used and not used, None where the files do not state it."""
        return self.billed.known, self.amortised_used.known, self.amortised_unused.known

    def set_end(self, text: str) -> None:
        """The last month, from a moment such as 2028-06-30T23:59:59Z; others are passed over."""
        try:
            moment = dt.datetime.fromisoformat(text.strip().replace(" UTC", ""))
        except ValueError:
            return
        self.ends = max(self.ends, f"{moment - dt.timedelta(seconds=1):%Y-%m}")


class TakenOver(NamedTuple):
    """An entry of `existing.commitments` as far as a bill fills it, and what it leaves open."""

    commitment: str
    entry: dict[str, Any]
    missing: dict[str, str]
    """Field → what the bill does not say."""
    is_of_money: bool
    """Whether it commits money by the hour, such as a savings plan, and covers machines on
    average."""


def take_over(
    commitments: Mapping[str, CommitmentSums], ends: Mapping[str, str]
) -> list[TakenOver]:
    """Every commitment on machines with accelerators. `ends` gives last months by identifier or its
    last part, which bills rarely state."""
    rows: list[TakenOver] = []
    labels: set[str] = set()
    for identifier, sums in sorted(commitments.items()):
        if not any(one.accelerators for one in (*sums.used, *sums.unused)):
            continue
        label = _label(identifier, labels)
        end = ends.get(identifier) or ends.get(label) or sums.ends
        rows.append(_take_over(identifier, label, sums, end))
    unknown = set(ends) - {row.commitment for row in rows} - {row.entry["label"] for row in rows}
    if unknown:
        named = ", ".join(row.entry["label"] for row in rows) or "none"
        problem = f"{shorten(min(unknown))} is no commitment of the files; there are: {named}"
        raise InvalidInput("commitment_end", problem)
    return rows


def _label(identifier: str, labels: set[str]) -> str:
    plain = identifier.rstrip("/").replace(":", "/").rpartition("/")[2][:60] or identifier[:60]
    label = plain if plain not in labels else identifier[-60:]
    labels.add(label)
    return label


def _take_over(identifier: str, label: str, sums: CommitmentSums, end: str) -> TakenOver:
    entry: dict[str, Any] = {"label": label, "provider": sums.provider}
    missing: dict[str, str] = {}
    machines = {one for one in (*sums.used, *sums.unused) if one.accelerators}
    kinds = {(one.machine, one.accelerator, one.accelerators) for one in machines}
    regions = {one.region for one in machines}
    if len(regions) == 1 and min(regions):
        entry["region"] = min(regions)
    if len(kinds) == 1 and machines:
        machine, accelerator, count = min(kinds)
        entry |= {"accelerator": accelerator, "accelerator_count": count}
        if not accelerator:
            del entry["accelerator"]
            missing["accelerator"] = f"no table knows the accelerator of {machine}"
        _count_machines(sums, entry, missing)
    else:
        named = ", ".join(sorted(one[0] for one in kinds)[:6])
        missing["accelerator"] = f"it covers several machines: {named}"
        missing["units"] = "how many machines it is for depends on the machine"
        missing["price_per_month"] = "the charge of one machine depends on the machine"
    if end:
        entry["ends"] = end
    else:
        missing["ends"] = "bills do not say when it ends"
    return TakenOver(identifier, entry, missing, "saving" in sums.kind.lower())


def _count_machines(sums: CommitmentSums, entry: dict[str, Any], missing: dict[str, str]) -> None:
    """Machines and the monthly charge of one, in months of 730 hours."""
    if not sums.fee_hours:
        missing["units"] = "no recurring fee says for how many machines it is"
        missing["price_per_month"] = f"it {UPFRONT_ALONE}"
        return
    hours = sums.committed_hours or sum(sums.used.values()) + sum(sums.unused.values())
    mean = hours / sums.fee_hours
    units = round(mean)
    if units < 1 or abs(mean - units) > NEARLY_WHOLE * units:
        covered = pluralize(1, "machine") if mean == 1 else f"{mean:.2f} machines"
        missing["units"] = f"on average it covered {covered}, which is no whole number"
        missing["price_per_month"] = "it follows from the number of machines"
        return
    entry["units"] = units
    per_hour = float(sums.fees) / sums.fee_hours
    entry["price_per_month"] = round(per_hour * HOURS_PER_MONTH / units, 2)


def read_ends(texts: tuple[str, ...]) -> dict[str, str]:
    """Last months as they are typed: `ri-1=2028-06`.

    >>> read_ends(("ri-1=2028-06",))
    {'ri-1': '2028-06'}
    """
    ends: dict[str, str] = {}
    for text in texts:
        name, _, month = text.rpartition("=")
        try:
            ends[name.strip()] = f"{dt.date.fromisoformat(f'{month.strip()}-01'):%Y-%m}"
        except ValueError:
            name = ""
        if not name.strip():
            problem = f"{shorten(text)} is not COMMITMENT=MONTH, such as ri-1=2028-06"
            raise InvalidInput("commitment_end", problem)
    return ends
