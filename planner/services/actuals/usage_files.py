"""Bills of any form that usage is read from, as sums of actuals.

Our own CSV and FOCUS have readers of their own (`rows`, `focus_rows`); they may come compressed.
Every other bill is read by `planner.usage`, and its accelerator-hours and billed costs are taken
whole: what is no use of accelerators goes to `other`, `commitment` or `tax`, so that the sum is
that of the bill.
"""

from __future__ import annotations

import hashlib
import io
from collections import defaultdict
from decimal import Decimal
from typing import Any, BinaryIO

from planner.services.actuals.cells import Group
from planner.services.actuals.rows import Counts, Sums, read_actuals
from planner.usage.formats import focus
from planner.usage.ledger import ChargeKey, Ledger, Reason, UseKey
from planner.usage.reading import read_source, recognise
from planner.usage.sources import HEAD, open_source
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import PurchaseOption

USAGE = "usage"
"""Format of such uploads; their hours are accelerator-hours."""
_COMPRESSED = (b"PK\x03\x04", b"\x1f\x8b")
_COMMITMENTS = {option.value for option in PurchaseOption if option.is_commitment}
_FEES = {
    *("Purchase", "RIFee", "Fee", "SavingsPlanRecurringFee", "SavingsPlanUpfrontFee"),
    *("purchase", "UnusedReservation", "UnusedSavingsPlan"),
}


class _Digested(io.RawIOBase):
    """A stream whose bytes are digested as they are read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.sha = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self.sha.update(data)
        buffer[: len(data)] = data
        return len(data)


def read_actuals_file(stream: BinaryIO, currency: str, counts: Counts) -> Sums:
    """The sums of a file whose amounts are in `currency`, whatever form it has."""
    digested = _Digested(stream)
    buffered = io.BufferedReader(digested, HEAD)
    first = buffered.peek(HEAD)[:HEAD]
    if not first.startswith(_COMPRESSED):
        form = recognise(first.decode("utf-8-sig", "replace"))
        if form is None or form is focus.FORMAT:
            return read_actuals(buffered, currency, counts)
    source = open_source(buffered)
    form = recognise(source.head) if source.text else None
    if source.text is not None and (form is None or form is focus.FORMAT):
        return read_actuals(source.text.detach(), currency, counts)  # type: ignore[arg-type]
    ledger = Ledger()
    read_source(source, ledger)
    sums = _sum_ledger(ledger, currency)
    while digested.read(HEAD):
        pass
    sums.file_digest = digested.sha.hexdigest()
    return sums


def _sum_ledger(ledger: Ledger, currency: str) -> Sums:
    if ledger.reasons[Reason.NOT_UNDERSTOOD]:
        named = ledger.not_understood[0]
        count = ledger.reasons[Reason.NOT_UNDERSTOOD]
        raise InvalidInput("file", f"has rows that are not understood: {count:,}, first {named}")
    if not ledger.charges:
        problem = "states no costs; plan against actual needs a bill, or a table with cost"
        raise InvalidInput("file", problem)
    sums = Sums(USAGE, currency, rows=ledger.rows, doubtful=ledger.doubtful)
    sums.until = ledger.hourly.last_s
    others: dict[Group, Decimal] = defaultdict(Decimal)
    for charge, one in ledger.charges.items():
        _check_currency(charge.currency, currency)
        if one.billed.known is None:
            problem = "holds amortised costs alone; upload the actual (billed) costs"
            raise InvalidInput("file", problem)
        others[_group_of_charge(charge)] += one.billed.known
    for key, use in ledger.uses.items():
        group = _group_of_use(key)
        billed = use.billed.known or Decimal(0)
        sums.hours[group] = sums.hours.get(group, 0.0) + use.accelerator_hours
        sums.cost[group] = sums.cost.get(group, Decimal(0)) + billed
        others[_rest(key.month, key.provider)] -= billed
    for group, cost in others.items():
        if cost:
            sums.hours.setdefault(group, 0.0)
            sums.cost[group] = sums.cost.get(group, Decimal(0)) + cost
    sums.digest = sums.content_digest()
    return sums


def _check_currency(currency: str, expected: str) -> None:
    if currency != expected:
        raise InvalidInput("currency", f"{currency[:10]!r} is not the project's {expected}")


def _group_of_use(key: UseKey) -> Group:
    category = "commitment" if key.option in _COMMITMENTS else "compute"
    return Group(key.month, key.provider, key.region, key.machine, key.option, category)


def _group_of_charge(charge: ChargeKey) -> Group:
    category = "other"
    if charge.charge in _FEES:
        category = "commitment"
    elif charge.charge.lower() == "tax":
        category = "tax"
    return Group(charge.usage_month, charge.provider, "", "", "", category)


def _rest(month: str, provider: str) -> Group:
    """What of a month is left once the use of accelerators is taken out."""
    return Group(month, provider, "", "", "", "other")
