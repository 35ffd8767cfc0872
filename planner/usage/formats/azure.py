"""Azure cost details: actual and amortised, of every agreement and in any language. PURE.

Old exports name `PreTaxCost` and `UsageQuantity`, Enterprise Agreements `CostInBillingCurrency`
and `Quantity`, Customer Agreements the same in camel case; translated headers hold the English
name in brackets. Dates are MM/DD/YYYY, ISO or DD.MM.YYYY.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, islice

from planner.usage.bills import ZERO, Bill, Cells, Kind, Line, Row
from planner.usage.ledger import Reason
from planner.usage.machines import azure_sizes_by_meter, find_machine, hours_per_unit, plain_meter
from planner.usage.projects import ProjectRules, parse_tags
from planner.usage.tables import (
    MAX_WAITING_ROWS,
    Moment,
    Moments,
    Table,
    clip,
    find_date_order,
    money,
    quantity,
    read_currency,
)
from pricing.common.invalid_input import InvalidInput

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
_MACHINES = (
    *("virtual machines", "virtuelle computer", "virtuelle maschinen"),
    *("machines virtuelles", "máquinas virtuales", "macchine virtuali", "virtuele machines"),
)
_OPTIONS = {"reservation": "reserved", "savingsplan": "savings_plan", "spot": "spot"}


class AzureCosts(Bill):
    name = "azure_costs"
    title = "Azure cost details"
    required = ("category", "details")

    def __init__(self, table: Table, projects: ProjectRules) -> None:
        super().__init__(table, projects)
        columns = table.columns()
        if columns.find(*self.columns["cost"]) is None:
            raise InvalidInput(f"column {self.columns['cost'][0]}", "is missing")
        self._has_quantity = columns.find(*self.columns["quantity"]) is not None
        self._counts_blocks = columns.find("UsageQuantity", "ResourceRate") is not None
        """Old exports count blocks such as 10 hours; new ones count hours."""
        rows = iter(table.rows)
        held = list(islice(rows, MAX_WAITING_ROWS))
        self.rows = chain(held, rows)
        columns_of_dates = (self.get["period_end"], self.get["start"])
        day_first, notes = find_date_order(get(row) for row in held for get in columns_of_dates)
        self.moments = Moments(day_first=day_first)
        self.notes += notes

    def _read(self, row: Row) -> Line | Reason:
        if not self.get["cost"](row).strip() and not self.get["quantity"](row).strip():
            return Reason.NOT_A_MACHINE
        return super()._read(row)

    def charge(self, cells: Cells) -> Kind:
        kind = Kind(
            provider="azure",
            charge=clip(cells["charge"] or "Usage"),
            service=clip(cells["category"]),
            pricing=cells["pricing"],
            currency=read_currency(cells["currency"], "BillingCurrency"),
        )
        identifiers = (clip(cells[name], 200).lower() for name in ("benefit", "reservation"))
        kind.commitment = next(filter(None, identifiers), "")
        kind.commitment_kind = _OPTIONS.get(kind.pricing.lower(), "reserved")
        return kind

    def classify(self, cells: Cells, kind: Kind) -> None:
        kind.machine, kind.accelerators, kind.accelerator = _machine(
            cells["category"], cells["meter"], cells["details"]
        )
        charge = kind.charge.lower()
        kind.option = _OPTIONS.get(kind.pricing.lower().replace(" ", ""), "on_demand")
        meter = cells["meter"].lower()
        if meter.endswith(" spot"):
            kind.option = "spot"
        elif meter.endswith(" low priority"):
            kind.option = "low_priority"
        if charge == "unusedsavingsplan":
            kind.option = "savings_plan"
        kind.region = clip(cells["region"]).lower().replace(" ", "")
        kind.account = clip(cells["account"])
        tags = self.projects.pick(parse_tags(cells["tags"]))
        if "resource_group" in self.projects.tags:
            tags["resource_group"] = clip(cells["group"])
        kind.project = self.projects.choose(tags, kind.account)
        if kind.project in ("", kind.account):
            kind.project = clip(cells["account_name"])
        per_unit = hours_per_unit(cells["unit"]) if cells["unit"].strip() else 1.0
        if charge in _BY_CHARGE:
            kind.reason, kind.hours_per_unit = _BY_CHARGE[charge], 1.0
        elif charge != "usage":
            problem = f"{kind.charge[:40]!r} is unknown; its hours are in no sum"
            raise InvalidInput("ChargeType", problem)
        elif kind.machine:
            is_other = kind.accelerators == 0
            kind.reason = Reason.OTHER_MACHINE if is_other else Reason.ACCELERATOR_USE
            kind.hours_per_unit = per_unit or 0.0
            if kind.accelerators and (per_unit is None or not self._has_quantity):
                problem = f"the hours of {kind.machine!r} are not known and in no sum"
                raise InvalidInput("UnitOfMeasure", problem)

    def money(self, row: Row, line: Line) -> None:
        """An export holds one view, told by its commitments."""
        cost = money(self.number(self.get["cost"](row)), "Cost")
        charge, pricing = line.kind.charge.lower(), line.kind.pricing.lower()
        is_committed = pricing in ("reservation", "savingsplan")
        line.billed = line.amortised = cost
        if charge.startswith("unused"):
            line.view, line.billed = "amortised", None
        elif charge == "purchase" and is_committed:
            line.view, line.amortised = "actual", ZERO
        elif is_committed and charge == "usage" and cost:
            line.view, line.billed = "amortised", None
        elif is_committed and charge == "usage":
            line.view, line.amortised = "actual", None

    def amounts(self, row: Row, line: Line) -> None:
        line.quantity = quantity(self.number(self.get["quantity"](row)), "Quantity")
        per_unit = line.kind.hours_per_unit
        line.machine_hours = line.quantity * (per_unit if self._counts_blocks else min(per_unit, 1))
        line.end = Moment(line.start.month, line.start.seconds + 86_400)


@lru_cache(maxsize=20_000)
def _machine(category: str, meter: str, details: str) -> tuple[str, float | None, str]:
    is_machine = category.lower() in _MACHINES
    if not is_machine and category.lower() not in ("cloud services", ""):
        return "", 0.0, ""
    size = parse_tags(details).get("ServiceType")
    name = clip(size) if isinstance(size, str) else ""
    if not name and is_machine:
        plain = plain_meter(meter)
        name = azure_sizes_by_meter().get(plain.lower(), plain)
    machine = find_machine("azure", name)
    return (name, machine.accelerators, machine.accelerator) if name else ("", 0.0, "")
