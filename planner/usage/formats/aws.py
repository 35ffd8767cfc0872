"""AWS Cost and Usage Report 1 and 2, and what Athena makes of it. PURE.

Billed is `UnblendedCost`, amortised what the month used up of commitments. What a line counts
follows its `LineItemType`; hours are those of machines in use alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from planner.usage.bills import ZERO, Bill, Cells, Kind, Line, Row
from planner.usage.job_files.configs import inner, items, within, word_of
from planner.usage.ledger import Ledger, Reason
from planner.usage.machines import find_machine
from planner.usage.projects import ProjectRules, parse_tags
from planner.usage.sources import Source
from planner.usage.tables import Table, clip, money, read_currency
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_rows

_BY_TYPE = {
    "SavingsPlanNegation": Reason.NEGATION,
    "SavingsPlanRecurringFee": Reason.COMMITMENT_FEE,
    "SavingsPlanUpfrontFee": Reason.COMMITMENT_FEE,
    "RIFee": Reason.COMMITMENT_FEE,
    "Fee": Reason.COMMITMENT_FEE,
    "Tax": Reason.TAX,
    "Credit": Reason.CREDIT,
    "Refund": Reason.REFUND,
    "EdpDiscount": Reason.DISCOUNT,
    "BundledDiscount": Reason.DISCOUNT,
    "PrivateRateDiscount": Reason.DISCOUNT,
    "Discount": Reason.DISCOUNT,
}
_OPTIONS = {"SavingsPlanCoveredUsage": "savings_plan", "DiscountedUsage": "reserved"}
_USES = ("Usage", "SavingsPlanCoveredUsage", "DiscountedUsage")
USAGE_TYPE = re.compile(
    r"(?:(?P<region>[A-Z]{2,4}\d?)-)?(?P<kind>[\w-]+?)(?::(?P<machine>[\w.-]+))?"
)
OPTION_OF_USE = {
    "BoxUsage": "on_demand",
    "SpotUsage": "spot",
    "DedicatedUsage": "on_demand",
    "HostBoxUsage": "on_demand",
}
NO_USE = {
    "UnusedBox": Reason.UNUSED_RESERVATION,
    "UnusedDed": Reason.UNUSED_RESERVATION,
    "Reservation": Reason.CAPACITY_RESERVATION,
    "DedicatedRes": Reason.CAPACITY_RESERVATION,
}


class AwsCur(Bill):
    name = "aws_cur"
    title = "AWS Cost and Usage Report"
    required = ("type", "usage_type", "cost")
    states_unused_in_fees = True

    def __init__(self, table: Table, projects: ProjectRules) -> None:
        super().__init__(table, projects)
        self._names_lines = table.columns().find("identity/LineItemId") is not None
        if not self._names_lines:
            self.notes.append(
                "The file has no identity/LineItemId: its own rows that repeat count again."
            )

    def tag_columns(self) -> dict[str, tuple[str, ...]]:
        return {
            f"tag:{tag}": (f"resourceTags/user:{tag}", f"resource_tags_user_{tag}")
            for tag in self.projects.tags
        }

    def repeats(self, ledger: Ledger) -> Callable[[Row, int], Reason | None]:
        """By line, hour and amounts, however these are written; by cells where lines are not
        named."""
        if not self._names_lines:
            return super().repeats(ledger)
        line, interval = self.get["line"], self.get["interval"]
        cost, amount, ri, sp = (
            self.get[name] for name in ("cost", "quantity", "ri_effective", "sp_effective")
        )

        def repetition(row: Row, number: int) -> Reason | None:
            name = line(row)
            if not name:
                return None
            values = _numbers((cost(row), amount(row), ri(row), sp(row)))
            return ledger.repetition((name, interval(row)), values)

        return repetition

    def charge(self, cells: Cells) -> Kind:
        currency = read_currency(cells["currency"], "lineItem/CurrencyCode")
        kind = Kind("aws", cells["type"], currency, service=cells["product"])
        kind.commitment = clip(cells["sp_arn"] or cells["ri_arn"], 200)
        kind.commitment_kind = "savings_plan" if cells["sp_arn"] else "reserved"
        return kind

    def classify(self, cells: Cells, kind: Kind) -> None:
        what = classify(kind.charge, cells["usage_type"], cells["gpus"])
        kind.machine, kind.accelerator = what.machine, what.accelerator
        kind.accelerators, kind.option = what.accelerators, what.option
        kind.region = cells["region"] or what.region
        kind.reason = Reason.REFUND if cells["bill_type"] == "Refund" else what.reason
        kind.account = cells["account"]
        tags = {tag: value for tag in self.projects.tags if (value := cells[f"tag:{tag}"])}
        if not tags and cells["tag_map"]:
            tags = self.projects.pick(parse_tags(cells["tag_map"]))
        kind.project = self.projects.choose(tags, kind.account)
        kind.hours_per_unit = 1.0
        if kind.reason is Reason.ACCELERATOR_USE:
            unit = cells["unit"].lower()
            if unit.startswith("sec"):
                kind.hours_per_unit = 1 / 3600
            elif unit and not unit.startswith("h"):
                raise InvalidInput("pricing/unit", f"{unit[:40]!r} is no unit of time")

    def money(self, row: Row, line: Line) -> None:
        """Amortised is what the line used up:
        https://docs.aws.amazon.com/cur/latest/userguide (amortised)."""
        get, kind = self.get, line.kind
        line.billed = line.amortised = money(get["cost"](row), "lineItem/UnblendedCost")
        if kind.charge == "Usage":
            return
        if kind.charge == "SavingsPlanCoveredUsage":
            # A negation, which names no resource and no tag, takes the list price of covered use
            # back: nothing of it is billed.
            line.paid = ZERO
            effective = "savingsPlan/SavingsPlanEffectiveCost"
            line.amortised = money(get["sp_effective"](row), effective)
        elif kind.charge == "DiscountedUsage":
            line.amortised = money(get["ri_effective"](row), "reservation/EffectiveCost")
        elif kind.charge == "SavingsPlanRecurringFee":
            total = money(get["sp_total"](row), "savingsPlan/TotalCommitmentToDate")
            line.amortised = total - money(get["sp_used"](row), "savingsPlan/UsedCommitment")
        elif kind.charge == "RIFee":
            upfront = money(get["ri_upfront"](row), "reservation/UnusedAmortizedUpfrontFee")
            fee = money(get["ri_fee"](row), "reservation/UnusedRecurringFee")
            line.amortised = upfront + fee
        elif kind.charge in ("SavingsPlanNegation", "SavingsPlanUpfrontFee") or (
            kind.charge == "Fee" and kind.commitment and kind.commitment_kind == "reserved"
        ):
            line.amortised = ZERO

    def amounts(self, row: Row, line: Line) -> None:
        super().amounts(row, line)
        line.resource = self.get["resource"](row)


def cost_explorer_table(source: Source) -> Table:
    """Hours of machines in the answer of `aws ce get-cost-and-usage`, a row a period and group."""
    header = ["month", "provider", "project", "account", "instance_type", "instance_hours"]
    document = source.document()
    names = {
        one.get("Value"): word_of(inner(one, "Attributes").get("description"))
        for one in items(document, "DimensionValueAttributes")
    }
    rows = (
        [
            *(word_of(inner(period, "TimePeriod").get("Start")), "aws"),
            next((key.partition("$")[2] for key in keys if "$" in key), names.get(account, "")),
            *(account, machine),
            word_of(within(group, "Metrics", "UsageQuantity", "Amount")),
        ]
        for period in items(document, "ResultsByTime")
        for group in items(period, "Groups")
        for keys in [[word_of(key) for key in within(group, "Keys") or ()]]
        for account in [next(filter(str.isdecimal, keys), "")]
        for machine in map(_machine_of, keys)
        if machine
    )
    return Table(header, rows)


def _machine_of(key: str) -> str:
    """The machine of a usage type, or of a type alone, where it has accelerators."""
    kind = classify("Usage", key if ":" in key else f"BoxUsage:{key}", "")
    return kind.machine if kind.option and kind.accelerators != 0 else ""


@lru_cache(maxsize=20_000)
def _numbers(texts: tuple[str, ...]) -> tuple[object, ...]:
    try:
        return tuple([float(text or 0) for text in texts])
    except ValueError:
        return texts


class UsageType(NamedTuple):
    reason: Reason
    machine: str
    accelerator: str
    accelerators: float | None
    option: str
    region: str


@cache
def _regions() -> dict[str, str]:
    """Regions by the prefix of usage types (AWS, Cost and Usage Report, 2026); others as
    written."""
    rows = read_rows(Path(__file__).with_name("aws_regions.csv"))
    return {row["prefix"]: row["region"] for row in rows}


@lru_cache(maxsize=50_000)
def classify(line_type: str, usage_type: str, gpus: str) -> UsageType:
    match = USAGE_TYPE.fullmatch(usage_type)
    kind, name, prefix = (
        (match[part] or "" if match else "") for part in ("kind", "machine", "region")
    )
    used = OPTION_OF_USE.get(kind, "on_demand" if name.startswith("ml.") else "")
    is_machine = bool(used) or kind in NO_USE
    machine = find_machine("aws", name) if is_machine and name else None
    count = machine.accelerators if machine else 0.0
    if not count and is_machine and gpus.isdecimal() and 0 < int(gpus[:4]) < 1_000:
        count = float(gpus)
    if line_type not in _USES and line_type not in _BY_TYPE:
        problem = f"{line_type[:40]!r} is unknown; its hours are in no sum"
        raise InvalidInput("lineItem/LineItemType", problem)
    reason = Reason.OTHER_MACHINE if count == 0 else NO_USE.get(kind, Reason.ACCELERATOR_USE)
    return UsageType(
        _BY_TYPE.get(line_type, reason if is_machine else Reason.NOT_A_MACHINE),
        name,
        machine.accelerator if machine else "",
        count,
        _OPTIONS.get(line_type, used),
        _regions().get(prefix, prefix),
    )
