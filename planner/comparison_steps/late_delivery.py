"""What servers that come late cost, in figures and in words. PURE."""

from __future__ import annotations

from decimal import Decimal

from planner.contract.answer.verdict import LateDelivery
from planner.contract.money import format_money
from planner.costing.cost_model.purchase_risk import DeliveryRisk
from pricing.common.pluralize import pluralize

ABOVE_P90 = 0.1
"""Chance of more than the 90th percentile."""


def describe_late_delivery(risk: DeliveryRisk, cost: Decimal, currency: str) -> LateDelivery:
    """Months late, the chance of it, and what it costs more.

    >>> describe_late_delivery(DeliveryRisk(6, 0.25), Decimal(1200), "USD").sentence
    'If the servers arrive 6 months late (25% of cases), renting in the meantime costs 1,200 USD \
more.'
    """
    months, chance = round(risk.late_months), risk.probability
    length = pluralize(months, "month")
    how_late = f"{length} late" if chance is not None else f"{length} late or later"
    how_often = f"{ABOVE_P90 if chance is None else chance:.0%} of cases"
    meanwhile = (
        f"renting in the meantime costs {format_money(cost, currency)} more"
        if cost > 0
        else "renting in the meantime costs no more than the servers would"
    )
    return LateDelivery(
        months=risk.late_months,
        probability=ABOVE_P90 if chance is None else chance,
        cost=cost,
        sentence=f"If the servers arrive {how_late} ({how_often}), {meanwhile}.",
    )


def describe_waiting(risk: DeliveryRisk) -> LateDelivery:
    """The same where nothing may be rented meanwhile.

    >>> describe_waiting(DeliveryRisk(6, 0.25)).sentence
    'If the servers arrive 6 months late (25% of cases), their work waits, as nothing may be \
rented in the meantime. The range counts the cost of those hours all the same.'
    """
    described = describe_late_delivery(risk, Decimal("0.00"), "")
    late, _, _ = described.sentence.rpartition(", ")
    waits = "their work waits, as nothing may be rented in the meantime"
    counted = "The range counts the cost of those hours all the same."
    return described.model_copy(update={"sentence": f"{late}, {waits}. {counted}"})


def describe_certain_delay(months: int) -> LateDelivery:
    """That servers come late, which the plan counts with.

    >>> describe_certain_delay(3).sentence
    'The servers arrive 3 months late: the plan allows for that and pays for other machines until \
then.'
    """
    length = "1 month" if months == 1 else f"{months} months"
    return LateDelivery(
        months=months,
        probability=1.0,
        cost=Decimal("0.00"),
        sentence=f"The servers arrive {length} late: the plan allows for that and pays for other "
        "machines until then.",
    )
