"""Accelerators that were paid for and stood idle, and what that cost. PURE.

A bill states the cost of what it calls unused. A cluster's log states hours alone: they cost what
whoever asks says an accelerator-hour costs, and nothing is known otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from planner.usage.cells import amount
from planner.usage.ledger import REASONS, Ledger, Reason
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput
from pricing.common.typed_number import plain_number, spell_out_round

ALLOCATED = "allocated_idle"
"""Reason of hours that jobs held while no kernel ran."""
MAX_PRICE = 10_000
_MEANINGS = {
    **{reason.value: meaning for reason, meaning in REASONS.items()},
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
    return [_row(*one, price) for one in sorted(_idle(ledger), key=lambda one: one[:3])]


def _idle(ledger: Ledger) -> Iterator[tuple[str, str, str, float | None, Decimal | None, str]]:
    for (month, machine, reason), sums in ledger.unused.items():
        known = sums.cost.known if sums.cost is not None else None
        hours = None if sums.unstated else sums.hours
        if hours or known:
            yield month, machine, reason, hours, known, sums.currency
    for month, seen in ledger.monitored.items():
        idle = seen.hours - seen.busy_hours
        if idle > 0:
            yield month, "", ALLOCATED, idle, None, ""


def _row(
    month: str,
    machine: str,
    reason: str,
    hours: float | None,
    cost: Decimal | None,
    currency: str,
    price: HourPrice | None,
) -> dict[str, Any]:
    basis, because = ("bill", "") if cost is not None else ("", NO_PRICE)
    if cost is None and price is not None and hours is not None:
        cost, currency, basis, because = (
            Decimal(repr(hours)) * price.amount,
            price.currency,
            "price",
            "",
        )
        cost = cost.quantize(Decimal("0.01"))
    return {
        "month": month,
        "machine": machine,
        "reason": reason,
        "meaning": _MEANINGS[reason],
        "accelerator_hours": None if hours is None else round(hours, 6),
        "cost": None if cost is None else f"{cost:f}",
        "currency": currency,
        "basis": basis,
        "not_known": because or (NO_HOURS if hours is None else ""),
    }
