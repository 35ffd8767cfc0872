"""How many accelerators work at once: of demand, of a kind, and of the machines of a source. PURE.

With P the demand's peak and L what runs take at least of a kind, both in reference accelerators, a
kind has max(P, L) at once. A run that may take every accelerator of its machines has

    P(c) = c · ⌈max(P, L) / c⌉

at once on machines of capacity c: as many machines as before, all at work, for H / P(c) hours.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.costing.cost_model.capacity_source import CapacitySource

Floats = NDArray[np.float64]
ROUNDING = 1e-12
"""Relative error below which a peak counts as a whole number of nodes."""

HOUR_NOISE = 2e-6
"""h by which hours may differ for their rounding, to a millionth, alone."""


@dataclass(frozen=True)
class RunPeaks:
    """What runs keep at work at once on each kind of accelerator, and on machines of each size."""

    hours: Floats
    """[T] reference accelerator-hours."""
    peak: Floats
    """[T] reference accelerators at once that the demand asks for."""
    least: Mapping[str, tuple[float, ...]] | None = None
    """[T] reference accelerators that runs take at least on a kind, where it is more."""
    fills_machines: bool = False
    """Whether runs take every accelerator of the machines that they rent."""

    def on(self, kinds: Collection[str]) -> Floats:
        """[T] reference accelerators at once on some kinds: as many as runs take at least."""
        least = [row for kind, row in (self.least or {}).items() if kind in kinds]
        if not least:
            return self.peak
        return np.where(self.peak > 0, np.maximum(self.peak, np.max(least, axis=0)), 0.0)

    def of(self, source: CapacitySource) -> Floats:
        """[T] reference accelerators at once of a plan on machines like those of a source."""
        peak = self.on({source.accelerator})
        fills = self.fills_machines and source.capacity > 0 and not source.is_owned
        return fill_nodes(peak, source.capacity) if fills else peak

    def hours_of(self, source: CapacitySource) -> Floats:
        """[T] hours at peak of a plan on machines like those of a source."""
        return self.hours_at(self.of(source))

    def hours_at(self, peak: Floats) -> Floats:
        """[T] H / P, 0 without work."""
        return np.divide(self.hours, peak, out=np.zeros_like(self.hours), where=peak > 0)

    def hours_in(self, peak: Floats | None, kind: str) -> Floats:
        """[T] hours at peak of a plan on a kind, of its own `peak` where it has one."""
        return self.hours_at(self.on({kind}) if peak is None else peak)


def fill_nodes(peak: Floats, capacity: float | Floats) -> Floats:
    """[T] the capacity of the fewest whole nodes that hold a peak.

    >>> fill_nodes(np.array([0.0, 3.0, 8.0, 9.0]), 8.0).tolist()
    [0.0, 8.0, 8.0, 16.0]
    """
    return np.asarray(np.ceil(peak / capacity * (1 - ROUNDING)) * capacity)


def nodes_at_once(hours: Floats, peak_hours: Floats) -> Floats:
    """[T] node-hours over hours at peak, 0 without work; whole where only the rounding of hours
    keeps them from it.

    >>> nodes_at_once(np.array([0.08, 0.12, 0.0]), np.array([0.0799995, 0.08, 0.0])).tolist()
    [1.0, 1.5, 0.0]
    """
    nodes = np.divide(hours, peak_hours, out=np.zeros_like(hours), where=peak_hours > 0)
    whole = np.round(nodes)
    is_noise = np.abs(nodes - whole) * peak_hours <= HOUR_NOISE * np.maximum(whole, 1.0)
    return np.asarray(np.where(is_noise & (whole > 0), whole, nodes))
