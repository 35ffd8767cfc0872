"""FOCUS 1.0 to 1.4 cost and usage, as AWS, Azure, Google Cloud and Oracle export it. PURE.

Files do not state their version; columns are read by name. `BilledCost` is the invoice,
`EffectiveCost` the amortised view. Hours are `ConsumedQuantity`; accelerators those of the
instance type, or `GpuCount` of `SkuPriceDetails` where no table knows the machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from planner.usage.cells import Moments, amount, clip, money, quantity
from planner.usage.formats.base import ReadOptions, TableFormat
from planner.usage.formats.gpu_sku import AcceleratorSku, google_sku, hours_per_unit, oracle_sku
from planner.usage.ledger import ChargeKey, Ledger, Reason, UseKey
from planner.usage.machines import azure_sizes_by_meter, find_machine
from planner.usage.projects import parse_tags
from planner.usage.tables import Table
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import PurchaseOption

_PROVIDERS = {
    "amazon web services": "aws",
    "aws": "aws",
    "microsoft": "azure",
    "microsoft azure": "azure",
    "azure": "azure",
    "google cloud": "gcp",
    "google cloud platform": "gcp",
    "google": "gcp",
    "gcp": "gcp",
    "oracle": "oci",
    "oracle cloud": "oci",
    "oracle cloud infrastructure": "oci",
    "oci": "oci",
}
_PRICING = {"Standard": "on_demand", "Dynamic": "spot"}
_AWS_USE = re.compile(r"(?:[A-Z]{2,4}\d?-)?(\w+):((?:ml\.)?[\w-]+\.[\w-]+)$")
_AWS_DESCRIPTION = re.compile(r"\b((?:ml\.)?[a-z]+\d[\w-]*\.[\w-]+) (?:Spot )?Instance", re.ASCII)
_AWS_MACHINE_USE = ("BoxUsage", "SpotUsage", "DedicatedUsage", "HostBoxUsage")
_AWS_NO_USE = {
    "UnusedBox": Reason.UNUSED_RESERVATION,
    "UnusedDed": Reason.UNUSED_RESERVATION,
    "Reservation": Reason.CAPACITY_RESERVATION,
    "DedicatedRes": Reason.CAPACITY_RESERVATION,
    "EBSOptimized": Reason.NOT_A_MACHINE,
    "HeavyUsage": Reason.COMMITMENT_FEE,
}
_BY_CATEGORY = {"Tax": Reason.TAX, "Credit": Reason.CREDIT, "Adjustment": Reason.REFUND}
_TRUE = ("true", "1", "yes")


class _Machine(NamedTuple):
    """What a row's machine is, or why it is none."""

    name: str
    accelerator: str
    accelerators: float | None
    """Accelerators in it; None where nobody knows."""
    reason: Reason | None
    sku: AcceleratorSku | None = None


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
        self.account = get("SubAccountId", "BillingAccountId")
        self.tags = get("Tags")
        self.forecast = get("x_IsForecast")


def read(table: Table, ledger: Ledger, options: ReadOptions) -> None:
    """Reads every row; refuses a file that calls its rows a forecast, which is no bill."""
    columns, moments = _Row(table), Moments()
    for number, row in enumerate(table.rows, table.first_row):
        if columns.forecast(row).strip().lower() in _TRUE:
            problem = "says that the row is a forecast, which is no bill; read what was billed"
            raise InvalidInput(f"row {number}, x_IsForecast", problem)
        try:
            problem = _read_row(columns, row, ledger, options, moments)
        except InvalidInput as refusal:
            problem = str(refusal)
        if problem:
            ledger.misread(f"row {number}", problem)


def provider_slug(name: str) -> str:
    """Our name of a provider."""
    plain = name.strip().lower().removesuffix(", inc.")
    return _PROVIDERS.get(plain, plain[:60])


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
    consumed = quantity(columns.consumed(row), "ConsumedQuantity")
    option = _option(columns, row)
    machine = _find(columns, row, provider)
    reason = _reason(columns, row, machine)
    problem = ""
    if reason is Reason.ACCELERATOR_USE and machine.accelerators is None:
        problem = f"the accelerators of {machine.name!r} are not known; its hours are in no sum"
    elif reason is Reason.ACCELERATOR_USE:
        _add_use(
            columns, row, ledger, options, moments, machine, option, consumed, billed, effective
        )
    elif reason in (Reason.UNUSED_COMMITMENT, Reason.UNUSED_RESERVATION) and machine.accelerators:
        hours = consumed * (hours_per_unit(columns.unit(row)) or 0.0) * machine.accelerators
        ledger.unused_hours[start.month, machine.name, reason.value] += hours
    if commitment := clip(columns.commitment(row), 200):
        kind = clip(columns.commitment_type(row), 60)
        sums = ledger.commitment(commitment, provider, kind, currency)
        if reason is Reason.COMMITMENT_FEE:
            sums.billed += billed
        elif reason is Reason.UNUSED_COMMITMENT:
            sums.amortised_unused += effective or 0
        else:
            sums.amortised_used += effective or 0
    category = columns.category(row)
    key = ChargeKey(
        start.month, provider, category, clip(columns.service(row)), columns.pricing(row), currency
    )
    list_cost = amount(columns.list_cost(row), "ListCost")
    ledger.charge(key, billed, effective, consumed, list_cost)
    if not problem:
        ledger.account(reason)
    return problem


def _reason(columns: _Row, row: Sequence[str], machine: _Machine) -> Reason:
    category = columns.category(row)
    if category == "Purchase":
        return Reason.COMMITMENT_FEE
    if category != "Usage":
        return _BY_CATEGORY.get(category) or _unknown_category(category)
    if columns.commitment_status(row) == "Unused":
        return Reason.UNUSED_COMMITMENT
    if columns.reservation_status(row) == "Unused":
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
        return _PRICING.get(pricing, "")
    kind = columns.commitment_type(row).lower()
    if "saving" in kind:
        return PurchaseOption.SAVINGS_PLAN.value
    if "reserv" in kind:
        return PurchaseOption.RESERVED.value
    return PurchaseOption.COMMITTED_USE.value


def _find(columns: _Row, row: Sequence[str], provider: str) -> _Machine:
    return _machine(
        provider,
        columns.machine(row),
        columns.details(row),
        columns.more_details(row),
        columns.usage_type(row),
        columns.meter(row),
        columns.meter_category(row),
        columns.description(row),
    )


@lru_cache(maxsize=20_000)
def _machine(
    provider: str,
    named: str,
    details: str,
    more_details: str,
    usage_type: str,
    meter: str,
    meter_category: str,
    description: str,
) -> _Machine:
    """The machine by whatever the provider says of it; its own columns first."""
    known = parse_tags(details) | parse_tags(more_details)
    sku = _sku(provider, meter, description)
    if sku is not None:
        reason = Reason.COMMITMENT_FEE if sku.is_fee else None
        return _Machine("", sku.accelerator, 1.0, reason, sku)
    name, reason = clip(named), None
    if not name and provider == "aws":
        name, reason = _aws_machine(usage_type, description)
    elif not name and provider == "azure":
        name = _azure_machine(known, meter, meter_category)
    stated = known.get("InstanceType")
    if not name and isinstance(stated, str):
        name = clip(stated)
    machine = find_machine(provider, name)
    count = machine.accelerators if name else 0.0
    stated_count = known.get("GpuCount")
    if not count and isinstance(stated_count, int | float) and 0 < stated_count < 1_000:
        count = float(stated_count)
    return _Machine(name, machine.accelerator, count, reason)


def _sku(provider: str, meter: str, description: str) -> AcceleratorSku | None:
    if provider == "gcp":
        return google_sku(meter) or google_sku(description)
    return oracle_sku(description) or oracle_sku(meter) if provider == "oci" else None


def _aws_machine(usage_type: str, description: str) -> tuple[str, Reason | None]:
    match = _AWS_USE.match(usage_type)
    if match is None:
        described = _AWS_DESCRIPTION.search(description)
        return (described[1] if described else ""), None
    kind, name = match.groups()
    if name.startswith("ml.") or kind in _AWS_MACHINE_USE:
        return name, None
    return name, _AWS_NO_USE.get(kind, Reason.NOT_A_MACHINE)


def _azure_machine(known: dict[str, object], meter: str, meter_category: str) -> str:
    size = known.get("ServiceType")
    if isinstance(size, str) and size.lower().startswith(("standard_", "basic_")):
        return clip(size)
    if meter_category and meter_category != "Virtual Machines":
        return ""
    plain = re.sub(r"\s+(spot|low priority)$", "", meter.strip(), flags=re.IGNORECASE)
    return azure_sizes_by_meter().get(plain.lower(), plain if meter_category else "")


def _add_use(
    columns: _Row,
    row: Sequence[str],
    ledger: Ledger,
    options: ReadOptions,
    moments: Moments,
    machine: _Machine,
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
        ledger.hourly.add(machine.accelerator or machine.name, start.seconds, end.seconds, mean)


FORMAT = TableFormat(
    name="focus",
    title="FOCUS cost and usage",
    required=("ChargePeriodStart", "BilledCost", "ChargeCategory"),
    read=read,
)
