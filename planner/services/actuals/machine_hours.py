"""Hours of machines as accelerator-hours, the one unit in which plan and actuals are compared."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from pricing import catalog as catalogs

NODE_HOURS = "node-hours"
"""Unit of a cost line that counts hours of whole machines."""


class Machines:
    """Accelerators in one machine, by its name: as an answer knows it, else as the catalog does.

    A name that stands for machines of several sizes is not known.
    """

    def __init__(self, answer: Mapping[str, Any] | None = None) -> None:
        self._offers: Mapping[str, Any] = (answer or {}).get("offers") or {}
        self._servers = {row["key"]: row for row in (answer or {}).get("servers") or ()}

    def accelerators(self, name: str) -> float | None:
        key = name.lower()
        return self._counts_in_answer.get(key) or self._counts_in_catalog.get(key)

    def planned_hours(self, line: Mapping[str, Any]) -> float | None:
        """Accelerator-hours of a cost line in node-hours; None where its machine is not known."""
        row = self._offers.get(line["offer_id"]) or self._servers.get(line["source"]) or {}
        count = row.get("accelerator_count") or self.accelerators(line["instance_type"])
        return float(line["quantity"]) * float(count) if count else None

    @cached_property
    def _counts_in_answer(self) -> dict[str, float]:
        counts: dict[str, set[float]] = {}
        for row in self._offers.values():
            if row.get("instance_type") and row.get("accelerator_count"):
                name = row["instance_type"].lower()
                counts.setdefault(name, set()).add(float(row["accelerator_count"]))
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
