"""Why no offer fits: which limit excludes how many. PURE."""

from __future__ import annotations

from collections.abc import Sequence

from planner.costing.inputs.dominance import WHOLE_NODE, Filters, count_exclusions
from planner.costing.inputs.eligible_offers import OfferSelection
from pricing.market.offers import PurchaseOption

_FEW = 2
"""Purchase options named one by one in a reason."""


def explain_exclusions(
    selection: OfferSelection, options: Sequence[PurchaseOption]
) -> tuple[str, ...]:
    """Why no offer of these purchase options fits: which limit excludes how many."""
    allowed_options = selection.filters.purchase_options
    names = [o.value for o in options if not allowed_options or o.value in allowed_options]
    if not names:
        left_out = ", ".join(o.value for o in options)
        return (f"constraints.purchase_options leaves out {left_out}",)
    names_text = ", ".join(names) if len(names) <= _FEW else "rental"
    filters = Filters(**{**vars(selection.filters), "purchase_options": tuple(names)})
    total, excluded, remaining = count_exclusions(selection.catalog_offers, filters)
    if not total:
        return (f"the catalog has no {names_text} offer on sale",)
    share = f"of {total:,} {names_text} offers"
    reasons = tuple(
        f"{_limit_name(selection.filters, name)} excludes {count:,} {share}"
        for name, count in excluded
        if count
    )
    rows = filters.rows(selection.catalog_offers)
    for name, admitted in selection.guard_rails.admitted(selection.catalog_offers, rows).items():
        if len(admitted) < len(rows):
            reasons += (f"{name} excludes {len(rows) - len(admitted):,} more",)
    too_small = remaining - len(
        selection.large_enough(selection.catalog_offers, filters.rows(selection.catalog_offers))
    )
    if too_small:
        min_per_node = max(selection.min_node_accelerators.values())
        reasons += (
            f"{too_small:,} hold fewer accelerators in a node than one job takes "
            f"({min_per_node:g})",
        )
    return (*reasons, f"{remaining - too_small:,} of {total:,} meet every limit")


def _limit_name(filters: Filters, name: str) -> str:
    """A limit as the request gives it, with its value."""
    value = getattr(filters, name)
    if name == "min_accelerators_per_node" and value == WHOLE_NODE:
        return "the need for a whole accelerator"
    if name == "accelerators":
        return f"accelerator {', '.join(value)}"
    shown = ", ".join(value) if isinstance(value, tuple) else value
    return (
        f"constraints.{name} ({shown:g})"
        if isinstance(value, float)
        else (f"constraints.{name} ({shown})")
    )
