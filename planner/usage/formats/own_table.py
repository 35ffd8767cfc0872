"""A table of one's own: a month or a job a row, with hours, cost or both. PURE.

Columns may be called otherwise, which is noted. A row that says when it began and ended, to the
minute, is a job, such as those of Run:ai and W&B.
"""

from __future__ import annotations

import datetime as dt
import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal

from planner.usage.formats import ReadOptions
from planner.usage.ledger import ChargeKey, Ledger, Reason, UseKey
from planner.usage.machines import Machine, find_machine_anywhere, is_slice, name_accelerator
from planner.usage.tables import (
    Columns,
    Moments,
    Table,
    amount,
    clip,
    column_names,
    plain_name,
    quantity,
    read_currency,
    split_by_month,
    to_point,
    without_thousands,
)
from pricing.common.invalid_input import InvalidInput

_MOMENT_OF_DAY = re.compile(r"(\d{4}-\d\d-\d\d)[T ].*", re.ASCII)
_MONTH_FORMS = (
    *("%Y-%m", "%Y-%m-%d", "%m/%Y", "%m.%Y", "%Y/%m", "%Y/%m/%d", "%Y%m"),
    *("%b %Y", "%B %Y", "%b-%y", "%b-%Y"),
)
_MOMENTS = Moments(utc_only=False)
NAME, TITLE = "table", "Table of months"
COLUMNS = column_names(NAME, "row")
"""Names that people write, without capitals and signs, by column."""
FIGURES = frozenset({"accelerator_hours", "instance_hours", "accelerators", "cost"})
"""Columns of which a table of months has one."""


def read_month(text: str) -> str:
    """The month of a row of a month or of a day.

    >>> read_month("2026-01-31"), read_month("1/2026"), read_month("Jan 2026")
    ('2026-01', '2026-01', '2026-01')
    """
    plain = _MOMENT_OF_DAY.sub(r"\1", text.strip())
    for form in _MONTH_FORMS:
        with suppress(ValueError):
            return f"{dt.datetime.strptime(plain[:40], form):%Y-%m}"
    problem = f"{plain[:40]!r} is not a month like 2026-01 or a day like 2026-01-31"
    raise InvalidInput("month", problem)


def _cover_day(text: str, ledger: Ledger) -> None:
    with suppress(ValueError):
        start_s = (dt.date.fromisoformat(text.strip()[:10]) - dt.date(1970, 1, 1)).total_seconds()
        ledger.hourly.cover(start_s, start_s + 86_400)


def name_columns(header: Sequence[str]) -> dict[str, str]:
    """Names of a file → columns that are read, each once; exact names before others.

    >>> name_columns(["Month", "GPU hours", "cost", "colour"])
    {'cost': 'cost', 'Month': 'month', 'GPU hours': 'accelerator_hours'}
    """
    plain = {plain_name(name): column for column, names in COLUMNS.items() for name in names}
    named = {name: name for name in header if name in COLUMNS}
    for name in header:
        column = plain.get(plain_name(name))
        if column and column not in named.values():
            named[name] = column
    return named


def read(table: Table, ledger: Ledger, options: ReadOptions) -> None:
    named = name_columns(table.header)
    unknown = [name for name in table.header if name and name not in named]
    others = [f"{name} as {column}" for name, column in named.items() if name != column]
    if others:
        ledger.note(f"Columns that are read by another name: {', '.join(others)}.")
    columns = Columns(named.get(name, "") for name in table.header)
    if unknown:
        ledger.note(f"Columns that are not read: {', '.join(name[:40] for name in unknown[:10])}.")
    get = {name: columns.getter(name) for name in COLUMNS}
    number: Callable[[str], str] = to_point if table.decimal_comma else without_thousands
    has_hours = columns.find("accelerator_hours") is not None
    are_totals: dict[str, set[bool]] = {name: set() for name in table.header}
    for index, row in enumerate(table.rows, table.first_row):
        for name, text in zip(table.header, row, strict=True):
            if text.strip() and named.get(name) != "month":
                are_totals[name].add(text.strip().lower() in ("all", "total"))
        cell = {name: read_cell(row) for name, read_cell in get.items()}
        has_cost = bool(cell["cost"].strip() or cell["amortised_cost"].strip())
        try:
            _read_row(cell, ledger, options, number, has_hours)
        except InvalidInput as refusal:
            ledger.misread(f"row {index}", str(refusal), is_of_bill=has_cost)
    if twice := next((name for name, kinds in are_totals.items() if len(kinds) > 1), ""):
        problem = "holds subtotals (all or total) and their parts, which would count twice"
        raise InvalidInput(f"column {twice[:40]}", f"{problem}; leave the subtotals out")


def _read_row(
    cell: dict[str, str],
    ledger: Ledger,
    options: ReadOptions,
    number: Callable[[str], str],
    has_hours: bool,
) -> None:
    month = read_month(cell["month"])
    _cover_day(cell["month"], ledger)
    provider, machine = clip(cell["provider"]).lower(), clip(cell["instance_type"])
    billed = amount(number(cell["cost"]), "cost")
    amortised = amount(number(cell["amortised_cost"]), "amortised_cost")
    option = clip(cell["purchase_option"], 30)
    currency = read_currency(cell["currency"], "currency")
    if billed is not None or amortised is not None:
        charge = ChargeKey(month, provider, "Usage", "", option, currency, month)
        ledger.add_charge(ledger.charge_sums(charge), billed, amortised)
    instance_hours = amount(number(cell["instance_hours"]), "instance_hours")
    named = find_machine_anywhere(provider, machine) if machine else None
    hours = amount(number(cell["accelerator_hours"]), "accelerator_hours")
    count, job = amount(number(cell["accelerators"]), "accelerators"), _read_job(cell)
    if hours is None and count is not None and job:
        hours = count * Decimal(job[1] - job[0]) / 3600
    elif hours is None:
        hours = _hours(cell["month"], machine, named, has_hours, instance_hours, count)
    if hours is not None and hours < 0:
        raise InvalidInput("accelerator_hours", f"{hours} is less than 0")
    accelerator = name_accelerator(cell["accelerator"]) if cell["accelerator"].strip() else ""
    account, user = clip(cell["account"]), clip(cell["user"])
    project = clip(cell["project"]) or options.projects.choose({}, account, user)
    accelerator = accelerator or (named.accelerator if named else "")
    key = UseKey(
        *(month, provider, clip(cell["region"]), machine, accelerator, option),
        *(project, account, user),
        currency=currency,
    )
    if hours is not None:
        machine_hours = None if instance_hours is None else float(instance_hours)
        used = quantity(str(hours), "hours")
        for part, share in split_by_month(*job) if job else ((month, 1.0),):
            ledger.use(key._replace(month=part), machine_hours, used * share, billed, amortised)
            machine_hours = billed = amortised = None
        if job and used and not is_slice(accelerator):
            mean = used * 3600 / (job[1] - job[0])
            ledger.hold(accelerator, *job, mean, project or account)
            size = max(round(count or mean), 1)
            ledger.jobs[accelerator, project or account].add(size, used, size)
    ledger.account(Reason.NOT_A_MACHINE if hours is None else Reason.ACCELERATOR_USE)


def _read_job(cell: dict[str, str]) -> tuple[float, float] | None:
    """When a job began and ended, in seconds since 1970; None for a row of a day or a month."""
    if (
        not _MOMENT_OF_DAY.fullmatch(cell["month"].strip())
        or not (cell["end"] or cell["runtime_s"]).strip()
    ):
        return None
    start, runtime_s = _MOMENTS(cell["month"], "start").seconds, amount(cell["runtime_s"], "")
    end = _MOMENTS(cell["end"], "end").seconds if runtime_s is None else start + float(runtime_s)
    if end <= start:
        raise InvalidInput("end", "is not after the start")
    return start, end


def _hours(
    month: str,
    machine: str,
    named: Machine | None,
    has_hours: bool,
    instance_hours: Decimal | None,
    count: Decimal | None,
) -> Decimal | None:
    """Accelerator-hours of machine-hours, or of accelerators that stand for a month or a day."""
    if instance_hours is None:
        if count is not None and _MOMENT_OF_DAY.fullmatch(month.strip()):
            raise InvalidInput("end", "is missing; give it, runtime_s or accelerator_hours")
        first = dt.date.fromisoformat(f"{read_month(month)}-01")
        days = monthrange(first.year, first.month)[1] if len(month.strip()) < 10 else 1
        return None if count is None else count * days * 24
    if named and named.accelerators is not None and (named.accelerators or has_hours):
        return instance_hours * int(named.accelerators)
    if count is not None:
        return instance_hours * count
    problem = f"how many accelerators {machine or 'a machine without a name'} has"
    raise InvalidInput("instance_hours", f"{problem} is not known; give accelerator_hours")
