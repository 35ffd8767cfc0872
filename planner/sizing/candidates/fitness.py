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
CONSUMER = {
    "error_correction": "memory without error correction as delivered",
    "cooling": "cooled by its own fans for a desk, not for a rack",
}
"""What sets consumer cards apart from those of a data centre (NVIDIA GeForce and data-centre
product pages, 2025)."""
PORTING = {
    "Google": "TPU (ASIC): worth porting to JAX or PyTorch/XLA for long runs of dense matrix work",
    "AWS": "Trainium or Inferentia (ASIC): worth compiling with Neuron for long or repeated runs",
    "Intel": "Gaudi (ASIC): runs PyTorch through its own bridge; kernels for CUDA are ported",
}
CURRENT, RETIRED, SERVES_ONLY = "current", "retired", "inference_only"
"""Standing of an accelerator."""
BUILT_TO_SERVE = "built for inference, not for training"
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


def market_status_of(one: Accelerator) -> str:
    """Whether an accelerator is retired, sold for inference only, or current.

    >>> from pricing.market.accelerators import get
    >>> market_status_of(get("nvidia-k80")), market_status_of(get("aws-inferentia2"))
    ('retired', 'inference_only')
    """
    if one.retired:
        return RETIRED
    return SERVES_ONLY if one.slug in INFERENCE_ONLY else CURRENT


def restrictions_on(one: Accelerator) -> dict[str, str]:
    """What to mind with an accelerator, by what it is about.

    >>> from pricing.market.accelerators import get
    >>> list(restrictions_on(get("nvidia-rtx-4090"))), list(restrictions_on(get("google-tpu-v5e")))
    (['software', 'error_correction', 'cooling', 'licence'], ['software', 'porting'])
    """
    restrictions = {}
    if one.vendor in SOFTWARE:
        restrictions["software"] = SOFTWARE[one.vendor]
    if one.accelerator_class == "consumer":
        restrictions |= CONSUMER
    if one.vendor == "NVIDIA" and one.accelerator_class == "consumer":
        restrictions["licence"] = GEFORCE_LICENCE
    if one.vendor in PORTING and market_status_of(one) != RETIRED:
        restrictions["porting"] = PORTING[one.vendor]
    return restrictions


def exclusion(one: Accelerator, least: int = 1) -> str | None:
    """Why an accelerator is never proposed for training; None where it may be.

    >>> from pricing.market.accelerators import get
    >>> exclusion(get("nvidia-k80"))
    'retired: no cloud offers it to a new plan'
    """
    market_status = market_status_of(one)
    if market_status == RETIRED:
        return "retired: no cloud offers it to a new plan"
    if market_status == SERVES_ONLY:
        return BUILT_TO_SERVE
    if fast_domain(one) <= 2 and least > SLOW_LINK_LIMIT:
        return (
            f"one copy needs {least:,} accelerators joined by PCIe or the network alone; more "
            f"than {SLOW_LINK_LIMIT} is not practical"
        )
    return None


_WORDS = {
    "memory_gib": "memory",
    "memory_bandwidth_gb_per_s": "memory bandwidth",
    "interconnect_gb_per_s": "bandwidth to other accelerators",
    "interconnect": "link to other accelerators",
    "tdp_w": "power",
}
"""Figures of a sheet by the words for them; rates go by their precision."""


def _in_words(name: str) -> str:
    """A figure of a sheet as people call it.

    >>> _in_words("tf32_tflops"), _in_words("tdp_w"), _in_words("year")
    ('TF32 rate', 'power', 'year')
    """
    if name.endswith("_tflops"):
        return f"{name.removesuffix('_tflops').upper()} rate"
    return _WORDS.get(name, name)


def notes_on(one: Accelerator) -> tuple[str, ...]:
    """Limits of licence and needs of software that go with the choice.

    >>> from pricing.market.accelerators import get
    >>> notes_on(get("google-tpu-v5e"))[0]
    'software: XLA through JAX or PyTorch/XLA; CUDA kernels do not run'
    """
    restrictions = restrictions_on(one)
    notes = [f"software: {restrictions['software']}"] if "software" in restrictions else []
    if "licence" in restrictions:
        notes.append(restrictions["licence"])
    if market_status_of(one) == SERVES_ONLY:
        notes.append(BUILT_TO_SERVE)
    if one.unverified:
        notes.append(f"no source was found for its {', '.join(map(_in_words, one.unverified))}")
    return tuple(notes)
