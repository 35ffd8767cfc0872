"""When servers pay for themselves against renting. PURE."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from planner.comparison_steps.preparation import Preparation
from planner.costing.analysis.break_even import (
    BreakEven,
    CostLine,
    build_cost_lines,
    compute_break_even,
    find_best_rents,
)


def list_break_even(preparation: Preparation) -> Iterator[BreakEven]:
    """Each server that may be bought against each way of renting."""
    rents = find_best_rents(preparation.inputs.sources, preparation.calendar)
    explicit_fields = frozenset(preparation.request.on_prem.model_fields_set)
    for server in preparation.servers.to_buy:
        r = preparation.offers.throughput[server.accelerator]
        yield from compute_break_even(
            server, r, rents, preparation.assumptions, preparation.calendar, explicit_fields
        )


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


def list_cost_lines(preparation: Preparation, break_even: Sequence[BreakEven]) -> list[CostLine]:
    """Cost of a node against its hours of use: of the server that pays back first; without
    servers, of one accelerator."""
    rents = find_best_rents(preparation.inputs.sources, preparation.calendar)
    reached = [row for row in break_even if row.hours is not None]
    first = min(reached, key=lambda row: (row.hours, row.server), default=None)
    server = preparation.inputs.by_key.get(f"server:{first.server}") if first else None
    return build_cost_lines(server, rents, preparation.calendar)
