"""What a purchase has to save before its resale. PURE."""

from __future__ import annotations

from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.rules import resolve_rules
from planner.costing.assumptions.defaults import default

PAYBACK_MARGIN = "on_prem.payback_margin"


def margin_in_force(request: ComparisonRequest, is_computed_again: bool = False) -> float:
    """Share of its price that a purchase must save before its resale; 0 where the rules ask for
    none, and where an answer of before there was a margin is computed again."""
    if not resolve_rules(request).needs_payback:
        return 0.0
    stated = request.on_prem.payback_margin
    if stated is not None:
        return stated
    return 0.0 if is_computed_again else default("payback_margin", request.rules).value
