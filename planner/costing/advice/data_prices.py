"""What data costs by assumptions that nobody stated, where these may decide the plan. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from planner.contract.answer.common import Category
from planner.contract.labels import cloud_title
from planner.contract.money import format_money
from planner.contract.request.comparison import ComparisonRequest
from planner.costing.cost_model.storage_egress import MOVED
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario

WORTH_SAYING = Decimal("0.05")
"""Share of what a plan pays from which a price of data that nobody stated is said; a choice of this
project, 2026."""
_STORAGE = "storage_per_gib_month"


def warn_of_data_prices(
    request: ComparisonRequest, inputs: ModelInputs, advised: Scenario | None
) -> Iterator[str]:
    """That the whole data set is moved anew each month, and that some places keep it at the price
    of disks and others at that of object storage."""
    if advised is None or not request.data.storage_gib:
        return
    paid = [line.amount for line in advised.lines if line.amount > 0]
    least = sum(paid, Decimal(0)) * WORTH_SAYING
    yield from _warn_of_moving(request, advised, least)
    yield from _warn_of_disks(request, inputs, least)


def _warn_of_moving(request: ComparisonRequest, advised: Scenario, least: Decimal) -> Iterator[str]:
    data = request.data
    lines = [x for x in advised.lines if x.category is Category.EGRESS and x.label == MOVED]
    months, amount = len({x.month for x in lines}), sum((x.amount for x in lines), Decimal(0))
    if data.transfer_gib_per_month is not None or months < 2 or amount < least:
        return
    yield (
        f"All {data.storage_gib:,.0f} GiB of the data are taken to the work anew in each of "
        f"{months} months, which costs {format_money(amount, request.currency)}: right for bursts. "
        "Standing work copies them once and then takes what is new: give that as "
        "data.transfer_gib_per_month."
    )


def _warn_of_disks(
    request: ComparisonRequest, inputs: ModelInputs, least: Decimal
) -> Iterator[str]:
    data, price = request.data, inputs.assumptions[_STORAGE]
    is_stated = any(one.item == "storage" for one in data.prices)
    if is_stated or inputs.assumptions.is_from_request(_STORAGE):
        return
    places = {(one.provider, one.region) for one in inputs.rentals if one.provider}
    if data.home is not None and data.home.region is not None:
        places.add(data.home.place)
    listed = {place for place in places if inputs.data.lists_storage(*place)}
    assumed = sorted({cloud_title(provider) for provider, _ in places - listed})
    gib, months = data.storage_gib or 0.0, inputs.calendar.months
    lowest = min((inputs.data.price_of_storage(*place) for place in listed), default=price)
    if not assumed or (price - lowest) * gib * months < float(least):
        return
    known = sorted({cloud_title(provider) for provider, _ in listed})
    yield (
        f"A GiB of data is kept for {price:.3g} {request.currency} a month at "
        f"{' and '.join(assumed)}, by an assumption for disks as the catalog has no price of "
        f"storage there, and for {lowest:.3g} at {' and '.join(known)}, the list price of object "
        f"storage: {format_money(price * gib, request.currency)} a month or "
        f"{format_money(lowest * gib, request.currency)}. Where all of it is object storage, give "
        "its prices under data.prices: another place may then cost less."
    )
