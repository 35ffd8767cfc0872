"""Which accelerators may do a work, and what speaks for and against each. PURE."""

from __future__ import annotations

from collections.abc import Sequence

from planner.sizing.footprint.parallelism import fast_domain
from pricing.market.accelerators import Accelerator, all_accelerators, resolve

INFERENCE_ONLY = ("aws-inferentia", "aws-inferentia2", "qualcomm-ai100", "nvidia-p4")
"""Sold for inference: AWS Inferentia (AWS Neuron documentation, 2024), Cloud AI 100 (Qualcomm
product brief, 2020), P4 (NVIDIA Tesla P4 datasheet, 2016)."""
SLOW_LINK_LIMIT = 64
"""Accelerators joined by PCIe alone over which sharding one model is still taken as practical;
planning value of this project, 2026 (no published run went further)."""
PREFERRED = ("nvidia-a100-80gb-sxm", "nvidia-h100-80gb-sxm")
"""Reference accelerators where the work names none: most published runs used them."""
GEFORCE_LICENCE = (
    "GeForce and TITAN drivers may not be deployed in a data centre (NVIDIA GeForce software "
    "licence, section 2.1.3, 2021): for desks and labs only"
)
SOFTWARE = {
    "NVIDIA": "CUDA",
    "AMD": "ROCm; kernels written for CUDA must be ported (HIP)",
    "Google": "XLA through JAX or PyTorch/XLA; CUDA kernels do not run",
    "AWS": "AWS Neuron SDK (XLA); CUDA kernels do not run",
    "Intel": "Intel Gaudi software (SynapseAI); CUDA kernels do not run",
    "Qualcomm": "Qualcomm Cloud AI SDK; CUDA kernels do not run",
}
"""Software that each vendor's accelerators need (vendors' documentation, 2025)."""


def list_accelerators(names: Sequence[str] | None) -> tuple[Accelerator, ...]:
    """The accelerators named, or every known one."""
    if names is None:
        return all_accelerators()
    return tuple({one.slug: one for one in map(resolve, names)}.values())


def exclusion(one: Accelerator, least: int = 1) -> str | None:
    """Why an accelerator is never proposed for training; None where it may be.

    >>> from pricing.market.accelerators import get
    >>> exclusion(get("nvidia-k80"))
    'retired: no cloud offers it to a new plan'
    """
    if one.retired:
        return "retired: no cloud offers it to a new plan"
    if one.slug in INFERENCE_ONLY:
        return "built for inference, not for training"
    if fast_domain(one) <= 2 and least > SLOW_LINK_LIMIT:
        return (
            f"one copy needs {least:,} accelerators joined by PCIe or the network alone; more "
            f"than {SLOW_LINK_LIMIT} is not practical"
        )
    return None


def notes_on(one: Accelerator) -> tuple[str, ...]:
    """Limits of licence and needs of software that go with the choice.

    >>> from pricing.market.accelerators import get
    >>> notes_on(get("google-tpu-v5e"))[0]
    'software: XLA through JAX or PyTorch/XLA; CUDA kernels do not run'
    """
    notes = [f"software: {SOFTWARE[one.vendor]}"] if one.vendor in SOFTWARE else []
    if one.vendor == "NVIDIA" and one.accelerator_class == "consumer":
        notes.append(GEFORCE_LICENCE)
    if one.unverified:
        notes.append(f"no source was seen for its {', '.join(one.unverified)}")
    return tuple(notes)
