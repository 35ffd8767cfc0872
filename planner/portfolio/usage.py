"""Which machines a plan holds, and which project uses what of them, by month. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.comparison_steps.build_purchases import build_purchases
from planner.contract.answer.portfolio import Machine, MonthOfMachines, ProjectUse
from planner.contract.answer.scenario import Purchase
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import Floats
from planner.costing.results.scenario_result import Scenario
from planner.portfolio.books import Books
from planner.portfolio.joint_inputs import source_key


@dataclass(frozen=True)
class Usage:
    """Machines and their use under some books."""

    books: Books

    @cached_property
    def _inputs(self) -> dict[str, ModelInputs]:
        """source key → inputs of the first project that knows it."""
        known: dict[str, ModelInputs] = {}
        for inputs in self.books.inputs:
            for key in inputs.by_key:
                known.setdefault(key, inputs)
        return known

    def source(self, key: str) -> CapacitySource:
        plain = source_key(key)
        return self._inputs[plain].by_key[plain]

    @cached_property
    def started(self) -> dict[str, NDArray[np.int64]]:
        """key → [T] units started, by whomever."""
        units: dict[str, NDArray[np.int64]] = {}
        for part in self.books.parts:
            for key, row in part.units_started.items():
                units[source_key(key)] = units.get(source_key(key), np.zeros_like(row)) + row
        return units

    @cached_property
    def used(self) -> dict[tuple[str, str], Floats]:
        """(project, source key) → [T] node-hours."""
        hours: dict[tuple[str, str], Floats] = {}
        for member, parts in zip(self.books.members, self.books.own, strict=True):
            for part in parts:
                for key, row in part.used_hours.items():
                    at = (member.name, key)
                    hours[at] = hours.get(at, np.zeros(row.size)) + row
        return hours

    @cached_property
    def held(self) -> dict[str, Floats]:
        """key → [T] nodes in service of what is bought, committed to or there already."""
        nodes: dict[str, Floats] = {}
        for key, source in self._every_source():
            if source.term is None:
                continue
            months = source.term.months
            started = self.started.get(key, np.zeros(months, np.int64)).astype(float)
            in_service = source.units_in_service(started)
            if in_service.any():
                nodes[key] = in_service
        return nodes

    def _every_source(self) -> Iterator[tuple[str, CapacitySource]]:
        for key in sorted(self._inputs):
            yield key, self._inputs[key].by_key[key]

    def in_service(self) -> tuple[MonthOfMachines, ...]:
        """Machines held in each month and how far they are used."""
        rows = []
        for key, nodes in self.held.items():
            source = self.source(key)
            used = sum(
                (hours for (_, of), hours in self.used.items() if of == key),
                np.zeros(nodes.size),
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
                kind="owned"
                if source.is_owned
                else "rented"
                if source.term is None
                else "committed",
            )
            for source in self.sources()
        )

    def purchases(self) -> tuple[Purchase, ...]:
        """What is bought and committed to, units of one kind and month together."""
        rows = [row for part in self.books.parts for row in self._purchases_of(part)]
        merged: dict[tuple[int, str, int, int], Purchase] = {}
        for row in rows:
            key = (row.month, row.source, row.first, row.last)
            merged[key] = _add(merged[key], row) if key in merged else row
        return tuple(merged[key] for key in sorted(merged))

    def _purchases_of(self, part: Scenario) -> Iterator[Purchase]:
        """Of one part: its units by the project whose sources know them, its reservations once."""
        by_inputs: dict[int, dict[str, NDArray[np.int64]]] = {}
        places = {id(inputs): place for place, inputs in enumerate(self.books.inputs)}
        for key, units in part.units_started.items():
            place = places[id(self._inputs[source_key(key)])]
            by_inputs.setdefault(place, {})[source_key(key)] = units
        lines = tuple(line.model_copy(update={"source": source_key(line.source)})
                      if line.source != source_key(line.source) else line
                      for line in part.lines)  # fmt: skip
        for number, (place, started) in enumerate(by_inputs.items() or [(0, {})]):
            plan = Scenario(part.key, True, lines=lines, units_started=started,
                            calendar=part.calendar)  # fmt: skip
            for row in build_purchases(plan, self.books.inputs[place]):
                if row.kind != "capacity_block" or number == 0:
                    yield row


def _add(one: Purchase, other: Purchase) -> Purchase:
    """Two purchases of the same units in the same month as one."""
    sums = {
        name: None if getattr(one, name) is None else getattr(one, name) + getattr(other, name)
        for name in ("units", "due_at_start", "due_per_month")
    }
    return one.model_copy(update=sums)
