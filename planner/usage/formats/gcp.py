"""Google Cloud billing export, standard and detailed: JSON of BigQuery, or flattened CSV. PURE.

A machine is several rows: a SKU of accelerators, whose amount is accelerator-seconds, and SKUs of
its cores and memory. Billed is `cost` with its `credits`; there is no amortised view.
"""

from __future__ import annotations

import ast
import json
import re
from decimal import Decimal
from typing import Any

from planner.usage.bills import ZERO, Bill, Cells, Kind, Line, Row
from planner.usage.job_files.configs import within
from planner.usage.ledger import Reason, lasting_text
from planner.usage.machines import find_machine, google_sku, hours_per_unit
from planner.usage.projects import ProjectRules, parse_tags
from planner.usage.sources import Source
from planner.usage.tables import Table, clip, column_names, money, read_currency, to_text
from pricing.common.invalid_input import InvalidInput

_BY_TYPE = {
    "tax": Reason.TAX,
    "adjustment": Reason.REFUND,
    "rounding_error": Reason.REFUND,
    "regular": None,
    "usage": None,
    "": None,
}
_MACHINE_SPEC = "compute.googleapis.com/machine_spec"
_MONTH = re.compile(r"([12]\d{3})(0[1-9]|1[0-2])", re.ASCII)
MAX_LIST = 20_000
"""Most characters of labels or credits that are read."""
_IS_HOST = re.compile(r"\b(core|ram|cpu|memory)\b", re.IGNORECASE)


class GcpBilling(Bill):
    name = "gcp_billing"
    title = "Google Cloud billing export"
    required = ("sku", "start", "quantity", "cost")

    def __init__(self, table: Table, projects: ProjectRules) -> None:
        super().__init__(table, projects)
        self.notes.append(
            "Google Cloud's export holds no amortised costs; committed use discounts are in the "
            "billed cost as credits, fees of commitments as rows of their own."
        )

    def charge(self, cells: Cells) -> Kind:
        return Kind(
            provider="gcp",
            charge=cells["cost_type"] or "regular",
            service=clip(cells["service"]),
            currency=read_currency(cells["currency"], "currency"),
        )

    def classify(self, cells: Cells, kind: Kind) -> None:
        cost_type, sku_text = cells["cost_type"], cells["sku"]
        kind.account = clip(cells["project"])
        kind.region = clip(cells["region"]) or clip(cells["location"])
        labels = parse_tags(cells["labels"]) | parse_tags(cells["project_labels"])
        tags = self.projects.pick(labels)
        kind.project = self.projects.choose(tags, kind.account) or kind.account
        if cost_type.lower() not in _BY_TYPE:
            raise InvalidInput("cost_type", f"{cost_type[:40]!r} is unknown")
        name = clip(str(parse_tags(cells["system_labels"]).get(_MACHINE_SPEC) or ""))
        machine = find_machine("gcp", name) if name else None
        count = machine.accelerators if machine else None
        sku = google_sku(sku_text)
        if (sku and sku.is_fee) or sku_text.lower().startswith("commitment"):
            reason = Reason.COMMITMENT_FEE
        elif sku:
            reason = Reason.ACCELERATOR_USE
        elif count:
            is_host = _IS_HOST.search(sku_text)
            reason = Reason.ACCELERATOR_HOST if is_host else Reason.NOT_A_MACHINE
        else:
            reason = Reason.OTHER_MACHINE if name else Reason.NOT_A_MACHINE
        kind.reason = _BY_TYPE[cost_type.lower()] or reason
        if kind.reason not in (Reason.ACCELERATOR_USE, Reason.ACCELERATOR_HOST):
            return
        kind.machine = name if count else ""
        kind.accelerator = (machine.accelerator if machine and count else "") or (
            sku.accelerator if sku else ""
        )
        kind.accelerators, kind.is_apart = 1.0, True
        kind.machines_per_accelerator = 1 / count if count else None
        is_spot = "spot" in sku_text.lower() or "preemptible" in sku_text.lower()
        kind.option = sku.option if sku else "spot" if is_spot else "on_demand"
        per_unit = hours_per_unit(cells["unit"]) if sku else 0.0
        if per_unit is None:
            raise InvalidInput("usage.unit", f"{cells['unit'][:40]!r} is no unit of time")
        kind.hours_per_unit = per_unit

    def money(self, row: Row, line: Line) -> None:
        line.credits = _sum_credits(self.get["credits"](row))
        line.billed = money(self.number(self.get["cost"](row)), "cost") + line.credits
        match = _MONTH.fullmatch(self.get["invoice_month"](row))
        line.invoice_month = f"{match[1]}-{match[2]}" if match else ""


def _sum_credits(text: str) -> Decimal:
    credits = (one for one in _read_list(text, "credits") if isinstance(one, dict))
    amounts = (one.get("amount") for one in credits)
    return sum((money(str(one), "credits.amount") for one in amounts if one is not None), ZERO)


def _read_list(text: str, column: str) -> list[Any]:
    if text in ("", "[]", "{}") or len(text) > MAX_LIST:
        return []
    try:
        value = json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        try:
            value = ast.literal_eval(text)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise InvalidInput(column, "is no list") from None
    return value if isinstance(value, list) else []


_JSON_COLUMNS = tuple(
    names[0] for tells in ("row", "kind") for names in column_names(GcpBilling.name, tells).values()
)


def json_table(source: Source, keeps_rows: bool) -> Table:
    """The objects of an export as rows of its CSV, each with all of its text where rows of several
    files are compared."""
    header = [*_JSON_COLUMNS, "row"] if keeps_rows else [*_JSON_COLUMNS]
    places = [name.split(".") for name in _JSON_COLUMNS]
    rows = (
        [*(to_text(within(row, *names)) for names in places), lasting_text(row)][: len(header)]
        for row in source.objects()
    )
    return Table(header, rows, first_row=1)


def is_json_export(head: str) -> bool:
    start = head[:20_000]
    return '"usage_start_time"' in start and '"sku"' in start
