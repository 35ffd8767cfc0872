"""A table of one's own: a month or a job a row, with hours, cost or both. PURE.

Columns may be called otherwise, which is noted; months, machines of AWS or projects may be columns
too. A row that says when it began and ended, to the minute, is a job, such as those of Run:ai, W&B.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, islice

from planner.usage.formats import ReadOptions
from planner.usage.formats.sacct import elapsed_seconds
from planner.usage.ledger import ChargeKey, Ledger, Reason, UseKey
from planner.usage.machines import (
    Machine,
    find_machine,
    find_machine_anywhere,
    is_slice,
    name_accelerator,
)
from planner.usage.tables import (
    MAX_WAITING_ROWS,
    Columns,
    Moments,
    Table,
    amount,
    clip,
    column_names,
    find_date_order,
    plain_name,
    quantity,
    read_currency,
    split_by_month,
    to_point,
    without_thousands,
)
from pricing.common.invalid_input import InvalidInput
from pricing.market import accelerators

_MOMENTS = Moments(utc_only=False)
NAME, TITLE = "table", "Table of months"
COLUMNS = column_names(NAME, "row")
"""Names that people write, without capitals and signs, by column."""
FIGURES = frozenset(
    (
        *("accelerator_hours", "instance_hours", "accelerators", "cost", "amortised_cost"),
        *("end", "runtime_s"),
    )
)
"""Columns of which a table of months or jobs has one."""
_IN_BRACKETS = re.compile(r"\s*[(\[][^)\]]*[)\]]")
_OPEN_HOURS = frozenset(("hours", "hrs", "stunden", "heures", "horas"))
"""Hours that are those of machines or jobs where a column says which or how many accelerators."""
_WORDED = re.compile(r"([^\W\d]{3,10})\.?[\s/_'-]*(\d{4}|\d{2})")
_NUMBERED = re.compile(r"(\d{1,2})[/.-]([12]\d{3})|([12]\d{3})[/.]?(\d\d)", re.ASCII)
_MONTH_NAMES = (
    *("jan ene gen", "feb fev", "mar mrz maer", "apr avr abr", "may mai mag", "jun juin giu"),
    *("jul juil lug", "aug aou ago", "sep set", "oct okt out ott", "nov", "dec dez dic"),
)
_MONTHS = {
    name: f"{month:02d}" for month, names in enumerate(_MONTH_NAMES, 1) for name in names.split()
}
"""How the names of months begin in English, German, French, Spanish, Portuguese and Italian."""


def read_month(text: str, moments: Moments = _MOMENTS) -> str:
    """The month of a row of a month, a day or a moment.

    >>> read_month("2026-01-31"), read_month("1/2026"), read_month("März 26"), read_month("Juin 26")
    ('2026-01', '2026-01', '2026-03', '2026-06')
    """
    plain = text.strip()[:40]
    if match := _WORDED.fullmatch(plain):
        name = plain_name(match[1])
        if month := _MONTHS.get(name[:4], _MONTHS.get(name[:3])):
            return f"{2000 + int(match[2]) % 100}-{month}"
    elif (match := _NUMBERED.fullmatch(plain)) and 1 <= int(match[1] or match[4]) <= 12:
        return f"{match[2] or match[3]}-{int(match[1] or match[4]):02d}"
    with suppress(InvalidInput):
        return moments(plain, "month").month
    problem = f"{plain!r} is not a month like 2026-01 or a day like 2026-01-31"
    raise InvalidInput("month", problem)


def name_columns(header: Sequence[str]) -> dict[str, str]:
    """Names of a file → columns that are read, each once; exact names before others, and these in
    the order of `columns.csv`.

    >>> name_columns(["Month", "GPU hours", "cost", "colour"])
    {'cost': 'cost', 'Month': 'month', 'GPU hours': 'accelerator_hours'}
    """
    ranks = {
        plain_name(name): (column, rank)
        for column, names in COLUMNS.items()
        for rank, name in enumerate(names)
    }
    best = {name: (-1, name) for name in header if name in COLUMNS}
    for name in header:
        forms = (plain_name(name), plain_name(_IN_BRACKETS.sub("", name)))
        column, rank = next((ranks[form] for form in forms if form in ranks), ("", 0))
        if column and rank < best.get(column, (len(ranks), ""))[0]:
            best[column] = rank, name
    places = sorted(
        (rank >= 0, header.index(name), column) for column, (rank, name) in best.items()
    )
    return {header[place]: column for _, place, column in places}


# Months, machines, accelerators or projects as columns --------------------------------------

_TOTALS = frozenset(
    re.findall(r"\w+", "all total totals sum grandtotal gesamt insgesamt summe somme totale suma")
)
_STATES_HOURS = re.compile(r"hour|hrs|stunden|heures|horas|gpu.?h\b", re.IGNORECASE)
_HOURS_WORDS = re.compile(r"\b(gpus?|hours?|hrs|h|stunden|heures|horas|ore|de|di)\b", re.IGNORECASE)
_MACHINE_HOURS = re.compile(r"(?:.*:)?([\w.-]+)\s*\((?:hrs|hours)\)", re.IGNORECASE)
"""How Cost Explorer of AWS heads a column of one kind of machine: `BoxUsage:p5.48xlarge(Hrs)`."""


def spread_out(table: Table) -> Table:
    """One whose columns are months, machines, accelerators or projects, with a row for each."""
    columns, names = _find_spread(table)
    if not columns:
        return table
    header = table.header
    rest = [
        place
        for place, name in enumerate(header)
        if name not in columns and not _MACHINE_HOURS.fullmatch(name) and not _is_total(name)
    ]
    rows = (
        [*(row[place] for place in rest), columns[name], row[place]]
        for row in table.rows
        if not any(_is_total(row[place]) for place in rest)
        for place, name in enumerate(header)
        if name in columns and row[place].strip()
    )
    kept_names = [header[place] for place in rest]
    if "month" not in names:
        kept_names[0] = "month"
    return replace(table, header=[*kept_names, *names], rows=rows)


def _find_spread(table: Table) -> tuple[dict[str, str], tuple[str, str]]:
    """Columns → what their rows hold of the first of two names, beside figures under the second.
    Names of months without a year are those of the one in the title."""
    named, header = name_columns(table.header), table.header
    years = {*re.findall(r"\b20\d\d\b", table.title)}
    year = f" {years.pop()}" if len(years) == 1 else ""
    months: dict[str, str] = {}
    for name in header:
        with suppress(InvalidInput):
            months[name] = read_month(name if re.search(r"\d", name) else name + year)
    if months:
        is_of_machines = "instance_type" in named.values() and "accelerator" not in named.values()
        return months, ("month", "instance_hours" if is_of_machines else "accelerator_hours")
    matches = {name: match[1] for name in header if (match := _MACHINE_HOURS.fullmatch(name))}
    machines = {name: one for name, one in matches.items() if find_machine("aws", one).accelerators}
    if machines:
        return machines, ("instance_type", "instance_hours")
    texts = {name: _HOURS_WORDS.sub(" ", name) for name in header if name not in named}
    cards = {name: text for name, text in texts.items() if accelerators.candidates(text)}
    if cards and not FIGURES & {*named.values()}:
        return cards, ("accelerator", "accelerator_hours")
    projects = {name: name for name in header if name not in named and not _is_total(name)}
    is_of_projects = [*named] == header[:1] and _STATES_HOURS.search(table.title)
    return projects if is_of_projects else {}, ("project", "accelerator_hours")


def _is_total(text: str) -> bool:
    return plain_name(text) in _TOTALS


# Rows --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Forms:
    """How a table writes its numbers and times."""

    number: Callable[[str], str]
    moments: Moments
    unit_s: float
    """Seconds of the unit of run times."""
    has_hours: bool

    def amount(self, text: str, column: str) -> Decimal | None:
        return amount(self.number(text.strip(" $€£\u00a0")), column)


def _find_forms(
    table: Table,
    first: Sequence[Sequence[str]],
    named: Mapping[str, str],
    get: Mapping[str, Callable[[Sequence[str]], str]],
    ledger: Ledger,
) -> _Forms:
    dates = (read_cell(row) for row in first for read_cell in (get["end"], get["month"]))
    day_first, notes = find_date_order(dates)
    for note in notes:
        ledger.note(note)
    has_commas = any(re.search(r"\d,\d", cell) for row in first for cell in row)
    with_comma = _without_points if has_commas else to_point
    amounts = (get[name](row).strip() for row in first for name in _AMOUNTS)
    is_comma = table.decimal_comma or any(map(_DECIMAL_COMMA.fullmatch, amounts))
    return _Forms(
        number=with_comma if is_comma else without_thousands,
        moments=Moments(utc_only=False, day_first=day_first),
        unit_s=_unit_s(next((name for name, one in named.items() if one == "runtime_s"), "")),
        has_hours="accelerator_hours" in named.values(),
    )


_AMOUNTS = ("accelerator_hours", "instance_hours", "cost", "amortised_cost")
_DECIMAL_COMMA = re.compile(r"-?\d{1,3}(\.\d{3})+,\d+|-?\d+,\d{1,2}", re.ASCII)
"""Amounts whose comma cannot stand between thousands."""


def _without_points(text: str) -> str:
    """Of a table that writes 1.100,5 also 1.000 is a thousand.

    >>> _without_points("1.000"), _without_points("1.100,5")
    ('1000', '1100.5')
    """
    return text.replace(".", "") if re.fullmatch(r"\d{1,3}(\.\d{3})+", text) else to_point(text)


def read(table: Table, ledger: Ledger, options: ReadOptions) -> None:
    named = name_columns(table.header)
    if {"instance_type", "accelerators"} & {*named.values()}:
        hours = (name for name in named if plain_name(name) in _OPEN_HOURS)
        named |= dict.fromkeys(hours, "instance_hours")
    unknown = [name for name in table.header if name and name not in named]
    others = [f"{name} as {column}" for name, column in named.items() if name != column]
    if others:
        ledger.note(f"Columns that are read by another name: {', '.join(others)}.")
    columns = Columns(named.get(name, "") for name in table.header)
    if unknown:
        ledger.note(f"Columns that are not read: {', '.join(name[:40] for name in unknown[:10])}.")
    get = {name: columns.getter(name) for name in COLUMNS}
    rows, first = iter(table.rows), list[Sequence[str]]()
    first.extend(islice(rows, MAX_WAITING_ROWS))
    forms = _find_forms(table, first, named, get, ledger)
    are_totals: dict[str, set[bool]] = {name: set() for name in table.header}
    for index, row in enumerate(chain(first, rows), table.first_row):
        cell = {name: read_cell(row) for name, read_cell in get.items()}
        if plain_name(cell["month"]) in ("", *_TOTALS) and any(map(_is_total, row)):
            ledger.account(Reason.DUPLICATE)
            continue
        for name, text in zip(table.header, row, strict=True):
            if text.strip() and named.get(name) != "month":
                are_totals[name].add(text.strip().lower() in ("all", "total"))
        has_cost = bool(cell["cost"].strip() or cell["amortised_cost"].strip())
        try:
            _read_row(cell, ledger, options, forms)
        except InvalidInput as refusal:
            ledger.misread(f"row {index}", str(refusal), is_of_bill=has_cost)
    if twice := next((name for name, kinds in are_totals.items() if len(kinds) > 1), ""):
        problem = "holds subtotals (all or total) and their parts, which would count twice"
        raise InvalidInput(f"column {twice[:40]}", f"{problem}; leave the subtotals out")


def _read_row(cell: Mapping[str, str], ledger: Ledger, options: ReadOptions, forms: _Forms) -> None:
    month, job = read_month(cell["month"], forms.moments), _read_job(cell, forms)
    _cover_day(cell["month"], forms.moments, ledger)
    provider, machine = clip(cell["provider"]).lower(), clip(cell["instance_type"])
    billed = forms.amount(cell["cost"], "cost")
    amortised = forms.amount(cell["amortised_cost"], "amortised_cost")
    option = clip(cell["purchase_option"], 30)
    currency = read_currency(cell["currency"], "currency")
    if billed is not None or amortised is not None:
        charge = ChargeKey(month, provider, "Usage", "", option, currency, month)
        ledger.add_charge(ledger.charge_sums(charge), billed, amortised)
    instance_hours = forms.amount(cell["instance_hours"], "instance_hours")
    count = forms.amount(cell["accelerators"], "accelerators")
    named = find_machine_anywhere(provider, machine) if machine else None
    hours = forms.amount(cell["accelerator_hours"], "accelerator_hours")
    if job and hours is None and instance_hours is None:
        instance_hours = Decimal(job[1] - job[0]) / 3600
    if hours is None:
        hours = _hours(cell, named, count, instance_hours, forms)
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
        machine_hours = None if instance_hours is None or not machine else float(instance_hours)
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


def _cover_day(text: str, moments: Moments, ledger: Ledger) -> None:
    if len(text.strip()) >= len("1/2/2026"):
        with suppress(InvalidInput):
            start_s = moments(text, "month").seconds // 86_400 * 86_400
            ledger.hourly.cover(start_s, start_s + 86_400)


_IN_WORDS = re.compile(r"(\d+(?:\.\d+)?)\s*([dhms])[a-z]*,?\s*", re.ASCII)
_UNITS_S = {
    **dict.fromkeys(("h", "hr", "hrs", "hours", "std", "stunden"), 3600.0),
    **dict.fromkeys(("m", "min", "mins", "minutes"), 60.0),
    **{"d": 86_400.0, "days": 86_400.0, "ms": 0.001, "s": 1.0},
}


def _unit_s(name: str) -> float:
    """Seconds of the unit in the name of a column of run times.

    >>> _unit_s("Duration (h)"), _unit_s("timeBilledMs"), _unit_s("elapsed")
    (3600.0, 0.001, 1.0)
    """
    words = re.findall(r"[A-Z]?[a-z]+", name)
    return _UNITS_S.get(words[-1].lower(), 1.0) if words else 1.0


def _runs_s(text: str, forms: _Forms) -> float | None:
    """Seconds of a run time: a number of units, or such as 1-02:30:00, 2 days, 3:00:00 or 3h 20m.

    >>> forms = _Forms(str, _MOMENTS, 60.0, False)
    >>> [_runs_s(text, forms) for text in ("2.5", "0 days 05:00:01", "3h20m", "1:30:00", "")]
    [150.0, 18001.0, 12000.0, 5400.0, None]
    """
    plain = text.strip().lower()
    if ":" in plain:
        return elapsed_seconds(re.sub(r"\s*days?,?\s*", "-", plain))
    if plain and not _IN_WORDS.sub("", plain):
        return sum(float(count) * _UNITS_S[unit] for count, unit in _IN_WORDS.findall(plain))
    runs = forms.amount(text, "runtime_s")
    return None if runs is None else float(runs) * forms.unit_s


def _read_job(cell: Mapping[str, str], forms: _Forms) -> tuple[float, float] | None:
    """When a job began and ended, in seconds since 1970; None for a row of a day or a month."""
    if ":" not in cell["month"] or not (cell["end"] or cell["runtime_s"]).strip():
        return None
    start = forms.moments(cell["month"], "start").seconds
    runs_s = _runs_s(cell["runtime_s"], forms)
    end = forms.moments(cell["end"], "end").seconds if runs_s is None else start + runs_s
    if end <= start:
        raise InvalidInput("end", "is not after the start")
    return start, end


def _hours(
    cell: Mapping[str, str],
    named: Machine | None,
    count: Decimal | None,
    hours: Decimal | None,
    forms: _Forms,
) -> Decimal | None:
    """Accelerator-hours of the hours of machines or jobs, or of accelerators that stand for a month
    or a day."""
    day = cell["month"].strip()
    if hours is not None:
        known = named.accelerators if named else None
        each = count if known is None or not (known or forms.has_hours) else Decimal(known)
        if each is None:
            problem = f"how many accelerators {clip(cell['instance_type']) or 'a machine'} has"
            raise InvalidInput("instance_hours", f"{problem} is not known; give accelerator_hours")
        return hours * each
    if count is not None and ":" in day:
        raise InvalidInput("end", "is missing; give it, runtime_s or accelerator_hours")
    year, month = map(int, read_month(day, forms.moments).split("-"))
    days = monthrange(year, month)[1] if len(day) < 10 else 1
    return None if count is None else count * days * 24
