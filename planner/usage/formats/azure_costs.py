"""Azure cost details: actual and amortised, of every agreement and in any language. PURE.

Old exports name `PreTaxCost` and `UsageQuantity`, Enterprise Agreements `CostInBillingCurrency`
and `Quantity`, Customer Agreements the same in camel case; translated headers hold the English
name in brackets. Dates are MM/DD/YYYY, ISO or DD.MM.YYYY.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache

from planner.usage.cells import Moment, Moments, clip, money, quantity, to_point
from planner.usage.commitments import CommitmentSums, CoveredMachine
from planner.usage.date_order import DateOrder, find_date_order
from planner.usage.formats.base import Idle, ReadOptions, TableFormat, add_idle
from planner.usage.formats.gpu_sku import hours_per_unit
from planner.usage.ledger import ChargeKey, Ledger, Reason, UseKey
from planner.usage.machines import azure_sizes_by_meter, find_machine
from planner.usage.projects import parse_tags
from planner.usage.tables import Table
from pricing.common.invalid_input import InvalidInput

_ZERO = Decimal(0)
_BY_CHARGE = {
    "purchase": Reason.COMMITMENT_FEE,
    "unusedreservation": Reason.UNUSED_COMMITMENT,
    "unusedsavingsplan": Reason.UNUSED_COMMITMENT,
    "refund": Reason.REFUND,
    "tax": Reason.TAX,
    "credit": Reason.CREDIT,
    "roundingadjustment": Reason.REFUND,
    "adjustment": Reason.REFUND,
}
_OPTIONS = {"reservation": "reserved", "savingsplan": "savings_plan", "spot": "spot"}
_COST = ("CostInBillingCurrency", "PreTaxCost", "Cost", "BilledCost", "CostInPricingCurrency")
_DATE = ("Date", "UsageDateTime", "UsageDate", "servicePeriodStartDate")
_PRICE_TOLERANCE = Decimal("0.02")
_DAY_S = 86_400.0


class _Row:
    """Readers of the columns of one file, by any of their names."""

    def __init__(self, table: Table) -> None:
        columns = table.columns()
        get = columns.getter
        self.date = get(*_DATE)
        self.cost = get(*_COST)
        self.quantity = get("Quantity", "UsageQuantity", "ConsumedQuantity")
        self.price = get("EffectivePrice", "ResourceRate", "UnitPrice")
        self.unit = get("UnitOfMeasure")
        self.currency = get("BillingCurrency", "BillingCurrencyCode", "Currency")
        self.charge = get("ChargeType")
        self.pricing = get("PricingModel")
        self.category = get("MeterCategory")
        self.meter = get("MeterName")
        self.details = get("AdditionalInfo")
        self.region = get("ResourceLocation", "Location", "ResourceLocationNormalized")
        self.account = get("SubscriptionId", "SubscriptionGuid")
        self.group = get("ResourceGroup", "ResourceGroupName")
        self.tags = get("Tags")
        self.benefits = (get("benefitId"), get("ReservationId"))
        """Commitments of a row; exports may have both columns and fill one."""
        self.period_end = get("BillingPeriodEndDate", "BillingPeriodEnd")
        self.has_quantity = columns.find("Quantity", "UsageQuantity") is not None
        self.counts_blocks = columns.find("UsageQuantity", "ResourceRate") is not None
        """Old exports count blocks such as 10 hours; new ones count hours."""


def read(table: Table, ledger: Ledger, options: ReadOptions) -> None:
    columns = _Row(table)
    table.columns().require(*_COST)
    order, rows = find_date_order(table.rows, columns.period_end, columns.date)
    if note := order.note():
        ledger.note(note)
    number: Callable[[str], str] = to_point if table.decimal_comma else str
    reader = _Reader(columns, ledger, options, order, number)
    is_repeated = ledger.overlaps.rows_of(table.header)
    for index, row in enumerate(rows, table.first_row):
        if is_repeated(row, index):
            ledger.account(Reason.DUPLICATE)
            continue
        try:
            reader.read(row, index)
        except InvalidInput as refusal:
            ledger.misread(f"row {index}", str(refusal), is_of_bill=True)


class _Reader:
    def __init__(
        self,
        columns: _Row,
        ledger: Ledger,
        options: ReadOptions,
        order: DateOrder,
        number: Callable[[str], str],
    ) -> None:
        self._columns, self._ledger, self._options = columns, ledger, options
        self._order, self._moments = order, Moments(day_first=order.day_first)
        self._number = number

    def read(self, row: Sequence[str], index: int) -> None:
        columns, ledger = self._columns, self._ledger
        if not columns.cost(row).strip() and not columns.quantity(row).strip():
            ledger.account(Reason.NOT_A_MACHINE)
            return
        start = self._start(columns.date(row))
        cost = money(self._number(columns.cost(row)), "Cost")
        charge = columns.charge(row) or "Usage"
        pricing = columns.pricing(row)
        currency = clip(columns.currency(row), 10)
        billed, amortised = self._views(charge, pricing, cost)
        category = clip(columns.category(row))
        key_of_charge = ChargeKey(
            start.month, "azure", clip(charge), category, pricing, currency, start.month
        )
        sums_of_charge = ledger.charge(key_of_charge, billed, amortised)
        amount = quantity(self._number(columns.quantity(row)), "Quantity")
        sums_of_charge.quantity += amount
        name, count, accelerator = _machine(
            columns.category(row), columns.meter(row), columns.details(row)
        )
        reason = self._reason(charge, name, count)
        problem = ""
        if reason is Reason.ACCELERATOR_USE:
            hours = self._hours(row, amount, cost)
            if count is None or hours is None:
                what = "accelerators" if count is None else "hours"
                problem = f"the {what} of {name!r} are not known and in no sum"
            else:
                key = self._key(row, start.month, name, accelerator, pricing, currency)
                ledger.use(key, hours, hours * count, billed, amortised)
                mean = hours * count / 24
                if mean > 0:
                    label = accelerator or name
                    ledger.hold(label, start.seconds, start.seconds + _DAY_S, mean)
        elif reason is Reason.UNUSED_COMMITMENT:
            option = _OPTIONS["savingsplan" if "savingsplan" in charge.lower() else "reservation"]
            idle = Idle(start.month, name, count, amount, option)
            add_idle(ledger, idle, reason, amortised, currency)
        sums = self._add_commitment(row, reason, billed, amortised, currency)
        if sums is not None and count:
            place = clip(columns.region(row)).lower().replace(" ", "")
            covered = CoveredMachine(name, accelerator, count, place)
            if reason is Reason.ACCELERATOR_USE:
                sums.used[covered] += self._hours(row, amount, cost) or 0.0
            elif reason is Reason.UNUSED_COMMITMENT:
                sums.unused[covered] += amount
        if problem:
            ledger.misread(f"row {index}", problem, is_of_bill=True)
        else:
            ledger.account(reason)

    def _start(self, text: str) -> Moment:
        try:
            return self._moments(text, "Date")
        except InvalidInput:
            self._order.check(text)
            raise

    def _views(
        self, charge: str, pricing: str, cost: Decimal
    ) -> tuple[Decimal | None, Decimal | None]:
        """Billed and amortised cost: an export holds one view, told by its commitments."""
        kind = charge.lower()
        if kind.startswith("unused"):
            self._ledger.set_view("amortised")
            return None, cost
        committed = pricing.lower() in ("reservation", "savingsplan")
        if kind == "purchase" and committed:
            self._ledger.set_view("actual")
            return cost, _ZERO
        if committed and kind == "usage":
            self._ledger.set_view("amortised" if cost else "actual")
            return (None, cost) if cost else (_ZERO, None)
        return cost, cost

    @staticmethod
    def _reason(charge: str, name: str, count: float | None) -> Reason:
        reason = _BY_CHARGE.get(charge.lower())
        if reason is not None:
            return reason
        if charge.lower() != "usage":
            problem = f"{charge[:40]!r} is unknown; its hours are in no sum"
            raise InvalidInput("ChargeType", problem)
        if not name:
            return Reason.NOT_A_MACHINE
        return Reason.OTHER_MACHINE if count == 0 else Reason.ACCELERATOR_USE

    def _hours(self, row: Sequence[str], amount: float, cost: Decimal) -> float | None:
        """Hours of machines; a block of 10 hours counts as such where the price says so."""
        columns = self._columns
        if not columns.has_quantity:
            return None
        unit = columns.unit(row)
        block = hours_per_unit(unit) if unit.strip() else 1.0
        if block is None or block == 1.0:
            return None if block is None else amount
        price = money(self._number(columns.price(row)), "UnitPrice")
        total = Decimal(repr(amount)) * price
        if cost and price and _is_close(total / Decimal(repr(block)), cost):
            return amount
        return amount * block if columns.counts_blocks else amount

    def _key(
        self,
        row: Sequence[str],
        month: str,
        name: str,
        accelerator: str,
        pricing: str,
        currency: str,
    ) -> UseKey:
        columns = self._columns
        account = clip(columns.account(row))
        projects = self._options.projects
        tags = projects.pick(parse_tags(columns.tags(row)))
        if "resource_group" in projects.tags:
            tags["resource_group"] = clip(columns.group(row))
        option = _OPTIONS.get(pricing.lower().replace(" ", ""), "on_demand")
        meter = columns.meter(row).lower()
        if meter.endswith(" spot"):
            option = "spot"
        elif meter.endswith(" low priority"):
            option = "low_priority"
        return UseKey(
            month=month,
            provider="azure",
            region=clip(columns.region(row)).lower().replace(" ", ""),
            machine=name,
            accelerator=accelerator,
            option=option,
            project=projects.choose(tags, account),
            account=account,
            user="",
            state="",
            currency=currency,
        )

    def _add_commitment(
        self,
        row: Sequence[str],
        reason: Reason,
        billed: Decimal | None,
        amortised: Decimal | None,
        currency: str,
    ) -> CommitmentSums | None:
        named = (clip(get(row), 200).lower() for get in self._columns.benefits)
        identifier = next(filter(None, named), "")
        if not identifier:
            return None
        pricing = self._columns.pricing(row).lower()
        kind = _OPTIONS.get(pricing, "reserved")
        sums = self._ledger.commitment(identifier, "azure", kind, currency)
        sums.billed.add(billed)
        if reason is Reason.UNUSED_COMMITMENT:
            sums.amortised_unused.add(amortised)
        elif reason is not Reason.COMMITMENT_FEE:
            sums.amortised_used.add(amortised)
            if amortised is None:
                sums.amortised_unused.add(None)
        return sums


def _is_close(one: Decimal, other: Decimal) -> bool:
    return abs(one - other) <= _PRICE_TOLERANCE * abs(other)


@lru_cache(maxsize=20_000)
def _machine(category: str, meter: str, details: str) -> tuple[str, float | None, str]:
    """Size, accelerators in it and their slug; no size for what is no machine."""
    known = parse_tags(details)
    size = known.get("ServiceType")
    if category.lower() not in ("virtual machines", "cloud services", ""):
        return "", 0.0, ""
    name = clip(size) if isinstance(size, str) else ""
    if not name and category.lower() == "virtual machines":
        plain = re.sub(r"\s+(spot|low priority)$", "", meter.strip(), flags=re.IGNORECASE)
        name = azure_sizes_by_meter().get(plain.lower(), plain)
    if not name:
        return "", 0.0, ""
    machine = find_machine("azure", name)
    return name, machine.accelerators, machine.accelerator


FORMAT = TableFormat(
    name="azure_costs",
    title="Azure cost details",
    required=("MeterCategory", "AdditionalInfo"),
    read=read,
)
