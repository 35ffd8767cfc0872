"""Which part of owned servers, commitments and rent each project uses, and when most. PURE."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from planner.contract.answer.portfolio import KindUse, MachineKind, PortfolioAnswer

KINDS: tuple[MachineKind, ...] = ("owned", "committed", "rented")
"""In the order in which they are told."""
FULL_MONTH = 0.9
"""Part of the hours of a project's fullest month from which another month is as full."""

_Hours = dict[int, float]
"""By month, accelerator-hours."""


def uses_by_kind(answer: PortfolioAnswer) -> tuple[KindUse, ...]:
    """The uses of an answer by project and kind of machine: sums over sources and months."""
    kinds = {machine.source: machine.kind for machine in answer.machines}
    own: dict[tuple[str, MachineKind], _Hours] = defaultdict(lambda: defaultdict(float))
    of_all: dict[MachineKind, _Hours] = defaultdict(lambda: defaultdict(float))
    shared: set[tuple[str, MachineKind]] = set()
    for use in answer.uses:
        kind = kinds[use.source]
        own[use.project, kind][use.month] += use.accelerator_hours
        of_all[kind][use.month] += use.accelerator_hours
        if use.shared:
            shared.add((use.project, kind))
    rows = ((one.name, kind) for one in answer.projects for kind in KINDS)
    return tuple(
        _sum_up(key, key in shared, own[key], of_all[key[1]]) for key in rows if key in own
    )


def _sum_up(key: tuple[str, MachineKind], shared: bool, own: _Hours, of_all: _Hours) -> KindUse:
    fullest = tuple(_fullest(own))
    hours, in_all = sum(own.values()), sum(of_all.values())
    then = sum(of_all[month] for month in fullest)
    return KindUse(
        project=key[0],
        kind=key[1],
        shared=shared,
        accelerator_hours=round(hours, 4),
        fraction=round(hours / in_all, 6) if in_all else None,
        months=sum(value > 0 for value in own.values()),
        fullest_months=fullest,
        fullest_fraction=round(sum(own[month] for month in fullest) / then, 6) if then else None,
    )


def _fullest(hours: Mapping[int, float]) -> Iterator[int]:
    most = max(hours.values())
    for month in sorted(hours):
        if hours[month] >= FULL_MONTH * most:
            yield month
