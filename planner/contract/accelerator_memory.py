"""Memory of an accelerator that a job may take. PURE."""

from __future__ import annotations

from pricing.market.accelerators import Accelerator

ECC_SHARE = 15 / 16
"""Share of GDDR memory that error correction leaves: an L4 of 24 GB reports 22.5 GiB, an A10G 22.5,
a T4 15.0, an L40S 45.0 (NVIDIA data sheets and nvidia-smi on cloud machines, 2019-2024)."""
FIRMWARE_SHARE = 0.985
"""Share left elsewhere: an A100 80 GB reports 79.3 GiB, an H100 79.6, an H200 140.4, an RTX 4090
24.0 of which 23.6 can be taken (nvidia-smi and PyTorch device properties, 2023)."""
CONTEXT_GIB = 0.5
"""GiB that the CUDA context, cuBLAS workspaces and NCCL take beside the allocator (PyTorch
documentation, CUDA semantics, 2024)."""
HBM_CARDS = ("a100", "a30", "h100", "h200", "v100", "p100", "mi2", "titan-v")
"""PCIe cards with stacked memory (vendors' data sheets, 2016-2024)."""


def usable_gib(one: Accelerator) -> float:
    """GiB that a training may take of one card, the context not counted."""
    share = ECC_SHARE if has_inline_ecc(one) else FIRMWARE_SHARE
    return max(0.0, one.memory_gib * share - CONTEXT_GIB)


def has_inline_ecc(one: Accelerator) -> bool:
    """Whether error correction takes its bits out of the memory: GDDR cards of the data centre."""
    if one.accelerator_class != "data_center" or one.form != "pcie" or one.vendor != "NVIDIA":
        return False
    return not any(name in one.slug for name in HBM_CARDS)
