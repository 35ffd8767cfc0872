"""FOCUS 1.0 to 1.4 cost and usage, as AWS, Azure, Google Cloud and Oracle export it. PURE.

Files do not state their version; columns are read by name. `BilledCost` is the invoice,
`EffectiveCost` the amortised view. Hours are `ConsumedQuantity`; accelerators those of the
instance type, or `GpuCount` of `SkuPriceDetails` where no table knows the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from planner.usage.cells import Moments, amount, check_period, clip, money, quantity
from planner.usage.commitments import CommitmentSums, CoveredMachine
from planner.usage.formats.base import Idle, ReadOptions, TableFormat, add_idle, most_at_once
from planner.usage.formats.focus_machines import (
    FocusMachine,
    find_focus_machine,
    provider_slug,
)
from planner.usage.formats.gpu_sku import hours_per_unit
from planner.usage.ledger import ChargeKey, Ledger, Reason, UseKey
from planner.usage.projects import parse_tags
from planner.usage.tables import Table
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import PurchaseOption

_PRICING = {"Standard": "on_demand", "Dynamic": "spot"}
_BY_CATEGORY = {"Tax": Reason.TAX, "Credit": Reason.CREDIT, "Adjustment": Reason.REFUND}
_TRUE = ("true", "1", "yes")


class _Row:
    """Readers of the columns of one file."""

    def __init__(self, table: Table) -> None:
        get = table.columns().getter
        self.billed = get("BilledCost")
        self.effective = get("EffectiveCost")
        self.list_cost = get("ListCost")
        self.category = get("ChargeCategory")
        self.charge_class = get("ChargeClass")
        self.start = get("ChargePeriodStart")
        self.end = get("ChargePeriodEnd")
        self.currency = get("BillingCurrency")
        self.provider = get("ServiceProviderName", "ProviderName")
        self.host = get("HostProviderName", "ProviderName")
        self.region = get("RegionId")
        self.region_name = get("RegionName")
        self.service = get("ServiceName")
        self.pricing = get("PricingCategory")
        self.commitment = get("CommitmentDiscountId")
        self.commitment_type = get("CommitmentDiscountType")
        self.commitment_status = get("CommitmentDiscountStatus")
        self.reservation_status = get("CapacityReservationStatus")
        self.consumed = get("ConsumedQuantity")
        self.unit = get("ConsumedUnit")
        self.details = get("SkuPriceDetails", "x_SkuDetails")
        self.more_details = get("x_SkuDetails")
        self.meter = get("x_SkuMeterName", "SkuMeter")
        self.meter_category = get("x_SkuMeterCategory")
        self.usage_type = get("x_UsageType", "SkuMeter")
        self.machine = get("x_InstanceType")
        self.description = get("ChargeDescription")
        self.resource_type = get("ResourceType")
        self.resource = get("ResourceId")
        self.account = get("SubAccountId", "BillingAccountId")
        self.tags = get("Tags")
        self.forecast = get("x_IsForecast")
        self.frequency = get("ChargeFrequency")


def read(table: Table, ledger: Ledger, options: ReadOptions) -> None:
    """Reads every row; refuses a file that calls its rows a forecast, which is no bill."""
    columns, moments = _Row(table), Moments()
    is_repeated = ledger.overlaps.rows_of(table.header)
    for number, row in enumerate(table.rows, table.first_row):
        if is_repeated(row, number):
            ledger.account(Reason.DUPLICATE)
            continue
        if columns.forecast(row).strip().lower() in _TRUE:
            problem = "says that the row is a forecast, which is no bill; read what was billed"
            raise InvalidInput(f"row {number}, x_IsForecast", problem)
        try:
            problem = _read_row(columns, row, ledger, options, moments)
        except InvalidInput as refusal:
            problem = str(refusal)
        if problem:
            ledger.misread(f"row {number}", problem, is_of_bill=True)


def _read_row(
    columns: _Row, row: Sequence[str], ledger: Ledger, options: ReadOptions, moments: Moments
) -> str:
    """Adds a row to the ledger; gives what is not understood of it."""
    start = moments(columns.start(row), "ChargePeriodStart")
    billed = money(columns.billed(row), "BilledCost")
    effective = amount(columns.effective(row), "EffectiveCost")
    currency = clip(columns.currency(row), 10)
    if not currency:
        raise InvalidInput("BillingCurrency", "is empty; it says what BilledCost is in")
    provider = provider_slug(columns.host(row) or columns.provider(row))
    charge = ChargeKey(
        start.month,
        provider,
        clip(columns.category(row)),
        clip(columns.service(row)),
        columns.pricing(row),
        currency,
        start.month,
    )
    consumed, list_cost, problem = _quantity_and_list_cost(columns, row)
    ledger.charge(charge, billed, effective, consumed, list_cost)
    if problem:
        return problem
    if ends := columns.end(row):
        check_period(start, moments(ends, "ChargePeriodEnd"), "ChargePeriodEnd")
    option = _option(columns, row)
    machine = _find(columns, row, provider)
    reason = _reason(columns, row, machine)
    if reason is Reason.ACCELERATOR_USE and machine.accelerators is None:
        problem = f"the accelerators of {machine.name!r} are not known; its hours are in no sum"
    elif reason is Reason.ACCELERATOR_USE:
        _add_use(
            columns, row, ledger, options, moments, machine, option, consumed, billed, effective
        )
    elif reason in (Reason.UNUSED_COMMITMENT, Reason.UNUSED_RESERVATION):
        hours = consumed * (hours_per_unit(columns.unit(row)) or 0.0)
        idle = Idle(start.month, machine.name, machine.accelerators, hours, option)
        add_idle(ledger, idle, reason, effective, currency)
    if commitment := clip(columns.commitment(row), 200):
        kind = clip(columns.commitment_type(row), 60)
        sums = ledger.commitment(commitment, provider, kind, currency)
        _add_cover(columns, row, sums, reason, machine, moments)
        _add_money(sums, reason, billed, effective)
    if not problem:
        ledger.account(reason)
    return problem


def _quantity_and_list_cost(columns: _Row, row: Sequence[str]) -> tuple[float, Decimal | None, str]:
    """Both figures, or what is wrong with one of them."""
    try:
        consumed = quantity(columns.consumed(row), "ConsumedQuantity")
        return consumed, amount(columns.list_cost(row), "ListCost"), ""
    except InvalidInput as refusal:
        return 0.0, None, str(refusal)


def _add_money(
    sums: CommitmentSums, reason: Reason, billed: Decimal, effective: Decimal | None
) -> None:
    if reason is Reason.COMMITMENT_FEE:
        sums.billed.add(billed)
    elif reason is Reason.UNUSED_COMMITMENT:
        sums.amortised_unused.add(effective)
    else:
        sums.amortised_used.add(effective)


def _add_cover(
    columns: _Row,
    row: Sequence[str],
    sums: CommitmentSums,
    reason: Reason,
    machine: FocusMachine,
    moments: Moments,
) -> None:
    """What a recurring fee is for, and the machines that a commitment covers."""
    if reason is Reason.COMMITMENT_FEE:
        if columns.frequency(row).lower().startswith("recurring") and columns.end(row):
            start = moments(columns.start(row), "ChargePeriodStart").seconds
            end = moments(columns.end(row), "ChargePeriodEnd").seconds
            sums.add_fee(max(0.0, end - start) / 3600, money(columns.billed(row), "BilledCost"))
        return
    if not machine.accelerators or machine.sku is not None:
        return
    place = clip(columns.region(row)) or clip(columns.region_name(row))
    covered = CoveredMachine(machine.name, machine.accelerator, machine.accelerators, place)
    consumed = quantity(columns.consumed(row), "ConsumedQuantity")
    hours = consumed * (hours_per_unit(columns.unit(row)) or 0.0)
    if reason is Reason.UNUSED_COMMITMENT:
        sums.unused[covered] += hours
    elif reason is Reason.ACCELERATOR_USE:
        sums.used[covered] += hours


def _reason(columns: _Row, row: Sequence[str], machine: FocusMachine) -> Reason:
    category = columns.category(row).capitalize()
    if category == "Purchase":
        return Reason.COMMITMENT_FEE
    if category != "Usage":
        return _BY_CATEGORY.get(category) or _unknown_category(category)
    if columns.commitment_status(row).lower() == "unused":
        return Reason.UNUSED_COMMITMENT
    if columns.reservation_status(row).lower() == "unused":
        return Reason.UNUSED_RESERVATION
    if machine.reason is not None:
        return machine.reason
    if machine.accelerators == 0:
        return Reason.OTHER_MACHINE if machine.name else Reason.NOT_A_MACHINE
    return Reason.ACCELERATOR_USE


def _unknown_category(category: str) -> Reason:
    problem = f"{category[:40]!r} is unknown"
    raise InvalidInput("ChargeCategory", f"{problem}; FOCUS has Usage, Purchase, Tax, Credit")


def _option(columns: _Row, row: Sequence[str]) -> str:
    pricing = columns.pricing(row)
    if pricing != "Committed" and not columns.commitment(row).strip("NULnu "):
        return _PRICING.get(pricing.capitalize(), "")
    kind = columns.commitment_type(row).lower()
    if "saving" in kind:
        return PurchaseOption.SAVINGS_PLAN.value
    if "reserv" in kind:
        return PurchaseOption.RESERVED.value
    return PurchaseOption.COMMITTED_USE.value


def _find(columns: _Row, row: Sequence[str], provider: str) -> FocusMachine:
    return find_focus_machine(
        provider,
        columns.machine(row),
        columns.details(row),
        columns.more_details(row),
        columns.usage_type(row),
        columns.meter(row),
        columns.meter_category(row),
        columns.description(row),
    )


def _add_use(
    columns: _Row,
    row: Sequence[str],
    ledger: Ledger,
    options: ReadOptions,
    moments: Moments,
    machine: FocusMachine,
    option: str,
    consumed: float,
    billed: object,
    effective: object,
) -> None:
    per_unit = hours_per_unit(columns.unit(row))
    if per_unit is None:
        problem = f"{columns.unit(row)[:40]!r} is no unit of time"
        raise InvalidInput("ConsumedUnit", f"{problem}; the hours of {machine.name} are not known")
    if consumed < 0 and columns.charge_class(row) != "Correction":
        problem = "is less than 0; less is taken back by a row with ChargeClass Correction"
        raise InvalidInput("ConsumedQuantity", problem)
    start = moments(columns.start(row), "ChargePeriodStart")
    end = moments(columns.end(row), "ChargePeriodEnd") if columns.end(row) else start
    accelerator_hours = consumed * per_unit * (machine.accelerators or 0.0)
    account = clip(columns.account(row))
    key = UseKey(
        month=start.month,
        provider=provider_slug(columns.host(row) or columns.provider(row)),
        region=clip(columns.region(row)) or clip(columns.region_name(row)),
        machine=machine.name,
        accelerator=machine.accelerator,
        option=(machine.sku.option if machine.sku else "") or option,
        project=options.projects.choose(
            options.projects.pick(parse_tags(columns.tags(row))), account
        ),
        account=account,
        user="",
        state="",
        currency=clip(columns.currency(row), 10),
    )
    instance_hours = None if machine.sku else consumed * per_unit
    ledger.use(key, instance_hours, accelerator_hours, billed, effective)  # type: ignore[arg-type]
    if end.seconds > start.seconds and accelerator_hours > 0:
        mean = accelerator_hours * 3600 / (end.seconds - start.seconds)
        label = machine.accelerator or machine.name
        most = most_at_once(columns.resource(row), machine.accelerators or 0.0)
        ledger.hold(label, start.seconds, end.seconds, mean, most)


FORMAT = TableFormat(
    name="focus",
    title="FOCUS cost and usage",
    required=("ChargePeriodStart", "BilledCost", "ChargeCategory"),
    read=read,
)
