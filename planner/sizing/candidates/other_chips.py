"""When an FPGA or an ASIC is the better choice, and what porting costs. PURE."""

from __future__ import annotations

from planner.contract.request.workload import Training
from planner.sizing.runs.schedule import RunSize

PORT_HOURS = 50_000.0
"""Accelerator-hours from which a port to an ASIC is worth weeks of engineering: at 2 USD an hour
and a price a third lower it saves some 30,000 USD, two engineer-months; planning value, 2026."""
FPGA_PARAMETERS = 1e8
"""Parameters up to which a quantised model fits the memory of an FPGA card; planning value of this
project, 2026."""


def list_other_chips(workload: object, size: RunSize | None, hours: float) -> tuple[str, ...]:
    """What speaks for an ASIC and for an FPGA in this work; empty for hours as given."""
    if size is None:
        return ()
    return (_asic(workload, hours), _fpga(workload))


def _asic(workload: object, hours: float) -> str:
    """TPU, Trainium: by the hours over which a port is spread."""
    cost = "a port to JAX, PyTorch/XLA or Neuron takes weeks, custom CUDA kernels months"
    if not isinstance(workload, Training):
        return f"ASIC (TPU, Trainium): for models whose operations they support; {cost}"
    if hours < PORT_HOURS:
        return (
            f"ASIC (TPU, Trainium): not for {hours:,.0f} h of work, unless the code runs there "
            f"already; {cost}"
        )
    return (
        f"ASIC (TPU, Trainium): worth comparing for {hours:,.0f} h of dense matrix work; {cost}. "
        "Inferentia serves what was trained"
    )


def _fpga(workload: object) -> str:
    """By whether a fixed model of this size could be served on one."""
    cost = "a port takes months of hardware design"
    is_small = isinstance(workload, Training) and workload.parameters <= FPGA_PARAMETERS
    if not is_small:
        return f"FPGA: not for training, and this model is too large to be served on one; {cost}"
    return (
        "FPGA: not for training; worth it to serve this model unchanged for years at latencies "
        f"below a millisecond, or beside a sensor; {cost}"
    )
