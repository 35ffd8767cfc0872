"""Google Cloud billing export, standard and detailed: JSON of BigQuery, or flattened CSV. PURE.

A machine is several rows: a SKU of accelerators, whose amount is accelerator-seconds, and SKUs of
its cores and memory. Billed is `cost` with its `credits`; there is no amortised view.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from planner.usage.cells import Moments, check_period, clip, money, quantity
from planner.usage.formats.base import ReadOptions, TableFormat, TextFormat
from planner.usage.formats.gpu_sku import google_sku, hours_per_unit
from planner.usage.ledger import ChargeKey, Ledger, Reason, UseKey
from planner.usage.machines import find_machine
from planner.usage.overlaps import IsRepeated
from planner.usage.projects import parse_tags
from planner.usage.sources import Source
from planner.usage.tables import Table
from pricing.common.invalid_input import InvalidInput

_ZERO = Decimal(0)
_BY_TYPE = {
    "tax": Reason.TAX,
    "adjustment": Reason.REFUND,
    "rounding_error": Reason.REFUND,
    "regular": None,
    "": None,
}
_MACHINE_SPEC = "compute.googleapis.com/machine_spec"
_MONTH = re.compile(r"([12]\d{3})(0[1-9]|1[0-2])", re.ASCII)


class _Row(NamedTuple):
    """What both forms say of a row."""

    service: str
    sku: str
    start: str
    end: str
    project: str
    labels: Mapping[str, object]
    machine: str
    region: str
    cost: str
    currency: str
    amount: str
    unit: str
    credits: Decimal
    invoice_month: str
    cost_type: str
    written: Mapping[str, Any] | Sequence[str]
    """The row as the file has it."""


def read_json(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    rows = map(_from_object, source.objects())
    _read(rows, ledger, options, 1, ledger.overlaps.objects())


def read_csv(table: Table, ledger: Ledger, options: ReadOptions) -> None:
    is_repeated = ledger.overlaps.rows_of(table.header)
    _read(_from_table(table), ledger, options, table.first_row, is_repeated)


def _read(
    rows: Iterator[_Row],
    ledger: Ledger,
    options: ReadOptions,
    first: int,
    is_repeated: IsRepeated,
) -> None:
    moments = Moments()
    ledger.note(
        "Google Cloud's export holds no amortised costs; committed use discounts are in the "
        "billed cost as credits, fees of commitments as rows of their own."
    )
    for number, row in enumerate(rows, first):
        if is_repeated(row.written, number):
            ledger.account(Reason.DUPLICATE)
            continue
        try:
            _read_row(row, ledger, options, moments, number)
        except InvalidInput as refusal:
            ledger.misread(f"row {number}", str(refusal), is_of_bill=True)


def _read_row(
    row: _Row, ledger: Ledger, options: ReadOptions, moments: Moments, number: int
) -> None:
    start = moments(row.start, "usage_start_time")
    net = money(row.cost, "cost") + row.credits
    invoice = _invoice_month(row, start.month)
    charge = ChargeKey(
        *(invoice, "gcp", row.cost_type or "regular", row.service, "", row.currency, start.month)
    )
    sums_of_charge = ledger.charge(charge, net, None, credits=row.credits)
    amount = quantity(row.amount, "usage.amount")
    sums_of_charge.quantity += amount
    end = moments(row.end, "usage_end_time") if row.end else start
    check_period(start, end, "usage_end_time")
    if row.cost_type not in _BY_TYPE:
        raise InvalidInput("cost_type", f"{row.cost_type[:40]!r} is unknown")
    sku = google_sku(row.sku)
    reason = _BY_TYPE[row.cost_type] or _use_reason(row, sku is not None, bool(sku and sku.is_fee))
    if reason in (Reason.ACCELERATOR_USE, Reason.ACCELERATOR_HOST):
        machine = find_machine("gcp", row.machine) if row.machine else None
        count = machine.accelerators if machine else None
        per_unit = hours_per_unit(row.unit) if sku else 0.0
        if per_unit is None:
            raise InvalidInput("usage.unit", f"{row.unit[:40]!r} is no unit of time")
        hours = amount * per_unit
        accelerator = machine.accelerator if machine and count else ""
        accelerator = accelerator or (sku.accelerator if sku else "")
        key = UseKey(
            month=start.month,
            provider="gcp",
            region=row.region,
            machine=row.machine if count else "",
            accelerator=accelerator,
            option=sku.option if sku else _host_option(row.sku),
            project=options.projects.choose(options.projects.pick(row.labels), row.project)
            or row.project,
            account=row.project,
            user="",
            state="",
            currency=row.currency,
        )
        ledger.use(key, hours / count if count else None, hours, net, None)
        if hours > 0 and end.seconds > start.seconds:
            mean = hours * 3600 / (end.seconds - start.seconds)
            ledger.hold(accelerator, start.seconds, end.seconds, mean)
    ledger.account(reason)


def _use_reason(row: _Row, sells_accelerators: bool, is_fee: bool) -> Reason:
    if is_fee or row.sku.lower().startswith("commitment"):
        return Reason.COMMITMENT_FEE
    if sells_accelerators:
        return Reason.ACCELERATOR_USE
    if row.machine and find_machine("gcp", row.machine).accelerators:
        is_host = re.search(r"\b(core|ram|cpu|memory)\b", row.sku, re.IGNORECASE)
        return Reason.ACCELERATOR_HOST if is_host else Reason.NOT_A_MACHINE
    return Reason.OTHER_MACHINE if row.machine else Reason.NOT_A_MACHINE


def _host_option(description: str) -> str:
    plain = description.lower()
    return "spot" if "spot" in plain or "preemptible" in plain else "on_demand"


def _invoice_month(row: _Row, month: str) -> str:
    match = _MONTH.fullmatch(row.invoice_month)
    return f"{match[1]}-{match[2]}" if match else month


def _from_object(row: Mapping[str, Any]) -> _Row:
    labels = _pairs(row.get("labels")) | _pairs(_inner(row, "project").get("labels"))
    system = _pairs(row.get("system_labels"))
    usage, location = _inner(row, "usage"), _inner(row, "location")
    return _Row(
        service=clip(_word(_inner(row, "service"), "description")),
        sku=_word(_inner(row, "sku"), "description"),
        start=_word(row, "usage_start_time"),
        end=_word(row, "usage_end_time"),
        project=clip(_word(_inner(row, "project"), "id")),
        labels=labels,
        machine=clip(str(system.get(_MACHINE_SPEC) or "")),
        region=clip(_word(location, "region") or _word(location, "location")),
        cost=_word(row, "cost"),
        currency=clip(_word(row, "currency"), 10),
        amount=_word(usage, "amount"),
        unit=_word(usage, "unit"),
        credits=_sum_credits(row.get("credits")),
        invoice_month=_word(_inner(row, "invoice"), "month"),
        cost_type=_word(row, "cost_type"),
        written=row,
    )


def _inner(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def _word(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else "" if value is None else str(value)


def _pairs(value: object) -> dict[str, object]:
    """Labels as a list of keys and values, or as a text of such a list."""
    if isinstance(value, list):
        pairs = (one for one in value if isinstance(one, dict))
        return {str(one.get("key", "")): one.get("value", "") for one in pairs}
    return value if isinstance(value, dict) else {}


def _from_table(table: Table) -> Iterator[_Row]:
    get = table.columns().getter
    columns = {
        "service": get("service.description"),
        "sku": get("sku.description"),
        "start": get("usage_start_time"),
        "end": get("usage_end_time"),
        "project": get("project.id"),
        "labels": get("labels"),
        "machine": get("system_labels"),
        "region": get("location.region", "location.location"),
        "cost": get("cost"),
        "currency": get("currency"),
        "amount": get("usage.amount"),
        "unit": get("usage.unit"),
        "credits": get("credits"),
        "invoice_month": get("invoice.month"),
        "cost_type": get("cost_type"),
    }
    for cells in table.rows:
        row: dict[str, Any] = {name: read(cells) for name, read in columns.items()}
        row["labels"] = _literal_pairs(row["labels"])
        row["machine"] = clip(str(_literal_pairs(row["machine"]).get(_MACHINE_SPEC) or ""))
        row["credits"] = _sum_credits(_literal(row["credits"]))
        yield _Row(**row, written=cells)


@lru_cache(maxsize=20_000)
def _literal_pairs(text: str) -> dict[str, object]:
    return parse_tags(text) or _pairs(_literal(text))


def _literal(text: str) -> object:
    """A list as Python writes it, with single quotes and None; an empty list where it is none."""
    if text in ("", "[]") or len(text) > 20_000:
        return []
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise InvalidInput("credits", "is no list of credits") from None


def _sum_credits(value: object) -> Decimal:
    if not isinstance(value, list):
        return _ZERO
    amounts = (one.get("amount") for one in value if isinstance(one, dict))
    return sum((money(str(one), "credits.amount") for one in amounts if one is not None), _ZERO)


def _matches(head: str) -> bool:
    start = head[:20_000]
    return '"usage_start_time"' in start and '"sku"' in start


JSON_FORMAT = TextFormat("gcp_billing", "Google Cloud billing export", _matches, read_json)
CSV_FORMAT = TableFormat(
    name="gcp_billing",
    title="Google Cloud billing export",
    required=("sku.description", "usage_start_time", "usage.amount", "cost"),
    read=read_csv,
)
