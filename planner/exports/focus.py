"""FOCUS Cost and Usage rows of a forecast, or of what was paid.

What is paid becomes rows with a BilledCost; what is paid for later use (commitments, servers)
is a Purchase with EffectiveCost 0, followed month by month by Usage rows with BilledCost 0 that
book it: of a commitment what is used and what lies idle, of a server its write-off. So the
EffectiveCost of all rows sums to their BilledCost, in all and for each commitment. Loans are no
charge and have no row; their interest has. What was paid is booked in its month as it was billed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from planner.contract.amounts import decimals_of
from planner.contract.answer.comparison import OfferUsed, SavedPlan
from planner.contract.answer.scenario import CapacityRow, CostLine, ScenarioRecord
from planner.contract.labels import (
    ON_DEMAND,
    TRAITS,
    WITHOUT_SPOT,
    name_offer,
    provider_title,
    service_title,
)
from planner.exports.csv_export import Context, csv_bytes
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_rows
from pricing.market.offers import HOURS_PER_MONTH

_ROWS = read_rows(Path(__file__).with_name("focus_columns.csv"))
_COLUMNS = [(row["dataset"], row["column"]) for row in _ROWS]
VERSIONS = ("1.4", "1.2")
"""FOCUS 1.4 names who provides a service and its host where 1.2 has provider and publisher; the
public validator knows 1.2 (2026)."""
FOCUS_COLUMNS = {
    version: tuple(
        name
        for dataset, name in _COLUMNS
        if dataset in ("cost_and_usage", f"cost_and_usage_{version}", "own")
    )
    for version in VERSIONS
}
"""Version → columns of the Cost and Usage dataset, and our own."""
COMMITMENT_COLUMNS = tuple(name for dataset, name in _COLUMNS if dataset.endswith("commitment"))
"""Of the Contract Commitment dataset of FOCUS 1.3, and our own."""
APPROVAL_COLUMNS = ("x_SavedComparisonId", "x_State", "x_StateBy", "x_StateAt")

SERVICE_CATEGORIES = {
    "storage": ("Storage", "Object Storage"),
    "egress": ("Networking", "Network Connectivity"),
}
COMPUTE = ("Compute", "Virtual Machines")
OTHER_COMPUTE = ("Compute", "Other (Compute)")

UNPRICED = {"tax": "Tax", "residual": "Credit", "credit": "Credit", "shortfall": "Adjustment"}
"""Categories of lines that have no price → their charge category."""
CAPITAL = frozenset({"capex", "install", "network_storage", "spares"})


def as_commitments(answer: SavedPlan, context: Context) -> bytes:
    """The commitments of one scenario; a header alone where it signs none."""
    return csv_bytes(COMMITMENT_COLUMNS, commitment_rows(answer, context))


def commitment_rows(answer: SavedPlan, context: Context) -> Iterator[dict[str, Any]]:
    scenario = choose_scenario(answer, context)
    if scenario is None:
        return
    for number, purchase in enumerate(scenario.purchases, 1):
        offer = answer.offers.get(purchase.source)
        if purchase.kind != "commitment" or offer is None or not offer.term_months:
            continue
        months, option = offer.term_months, TRAITS[offer.purchase_option]
        identifier = f"{purchase.source}:{answer.month(purchase.month):%Y-%m}:{number}"
        start, end = answer.month(purchase.first), answer.month(purchase.first + months)
        is_spend = option.focus_commitment_category == "Spend"
        hours = Decimal(str(purchase.units)) * HOURS_PER_MONTH * months
        yield {
            "BillingCurrency": answer.currency,
            "ContractCommitmentCategory": option.focus_commitment_category or "Usage",
            "ContractCommitmentCost": round(
                (purchase.due_at_start or Decimal(0))
                + (purchase.due_per_month or Decimal(0)) * months,
                decimals_of(answer.currency),
            ),
            "ContractCommitmentDescription": purchase.label or offer.label,
            "ContractCommitmentId": identifier,
            "ContractCommitmentPeriodStart": f"{start}T00:00:00Z",
            "ContractCommitmentPeriodEnd": f"{end}T00:00:00Z",
            "ContractCommitmentQuantity": None if is_spend else hours,
            "ContractCommitmentType": option.focus_commitment_type or "Commitment",
            "ContractCommitmentUnit": answer.currency if is_spend else "Hours",
            "ContractId": identifier,
            "ContractPeriodStart": f"{start}T00:00:00Z",
            "ContractPeriodEnd": f"{end}T00:00:00Z",
            "x_Units": purchase.units,
            "x_InstanceType": offer.instance_type or None,
            "x_IsForecast": "true",
            "x_ScenarioId": scenario.key.value,
        }


Cells = dict[str, Any]
_ZERO = Decimal(0)
_COMMITTED = ("commitment", "upfront")
_PROVIDERS = (
    *("InvoiceIssuerName", "ServiceProviderName", "HostProviderName"),
    *("ProviderName", "PublisherName"),
)
"""Who sells, and in whose machines: a plan knows one name."""
_IN_PRICING_CURRENCY = ("ListUnitPrice", "ContractedUnitPrice", "EffectiveCost")
"""Columns that are repeated as `PricingCurrency…`: prices and bills are in one currency."""


def as_focus(answer: SavedPlan, context: Context, version: str = VERSIONS[0]) -> bytes:
    """The rows of one scenario as CSV; the recommended one, or the one that `context`"""
    return csv_bytes(FOCUS_COLUMNS[version], focus_rows(answer, context))


as_focus_1_2 = partial(as_focus, version="1.2")


def focus_rows(answer: SavedPlan, context: Context) -> Iterator[Cells]:
    """Rows of one scenario, in the order of months; none where nothing is feasible."""
    if (scenario := choose_scenario(answer, context)) is not None:
        yield from _Rows(answer, context, scenario).all()


def choose_scenario(answer: SavedPlan, context: Context) -> ScenarioRecord | None:
    known = {scenario.key.value: scenario for scenario in answer.feasible}
    key = context.scenario or answer.recommendation.scenario
    if context.scenario and context.scenario not in known:
        allowed = ", ".join(known) or "none"
        raise InvalidInput("scenario", f"{context.scenario[:40]!r} is no feasible one: {allowed}")
    return known.get(key) if key else None


@dataclass(frozen=True)
class _Rows:
    answer: SavedPlan
    context: Context
    scenario: ScenarioRecord

    def all(self) -> Iterator[Cells]:
        lines = (line for line in self.scenario.lines if line.category != "loan")
        booked = self._booked() if self.context.is_forecast else ()
        rows = [*map(self._line, lines), *booked]
        for row in sorted(rows, key=lambda row: str(row["ChargePeriodStart"])):
            row |= {f"PricingCurrency{name}": row.get(name) for name in _IN_PRICING_CURRENCY}
            is_used = row.get("CommitmentDiscountStatus") != "Unused"
            if row["ChargeCategory"] == "Usage" and is_used:
                row["ConsumedQuantity"] = row["PricingQuantity"]
                row["ConsumedUnit"] = row["PricingUnit"]
            yield row

    @cached_property
    def committed(self) -> dict[str, CostLine]:
        lines = [row for row in self.scenario.lines if row.category in _COMMITTED]
        return {line.source: line for line in reversed(lines)}

    @cached_property
    def capacity(self) -> dict[tuple[str, int], CapacityRow]:
        return {(row.source, row.month): row for row in self.scenario.capacity}

    def _line(self, line: CostLine) -> Cells:
        category, amount = line.category, line.amount
        cells = self._common(line, line.month)
        cells |= {"BilledCost": amount, "EffectiveCost": amount, "x_Category": category.value}
        if category in UNPRICED:
            return cells | {
                "ChargeCategory": UNPRICED[category],
                "ChargeFrequency": "One-Time",
                "ListCost": amount,
                "ContractedCost": amount,
            }
        cells |= self._priced(line)
        if not self.context.is_forecast or category not in (*_COMMITTED, *CAPITAL):
            return cells | {"ChargeCategory": "Usage", "ChargeFrequency": "Usage-Based"}
        # Paid for later use: booked month by month elsewhere.
        is_monthly = category == "commitment"
        cells |= {
            "ChargeCategory": "Purchase",
            "ChargeFrequency": "Recurring" if is_monthly else "One-Time",
            "EffectiveCost": _ZERO,
        }
        if category in _COMMITTED:
            cells |= self._commitment(line, Decimal(str(line.quantity)))
            cells["CommitmentDiscountStatus"] = None
        return cells

    def _priced(self, line: CostLine) -> Cells:
        """Quantity, list and contracted price; the costs are their exact products."""
        quantity, contracted = Decimal(str(line.quantity)), line.unit_price
        listed, offer = self._list_price(line), self._offer(line)
        machine, pricing_category = line.instance_type or line.category, "Standard"
        sku = (offer and offer.sku) or f"{line.provider or 'on-prem'}:{machine}"
        if line.category not in ("compute", *_COMMITTED):
            sku = f"{sku}:{line.category}"
        elif WITHOUT_SPOT not in line.label and (option := TRAITS.get(line.purchase_option)):
            pricing_category = option.focus_category
        details = {"InstanceType": machine, "x_Unit": line.unit}
        return {
            "PricingQuantity": quantity,
            "PricingUnit": unit_of(line.unit),
            "ListUnitPrice": listed,
            "ListCost": listed * quantity,
            "ContractedUnitPrice": contracted,
            "ContractedCost": contracted * quantity,
            "PricingCategory": pricing_category,
            "SkuId": sku,
            "SkuMeter": line.category.replace("_", " ").capitalize(),
            "SkuPriceId": line.offer_id or f"{sku}:{line.unit_price:f}",
            "SkuPriceDetails": json.dumps(details, separators=(",", ":")),
        }

    # Rows that book what was paid ---------------------------------------------------------

    def _booked(self) -> Iterator[Cells]:
        charges: dict[tuple[str, int], Decimal] = defaultdict(Decimal)
        for line in self.scenario.lines:
            if line.category == "commitment":
                charges[line.source, line.month] += line.amount
        owned: dict[tuple[str, int], Decimal] = {}
        for source, months in self.scenario.write_off.items():
            for month, amount in enumerate(months):
                if source in self.committed:
                    if amount or (source, month) in self.capacity:
                        charges[source, month] += amount
                elif amount:
                    owned[source, month] = amount
        for (source, month), cost in charges.items():
            yield from self._commitment_use(source, month, cost)
        for (source, month), cost in owned.items():
            yield self._depreciation(source, month, cost)

    def _commitment_use(self, source: str, month: int, cost: Decimal) -> Iterator[Cells]:
        """What a commitment costs in a month, split into used and unused."""
        held, share = self.capacity.get((source, month)), _ZERO
        if held is not None and held.hours_available:
            used_share = Decimal(str(held.hours_used)) / Decimal(str(held.hours_available))
            share = min(Decimal(1), used_share)
        cost, used = (round(one, decimals_of(self.answer.currency)) for one in (cost, cost * share))
        for status, part, amount in (("Used", share, used), ("Unused", 1 - share, cost - used)):
            if part > 0 or (status == "Unused" and amount):
                yield self._commitment_row(source, month, status, part, amount)

    def _commitment_row(
        self, source: str, month: int, status: str, share: Decimal, amount: Decimal
    ) -> Cells:
        line = self.committed[source]
        hours = self._node_hours(line, month) * share
        hours = hours.quantize(Decimal("1e-6"), ROUND_HALF_EVEN)
        free = line.model_copy(
            update={"quantity": hours, "unit": "node-hours", "unit_price": _ZERO, "amount": _ZERO}
        )
        cells = self._common(line, month) | self._priced(free) | self._commitment(line, hours)
        return cells | {
            "ChargeCategory": "Usage",
            "ChargeFrequency": "Usage-Based",
            "BilledCost": _ZERO,
            "EffectiveCost": amount,
            "ChargeDescription": f"{line.label}: {status.lower()}",
            "CommitmentDiscountStatus": status,
            "SkuPriceId": line.offer_id or line.source,
            "x_Category": "commitment",
        }

    def _node_hours(self, line: CostLine, month: int) -> Decimal:
        """Node-hours that the commitment gives in a month; after the horizon those that are
        billed then, or that an upfront payment still writes off."""
        source = line.source
        if (held := self.capacity.get((source, month))) is not None:
            offer = self._offer(line)
            count = Decimal(str(offer.accelerator_count if offer else 1))
            return Decimal(str(held.accelerators)) / count * HOURS_PER_MONTH
        own = (row for row in self.scenario.lines if (row.source, row.month) == (source, month))
        hours = [Decimal(str(row.quantity)) for row in own if row.category == "commitment"]
        if hours:
            return sum(hours, _ZERO)
        months, last = self.scenario.write_off[source], self.answer.horizon_months - 1
        if not months[last]:
            return _ZERO
        return self._node_hours(self.committed[source], last) * months[month] / months[last]

    def _commitment(self, line: CostLine, quantity: Decimal) -> Cells:
        option = TRAITS[line.purchase_option]
        return {
            "CommitmentDiscountId": line.source,
            "CommitmentDiscountName": line.label.split(": ")[0],
            "CommitmentDiscountCategory": option.focus_commitment_category or "Usage",
            "CommitmentDiscountType": option.focus_commitment_type or "Commitment",
            "CommitmentDiscountQuantity": quantity,
            "CommitmentDiscountUnit": "Hours",
            "PricingCategory": "Committed",
        }

    def _depreciation(self, source: str, month: int, cost: Decimal) -> Cells:
        line = next(row for row in self.scenario.lines if row.source == source)
        free = line.model_copy(
            update={"quantity": 0, "unit": "months", "unit_price": _ZERO, "category": "capex"}
        )
        cells = self._common(line, month) | self._priced(free)
        return cells | {
            "ChargeCategory": "Usage",
            "ChargeFrequency": "Recurring",
            "BilledCost": _ZERO,
            "EffectiveCost": cost,
            "ChargeDescription": f"Write-off: {line.instance_type}",
            "x_CapexOpex": "capex",
            "x_Category": "capex",
            "x_DepreciationMethod": self.answer.assumption("finance.depreciation"),
        }

    # What all rows share ------------------------------------------------------------------

    def _common(self, line: CostLine, month: int) -> Cells:
        offer = self._offer(line)
        start, end = (f"{self.answer.month(one)}T00:00:00Z" for one in (month, month + 1))
        provider = provider_title(line.provider)
        team = self.context.team or "none"
        project = self.context.project or None
        context = self.context
        tags = {name: getattr(context, name) for name in ("team", "project", "cost_centre")}
        category, service = line.category, service_title(line.provider)
        is_compute = category in ("compute", *_COMMITTED)
        default = COMPUTE if is_compute else OTHER_COMPUTE
        kind, subcategory = SERVICE_CATEGORIES.get(category, default)
        return {
            **dict.fromkeys(("BillingPeriodStart", "ChargePeriodStart"), start),
            **dict.fromkeys(("BillingPeriodEnd", "ChargePeriodEnd"), end),
            "BillingAccountId": team,
            "BillingAccountName": team,
            "BillingAccountType": "Team",
            "SubAccountId": project,
            "SubAccountName": project,
            "SubAccountType": "Project" if project else None,
            "Tags": json.dumps({k: v for k, v in tags.items() if v}),
            "ServiceCategory": kind,
            "ServiceSubcategory": subcategory,
            "ServiceName": service if is_compute else f"{service} {category.replace('_', ' ')}",
            "AvailabilityZone": (offer and offer.zone) or None,
            "BillingCurrency": self.answer.currency,
            "PricingCurrency": self.answer.currency,
            "ChargeDescription": line.label,
            **dict.fromkeys(_PROVIDERS, provider),
            "RegionId": line.region or None,
            "RegionName": line.region or None,
            **self._own(line, month),
        }

    def _own(self, line: CostLine, month: int) -> Cells:
        machine = self._offer(line) or next(
            (server for server in self.answer.servers if server.key == line.source), None
        )
        revisions = {row.provider: row.revision for row in self.answer.catalog}
        row = self.capacity.get((line.source, month))
        is_hours = line.category == "compute" and machine and line.label == machine.label
        forecast: Cells = {
            "x_IsForecast": "true",
            "x_ScenarioId": self.scenario.key.value,
            "x_Revision": revisions.get(line.provider),
            "x_Percentile": "expected",
        }
        return {
            **(forecast if self.context.is_forecast else {"x_IsForecast": "false"}),
            "x_Accelerator": machine and machine.accelerator,
            "x_AcceleratorCount": machine and machine.accelerator_count,
            "x_AcceleratorHours": row.hours_used if is_hours and row else None,
            "x_CapexOpex": "capex" if line.category in CAPITAL else "opex",
            "x_InstanceType": line.instance_type or None,
            **dict(zip(APPROVAL_COLUMNS, self.context.approval_columns, strict=True)),
        }

    def _offer(self, line: CostLine) -> OfferUsed | None:
        return self.answer.offers.get(line.offer_id)

    # List prices --------------------------------------------------------------------------

    def _list_price(self, line: CostLine) -> Decimal:
        """The unit price of a line without contract discounts, which data, people and support
        have none of; its own where nothing is left to pay of it. Of hours on demand in the place
        of spot it is that of the offer that the line names, where the answer lists that."""
        is_in_place_of_spot = WITHOUT_SPOT in line.label
        offer = self._priced_as.get(line.label) if is_in_place_of_spot else self._offer(line)
        if offer is None or line.category not in ("compute", *_COMMITTED):
            return line.unit_price
        multiplier = Decimal(str(offer.multiplier))
        if multiplier in (0, 1):
            return line.unit_price
        return (line.unit_price / multiplier).quantize(Decimal("1e-10"), ROUND_HALF_EVEN)

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


def describe_discount(multiplier: float) -> str:
    """How contract discounts change the prices of an offer."""
    if multiplier == 1:
        return "list price"
    return f"{(multiplier - 1) * 100:+.3g}%".replace("-", "−")


def unit_of(unit: str) -> str:
    """A line's unit in FOCUS's unit format.

    >>> unit_of("node-hours"), unit_of("GiB-months"), unit_of("server")
    ('Hours', 'GiB-Months', 'Server')
    """
    if unit == "node-hours":
        return "Hours"
    what, dash, time = unit.rpartition("-")
    if not dash:
        what, time = unit, ""
    return (what.capitalize() if what.islower() else what) + dash + time.capitalize()
