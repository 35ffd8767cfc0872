"""Machines of a joint plan: what is started, who uses it, and what an hour of it costs. PURE."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Literal, NamedTuple

import numpy as np

from planner.comparison.answer import build_purchases
from planner.contract.answer.common import Category
from planner.contract.answer.portfolio import (
    ChargeRate,
    Machine,
    MachineKind,
    MonthOfMachines,
    ProjectOrder,
    ProjectUse,
)
from planner.contract.answer.scenario import Purchase
from planner.contract.answer.verdict import DecisionPart
from planner.contract.copies import cached_property, replace
from planner.costing.advice.decision import RENTING, NamePlace, list_parts
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import DATED
from planner.costing.optimizer.problem import Floats
from planner.costing.results.scenario_result import is_of_resale
from planner.portfolio.books import Books
from planner.portfolio.shares import round_to_total

Kind = MachineKind | Literal["all"]


@dataclass(frozen=True)
class Usage:
    """Machines and their use under some books."""

    books: Books

    @cached_property
    def _known(self) -> dict[str, CapacitySource]:
        every = (inputs.by_key.items() for inputs in reversed(self.books.inputs))
        return {key: source for sources in every for key, source in sources}

    def source(self, key: str) -> CapacitySource:
        return self._known[key]

    @cached_property
    def used(self) -> dict[tuple[str, str], Floats]:
        """(project, source key) → [T] node-hours."""
        hours: dict[tuple[str, str], Floats] = {}
        for name, part in self.books.parts_of:
            for key, row in part.used_hours.items():
                hours[name, key] = hours.get((name, key), np.zeros(row.size)) + row
        return hours

    @cached_property
    def held(self) -> dict[str, Floats]:
        """key → [T] nodes in service of what is bought, committed to or there already."""
        nodes: dict[str, Floats] = {}
        for key, source in sorted(self._known.items()):
            if source.term is None:
                continue
            months = source.term.months
            started = self.books.whole.units_started.get(key, np.zeros(months)).astype(float)
            in_service = source.units_in_service(started)
            if in_service.any():
                nodes[key] = in_service
        return nodes

    def in_service(self) -> tuple[MonthOfMachines, ...]:
        """Machines held in each month and how far they are used."""
        rows = []
        for key, nodes in self.held.items():
            source = self.source(key)
            used = sum(
                (hours for (_, of), hours in self.used.items() if of == key), np.zeros(nodes.size)
            )
            for month in np.flatnonzero(nodes).tolist():
                count = float(nodes[month]) * source.accelerators
                rows.append(
                    MonthOfMachines(
                        month=month,
                        source=key,
                        accelerators=round(count, 6),
                        hours_available=round(count * source.hours_per_month, 4),
                        hours_used=round(float(used[month]) * source.accelerators, 4),
                    )
                )
        return tuple(sorted(rows, key=lambda row: (row.month, row.source)))

    def uses(self) -> tuple[ProjectUse, ...]:
        """What each project uses of each machine, by month."""
        is_shared = self.books.shared is not None
        rows = [
            ProjectUse(
                month=month,
                project=project,
                source=key,
                shared=is_shared and key in self.held,
                accelerator_hours=round(float(hours[month]) * self.source(key).accelerators, 4),
            )
            for (project, key), hours in self.used.items()
            for month in np.flatnonzero(hours).tolist()
        ]
        return tuple(sorted(rows, key=lambda row: (row.month, row.project, row.source)))

    def sources(self) -> tuple[CapacitySource, ...]:
        """Every offer and server that is held or used, by key."""
        keys = sorted({key for _, key in self.used} | set(self.held))
        return tuple(self.source(key) for key in keys)

    def offers(self) -> dict[str, CapacitySource]:
        """The offers among them, and those at whose price hours are paid while spot is not there,
        by their id."""
        offers = {source.offer_id: source for source in self.sources() if source.offer_id}
        for inputs in self.books.inputs:
            for key in inputs.find_fallbacks([key for _, key in self.used]):
                offers.setdefault(inputs.by_key[key].offer_id, inputs.by_key[key])
        return offers

    def machines(self) -> tuple[Machine, ...]:
        """Every offer and server that is held or used."""
        return tuple(
            Machine(
                source=source.key,
                label=source.label,
                accelerator=source.accelerator,
                kind=_kind(source),
            )
            for source in self.sources()
        )

    def charge_rates(self) -> Iterator[ChargeRate]:
        """What an accelerator-hour costs each project, by how machines are obtained: the cost of a
        shared machine is divided by the hours that are used of it, and what belongs to no machine
        that is used by all hours."""
        members = [member.name for member in self.books.members]
        rows: dict[tuple[str, Kind], Floats] = {(name, "all"): np.zeros(2) for name in members}

        def add(name: str, key: str, figures: tuple[float, float]) -> None:
            for kind in (_kind(self.source(key)), "all") if key else ("all",):
                rows[name, kind] = rows.get((name, kind), np.zeros(2)) + figures

        hours: dict[tuple[str, str], float] = {}
        for at, nodes in self.used.items():
            hours[at] = float(nodes.sum()) * self.source(at[1]).accelerators
            add(*at, (hours[at], 0.0))
        lines = [(name, line) for name, part in self.books.parts_of for line in part.lines]
        for name, line in lines:
            key = line.source
            users = {at: used for at, used in hours.items() if at[1] == key and used}
            users = users or {(one, ""): float(rows[one, "all"][0]) for one in members}
            if name:
                users = {(name, key if (name, key) in hours else ""): 1.0}
            in_all = sum(users.values())
            for at, used in users.items():
                part = used / in_all if in_all else 1 / len(users)
                add(*at, (0.0, float(line.amount) * part))
        kinds: tuple[Kind, ...] = ("committed", "owned", "rented", "all")
        return _price(
            _Hours(name, None, "", kind, *rows[name, kind].tolist())
            for name in members
            for kind in kinds
            if (name, kind) in rows
        )

    def rate_card(self) -> Iterator[ChargeRate]:
        """What an accelerator-hour costs in each year, by machines: what is paid once is spread
        over the hours of the whole plan, the rest falls into its year."""
        calendar = self.books.inputs[0].calendar
        of_month = np.array([calendar.month(month).year for month in range(calendar.months)])
        years = np.unique(of_month)
        in_year = (of_month == years[:, None]).astype(float)
        hours: dict[str, Floats] = defaultdict(lambda: np.zeros(years.size))
        for (_, key), nodes in self.used.items():
            hours[key] += in_year @ nodes * self.source(key).accelerators
        rows: dict[tuple[str, Kind], Floats] = defaultdict(lambda: np.zeros((2, years.size)))
        for key, used in hours.items():
            for at in (_machine(self.source(key)), _ALL):
                rows[at][0] += used
        lines = self.books.whole.lines
        ahead = {(line.source, line.month) for line in lines if line.category is Category.UPFRONT}
        for line in lines:
            used = hours.get(line.source, np.zeros(years.size))
            part = in_year[:, min(line.month, calendar.months - 1)]
            is_once = line.category in DATED or is_of_resale(line)
            # What support takes of an upfront payment is paid ahead as that is.
            is_once |= line.category is Category.SUPPORT and (line.source, line.month) in ahead
            if used.any() and is_once:
                part = used / used.sum()
            for at in [_ALL, *([_machine(self.source(line.source))] if used.any() else [])]:
                rows[at][1] += float(line.amount) * part
        return _price(
            _Hours("", year, *machine, *row[:, place].tolist())
            for place, year in enumerate(years.tolist())
            for machine, row in sorted(rows.items())
            if row[:, place].any()
        )

    def purchases(self) -> tuple[Purchase, ...]:
        """What is bought and committed to, units of one kind and month together."""
        at_work = {
            (key, month)
            for (_, key), hours in self.used.items()
            if key in self.books.whole.units_started
            for month in np.flatnonzero(hours).tolist()
        }
        parts = (build_purchases(part, self._known, at_work) for part in self.books.parts)
        merged: dict[tuple[int, str, int, int], Purchase] = {}
        for row in (row for rows in parts for row in rows):
            key = (row.month, row.source, row.first, row.last)
            if one := merged.get(key):
                names = ("units", "due_at_start", "due_per_month")
                known = [name for name in names if getattr(one, name) is not None]
                sums = {name: getattr(one, name) + getattr(row, name) for name in known}
                row = one.model_copy(update=sums)
            merged[key] = row
        return tuple(merged[key] for key in sorted(merged))

    def orders(self, name_place: NamePlace, currency: str) -> tuple[ProjectOrder, ...]:
        """What is kept, bought, signed for and rented, the dearest first; of what all share
        the amount holds what each project's hours on it cost."""
        books = self.books
        own = {
            each.name: [inputs] for each, inputs in zip(books.members, books.inputs, strict=True)
        }
        rows: dict[tuple[int, str], ProjectOrder] = {}
        for place, (name, scenario) in enumerate(books.parts_of):
            started = scenario.units_started
            hours = {
                key: row
                for key, row in scenario.used_hours.items()
                if key in started or self.source(key).term is None
            }
            ordered = replace(scenario, used_hours=hours)
            for inputs in own.get(name, books.inputs):
                for part in list_parts(ordered, inputs, name_place, currency):
                    if part.action in RENTING or not name or books.shared is None:
                        rows[place, part.source] = self._order(part, name)
        return tuple(sorted(rows.values(), key=lambda row: (-row.amount, row.source, row.project)))

    def _order(self, part: DecisionPart, project: str) -> ProjectOrder:
        values = part.model_dump() | {"project": project}
        if not project:
            lines = (line for line in self.books.whole.lines if line.source == part.source)
            values["amount"] = sum((line.amount for line in lines), Decimal(0))
        elif len(self.books.members) > 1:
            values["sentence"] = f"for {project}, {part.sentence}"
        return ProjectOrder(**values)


def _kind(source: CapacitySource) -> MachineKind:
    if source.is_owned:
        return "owned"
    return "rented" if source.term is None else "committed"


def _machine(source: CapacitySource) -> tuple[str, Kind]:
    return source.accelerator, _kind(source)


_ALL: tuple[str, Kind] = ("", "all")


class _Hours(NamedTuple):
    project: str
    year: int | None
    accelerator: str
    kind: Kind
    used: float
    paid: float


def _price(rows: Iterable[_Hours]) -> Iterator[ChargeRate]:
    """Rates of hours; the costs of rows of all sum to the cent."""
    rows = list(rows)
    of_all = {f"{n:06}": 100.0 * row.paid for n, row in enumerate(rows) if row.kind == "all"}
    most = {place: ceil(paid) + 1 for place, paid in of_all.items()}
    in_all = round_to_total(of_all, round(sum(of_all.values())), most)
    for n, (project, year, accelerator, kind, used, paid) in enumerate(rows):
        yield ChargeRate(
            project=project,
            year=year,
            accelerator=accelerator,
            kind=kind,
            accelerator_hours=round(used, 4),
            cost=Decimal(in_all.get(f"{n:06}", round(100.0 * paid))).scaleb(-2),
            cost_per_hour=round(paid / used, 6) if used else None,
        )
