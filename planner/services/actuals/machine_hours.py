"""Hours of machines as accelerator-hours, the one unit in which plan and actuals are compared."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from planner.contract.answer.comparison import ComparisonAnswer, OfferUsed, ServerUsed
from planner.contract.answer.scenario import CostLine
from planner.usage.formats.focus_machines import ONE_OF
from planner.usage.machines import find_machine_anywhere
from pricing import catalog as catalogs

NODE_HOURS = "node-hours"
"""Unit of a cost line that counts hours of whole machines."""


class Machines:
    """Accelerators in one machine, by its name: as an answer knows it, else as the catalog does.

    A name that stands for machines of several sizes is not known.
    """

    def __init__(self, answer: ComparisonAnswer | None = None) -> None:
        self._offers: dict[str, OfferUsed] = answer.offers if answer else {}
        servers = answer.servers if answer else ()
        self._servers: dict[str, ServerUsed] = {row.key: row for row in servers}

    def accelerators(self, name: str) -> float | None:
        key = name.lower()
        if key.startswith(ONE_OF):
            return 1.0
        known = self._counts_in_answer.get(key) or self._counts_in_catalog.get(key)
        return known or find_machine_anywhere("", name).accelerators

    def planned_hours(self, line: CostLine) -> float | None:
        """Accelerator-hours of a cost line in node-hours; None where its machine is not known."""
        machine = self._offers.get(line.offer_id) or self._servers.get(line.source)
        count = machine.accelerator_count if machine else self.accelerators(line.instance_type)
        return line.quantity * count if count else None

    @cached_property
    def _counts_in_answer(self) -> dict[str, float]:
        counts: dict[str, set[float]] = {}
        for row in self._offers.values():
            if row.instance_type and row.accelerator_count:
                counts.setdefault(row.instance_type.lower(), set()).add(row.accelerator_count)
        return {name: min(sizes) for name, sizes in counts.items() if len(sizes) == 1}

    @cached_property
    def _counts_in_catalog(self) -> dict[str, float]:
        offers = catalogs.current().offers
        names = offers.instance_type.names
        least, most = np.full(len(names), np.inf), np.zeros(len(names))
        np.minimum.at(least, offers.instance_type.codes, offers.accelerator_count)
        np.maximum.at(most, offers.instance_type.codes, offers.accelerator_count)
        known = zip(names, least.tolist(), (least == most).tolist(), strict=True)
        return {name.lower(): count for name, count, is_one in known if is_one}
