"""When servers pay for themselves against renting. PURE."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from planner.comparison_steps.preparation import Preparation
from planner.costing.analysis.break_even import (
    BreakEven,
    Rent,
    build_cost_lines,
    compute_break_even,
    find_best_rents,
)
from planner.costing.paying_use import CostLine, PayingUse, uses_that_pay
from pricing.market.offers import HOURS_PER_MONTH

PAID_USED_OR_NOT_RULES = 6
"""Edition from which the break-even against a commitment counts it as paid for used or not, as
the cost curve does, 2026."""


def list_break_even(preparation: Preparation) -> Iterator[BreakEven]:
    """Each server that may be bought against each way of renting."""
    rents = find_best_rents(preparation.inputs.sources, preparation.calendar)
    explicit_fields = frozenset(preparation.request.on_prem.model_fields_set)
    is_paid_idle = preparation.request.rules >= PAID_USED_OR_NOT_RULES
    for server in preparation.servers.to_buy:
        r = preparation.offers.throughput[server.accelerator]
        rows = compute_break_even(
            server,
            r,
            rents,
            preparation.assumptions,
            preparation.calendar,
            explicit_fields,
            pays_idle_terms=is_paid_idle,
        )
        within = _find_uses_within(preparation, server.slug, rents) if is_paid_idle else {}
        for row, rent in zip(rows, rents, strict=True):
            yield replace(row, within_plan=within.get(rent.source.key, row.within_plan))


def _find_uses_within(
    preparation: Preparation, server: str, rents: Sequence[Rent]
) -> dict[str, PayingUse]:
    """Key of each rent → the uses within the plan at which a server costs no more."""
    source = preparation.inputs.by_key.get(f"server:{server}")
    if source is None:
        return {}
    lines = build_cost_lines(source, rents, preparation.calendar)
    return uses_that_pay(lines, source.hours_per_month / HOURS_PER_MONTH)


def against_cheapest_rent(
    rows: Iterable[BreakEven], rents_allowed: Collection[str]
) -> tuple[BreakEven, ...]:
    """Of each server the row against the cheapest rent allowed, the first to pay back first; those
    that never do last."""
    best: dict[str, BreakEven] = {}
    for row in rows:
        held = best.get(row.server)
        is_cheaper = held is None or row.rent_per_hour < held.rent_per_hour
        if row.against in rents_allowed and is_cheaper:
            best[row.server] = row
    never = float("inf")
    return tuple(
        sorted(
            best.values(), key=lambda row: (never if row.hours is None else row.hours, row.server)
        )
    )


def with_rent_by_the_hour(
    rows: Sequence[BreakEven], every: Iterable[BreakEven], rents_allowed: Collection[str]
) -> tuple[BreakEven, ...]:
    """The first server against the cheapest rent by the hour too, where its row has a term: what
    is paid for used or not does not say how busy the server must be."""
    if not rows or not rows[0].term_months:
        return tuple(rows)
    hourly = [
        row
        for row in every
        if row.server == rows[0].server and not row.term_months and row.against in rents_allowed
    ]
    return (rows[0], *sorted(hourly, key=lambda row: row.rent_per_hour)[:1], *rows[1:])


def list_cost_lines(preparation: Preparation, break_even: Sequence[BreakEven]) -> list[CostLine]:
    """Cost of a node against its hours of use: of the server that pays back first; without
    servers, of one accelerator."""
    rents = find_best_rents(preparation.inputs.sources, preparation.calendar)
    reached = [row for row in break_even if row.hours is not None]
    first = min(reached, key=lambda row: (row.hours, row.server), default=None)
    server = preparation.inputs.by_key.get(f"server:{first.server}") if first else None
    return build_cost_lines(server, rents, preparation.calendar)
