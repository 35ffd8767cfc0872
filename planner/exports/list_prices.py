"""What lines of a plan would cost at list prices, without the discounts of contracts."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cached_property

from planner.contract.answer.comparison import ComparisonAnswer, OfferUsed
from planner.contract.answer.scenario import CostLine, ScenarioAnswer
from planner.contract.labels import WITHOUT_SPOT, name_offer
from planner.contract.months import format_month
from planner.contract.purchase_options import ON_DEMAND

DISCOUNTED = ("compute", "commitment", "upfront")
"""Categories of lines that contract discounts count for: data, people and support have none."""
_DECIMALS = Decimal("1e-10")


@dataclass(frozen=True)
class ListPrices:
    """Of the lines of one scenario."""

    answer: ComparisonAnswer
    scenario: ScenarioAnswer

    def unit_price(self, line: CostLine) -> Decimal:
        """The unit price of a line without contract discounts; its own where nothing is left to
        pay of it."""
        offer = self._offer(line)
        if offer is None or line.category not in DISCOUNTED:
            return line.unit_price
        month = format_month(self.answer.month(line.month))
        multiplier = Decimal(str(offer.multiplier_in(month)))
        if multiplier in (0, 1):
            return line.unit_price
        return (line.unit_price / multiplier).quantize(_DECIMALS, ROUND_HALF_EVEN)

    def _offer(self, line: CostLine) -> OfferUsed | None:
        """The offer whose price a line is at: of hours on demand in the place of spot the one that
        it names; None where the answer does not list that."""
        if WITHOUT_SPOT not in line.label:
            return self.answer.offers.get(line.offer_id)
        return self._priced_as.get(line.label)

    @cached_property
    def _priced_as(self) -> dict[str, OfferUsed]:
        """Label of hours on demand in the place of spot → the offer at whose price they are."""
        labels = {line.label for line in self.scenario.lines if WITHOUT_SPOT in line.label}
        return {
            label: offer
            for label in labels
            for offer in self.answer.offers.values()
            if offer.purchase_option in ON_DEMAND
            and label.endswith(f" {name_offer(offer.label, offer.provider)}")
        }


def describe_discounts(offer: OfferUsed) -> str:
    """How contract discounts change the prices of an offer, and from which months on.

    >>> from planner.contract.answer.comparison import MultiplierChange
    >>> values = {"multiplier": 0.88, "multiplier_changes": ()}
    >>> describe_discounts(OfferUsed.of_values(**values))
    '−12%'
    >>> months = (MultiplierChange(first="2027-01", multiplier=0.88),
    ...           MultiplierChange(first="2029-01", multiplier=1.0))
    >>> describe_discounts(OfferUsed.of_values(**values | {"multiplier_changes": months}))
    '−12% from 2027-01, list price from 2029-01'
    """
    if not offer.multiplier_changes:
        return _change(offer.multiplier)
    return ", ".join(
        f"{_change(one.multiplier)} from {one.first}" for one in offer.multiplier_changes
    )


def _change(multiplier: float) -> str:
    """`−8%`."""
    if multiplier == 1:
        return "list price"
    return f"{(multiplier - 1) * 100:+.3g}%".replace("-", "−")
