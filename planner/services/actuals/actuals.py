"""What a project really used and paid, how that differs from its plan, what is still to come."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, BinaryIO, NamedTuple
from uuid import UUID

import numpy as np
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone
from pydantic import PlainSerializer

from planner.contract.amounts import (
    add_months,
    count_months,
    format_money,
    format_month,
    month_labels,
    name_day,
    name_month,
    parse_month,
)
from planner.contract.answer.common import AnswerModel
from planner.contract.answer.comparison import OfferUsed, SavedPlan, ServerUsed
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.scenario import CostLine
from planner.contract.typed_numbers import without_invisible
from planner.costing.analysis.outlook import LAST_MONTHS, MonthLeft, draw_left
from planner.costing.price_processes.process import PriceProcess, find_process
from planner.models import Access, ActualLine, ActualsUpload, Project, SavedComparison, Team
from planner.services.alerts.alerts import budget_over_horizon, watch_spending
from planner.services.projects.projects import current_plan, project_currency
from planner.services.teams.access import (
    EDIT,
    WrongStateError,
    record,
    remove,
    require,
    require_place,
    require_room,
)
from planner.usage.actuals_file import Group, Sums, read_actuals_file
from planner.usage.machines import ONE_OF, find_machine_anywhere
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import group
from pricing.market.offers import PurchaseOption
from pricing.storage import bulk

CAUSES = ("price", "usage", "unplanned", "other")
CENT = Decimal("0.01")
_ZERO = Decimal("0.00")
_COLUMNS = ("upload", "hours", "cost", *Group._fields)
_BATCH = 5000
_LONGEST_AMOUNT = 40
"""Characters: 18 decimals and more after the largest sum."""
_MOST_NAMED = 5
_MONTHS_AHEAD = 12
_NAMELESS = "a machine without a name"


def load_actuals(
    access: Access, project: Project, stream: BinaryIO, file_name: str = ""
) -> ActualsUpload:
    """Reads a CSV, FOCUS or another bill into monthly sums; the same rows are taken once.

    The database is free while the file is read.
    """
    require(access, project.team_id, EDIT)
    require_room("uploads", project.uploads.all())
    plan = current_plan(project)
    machines = Machines(plan.read_plan() if plan else None)
    sums = read_actuals_file(stream, project_currency(project), machines.accelerators)
    latest = format_month(add_months(timezone.now().date(), _MONTHS_AHEAD))
    last = max(group.month for group in sums.cost)
    if last > latest:  # what is paid is billed at most a year ahead
        problem = f"{last} lies after {latest}, more than {_MONTHS_AHEAD} months ahead"
        raise InvalidInput("month", f"{problem}; actuals are what was paid")
    return _write(access, project, sums, file_name)


@transaction.atomic
def _write(access: Access, project: Project, sums: Sums, file_name: str) -> ActualsUpload:
    require_place(access, project, "uploads", project.uploads.all())
    earlier = ActualsUpload.objects.filter(project=project, digest=sums.digest).first()
    if earlier is not None:
        uploaded = f"as {earlier}, on {name_day(earlier.created_at)}"
        raise WrongStateError(
            f"What this file says was uploaded to the project before, {uploaded}. "
            "Remove that upload to count this one instead."
        )
    upload = ActualsUpload.objects.create(
        team_id=project.team_id,
        project=project,
        file_name=without_invisible(file_name)[:200],
        format=sums.format,
        rows=sums.rows,
        digest=sums.digest,
        currency=sums.currency,
        uploaded_by_id=access.user_id,
    )
    upload.doubtful = sums.doubtful.warnings()
    upload_id = ActualsUpload._meta.pk.get_db_prep_value(upload.pk, connection)
    lines = (
        (upload_id, sums.hours[group], f"{cost:f}"[:_LONGEST_AMOUNT], *group)
        for group, cost in sums.cost.items()
    )
    while batch := list(islice(lines, _BATCH)):
        bulk.insert(ActualLine, _COLUMNS, batch)
    record(access, "actuals.uploaded", upload, after=_summarize_upload(upload, sums.cost.values()))
    watch_spending(project)
    return upload


def _summarize_upload(upload: ActualsUpload, costs: Iterable[Decimal]) -> dict[str, Any]:
    total = sum(costs, Decimal(0))
    return {"rows": upload.rows, "cost": f"{total:f}", "currency": upload.currency}


def delete_upload(access: Access, upload: ActualsUpload) -> None:
    costs = map(Decimal, upload.lines.values_list("cost", flat=True))
    remove(access, upload, "actuals.removed", _summarize_upload(upload, costs))


def upload_warnings(upload: ActualsUpload) -> list[str]:
    """What whoever uploads a file is to look at: rows that are doubtful, months counted twice."""
    return [*upload.doubtful, *overlaps(upload)]


def overlaps(upload: ActualsUpload) -> list[str]:
    """A sentence for each other upload of the project that counts the same months again.

    Files of different providers may hold the same month; one that names none may hold any.
    """
    others = ActualsUpload.objects.filter(project=upload.project_id, currency=upload.currency)
    lines = ActualLine.objects.filter(upload__in=others).order_by()
    paid: dict[tuple[UUID, str], set[str]] = defaultdict(set)
    for pk, month, provider in lines.values_list("upload", "month", "provider").distinct():
        paid[pk, month].add(provider)
    mine = sorted((month, providers) for (pk, month), providers in paid.items() if pk == upload.pk)
    sentences = []
    for other in others.exclude(pk=upload.pk):
        months = [
            m
            for m, own in mine
            if (theirs := paid.get((other.pk, m))) and (own & theirs or "" in own | theirs)
        ]
        if months:
            first, last = name_month(months[0]), name_month(months[-1])
            when = f"{first} is" if len(months) == 1 else f"{first} to {last} are"
            sentences.append(
                f"{when} counted in an earlier upload too: {other}, of "
                f"{name_day(other.created_at)}. If this file restates them, take that one out, "
                "beside its name under Uploads or with "
                f"DELETE /api/v1/projects/{other.project_id}/actuals/{other.pk}/."
            )
    return sentences


# Plan against actual ----------------------------------------------------------------------


@dataclass
class Cell:
    """Accelerator-hours and cost of one month and category, planned and actual."""

    planned_hours: float = 0.0
    planned: Decimal = Decimal(0)
    actual_hours: float = 0.0
    actual: Decimal = Decimal(0)
    unknown: set[str] = field(default_factory=set)
    """Machines whose hours are not known in accelerator-hours, and so are in no sum of hours."""

    @property
    def has_hours(self) -> bool:
        """Whether its hours are known on both sides."""
        return bool(self.planned_hours and self.actual_hours and not self.unknown)

    def causes(self) -> dict[str, Decimal]:
        """The difference split by cause; the parts sum to it.

        usage = (actual − planned hours) · planned rate; price = what remains, the dearer or
        cheaper hour; where nothing was planned all is unplanned; without hours on both sides,
        or with hours of which the accelerators are not known, it is other.
        """
        difference = self.actual - self.planned
        none = dict.fromkeys(CAUSES, Decimal(0))
        if not self.planned and not self.planned_hours:
            return none | {"unplanned": difference}
        if not self.has_hours:
            return none | {"other": difference}
        rate = self.planned / Decimal(self.planned_hours)
        more = Decimal(self.actual_hours) - Decimal(self.planned_hours)
        usage = (rate * more).quantize(CENT)
        return none | {"usage": usage, "price": difference - usage}


@dataclass
class Variance:
    """Plan against actual, by month and category, in one currency."""

    currency: str
    plan: SavedComparison | None
    """None too where the plan is in another currency, in which nothing can be compared."""
    answer: SavedPlan | None = None
    """The plan's."""
    plan_currency: str = ""
    """That other currency."""
    cells: dict[tuple[str, str], Cell] = field(default_factory=lambda: defaultdict(Cell))
    open_months: frozenset[str] = frozenset()
    """Months of the plan that were not over when they were uploaded last."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "currency": self.currency,
            "saved_comparison": str(self.plan.pk) if self.plan else None,
            "months": self._grouped(0, "month"),
            "categories": self._grouped(1, "category"),
            "total": _summed(self.cells.values()),
            "warnings": list(self._warnings()),
        }

    def _warnings(self) -> Iterator[str]:
        if self.plan_currency:
            yield (
                f"The plan is in {self.plan_currency} and the project in {self.currency}, so they "
                f"are not compared: save the plan again in {self.currency}."
            )
        for key in sorted(self.cells):
            if machines := self.cells[key].unknown:
                month, category = key
                listed = ", ".join(sorted(machines)[:_MOST_NAMED])
                if len(machines) > _MOST_NAMED:
                    listed += f" and {len(machines) - _MOST_NAMED} more"
                yield (
                    f"{name_month(month)}, {category}: the accelerators of {listed} are not known, "
                    "so their hours are not counted as accelerator-hours and the difference is not "
                    "split into price and usage. Name the machine as the catalog does "
                    "(x_InstanceType in FOCUS rows), or give what has no accelerators a category "
                    "of its own (x_Category)."
                )
        yield from describe_open_months(self.open_months)

    def _grouped(self, part: int, name: str) -> list[dict[str, Any]]:
        groups = group([(key[part], key) for key in sorted(self.cells)])
        return [
            {name: value, **_summed(self.cells[key] for key in keys)}
            for value, keys in groups.items()
        ]


def _summed(cells: Iterable[Cell]) -> dict[str, Any]:
    rows = list(cells)
    planned = sum((c.planned for c in rows), _ZERO)
    actual = sum((c.actual for c in rows), _ZERO)
    parts = [c.causes() for c in rows]
    causes = {name: sum((p[name] for p in parts), _ZERO) for name in CAUSES}
    return {
        "planned": f"{planned:f}",
        "actual": f"{actual:f}",
        "difference": f"{actual - planned:f}",
        "planned_hours": sum(c.planned_hours for c in rows),
        "actual_hours": sum(c.actual_hours for c in rows),
        "causes": {name: f"{value:f}" for name, value in causes.items()},
    }


def variance(project: Project) -> Variance:
    """The project's plan against its uploads, in the months for which there is an upload."""
    plan, currency = current_plan(project), project_currency(project)
    answer = plan.read_plan() if plan else None
    machines = Machines(answer)
    if answer is None or answer.currency == currency:
        table = Variance(currency, plan, answer)
    else:
        table = Variance(currency, None, plan_currency=answer.currency)
    table.open_months = find_open_months(project, currency)
    lines = ActualLine.objects.filter(upload__project=project, upload__currency=table.currency)
    names = ("month", "category", "hours", "cost", "instance_type", "upload__format")
    for month, category, hours, cost, machine, form in lines.values_list(*names):
        cell = table.cells[month, category]
        cell.actual += Decimal(cost)
        count = machines.accelerators(machine) if hours and form == "focus" else 1.0
        if count is None:
            cell.unknown.add(machine or _NAMELESS)
        else:
            cell.actual_hours += hours * count
    if table.answer is not None:
        months = {month for month, _ in table.cells}
        planned = _add_plan(table, table.answer, months, machines)
        if planned:  # nothing more is expected of months before or after the plan
            first, last = min(planned), max(planned)
            table.open_months = frozenset(m for m in table.open_months if first <= m <= last)
    return table


def _add_plan(table: Variance, answer: SavedPlan, months: set[str], machines: Machines) -> set[str]:
    """Adds what is planned in `months`; gives all the months that the plan pays in."""
    planned = set()
    for line in recommended_lines(answer):
        month = format_month(answer.month(line.month))
        planned.add(month)
        if month in months:
            cell = table.cells[month, line.category.value]
            cell.planned += line.amount
            hours = machines.planned_hours(line) if line.unit == NODE_HOURS else 0.0
            if hours is None:
                cell.unknown.add(line.instance_type or _NAMELESS)
            else:
                cell.planned_hours += hours
    return planned


def recommended_lines(answer: SavedPlan) -> tuple[CostLine, ...]:
    """Cost lines of the recommended scenario; none where nothing was feasible."""
    return answer.recommended.lines if answer.recommended else ()


NODE_HOURS = "node-hours"
"""Unit of a cost line that counts hours of whole machines."""


class Machines:
    """Accelerators in one machine, by its name: as an answer knows it, else as the catalog does.

    A name that stands for machines of several sizes is not known.
    """

    def __init__(self, answer: SavedPlan | None = None) -> None:
        self._offers: dict[str, OfferUsed] = answer.offers if answer else {}
        servers = answer.servers if answer else ()
        self._servers: dict[str, ServerUsed] = {row.key: row for row in servers}

    def accelerators(self, name: str) -> float | None:
        key = name.lower()
        if key.startswith(ONE_OF):
            return 1.0
        sizes = self._sizes.get(key, set())
        known = min(sizes) if len(sizes) == 1 else None
        return known or find_machine_anywhere("", name).accelerators

    def planned_hours(self, line: CostLine) -> float | None:
        """Accelerator-hours of a cost line in node-hours; None where its machine is not known."""
        machine = self._offers.get(line.offer_id) or self._servers.get(line.source)
        count = machine.accelerator_count if machine else self.accelerators(line.instance_type)
        return line.quantity * count if count else None

    @cached_property
    def _sizes(self) -> dict[str, set[float]]:
        offers = catalogs.current().offers
        names, codes = offers.instance_type.names, offers.instance_type.codes
        in_catalog: dict[str, set[float]] = defaultdict(set)
        for code, count in set(zip(codes.tolist(), offers.accelerator_count.tolist(), strict=True)):
            in_catalog[names[code].lower()].add(count)
        planned: dict[str, set[float]] = defaultdict(set)
        for row in self._offers.values():
            if row.instance_type and row.accelerator_count:
                planned[row.instance_type.lower()].add(row.accelerator_count)
        return {**in_catalog, **planned}


def find_open_months(project: Project, currency: str) -> frozenset[str]:
    """Months of the uploads in `currency` whose latest upload is of before their end, in UTC: what
    is paid of them is a part, as in a bill of the running month."""
    lines = ActualLine.objects.filter(upload__project=project, upload__currency=currency)
    latest = lines.order_by().values_list("month").annotate(Max("upload__created_at"))
    return frozenset(m for m, moment in latest if moment.date() < add_months(parse_month(m), 1))


def describe_open_months(months: frozenset[str]) -> Iterator[str]:
    """What a month that was not over counts as."""
    if months:
        named = ", ".join(name_month(month) for month in sorted(months))
        was, they = ("was", "it is") if len(months) == 1 else ("were", "they are")
        yield (
            f"{named} {was} uploaded before the end of the month: the estimate at completion "
            f"expects the rest of it at the observed use. When {they} over, upload what is "
            "missing, or take the upload out and upload the whole month."
        )


# What projects are charged ----------------------------------------------------------------


@dataclass(frozen=True)
class Charge:
    """One project: its metered hours at the rates of their years, and its bills."""

    project: str
    accelerator_hours: float
    charged: Decimal
    paid: Decimal

    @property
    def difference(self) -> Decimal:
        """What the rates bring in beyond the bills; below 0 where they fall short."""
        return self.charged - self.paid

    @property
    def paid_per_hour(self) -> Decimal:
        return self.paid / Decimal(self.accelerator_hours)


def list_charges(team: Team, answer: PortfolioAnswer) -> list[Charge]:
    """The projects of the plan, by name, with uploads that say hours; then all of them together.
    Only what was paid in the currency of the plan, in its years, counts."""
    rates = {one.year or 0: one.cost_per_hour for one in answer.rate_card if one.kind == "all"}
    names = {one.name for one in answer.projects}
    rows = []
    projects = Project.objects.filter(team=team, name__in=names).select_related("team")
    for project in projects.order_by("name"):
        table = variance(project)
        at_rates = [
            (cell, rate)
            for (month, _), cell in table.cells.items()
            if table.currency == answer.currency and (rate := rates.get(int(month[:4]))) is not None
        ]
        if hours := round(sum(cell.actual_hours for cell, _ in at_rates), 4):
            charged = Decimal(sum(cell.actual_hours * rate for cell, rate in at_rates))
            paid = sum((cell.actual for cell, _ in at_rates), _ZERO)
            rows.append(Charge(project.name, hours, charged.quantize(CENT), paid))
    if len(rows) > 1:
        sums = (sum(row.charged for row in rows), sum(row.paid for row in rows))
        hours = sum(row.accelerator_hours for row in rows)
        rows.append(Charge("All", hours, *(Decimal(amount) for amount in sums)))
    return rows


# What a plan will have cost when it ends --------------------------------------------------

_HOURLY = (PurchaseOption.ON_DEMAND.value, PurchaseOption.SPOT.value)
HIGHEST_RATIO = Decimal(10)
"""A month that cost ten times its plan says nothing of the months to come beyond that."""


@dataclass
class Month:
    """What a month was planned to cost, would cost at the prices of today, and what was paid."""

    planned: Decimal = _ZERO
    rents: dict[PriceProcess, Decimal] = field(default_factory=dict)
    """At the prices of today, what follows use, by what moves its price."""
    fixed: Decimal = _ZERO
    """At the prices of today, what does not."""
    hours: float = 0.0
    """Planned accelerator-hours that follow use."""
    committed_hours: float = 0.0
    """Planned ones that are paid for whatever is used, and come first."""
    paid: Decimal | None = None
    """None without an upload."""
    is_open: bool = False
    """Whether it was not over when it was uploaded last."""

    @property
    def hourly(self) -> Decimal:
        """At the prices of today, what follows use."""
        return sum(self.rents.values(), _ZERO)

    @property
    def committed(self) -> float:
        """Hours that are paid for in any case, for each hour that follows use."""
        return self.committed_hours / self.hours if self.hours else 0.0

    @property
    def is_done(self) -> bool:
        return self.paid is not None and not self.is_open

    def left_of(self, whole: Decimal) -> Decimal:
        """What is still to be paid where all of it comes to `whole`."""
        if self.paid is None:
            return whole
        return max(whole - self.paid, _ZERO) if self.is_open else _ZERO

    def expect(self, ratio: Decimal, *, is_of_hours: bool) -> Decimal:
        """What was paid of it and what is left, at a ratio of actual over planned."""
        committed = Decimal(self.committed)
        whole = self.fixed + self.hourly * max(ratio * (1 + committed) - committed, _ZERO)
        if not is_of_hours:
            whole = (self.fixed + self.hourly) * ratio
        return (self.paid or _ZERO) + self.left_of(whole)


class Ratios(NamedTuple):
    """Actual over planned: of the last months that are done, and of each."""

    middle: Decimal
    each: tuple[Decimal, ...]
    is_of_hours: bool
    """Whether it compares hours; else money."""


class Estimate(NamedTuple):
    """Money at the end of the plan: as expected, and in simulated outcomes."""

    estimate: Decimal | None = None
    outcomes: tuple[float, ...] = ()

    def percentile(self, percent: float) -> Decimal | None:
        """Money that so many per cent of the outcomes stay below; None without any."""
        if not self.outcomes:
            return None
        return Decimal(float(np.percentile(self.outcomes, percent))).quantize(CENT)

    def chance_over(self, budget: Decimal | None) -> float | None:
        """Share of the outcomes that end above a budget; None without either."""
        if budget is None or not self.outcomes:
            return None
        return round(sum(one > budget for one in self.outcomes) / len(self.outcomes), 4)


class Course:
    """A plan month by month, from the first that is planned or paid for to the last."""

    def __init__(self, table: Variance, answer: SavedPlan) -> None:
        self.table, self.answer = table, answer
        rows: dict[str, Month] = defaultdict(Month)
        offers = catalogs.current().offers
        self.prices_as_of: dt.date | None = None
        factors: dict[str, Decimal | None] = {}
        for line in recommended_lines(answer):
            row = rows[format_month(answer.month(line.month))]
            row.planned += line.amount
            if line.unit != NODE_HOURS or line.purchase_option not in _HOURLY:
                row.fixed += line.amount
                continue
            used = answer.offers.get(line.offer_id)
            if used and used.native_price_per_hour is not None and line.offer_id not in factors:
                factors[line.offer_id] = self._factor(offers, line.offer_id, used)
            process = _process(used, answer.first_month.year)
            amount = line.amount * (factors.get(line.offer_id) or 1)
            row.rents[process] = row.rents.get(process, _ZERO) + amount
        self.offers_not_sold = sum(factor is None for factor in factors.values())
        self.planned = sorted(rows)
        for (month, _), cell in table.cells.items():
            rows[month].paid = (rows[month].paid or _ZERO) + cell.actual
            rows[month].is_open = month in table.open_months
        first, last = (parse_month(pick(rows)) for pick in (min, max)) if rows else (None, None)
        names = month_labels(first, count_months(first, last) + 1) if first and last else []
        self.months = {name: rows[name] for name in names}
        self.outside = [
            name
            for name, row in self.months.items()
            if row.paid is not None
            and self.planned
            and not self.planned[0] <= name <= self.planned[-1]
        ]
        with_hours = {month for (month, _), cell in table.cells.items() if cell.actual_hours}
        done = {
            key: cell
            for key, cell in table.cells.items()
            if cell.planned_hours and not cell.unknown
            # Of what was planned and not billed nothing was used, where the month's use is known.
            if cell.actual_hours or (not cell.actual and key[0] in with_hours)
            if key[0] not in self.outside and rows[key[0]].is_done
        }
        self.done_cells = [(month, cell) for (month, _), cell in done.items()]
        self._add_hours({category for _, category in done})
        self.ratios = self._observe()

    def _add_hours(self, categories: Set[str]) -> None:
        """Adds the planned hours of categories whose use is known."""
        machines = Machines(self.answer)
        for line in recommended_lines(self.answer):
            if line.unit == NODE_HOURS and line.category.value in categories:
                row = self.months[format_month(self.answer.month(line.month))]
                hours = machines.planned_hours(line) or 0.0
                if line.purchase_option in _HOURLY:
                    row.hours += hours
                else:
                    row.committed_hours += hours

    def _factor(self, offers: Any, offer_id: str, used: OfferUsed) -> Decimal | None:
        offer, before = offers.find(offer_id), Decimal(used.native_price_per_hour or 0)
        if not offer or not offer.sold_now or offer.currency != used.native_currency or not before:
            return None
        if offer.as_of is not None:
            self.prices_as_of = min(self.prices_as_of or offer.as_of, offer.as_of)
        return Decimal(offer.price_per_hour / before)

    def _observe(self) -> Ratios | None:
        """Ratios of hours where both are known, else of money; None where nothing was planned in
        the months that are done. Months that the plan does not have compare with nothing."""
        pairs: dict[str, tuple[Decimal, Decimal]] = defaultdict(lambda: (_ZERO, _ZERO))
        for month, cell in self.done_cells:
            hours = Decimal(cell.planned_hours), Decimal(cell.actual_hours)
            pairs[month] = pairs[month][0] + hours[0], pairs[month][1] + hours[1]
        is_of_hours = bool(pairs)
        if not is_of_hours:
            pairs = {
                name: (row.planned, row.paid or _ZERO)
                for name, row in self.months.items()
                if row.is_done and name not in self.outside
            }
        last = [pairs[month] for month in sorted(pairs)[-LAST_MONTHS:]]
        before = sum((planned for planned, _ in last), _ZERO)
        after = sum((actual for _, actual in last), _ZERO)
        each = [
            min(actual / planned, HIGHEST_RATIO)
            for planned, actual in pairs.values()
            if planned > 0 and actual >= 0
        ]
        if before <= 0 or not each:
            return None
        middle = min(max(after / before, _ZERO), HIGHEST_RATIO)
        return Ratios(middle, tuple(each), is_of_hours)

    def estimate(self) -> Estimate:
        ratios, months = self.ratios, self.months.values()
        if ratios is None:
            return Estimate()
        is_of_hours = ratios.is_of_hours
        expected = [row.expect(ratios.middle, is_of_hours=is_of_hours) for row in months]
        paid = sum((row.paid or _ZERO for row in months if row.is_done), _ZERO)
        left = [
            MonthLeft(
                {process: float(amount) for process, amount in row.rents.items()},
                float(row.fixed),
                float(row.paid or 0),
                row.committed,
            )
            for row in months
            if not row.is_done
        ]
        observed = [float(one) for one in ratios.each]
        middle = float(ratios.middle)
        drawn = draw_left(left, self.answer, middle, observed, is_of_hours=is_of_hours)
        return Estimate(sum(expected, _ZERO), tuple((float(paid) + drawn).tolist()))


def _process(used: OfferUsed | None, year: int) -> PriceProcess:
    if used is None or not used.purchase_option:
        return find_process("", PurchaseOption.ON_DEMAND, year)
    return find_process(used.accelerator, PurchaseOption(used.purchase_option), year, used.provider)


Cents = Annotated[
    Decimal,
    PlainSerializer(lambda amount: f"{amount.quantize(CENT):f}", str, when_used="json-unless-none"),
]


class Completion(AnswerModel):
    """Money of a plan at its end, and how the hours compare; null where it cannot be known, with
    the reason in `why_not`."""

    currency: str
    months_done: int
    """Months of the plan that are paid for and were over when they were uploaded last."""
    months_left: int
    """Other months of the plan."""
    is_due_after: bool
    """Whether what is left holds money of the months after the plan, such as a last invoice."""
    actual: Cents
    planned_total: Cents
    remaining_plan: Cents
    remaining_at_current_prices: Cents
    prices_as_of: dt.date | None
    """Day on which the oldest of the current prices was seen."""
    offers_not_sold: int
    """Offers of the plan that the catalog has no more, which stay at the planned price."""
    estimate_at_completion: Cents | None
    low: Cents | None
    """10th percentile of the simulated outcomes."""
    high: Cents | None
    """90th percentile of the simulated outcomes."""
    budget: Cents | None
    """For all months of the plan."""
    chance_over_budget: float | None
    """Share of the simulated outcomes that end above the budget."""
    hours_ratio: float | None
    """Actual over planned accelerator-hours so far."""
    price_ratio: float | None
    """Actual over planned cost of an accelerator-hour so far."""
    why_not: str
    warnings: tuple[str, ...] = ()


def estimate_completion(project: Project, table: Variance | None = None) -> Completion | None:
    """The estimate for a project with a plan and actuals; None without either.

    Estimate at completion = actual so far + what follows use in the months without an upload, at
    the prices of today × actual over planned accelerator-hours of the last three months + what does
    not follow use. Commitments serve first: of all hours used those beyond them follow use. A month
    that was not over when it was uploaded last (`Variance.open_months`) is no measure of use, and
    comes to what the same gives for it, or to what is paid of it where that is more. Where no hours
    can be compared, all that is left is taken × actual over planned cost so far (the cost
    performance of earned value, PMI Practice Standard for Earned Value Management).
    The range is that of simulated outcomes of what is left (`outlook`).
    """
    table = variance(project) if table is None else table
    if table.plan is None or table.answer is None or not table.cells:
        return None
    course, of_plan = Course(table, table.answer), set(table.answer.months)
    rows = course.months
    done = {name for name, row in rows.items() if row.is_done} & of_plan
    why_not = "" if course.ratios else "nothing was planned in the months that were paid for"
    if not course.ratios and table.open_months and not done:
        why_not = "no month of the plan that was paid for was over when it was uploaded"
    hours_ratio, price_ratio = _use_and_price([cell for _, cell in course.done_cells])
    end, budget = course.estimate(), budget_over_horizon(project, table.plan)
    return Completion(
        currency=table.currency,
        months_done=len(done),
        months_left=len(of_plan - done),
        is_due_after=any(
            row.planned for name, row in rows.items() if row.paid is None and name not in of_plan
        ),
        actual=sum((row.paid or _ZERO for row in rows.values()), _ZERO),
        planned_total=sum((row.planned for row in rows.values()), _ZERO),
        remaining_plan=sum((row.left_of(row.planned) for row in rows.values()), _ZERO),
        remaining_at_current_prices=sum(
            (row.left_of(row.hourly + row.fixed) for row in rows.values()), _ZERO
        ),
        prices_as_of=course.prices_as_of,
        offers_not_sold=course.offers_not_sold,
        estimate_at_completion=end.estimate,
        low=end.percentile(10),
        high=end.percentile(90),
        budget=budget,
        chance_over_budget=end.chance_over(budget),
        hours_ratio=hours_ratio,
        price_ratio=price_ratio,
        why_not=why_not,
        warnings=_describe_outside(course),
    )


def _use_and_price(cells: list[Cell]) -> tuple[float | None, float | None]:
    planned = float(sum(cell.planned for cell in cells))
    if not planned:
        return None, None
    use = sum(cell.actual_hours for cell in cells) / sum(cell.planned_hours for cell in cells)
    price = float(sum(cell.actual for cell in cells)) / planned / use
    return round(use, 6), round(price, 6)


def _describe_outside(course: Course) -> tuple[str, ...]:
    if not course.outside:
        return ()
    paid = sum((course.months[name].paid or _ZERO for name in course.outside), _ZERO)
    are, them = ("is no month", "it") if len(course.outside) == 1 else ("are no months", "them")
    return (
        f"{', '.join(course.outside)} {are} of the plan, which pays from {course.planned[0]} to "
        f"{course.planned[-1]}: the {format_money(paid, course.table.currency)} paid in {them} "
        "count as paid, not as months done nor in the share that is carried on.",
    )
