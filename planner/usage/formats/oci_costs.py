"""Oracle Cloud cost reports. PURE. GPU products are sold by the GPU-hour; no real one was seen."""

from __future__ import annotations

from planner.usage.cells import Moments, check_period, clip, money, quantity
from planner.usage.formats.base import ReadOptions, TableFormat
from planner.usage.formats.gpu_sku import hours_per_unit, oracle_sku
from planner.usage.ledger import ChargeKey, Ledger, Reason, UseKey
from planner.usage.tables import Table
from pricing.common.invalid_input import InvalidInput


def read(table: Table, ledger: Ledger, options: ReadOptions) -> None:
    """Reads rows; a correction (`isCorrection`) may take hours and money back."""
    columns = table.columns()
    get = columns.getter
    start_of, end_of = get("lineItem/intervalUsageStart"), get("lineItem/intervalUsageEnd")
    product, service = get("product/Description"), get("product/service")
    billed_quantity, unit = get("usage/billedQuantity"), get("cost/skuUnitDescription")
    cost_of, overage, currency_of = (
        get("cost/myCost"),
        get("cost/myCostOverage"),
        get("cost/currencyCode"),
    )
    region, compartment = get("product/region"), get("product/compartmentName")
    tenant = get("lineItem/tenantId")
    correction = get("lineItem/isCorrection")
    tag_columns = {
        tag: get(*(name for name in columns.header if name.lower().endswith(f".{tag.lower()}")))
        for tag in options.projects.tags
    }
    moments = Moments()
    is_repeated = ledger.overlaps.rows_of(table.header)
    for number, row in enumerate(table.rows, table.first_row):
        if is_repeated(row, number):
            ledger.account(Reason.DUPLICATE)
            continue
        try:
            start = moments(start_of(row), "lineItem/intervalUsageStart")
            cost = money(cost_of(row), "cost/myCost") + money(overage(row), "cost/myCostOverage")
            currency = clip(currency_of(row), 10)
            sku = oracle_sku(product(row)) if service(row).upper() == "COMPUTE" else None
            charge = "Correction" if correction(row).lower() == "true" else "Usage"
            key_of_charge = ChargeKey(
                start.month,
                "oci",
                charge,
                clip(service(row)),
                clip(product(row)),
                currency,
                start.month,
            )
            sums_of_charge = ledger.charge(key_of_charge, cost, cost)
            amount = quantity(billed_quantity(row), "usage/billedQuantity")
            sums_of_charge.quantity += amount
            end = moments(end_of(row), "lineItem/intervalUsageEnd") if end_of(row) else start
            check_period(start, end, "lineItem/intervalUsageEnd")
            if sku is not None:
                per_unit = hours_per_unit(unit(row) or "hours")
                if per_unit is None:
                    raise InvalidInput("cost/skuUnitDescription", "is no unit of time")
                hours = amount * per_unit
                account = clip(compartment(row)) or clip(tenant(row))
                tags = {tag: clip(read(row)) for tag, read in tag_columns.items() if read(row)}
                key = UseKey(
                    month=start.month,
                    provider="oci",
                    region=clip(region(row)),
                    machine="",
                    accelerator=sku.accelerator,
                    option=sku.option,
                    project=options.projects.choose(tags, account),
                    account=account,
                    user="",
                    state="",
                    currency=currency,
                )
                ledger.use(key, None, hours, cost, cost)
                if end.seconds > start.seconds and hours > 0:
                    mean = hours * 3600 / (end.seconds - start.seconds)
                    ledger.hold(sku.accelerator, start.seconds, end.seconds, mean)
            ledger.account(_reason(sku is not None, service(row)))
        except InvalidInput as refusal:
            ledger.misread(f"row {number}", str(refusal), is_of_bill=True)


def _reason(is_accelerator: bool, service: str) -> Reason:
    if is_accelerator:
        return Reason.ACCELERATOR_USE
    return Reason.OTHER_MACHINE if service.upper() == "COMPUTE" else Reason.NOT_A_MACHINE


FORMAT = TableFormat(
    name="oci_costs",
    title="Oracle Cloud cost report",
    required=("lineItem/intervalUsageStart", "usage/billedQuantity", "cost/myCost"),
    read=read,
)
