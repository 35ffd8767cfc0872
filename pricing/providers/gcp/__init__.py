"""Google Cloud: machines and TPU slices put together from the Cloud Billing Catalog.

On demand, spot, committed use of 1 and 3 years, flex-start and calendar mode. Which machine is
where comes from Compute Engine when GCP_PROJECT is set, from our own table otherwise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pricing.ingest.fetch import PART_ERRORS, explain_unread, read_part
from pricing.ingest.http import ProviderHttpClient
from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable, SkippedRow
from pricing.market.machine_types import attached_machine_types
from pricing.market.offers import Offer
from pricing.providers.gcp import client
from pricing.providers.gcp.client import Availability, read_accelerator_types, read_machine_types
from pricing.providers.gcp.offers import Composer, Rate, RateBook, read_sku


class GcpProvider:
    name = "gcp"
    title = "Google Cloud"

    def fetch(self, context: FetchContext) -> Iterator[Offer | SkippedRow | NotRead]:
        with ProviderHttpClient(self.name, context) as http:
            rows = list(_read_rates(http))
            yield from (one for one in rows if isinstance(one, (SkippedRow, NotRead)))
            rates = [one for one in rows if not isinstance(one, (SkippedRow, NotRead))]
            self._check_regions(context, {rate.region for rate in rates})
            day = context.retrieved_at.date()
            for part in _read_availability(http):
                if isinstance(part, Availability):
                    yield from Composer(RateBook(rates), part, day, context.regions).offers()
                else:
                    yield part

    def fetch_quotas(self, context: FetchContext) -> list[dict[str, Any]]:
        """What the project may run, as rows of `constraints.quotas`."""
        return fetch_quotas(context)

    def _check_regions(self, context: FetchContext, priced_regions: set[str]) -> None:
        if context.regions and not priced_regions.intersection(context.regions):
            raise ProviderUnavailable(
                self.name,
                f"there are no prices for region {', '.join(context.regions)}",
                "Check the spelling; Google's regions are named like us-central1, europe-west4.",
            )


def _read_rates(http: ProviderHttpClient) -> Iterator[Rate | SkippedRow | NotRead]:
    for sku in client.skus(http, client.COMPUTE_ENGINE):
        yield from read_sku(sku)
    slices = NotRead("Cloud TPU", instance_types=client.slices_of_cloud_tpu())
    yield from read_part(
        slices,
        lambda: [row for sku in client.skus(http, client.CLOUD_TPU) for row in read_sku(sku)],
    )


def _read_availability(http: ProviderHttpClient) -> Iterator[Availability | NotRead]:
    """The market, after a word on what of it could not be read: there our table says what
    machines there are, and what is sold where stays as it is published."""
    if not client.reads_compute_engine(http):
        yield Availability()
        return
    try:
        machine_types = read_machine_types(client.list_machine_types(http))
    except PART_ERRORS as error:
        unread = explain_unread(NotRead("machine types"), error)
        # A machine newer than our table has no offer now, and keeps the published one.
        yield from (unread, replace(unread, availability_only=True))
        yield Availability()
        return
    try:
        yield Availability(
            machine_types, *read_accelerator_types(client.list_accelerator_types(http))
        )
    except PART_ERRORS as error:
        hosts = tuple(one.instance_type for one in attached_machine_types())
        unread = explain_unread(NotRead("accelerator types", instance_types=hosts), error)
        yield from (unread, replace(unread, availability_only=True))
        yield Availability(machine_types)


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
        rows = [
            row
            for row in client.regions(http)
            if (not context.regions or row.get("name") in context.regions)
        ]
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


provider = GcpProvider()
