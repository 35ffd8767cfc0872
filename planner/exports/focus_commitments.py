"""FOCUS 1.4: forecast rows under its columns, and the commitments that a plan signs.

The rows are those of FOCUS 1.2; what 1.3 and 1.4 added is filled where a plan knows it: who hosts
and who sells, and nothing of allocation, invoices or programmes. The Contract Commitment dataset
has a row for each commitment that the plan begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from planner.contract.answer.comparison import ComparisonAnswer, OfferUsed
from planner.contract.answer.scenario import Purchase, ScenarioAnswer
from planner.contract.money import decimals_of
from planner.contract.months import format_month
from planner.contract.purchase_options import TRAITS
from planner.exports.csv_export import csv_bytes
from planner.exports.focus import choose_scenario, focus_rows
from planner.exports.focus_columns import COLUMNS, OWN_COLUMNS
from planner.exports.rows import Context
from pricing.market.offers import HOURS_PER_MONTH

_DECIMALS = Decimal("1e-6")
ADDED_COLUMNS = (
    "AllocatedMethodDetails",
    "AllocatedMethodId",
    "AllocatedResourceId",
    "AllocatedResourceName",
    "AllocatedTags",
    "CommitmentProgramEligibilityDetails",
    "ContractApplied",
    "HostProviderName",
    "InvoiceDetailId",
    "ServiceProviderName",
)
"""Columns of Cost and Usage that FOCUS 1.3 and 1.4 added."""
COMMITMENT_COLUMNS = (
    "BillingCurrency",
    "ContractCommitmentCategory",
    "ContractCommitmentCost",
    "ContractCommitmentDescription",
    "ContractCommitmentId",
    "ContractCommitmentPeriodEnd",
    "ContractCommitmentPeriodStart",
    "ContractCommitmentQuantity",
    "ContractCommitmentType",
    "ContractCommitmentUnit",
    "ContractId",
    "ContractPeriodEnd",
    "ContractPeriodStart",
)
"""Columns of the Contract Commitment dataset of FOCUS 1.3, in its order."""
OWN_COMMITMENT_COLUMNS = ("x_IsForecast", "x_ScenarioId", "x_Units", "x_InstanceType")


def as_focus14(answer: ComparisonAnswer, context: Context) -> bytes:
    """Cost and usage of one scenario under the columns of FOCUS 1.4."""
    rows = (
        row | {"HostProviderName": row["ProviderName"], "ServiceProviderName": row["ProviderName"]}
        for row in focus_rows(answer, context)
    )
    return csv_bytes((*sorted((*COLUMNS, *ADDED_COLUMNS)), *OWN_COLUMNS), rows)


def as_commitments(answer: ComparisonAnswer, context: Context) -> bytes:
    """The commitments of one scenario; a header alone where it signs none."""
    columns = (*COMMITMENT_COLUMNS, *OWN_COMMITMENT_COLUMNS)
    return csv_bytes(columns, commitment_rows(answer, context))


def commitment_rows(answer: ComparisonAnswer, context: Context) -> Iterator[dict[str, Any]]:
    scenario = choose_scenario(answer, context)
    if scenario is None:
        return
    for number, purchase in enumerate(scenario.purchases, 1):
        offer = answer.offers.get(purchase.source)
        if purchase.kind != "commitment" or offer is None or not offer.term_months:
            continue
        row = _row(answer, purchase, offer, number)
        yield (
            row
            | _cost(answer, scenario, purchase, offer)
            | {
                "x_IsForecast": "true",
                "x_ScenarioId": scenario.key.value,
            }
        )


def _row(
    answer: ComparisonAnswer, purchase: Purchase, offer: OfferUsed, number: int
) -> dict[str, Any]:
    """A commitment over its whole term, what the plan leaves owed after its horizon included."""
    months = offer.term_months or 0
    option = TRAITS[offer.purchase_option]
    identifier = f"{purchase.source}:{answer.month(purchase.month):%Y-%m}:{number}"
    start, end = answer.month(purchase.first), answer.month(purchase.first + months)
    is_spend = option.focus_commitment_category == "Spend"
    hours = Decimal(str(purchase.units)) * HOURS_PER_MONTH * months
    period = {"Start": f"{start}T00:00:00Z", "End": f"{end}T00:00:00Z"}
    return {
        "BillingCurrency": answer.currency,
        "ContractCommitmentCategory": option.focus_commitment_category or "Usage",
        "ContractCommitmentDescription": purchase.label or offer.label,
        "ContractCommitmentId": identifier,
        "ContractCommitmentPeriodStart": period["Start"],
        "ContractCommitmentPeriodEnd": period["End"],
        "ContractCommitmentQuantity": None if is_spend else hours,
        "ContractCommitmentType": option.focus_commitment_type or "Commitment",
        "ContractCommitmentUnit": answer.currency if is_spend else "Hours",
        "ContractId": identifier,
        "ContractPeriodStart": period["Start"],
        "ContractPeriodEnd": period["End"],
        "x_Units": purchase.units,
        "x_InstanceType": offer.instance_type or None,
    }


def _cost(
    answer: ComparisonAnswer, scenario: ScenarioAnswer, purchase: Purchase, offer: OfferUsed
) -> dict[str, Any]:
    """What the whole term costs; nothing where the answer does not say what it does."""
    monthly = _monthly_bills(answer, scenario, purchase, offer)
    if monthly is None:
        return {"ContractCommitmentCost": None}
    cost = (purchase.due_at_start or Decimal(0)) + monthly
    return {"ContractCommitmentCost": round(cost, decimals_of(answer.currency))}


def _monthly_bills(
    answer: ComparisonAnswer, scenario: ScenarioAnswer, purchase: Purchase, offer: OfferUsed
) -> Decimal | None:
    """What is due by the month over the whole term, at the contract discount of each month; None
    where nothing is due at first and no bill of the plan says what is later."""
    each = purchase.due_per_month or Decimal(0)
    months = range(purchase.first, purchase.first + (offer.term_months or 0))
    factors = {month: _factor(answer, offer, month) for month in months}
    if len(set(factors.values())) == 1:
        return each * len(factors)
    if factors[purchase.first]:
        return each * sum(factors.values(), Decimal(0)) / factors[purchase.first]
    hours = Decimal(str(purchase.units)) * HOURS_PER_MONTH
    prices = {
        (line.unit_price / factors[line.month]).quantize(_DECIMALS)
        for line in scenario.lines
        if (line.source, line.category) == (purchase.source, "commitment")
        if factors.get(line.month)
    }
    return hours * prices.pop() * sum(factors.values()) if len(prices) == 1 else None


def _factor(answer: ComparisonAnswer, offer: OfferUsed, month: int) -> Decimal:
    return Decimal(str(offer.multiplier_in(format_month(answer.month(month)))))
