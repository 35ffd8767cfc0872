"""What a purchase has to save before its resale. PURE."""

from __future__ import annotations

from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.rules import resolve_rules
from planner.costing.assumptions.defaults import default

PAYBACK_MARGIN = "on_prem.payback_margin"


def margin_in_force(
    request: ComparisonRequest, previous: float | None = None, is_computed_again: bool = False
) -> float:
    """Share of its price that a purchase must save before its resale; 0 where the rules ask for
    none. `previous` is the default of an earlier answer that is computed again, None where that
    was given before there was one, which then stays without it."""
    if not resolve_rules(request).needs_payback:
        return 0.0
    stated = request.on_prem.payback_margin
    if stated is not None:
        return stated
    if is_computed_again:
        return previous or 0.0
    return default("payback_margin", request.rules).value
