"""What files of usage say, as tables of figures: by month, and by whatever else. PURE."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from planner.contract.typed_numbers import plain_number, spell_out_round
from planner.usage.ledger import Ledger, MoneySum, Reason, UseKey, UseSums
from planner.usage.machines import is_slice
from planner.usage.reading import FileRead
from planner.usage.tables import amount
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import group
from pricing.common.words import pluralize

_OF_ONE_CLUSTER = frozenset({"sacct", "sreport", "gpu_log", "prometheus", "series", "opencost"})
"""Forms of logs that may tell of the same hours."""
DIMENSIONS = UseKey._fields
"""What use can be summed by."""


@dataclass
class UseLine:
    """Use of one group: hours, and money where the files say it."""

    group: dict[str, str]
    accelerator_hours: float
    slice_hours: float
    """Hours of slices of accelerators (MIG), which are in no hours of accelerators."""
    instance_hours: float | None
    billed: dict[str, Decimal | None] = field(default_factory=dict)
    """By currency; None where a part is unknown."""
    amortised: dict[str, Decimal | None] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.group,
            "accelerator_hours": round(self.accelerator_hours, 6),
            "slice_hours": round(self.slice_hours, 6),
            "instance_hours": _rounded(self.instance_hours),
            "billed": {currency: _text(one) for currency, one in sorted(self.billed.items())},
            "amortised": {currency: _text(one) for currency, one in sorted(self.amortised.items())},
        }


@dataclass(frozen=True)
class Usage:
    ledger: Ledger
    files: list[FileRead]

    @property
    def is_complete(self) -> bool:
        """Whether every row is understood, so that the sums are those of the files."""
        return not self.ledger.reasons[Reason.NOT_UNDERSTOOD]

    @property
    def months(self) -> list[str]:
        return sorted({key.month for key in self.ledger.uses})

    def lines(self, *dimensions: str) -> list[UseLine]:
        uses = self.ledger.uses.items()
        groups = group([(tuple(getattr(row[0], one) for one in dimensions), row) for row in uses])
        return [
            _sum_lines(dict(zip(dimensions, values, strict=True)), groups[values])
            for values in sorted(groups)
        ]

    def as_dict(self, by: Iterable[str] = DIMENSIONS) -> dict[str, Any]:
        """Everything, as JSON holds it: money as text, hours as numbers."""
        ledger = self.ledger
        return {
            "files": [vars(file) for file in self.files],
            "complete": self.is_complete,
            "rows": {
                reason.value: {"rows": ledger.reasons[reason], "meaning": reason.meaning}
                for reason in Reason
                if ledger.reasons[reason]
            },
            "row_count": ledger.rows,
            "not_understood": list(ledger.not_understood),
            "problems": dict(ledger.problems.most_common()),
            "warnings": self.warnings(),
            "notes": self.notes(),
            "totals": self.totals(),
            "months": self.month_rows(),
            "use": [line.as_dict() for line in self.lines(*by)],
            "charges": [
                {
                    **key._asdict(),
                    "rows": sums.rows,
                    "quantity": sums.quantity,
                    "billed": _text(sums.billed.known),
                    "amortised": _text(sums.amortised.known),
                    "list_cost": _text(sums.list_cost.known),
                    "credits": _text(sums.credits),
                }
                for key, sums in sorted(ledger.charges.items())
            ],
            "commitments": self.commitment_rows(),
            "unused": [
                dict(zip(("month", "machine", "reason"), key, strict=True))
                | {"accelerator_hours": sums.hours}
                for key, sums in sorted(ledger.unused.items())
                if sums.hours
            ],
            "peaks": [
                {"month": month, "accelerator": accelerator, "peak_accelerators": peak}
                for (month, accelerator), peak in ledger.hourly.peaks().items()
            ],
        }

    def month_rows(self) -> list[dict[str, Any]]:
        """A row a month: hours, money, peak, and what monitors and queues saw."""
        peaks, unused = self.ledger.hourly.peaks(lambda _: ""), defaultdict[str, float](float)
        for (month, _, _), sums in self.ledger.unused.items():
            unused[month] += sums.hours
        rows = []
        for line in self.lines("month"):
            month = line.group["month"]
            seen = self.ledger.monitored.get(month)
            row = line.as_dict() | {
                "peak_accelerators": peaks.get((month, "")),
                "unused_accelerator_hours": round(unused[month], 6) if unused else None,
            }
            if seen and seen.hours:
                row["busy_share"] = round(seen.busy_hours / seen.hours, 6)
                row["utilisation"] = round(seen.utilised_hours / seen.hours, 6)
                row["unknown_hours"] = round(seen.unknown_hours, 6)
            rows.append(row)
        return rows

    def totals(self) -> list[dict[str, Any]]:
        """Sum of every row of the bills by currency, use or not: what the provider charges."""
        billed: dict[str, MoneySum] = defaultdict(MoneySum)
        amortised: dict[str, MoneySum] = defaultdict(MoneySum)
        for key, sums in self.ledger.charges.items():
            billed[key.currency].merge(sums.billed)
            amortised[key.currency].merge(sums.amortised)
        return [
            {
                "currency": currency,
                "billed": _text(billed[currency].known),
                "amortised": _text(amortised[currency].known),
            }
            for currency in sorted(billed)
        ]

    def commitment_rows(self) -> list[dict[str, Any]]:
        """What is already owned, and how much of it was used."""
        return [
            {
                "commitment": identifier,
                "provider": sums.provider,
                "kind": sums.kind,
                "currency": sums.currency,
                "billed": _text(sums.billed.known),
                "amortised_used": _text(sums.amortised_used.known),
                "amortised_unused": _text(sums.amortised_unused.known),
            }
            for identifier, sums in sorted(self.ledger.commitments.items())
        ]

    def warnings(self) -> list[str]:
        """What keeps the sums from being those of the files."""
        ledger = self.ledger
        misread = ledger.reasons[Reason.NOT_UNDERSTOOD]
        repeated = ledger.reasons[Reason.DUPLICATE] + ledger.reasons[Reason.RESTATED]
        doubtful = [
            f"Left out: {f.name}: {f.title}." for f in self.files if not f.format
        ] + ledger.doubtful.warnings()
        logs = {one.title for one in self.files if one.format in _OF_ONE_CLUSTER}
        if len(logs) > 1:
            doubtful.append(
                f"{', '.join(sorted(logs))} are read together: if they tell of the same machines, "
                "their hours count twice; leave all but one out."
            )
        without = [s for k, s in ledger.charges.items() if not k.currency and s.states_money]
        if rows := sum(one.rows for one in without):
            doubtful.append(
                f"{pluralize(rows, 'row')} with a cost and no currency: the cost is in the sums of "
                "all rows and in no sum of a month."
            )
        if not misread:
            return doubtful
        counts = f"{misread:,} of {ledger.rows:,} rows are not understood"
        rest = f"{ledger.rows - misread - repeated:,} are read, {repeated:,} repeat others"
        money = ""
        if ledger.uncharged:
            money = (
                f" The cost of {ledger.uncharged:,} of them cannot be read either and is missing "
                "from the sums of all rows."
            )
        elif ledger.charges:
            money = " Their costs are in the sums of all rows."
        return [f"{counts}, and their hours are in no sum ({rest}).{money}", *doubtful]

    def notes(self) -> list[str]:
        """What a reader has to know about the sums."""
        ledger = self.ledger
        notes = list(ledger.notes)
        for (name, project), count in sorted(ledger.declared.items()):
            what = name or "accelerators whose name is not stated"
            notes.append(f"{project or 'No project'}: {count:g} × {what} declared.")
        slices = sum(s.accelerator_hours for k, s in ledger.uses.items() if is_slice(k.accelerator))
        if slices:
            notes.append(
                f"{slices:,.2f} hours are of slices (MIG), counted apart: a slice is not a whole "
                "accelerator."
            )
        if restated := ledger.reasons[Reason.RESTATED]:
            notes.append(
                f"{pluralize(restated, 'row')} with the identifier and time of a row that was read "
                f"before but other amounts, such as {ledger.first_restated}: the version that was "
                "read first counts, so leave out files of older versions of a bill."
            )
        has_jobs = any(file.format == "sacct" for file in self.files)
        if ledger.hourly.longest_s > 3600 and not has_jobs:
            notes.append(
                "Some rows cover more than an hour: a peak is at least the mean over its row."
            )
        return notes


def _sum_lines(group: dict[str, str], members: list[tuple[UseKey, UseSums]]) -> UseLine:
    billed: dict[str, MoneySum] = defaultdict(MoneySum)
    amortised: dict[str, MoneySum] = defaultdict(MoneySum)
    line = UseLine(group, 0.0, 0.0, 0.0)
    for key, sums in members:
        if is_slice(key.accelerator):
            line.slice_hours += sums.accelerator_hours
        else:
            line.accelerator_hours += sums.accelerator_hours
        if sums.unsized or line.instance_hours is None:
            line.instance_hours = None
        else:
            line.instance_hours += sums.instance_hours
        if key.currency:
            billed[key.currency].merge(sums.billed)
            amortised[key.currency].merge(sums.amortised)
    line.billed = {currency: one.known for currency, one in billed.items()}
    line.amortised = {currency: one.known for currency, one in amortised.items()}
    return line


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"


def _rounded(hours: float | None) -> float | None:
    return None if hours is None else round(hours, 6)


# Accelerators that were paid for and stood idle ---------------------------------------------

ALLOCATED = "allocated_idle"
"""Reason of hours that jobs held while no kernel ran."""
MAX_PRICE = 10_000
_MEANINGS = {
    **{reason.value: reason.meaning for reason in Reason},
    ALLOCATED: "allocated to jobs while no kernel ran",
    Reason.UNUSED_COMMITMENT.value: "unused part of a commitment",
    Reason.UNUSED_RESERVATION.value: "reserved capacity that stood idle",
    Reason.IDLE.value: "allocated to nobody",
}
NO_PRICE = "the files state no price; say what an accelerator-hour costs"
NO_HOURS = "the bill states its cost and no hours"


class HourPrice(NamedTuple):
    """What an accelerator-hour costs, as whoever asks says."""

    amount: Decimal
    currency: str


def read_price(text: str) -> HourPrice | None:
    """A price as it is typed: `2.10` in US dollars, or `1.95 EUR`; None for an empty text.

    >>> read_price("1.95 EUR")
    HourPrice(amount=Decimal('1.95'), currency='EUR')
    >>> read_price("2,10").amount
    Decimal('2.10')
    """
    if not text.strip():
        return None
    number, _, currency = text.strip().partition(" ")
    price = amount(plain_number(spell_out_round(number)), "idle_price")
    currency = currency.strip().upper() or "USD"
    is_code = len(currency) == 3 and currency.isascii() and currency.isalpha()
    if price is None or not 0 <= price <= MAX_PRICE or not is_code:
        problem = f"{shorten(text)} is not a price such as 2.10 or 1.95 EUR, up to {MAX_PRICE:,}"
        raise InvalidInput("idle_price", problem)
    return HourPrice(price, currency)


def idle_rows(ledger: Ledger, price: HourPrice | None) -> list[dict[str, Any]]:
    """A row for each month, machine and reason: hours and cost, or why one of them is not known."""
    rows: list[dict[str, Any]] = []
    for (month, machine, reason), sums in ledger.unused.items():
        known = sums.cost.known if sums.cost is not None else None
        hours = None if sums.unstated else sums.hours
        if hours or known:
            rows.append(_idle_row(month, machine, reason, hours, known, sums.currency, price))
    for month, seen in ledger.monitored.items():
        if (idle := seen.hours - seen.busy_hours) > 0:
            rows.append(_idle_row(month, "", ALLOCATED, idle, None, "", price))
    return sorted(rows, key=lambda row: (row["month"], row["machine"], row["reason"]))


def _idle_row(
    month: str,
    machine: str,
    reason: str,
    hours: float | None,
    cost: Decimal | None,
    currency: str,
    price: HourPrice | None,
) -> dict[str, Any]:
    basis = "bill" if cost is not None else ""
    if cost is None and price is not None and hours is not None:
        cost = (Decimal(repr(hours)) * price.amount).quantize(Decimal("0.01"))
        currency, basis = price.currency, "price"
    return {
        "month": month,
        "machine": machine,
        "reason": reason,
        "meaning": _MEANINGS[reason],
        "accelerator_hours": _rounded(hours),
        "cost": _text(cost),
        "currency": currency,
        "basis": basis,
        "not_known": NO_PRICE if not basis else NO_HOURS if hours is None else "",
    }
