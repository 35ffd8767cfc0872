"""Google Cloud on loopback: the billing catalog and what of Compute Engine the adapter asks."""

import json
import re
from typing import Any

from tests.pricing.servers.base import FakeServer, Reply, Request
from tests.pricing.servers.gcp_skus import CLOUD_TPU, COMPUTE_ENGINE, Sku, skus
from tests.pricing.servers.gcp_truth import MACHINES, OFFERED

Row = dict[str, Any]
_JSON = {"Content-Type": "application/json; charset=UTF-8"}
_AGGREGATED = re.compile(r"/compute/v1/projects/[^/]+/aggregated/(machineTypes|acceleratorTypes)$")
_API_NAMES = {
    "nvidia-a100-40gb-sxm": "nvidia-tesla-a100",
    "nvidia-a100-80gb-sxm": "nvidia-a100-80gb",
    "nvidia-h100-80gb-sxm": "nvidia-h100-80gb",
    "nvidia-h200-141gb-sxm": "nvidia-h200-141gb",
    "nvidia-b200": "nvidia-b200",
    "nvidia-l4": "nvidia-l4",
    "nvidia-rtx-pro-6000-blackwell-server": "nvidia-rtx-pro-6000",
}


class GcpServer(FakeServer):
    """`skus`, `machine_types` and `accelerator_types` are what it tells, by service and zone."""

    def __init__(self, page_size: int = 17) -> None:
        super().__init__()
        self.skus: dict[str, list[Sku]] = {
            service: skus(service) for service in (COMPUTE_ENGINE, CLOUD_TPU)
        }
        self.scoped = {"machineTypes": machine_types(), "acceleratorTypes": accelerator_types()}
        self.regions: list[Row] = []
        self.page_size = page_size

    @property
    def settings(self) -> dict[str, str]:
        return {"GCP_BILLING_URL": self.url}

    @property
    def settings_with_project(self) -> dict[str, str]:
        return self.settings | {"GCP_COMPUTE_URL": self.url, "GCP_PROJECT": "research-1"}

    def answer(self, request: Request) -> Reply:
        service = re.fullmatch(r"/v1/services/([^/]+)/skus", request.path)
        if service and service[1] in self.skus:
            return self._page(request, "skus", self.skus[service[1]])
        scoped = _AGGREGATED.match(request.path)
        if scoped and scoped[1] in self.scoped:
            return self._aggregated(request, scoped[1])
        if re.fullmatch(r"/compute/v1/projects/[^/]+/regions", request.path):
            return self._page(request, "items", self.regions)
        return reply({"error": {"code": 404, "message": "Not found.", "status": "NOT_FOUND"}}, 404)

    def _page(self, request: Request, field: str, rows: list[Any]) -> Reply:
        start = _start(request)
        end = start + self.page_size
        token = f"page-{end}" if end < len(rows) else ""
        return reply({field: rows[start:end], "nextPageToken": token})

    def _aggregated(self, request: Request, field: str) -> Reply:
        """A few zones a page; a zone without rows holds a warning in their place."""
        zones = sorted(self.scoped[field].items())
        start = _start(request)
        end = start + 2
        items = {zone: {field: rows} if rows else _nothing(zone) for zone, rows in zones[start:end]}
        page: Row = {"kind": "list", "id": "projects/x", "items": items}
        if end < len(zones):
            page["nextPageToken"] = f"page-{end}"
        return reply(page)


def machine_types() -> dict[str, list[Row]]:
    """Machine types by zone, among others, some of which are on their way out."""
    zones: dict[str, list[Row]] = {
        "zones/us-east9-a": [],
        "zones/asia-east2-a": [_plain("e2-micro")],
    }
    made = {machine.name: machine for machine in MACHINES}
    for name, regions in OFFERED.items():
        if name.startswith("nvidia-"):
            continue
        for number, region in enumerate(regions):
            row = _plain(name)
            if name in made:
                machine = made[name]
                row |= {
                    "guestCpus": machine.vcpus,
                    "memoryMb": int(machine.memory_gib * 1024),
                    "accelerators": [
                        {
                            "guestAcceleratorType": _API_NAMES[machine.accelerator],
                            "guestAcceleratorCount": max(1, int(machine.count)),
                        }
                    ],
                }
            zones.setdefault(f"zones/{region}-{'ab'[number % 2]}", []).append(row)
    gone = _plain("a2-highgpu-4g") | {"deprecated": {"state": "OBSOLETE"}}
    zones["zones/us-central1-a"].append(gone)
    zones["zones/us-central1-a"].append(_plain("n1-standard-8") | {"deprecated": {}})
    return zones


def accelerator_types() -> dict[str, list[Row]]:
    zones: dict[str, list[Row]] = {"zones/us-east9-a": []}
    for region in OFFERED["nvidia-tesla-t4"]:
        zones[f"zones/{region}-c"] = [
            {"name": "nvidia-tesla-t4", "maximumCardsPerInstance": 4, "description": "NVIDIA T4"},
            {"name": "nvidia-tesla-t4-vws", "maximumCardsPerInstance": 4},
        ]
    return zones


def _plain(name: str) -> Row:
    return {
        "kind": "compute#machineType",
        "id": "1000012",
        "name": name,
        "guestCpus": 96,
        "memoryMb": 348160,
        "imageSpaceGb": 0,
        "isSharedCpu": False,
        "maximumPersistentDisksSizeGb": "263168",
        "creationTimestamp": "1969-12-31T16:00:00.000-08:00",
    }


def _nothing(zone: str) -> Row:
    message = f"There are no results for scope '{zone}' on this page."
    return {"warning": {"code": "NO_RESULTS_ON_PAGE", "message": message}}


def _start(request: Request) -> int:
    return int(request.query.get("pageToken", ["page-0"])[0].removeprefix("page-"))


def reply(document: Any, status: int = 200) -> Reply:
    return Reply(json.dumps(document).encode(), status, dict(_JSON))
