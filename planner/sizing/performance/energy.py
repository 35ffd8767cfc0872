"""Energy that accelerators draw while they train. PURE."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from functools import cache

from planner.sizing.evidence.server_power import ServerPower, server_powers
from pricing.market.accelerators import Accelerator, get

SERVER_POWER_FACTOR = 1.9
"""Server power over the accelerators' TDP: H100 1.82, A100 2.03 (Epoch AI, training-cost-trends
@263c40a15930, 2024)."""
POWER_LOAD = 0.75
"""Average power over the server's rating while training (Epoch AI, as above, 2024)."""
MEASURED_RULES = 3
"""Edition of the rules from which measured power counts, 2026."""


def energy_kwh(one: Accelerator, accelerator_hours: float, rules: int = 2) -> float | None:
    """Energy of the servers, the data centre's overhead (PUE) not in it: H · TDP · what servers at
    work were measured to draw over it, under rules 1 and 2 1.9 · 0.75; None where the TDP is not
    known.

    >>> a100, h100 = get("nvidia-a100-80gb-sxm"), get("nvidia-h100-80gb-sxm")
    >>> energy_kwh(a100, 1000), round(energy_kwh(h100, 1000, 3))
    (570.0, 894)
    """
    if one.tdp_w is None:
        return None
    of_boards = accelerator_hours * one.tdp_w / 1000
    if rules < MEASURED_RULES:
        return of_boards * SERVER_POWER_FACTOR * POWER_LOAD
    return of_boards * power_share(one.slug)


@cache
def power_share(slug: str) -> float:
    """Draw of a server at work over the TDP of its accelerators, as measured on the same
    accelerator, else over all that were measured.

    >>> round(power_share("nvidia-b200"), 2), round(power_share("nvidia-l40s"), 2)
    (1.2, 1.2)
    """
    return share_of(row for row in server_powers() if is_at_work(row))(slug)


def share_of(rows: Iterable[ServerPower]) -> Callable[[str], float]:
    """The same from given rows: the median over the systems of an accelerator, each with one
    vote; else over accelerators."""
    by_system: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        tdp = get(row.accelerator).tdp_w or row.watts
        systems = by_system.setdefault(row.accelerator, {})
        systems.setdefault(row.system, []).append(row.watts / (row.accelerators * tdp))
    shares = {
        accelerator: statistics.median(statistics.median(values) for values in systems.values())
        for accelerator, systems in by_system.items()
    }
    usual = statistics.median(shares.values())
    return lambda slug: shares.get(slug, usual)


def is_at_work(row: ServerPower) -> bool:
    """Whether a row tells what training draws: trainings and stress tests of servers as
    delivered; tuned ones draw less, and inference leaves gaps."""
    return row.is_default and row.state in ("training", "stress")
