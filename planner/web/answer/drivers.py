"""What moves the total most, as sliders: each writes into a box of the plan's address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.http import QueryDict

from planner.contract.answer.common import Category
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.sensitivity import SensitivityRow
from planner.web.answer.assumption_rows import AssumptionRow, element_id
from planner.web.common.form_fields import ALL
from planner.web.common.formatting import plain
from planner.web.common.query_codec import SCALES, number

MOST = 5
STEPS = 40
"""A slider has about so many positions."""
_FIELDS = {field.path: field for field in ALL}
_DISCOUNT = "price_adjustments.{}.multiplier"
_SERVER_PRICE = "on_prem.servers.0.unit_price"
_AMOUNT_OF_WORK = {
    "accelerator_hours": "workload.hours_per_month",
    "training": "workload.tokens",
    "samples": "workload.samples",
}
"""The figure that hours are in proportion to, by kind of workload."""


@dataclass(frozen=True)
class Driver:
    """One figure between two values, in the unit of its box."""

    name: str
    """Name in the address."""
    label: str
    unit: str
    value: Decimal
    low: Decimal
    high: Decimal
    step: Decimal
    row: SensitivityRow
    """The same figure in the answer: what the plan as it is would cost at its low and its high
    value."""

    @property
    def element(self) -> str:
        """Id of the slider, which stays its own when the order changes."""
        return f"slider-{element_id(self.name.partition('~')[0])}"

    @property
    def words(self) -> str:
        """The value with its unit: `71.7%`, `184.06 USD/kW/month`."""
        return f"{plain(self.value)}{'' if self.unit.startswith('%') else ' '}{self.unit}"


def list_drivers(
    answer: ComparisonAnswer, assumptions: list[AssumptionRow], query: QueryDict
) -> list[Driver]:
    """The strongest figures first; those that no box of the page changes are left out."""
    boxes = {row.path: row for row in assumptions if row.name and not row.choices}
    rows = sorted((row for row in answer.sensitivity if row.effect), key=lambda row: -row.effect)
    drivers = [_driver(row, answer, boxes, query) for row in rows]
    return [driver for driver in drivers if driver is not None][:MOST]


def _driver(
    row: SensitivityRow,
    answer: ComparisonAnswer,
    boxes: Mapping[str, AssumptionRow],
    query: QueryDict,
) -> Driver | None:
    if row.field == "rental_prices":
        name, factor = _price_factor(query)
        return _scaled(row, name, "Rental prices", "× list", factor) if name else None
    if row.field == "workload.hours":
        path = _AMOUNT_OF_WORK.get(query.get("workload.kind", ""), "")
        return _of_address(row, path, answer.currency, query)
    if row.field == "on_prem.servers.unit_price":
        return _of_server(row, answer, query)
    assumption = boxes.get(row.field)
    if assumption is None:
        return None
    scale = SCALES.get(_FIELDS[row.field].scale, Decimal(1))
    low, high = (Decimal(str(one)) / scale for one in (row.low, row.high))
    value = _decimal(assumption.value or assumption.shown)
    if value is None:
        return None
    return _between(row, assumption.name, assumption.label, assumption.unit, value, low, high)


def _of_server(row: SensitivityRow, answer: ComparisonAnswer, query: QueryDict) -> Driver | None:
    """The price of the only server that the address names: its own, or the reference price."""
    named = [name for name in query if name.startswith("on_prem.servers.")]
    if not named or any(not name.startswith("on_prem.servers.0.") for name in named):
        return None
    lines = (line for scenario in answer.feasible for line in scenario.lines)
    price = next((line.unit_price for line in lines if line.category is Category.CAPEX), None)
    value = _decimal(query.get(_SERVER_PRICE)) or price
    return (
        _scaled(row, _SERVER_PRICE, "Price of a server", answer.currency, value) if value else None
    )


def _price_factor(query: QueryDict) -> tuple[str, Decimal]:
    """Name and value of the factor on every list price: one that is there, or the next free one.

    No name where the address has contract discounts, which such a factor would come on top of.
    """
    names = [name for name in query if name.startswith("price_adjustments.")]
    if not names:
        return _DISCOUNT.format(0), Decimal(1)
    value = _decimal(query.get(names[0]))
    return (names[0], value) if names == [_DISCOUNT.format(0)] and value else ("", Decimal(1))


def _decimal(typed: str | None, scale: str = "") -> Decimal | None:
    """One number as it was typed, in the unit of its box; None where it is none, or several."""
    value = number(typed or "", scale)
    if isinstance(value, str):
        return None
    return Decimal(str(value)) / SCALES.get(scale, Decimal(1))


def _of_address(row: SensitivityRow, path: str, currency: str, query: QueryDict) -> Driver | None:
    """A figure that the address gives as one number."""
    name = next((one for one in query if one.partition("~")[0] == path), "")
    value = _decimal(query.get(name), name.partition("~")[2])
    field = _FIELDS.get(path.replace(".0.", ".*."))
    if field is None or not value:
        return None
    unit = field.unit_as(name).replace("money", currency)
    return _scaled(row, name, field.label, unit, value)


def _scaled(row: SensitivityRow, name: str, label: str, unit: str, value: Decimal) -> Driver:
    """A row whose ends are factors on the value."""
    low, high = (value * Decimal(str(round(one, 3))) for one in (row.low, row.high))
    return _between(row, name, label, unit, value, low, high)


def _between(
    row: SensitivityRow, name: str, label: str, unit: str,
    value: Decimal, low: Decimal, high: Decimal,
) -> Driver:  # fmt: skip
    step = _round_step((high - low) / STEPS)
    least = value - (value - min(low, value)) // step * step  # so that the value is a position
    return Driver(name, label, unit, value, least, max(high, value), step, row)


def _round_step(step: Decimal) -> Decimal:
    """The next lower of 1, 2 or 5 times a power of ten."""
    power = Decimal(1).scaleb(step.adjusted())
    return max(one * power for one in (1, 2, 5) if one * power <= step)
