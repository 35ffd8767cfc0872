"""Prices as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

from rich.table import Table

from planner.commands.tables import make_console
from pricing.market.snapshot import RevisionInfo


def price_tables(
    revisions: Iterable[RevisionInfo], offers: Sequence[dict[str, Any]], count: int
) -> str:
    """The age of each provider's prices, and the offers, the cheapest first."""
    out = StringIO()
    console = make_console(out)
    console.print(_revisions(revisions))
    console.print(_offers(offers, count))
    return out.getvalue().rstrip()


def _revisions(revisions: Iterable[RevisionInfo]) -> Table:
    table = Table(title="Prices known", title_justify="left")
    for head in ("provider", "origin", "newest", "oldest sold now"):
        table.add_column(head)
    for head in ("revision", "offers", "undated"):
        table.add_column(head, justify="right")
    for info in revisions:
        table.add_row(
            info.provider,
            info.origin,
            str(info.as_of or ""),
            str(info.oldest_price_as_of or ""),
            str(info.revision),
            f"{info.offer_count:,}",
            f"{info.undated_prices:,}",
        )
    return table


def _offers(offers: Sequence[dict[str, Any]], count: int) -> Table:
    table = Table(title=f"{len(offers):,} of {count:,} offers", title_justify="left")
    for head in ("region", "machine", "accelerators", "option"):
        table.add_column(head, no_wrap=head == "accelerators")
    for head in ("USD/h", "per accelerator"):
        table.add_column(head, justify="right")
    table.add_column("as of")
    for offer in offers:
        term = f" {offer['term_months']} m" if offer["term_months"] else ""
        table.add_row(
            f"{offer['provider']} {offer['zone'] or offer['region']}",
            offer["instance_type"],
            f"{offer['accelerator_count']:g} × {offer['accelerator']}",
            f"{offer['purchase_option']}{term}",
            f"{float(offer['usd_per_hour']):,.4f}",
            f"{float(offer['usd_per_accelerator_hour']):,.4f}",
            str(offer["as_of"] or ""),
        )
    return table
