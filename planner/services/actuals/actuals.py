"""What a project really used and paid, and how that differs from its plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Any, BinaryIO
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from planner.contract.amounts import add_months, format_month, name_day, name_month, parse_month
from planner.contract.answer.comparison import OfferUsed, SavedPlan, ServerUsed
from planner.contract.answer.scenario import CostLine
from planner.contract.typed_numbers import without_invisible
from planner.models import Access, ActualLine, ActualsUpload, Project, SavedComparison
from planner.services.alerts.alerts import watch_spending
from planner.services.projects.projects import project_currency
from planner.services.projects.reprice import current_plan
from planner.services.teams.access import (
    EDIT,
    WrongStateError,
    record,
    require,
    require_room,
    require_still,
)
from planner.usage.actuals_file import Group, Sums, read_actuals_file
from planner.usage.machines import ONE_OF, find_machine_anywhere
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import group
from pricing.storage import bulk

CAUSES = ("price", "usage", "unplanned", "other")
CENT = Decimal("0.01")
_NOTHING = Decimal("0.00")
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
    if not Project.objects.select_for_update().filter(pk=project.pk).exists():
        raise WrongStateError("The project was deleted while the file was read.")
    require_still(access, project.team_id, EDIT)
    require_room("uploads", project.uploads.all())
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


@transaction.atomic
def delete_upload(access: Access, upload: ActualsUpload) -> None:
    require(access, upload.team_id, EDIT)
    costs = map(Decimal, upload.lines.values_list("cost", flat=True))
    record(access, "actuals.removed", upload, before=_summarize_upload(upload, costs))
    upload.delete()


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
    planned = sum((c.planned for c in rows), _NOTHING)
    actual = sum((c.actual for c in rows), _NOTHING)
    parts = [c.causes() for c in rows]
    causes = {name: sum((p[name] for p in parts), _NOTHING) for name in CAUSES}
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
