"""Energy that accelerators draw while they train. PURE."""

from __future__ import annotations

from pricing.market.accelerators import Accelerator

SERVER_POWER_FACTOR = 1.9
"""Server power over the accelerators' TDP: H100 1.82, A100 2.03 (Epoch AI, training-cost-trends
@263c40a15930, 2024)."""
POWER_LOAD = 0.75
"""Average power over the server's rating while training (Epoch AI, as above, 2024)."""


def energy_kwh(one: Accelerator, accelerator_hours: float) -> float | None:
    """Energy of the servers, the data centre's overhead (PUE) not in it:
    H · TDP · 1.9 · 0.75; None where the TDP is not known.

    >>> from pricing.market.accelerators import get
    >>> energy_kwh(get("nvidia-a100-80gb-sxm"), 1000)
    570.0
    """
    if one.tdp_w is None:
        return None
    return accelerator_hours * one.tdp_w / 1000 * SERVER_POWER_FACTOR * POWER_LOAD
