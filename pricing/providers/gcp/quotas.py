"""What a project may run of each accelerator: the GPU quotas of its regions.

Compute Engine counts accelerators, so a limit needs no conversion. Quotas of spot (PREEMPTIBLE_…)
and of commitments (COMMITTED_…) are others and left out, as is what runs already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pricing.ingest.http import ProviderHttpClient
from pricing.ingest.provider import FetchContext, ProviderUnavailable
from pricing.providers.gcp import client

Quota = dict[str, Any]

METRICS = {
    "NVIDIA_K80_GPUS": "nvidia-k80",
    "NVIDIA_P4_GPUS": "nvidia-p4",
    "NVIDIA_P100_GPUS": "nvidia-p100-16gb-pcie",
    "NVIDIA_V100_GPUS": "nvidia-v100-16gb-sxm",
    "NVIDIA_T4_GPUS": "nvidia-t4",
    "NVIDIA_L4_GPUS": "nvidia-l4",
    "NVIDIA_A100_GPUS": "nvidia-a100-40gb-sxm",
    "NVIDIA_A100_80GB_GPUS": "nvidia-a100-80gb-sxm",
    "NVIDIA_H100_GPUS": "nvidia-h100-80gb-sxm",
    "NVIDIA_H100_MEGA_GPUS": "nvidia-h100-80gb-sxm",
    "NVIDIA_H200_GPUS": "nvidia-h200-141gb-sxm",
    "NVIDIA_B200_GPUS": "nvidia-b200",
    "NVIDIA_GB200_GPUS": "nvidia-gb200",
    "NVIDIA_RTX_PRO_6000_GPUS": "nvidia-rtx-pro-6000-blackwell-server",
}
"""Metric of a region's quota → accelerator. H100 and H100 Mega are one device, in two metrics."""


def fetch_quotas(context: FetchContext) -> list[Quota]:
    """Rows for `constraints.quotas`: provider, region, accelerator, max_accelerators."""
    with ProviderHttpClient("gcp", context) as http:
        if not client.project(http) and context.replay is None:
            raise ProviderUnavailable(
                "gcp",
                "quotas belong to a project and none is configured",
                "Set GCP_PROJECT and sign in with `gcloud auth application-default login`.",
            )
        rows = [row for row in client.regions(http) if _is_wanted(row, context)]
    quotas = [quota for row in rows for quota in convert_region(row)]
    return sorted(quotas, key=lambda quota: (quota["region"], quota["accelerator"]))


def convert_region(row: Mapping[str, Any]) -> Iterator[Quota]:
    """Quotas of one region."""
    limits: dict[str, int] = defaultdict(int)
    for metric, limit in _parse_limits(row.get("quotas") or ()):
        if metric in METRICS:
            limits[METRICS[metric]] += limit
    for accelerator, limit in limits.items():
        yield {
            "provider": "gcp",
            "region": str(row.get("name") or ""),
            "accelerator": accelerator,
            "max_accelerators": limit,
        }


def _parse_limits(quotas: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
    for quota in quotas:
        yield str(quota.get("metric") or ""), int(float(quota.get("limit") or 0))


def _is_wanted(row: Mapping[str, Any], context: FetchContext) -> bool:
    return not context.regions or row.get("name") in context.regions
