"""FOCUS 1.0 to 1.4 cost and usage, as AWS, Azure, Google Cloud and Oracle export it. PURE.

Files do not state their version; columns are read by name. `BilledCost` is the invoice,
`EffectiveCost` the amortised view. Hours are `ConsumedQuantity`; accelerators those of the
instance type, or `GpuCount` of `SkuPriceDetails` where no table knows the machine.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import itemgetter

from planner.usage.bills import Bill, Cells, Kind, Line, Row
from planner.usage.formats.aws import NO_USE, OPTION_OF_USE, USAGE_TYPE
from planner.usage.ledger import Reason, UnusableFile
from planner.usage.machines import (
    azure_sizes_by_meter,
    describe_machine,
    find_machine,
    google_sku,
    hours_per_unit,
    oracle_sku,
    plain_meter,
)
from planner.usage.projects import ProjectRules, parse_tags
from planner.usage.tables import Table, amount, clip, money, quantity, read_currency
from pricing.common.invalid_input import InvalidInput
from pricing.market.clouds import all_clouds, find_cloud
from pricing.market.offers import PurchaseOption

_PRICING = {"Standard": "on_demand", "Dynamic": "spot"}
_BY_CATEGORY = {
    "Purchase": Reason.COMMITMENT_FEE,
    "Tax": Reason.TAX,
    "Credit": Reason.CREDIT,
    "Adjustment": Reason.REFUND,
}
_BOOKED = {"Storage": "storage", "Networking": "egress"}
_AWS_DESCRIPTION = re.compile(r"\b((?:ml\.)?[a-z]+\d[\w-]*\.[\w-]+) (?:Spot )?Instance", re.ASCII)


class Focus(Bill):
    name = "focus"
    title = "FOCUS cost and usage"
    required = ("start", "billed", "category")

    def __init__(self, table: Table, projects: ProjectRules) -> None:
        super().__init__(table, projects)
        if not table.columns().has("BillingCurrency"):
            problem = "is missing; add it with the currency of BilledCost, such as USD"
            raise InvalidInput("column BillingCurrency", problem)

    def charge(self, cells: Cells) -> Kind:
        if cells["forecast"].strip().lower() in ("true", "1", "yes"):
            problem = "calls rows a forecast (x_IsForecast), which is no bill"
            raise UnusableFile(f"{problem}; read what was billed")
        currency = read_currency(cells["currency"], "BillingCurrency")
        if not currency:
            problem = "is empty; give the currency of BilledCost, such as USD"
            raise InvalidInput("BillingCurrency", problem)
        provider = (cells["host"] or cells["provider"]).strip().lower().removesuffix(", inc.")
        return Kind(
            provider=_find_provider(provider),
            charge=clip(cells["category"]),
            service=clip(cells["service"]),
            pricing=cells["pricing"],
            currency=currency,
        )

    def classify(self, cells: Cells, kind: Kind) -> None:
        kind.region = clip(cells["region"]) or clip(cells["region_name"])
        kind.account = clip(cells["account"])
        tags = self.projects.pick(parse_tags(cells["tags"]))
        kind.project = self.projects.choose(tags, kind.account)
        if kind.project in ("", kind.account):
            kind.project = clip(cells["account_name"])
        kind.commitment = clip(cells["commitment"], 200)
        kind.commitment_kind = clip(cells["commitment_type"], 60)
        booked = _BOOKED.get(cells["service_category"], "compute")
        booked = "commitment" if kind.commitment else booked
        booked = "tax" if cells["category"] == "Tax" else booked
        kind.category = clip(cells["booked"], 30) or booked
        kind.option = _option(cells)
        reason = _name_machine(cells, kind)
        kind.reason = _reason(cells, kind, reason)
        kind.takes_back = cells["class"] == "Correction" or cells["category"] != "Usage"
        per_unit = hours_per_unit(cells["unit"], kind.accelerators)
        kind.hours_per_unit = per_unit or 0.0
        kind.bought_per_unit = _bought_per_unit(cells, kind, reason)
        if kind.reason is Reason.ACCELERATOR_USE and kind.accelerators and per_unit is None:
            problem = f"{cells['unit'][:40]!r} is no unit of time"
            hours = f"the hours of {kind.machine} are not known"
            raise InvalidInput("ConsumedUnit", f"{problem}; {hours}")

    def money(self, row: Row, line: Line) -> None:
        line.billed = money(self.get["billed"](row), "BilledCost")
        line.amortised = amount(self.get["effective"](row), "EffectiveCost")

    def amounts(self, row: Row, line: Line) -> None:
        get, kind = self.get, line.kind
        line.resource = get["resource"](row)
        line.list_cost = amount(get["list_cost"](row), "ListCost")
        super().amounts(row, line)
        is_fee = kind.charge.capitalize() == "Purchase"
        bought = quantity(get["bought"](row), "PricingQuantity") if is_fee else line.quantity
        line.bought_hours = bought * (kind.bought_per_unit or 0.0)


def _bought_per_unit(cells: Cells, kind: Kind, reason: Reason | None) -> float:
    """Of a commitment on machines the hours that its fees pay for, used or not; of one on money,
    which buys none, and of all other machines the hours used."""
    described = ("machine", "usage_type", "meter", "description")
    is_machine = kind.accelerators != 0 or not any(cells[name] for name in described)
    if reason is not None or not (is_machine or cells["machine"]):
        return 0.0
    is_fee = cells["category"].capitalize() == "Purchase"
    is_of_money = cells["commitment_category"].strip().lower() == "spend"
    if is_fee if is_of_money or not kind.commitment else not is_fee:
        return 0.0
    unit = cells["bought_unit"] if is_fee else cells["unit"]
    return hours_per_unit(unit, kind.accelerators) or 0.0


def _reason(cells: Cells, kind: Kind, reason: Reason | None) -> Reason:
    category = cells["category"].capitalize()
    if category != "Usage":
        if category not in _BY_CATEGORY:
            problem = f"{category[:40]!r} is unknown; FOCUS has Usage, Purchase, Tax, Credit"
            raise InvalidInput("ChargeCategory", problem)
        return _BY_CATEGORY[category]
    if cells["commitment_status"].lower() == "unused":
        return Reason.UNUSED_COMMITMENT
    if cells["reservation_status"].lower() == "unused":
        return Reason.UNUSED_RESERVATION
    if reason is not None:
        return reason
    if kind.accelerators == 0:
        return Reason.OTHER_MACHINE if kind.machine else Reason.NOT_A_MACHINE
    return Reason.ACCELERATOR_USE


def _option(cells: Cells) -> str:
    if cells["pricing"] != "Committed" and not clip(cells["commitment"]):
        return _PRICING.get(cells["pricing"].capitalize(), "")
    kind = cells["commitment_type"].lower()
    if "saving" in kind:
        return PurchaseOption.SAVINGS_PLAN.value
    return (PurchaseOption.RESERVED if "reserv" in kind else PurchaseOption.COMMITTED_USE).value


def _name_machine(cells: Cells, kind: Kind) -> Reason | None:
    """Fills the machine by whatever the provider says of it, its own columns first; gives why the
    row is no use of it."""
    known = parse_tags(cells["details"]) | parse_tags(cells["more_details"])
    meter, description = cells["meter"], cells["description"]
    sku = None
    if kind.provider == "gcp":
        sku = google_sku(meter) or google_sku(description)
    elif kind.provider == "oci":
        sku = oracle_sku(description) or oracle_sku(meter)
    if sku:
        kind.accelerator, kind.accelerators, kind.is_apart = sku.accelerator, 1.0, True
        kind.option = sku.option or kind.option
        return Reason.COMMITMENT_FEE if sku.is_fee else None
    name, reason = clip(cells["machine"]), None
    if not name and kind.provider == "aws":
        name, reason = _aws_machine(cells["usage_type"], description)
    elif not name and kind.provider == "azure":
        name = _azure_machine(known, meter, cells["meter_category"])
    stated = known.get("InstanceType")
    if not name and isinstance(stated, str):
        name = clip(stated)
    machine = find_machine(kind.provider, name)
    count = machine.accelerators if name else 0.0
    stated_count = known.get("GpuCount")
    if not count and isinstance(stated_count, int | float) and 0 < stated_count < 1_000:
        count = float(stated_count)
    kind.machine, kind.accelerator, kind.accelerators = name, machine.accelerator, count
    if not machine.accelerator and not find_cloud(kind.provider).machine_names:
        texts = (name, description, meter)
        described = next(filter(itemgetter(1), map(describe_machine, texts)), machine)
        kind.accelerator = described.accelerator
        kind.accelerators = count or described.accelerators
    return reason


def _aws_machine(usage_type: str, description: str) -> tuple[str, Reason | None]:
    match = USAGE_TYPE.fullmatch(usage_type)
    if match is None or "." not in (match["machine"] or ""):
        described = _AWS_DESCRIPTION.search(description)
        return (described[1] if described else ""), None
    kind, name = match["kind"], match["machine"]
    if name.startswith("ml.") or kind in OPTION_OF_USE:
        return name, None
    return name, NO_USE.get(kind, Reason.NOT_A_MACHINE)


def _azure_machine(known: dict[str, object], meter: str, meter_category: str) -> str:
    size = known.get("x_ServiceType", known.get("ServiceType"))
    if isinstance(size, str) and size.lower().startswith(("standard_", "basic_")):
        return clip(size)
    if meter_category not in ("", "Virtual Machines"):
        return ""
    plain = plain_meter(meter)
    return azure_sizes_by_meter().get(plain.lower(), plain if meter_category else "")


@lru_cache(maxsize=1024)
def _find_provider(name: str) -> str:
    """The cloud that is named or issues the invoice, by the first word; the name itself of any
    other.

    >>> _find_provider("microsoft corporation"), _find_provider("nimbus")
    ('azure', 'nimbus')
    """
    word = name.partition(" ")[0]
    for cloud in all_clouds().values():
        if word == (cloud.issuer or cloud.title).partition(" ")[0].lower():
            return cloud.name
    return name[:60]
