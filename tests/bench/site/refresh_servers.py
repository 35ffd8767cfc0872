"""Three fake clouds as large as the real ones: `python -m tests.bench.site.refresh_servers DELAY`.

Prints their addresses as JSON and serves until it is ended. Each call of AWS takes DELAY s.
"""

import copy
import json
import sys
import time
from unittest import mock

from tests.pricing.servers import aws as aws_server
from tests.pricing.servers import aws_market
from tests.pricing.servers.azure import AzureServer
from tests.pricing.servers.base import Reply, Request
from tests.pricing.servers.gcp import GcpServer
from tests.pricing.servers.gcp_skus import COMPUTE_ENGINE

REGIONS = (
    *("us-east-2", "us-west-1", "af-south-1", "ap-east-1", "ap-south-1", "ap-south-2"),
    *("ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5"),
    *("ap-northeast-2", "ap-northeast-3", "ca-central-1", "ca-west-1", "eu-central-1"),
    *("eu-central-2", "eu-west-2", "eu-west-3", "eu-north-1", "eu-south-1", "eu-south-2"),
    *("il-central-1", "me-central-1", "me-south-1", "mx-central-1", "sa-east-1"),
    *("us-gov-east-1", "us-gov-west-1"),
)
"""Beside the four of the fake's own market."""
PAGE_ROWS = 100
AZURE_COPIES, AZURE_PAGE = 12, 1_000
OTHER_SKUS, GCP_PAGE = 31_000, 5_000
"""Rows of the billing catalog that price no accelerator, about as many as Google's holds."""


class SlowAws(aws_server.FakeAws):
    def __init__(self, delay_s: float) -> None:
        super().__init__(aws_market.Market())
        self.price_page = PAGE_ROWS
        self.delay_s = delay_s

    def answer(self, request: Request) -> Reply:
        time.sleep(self.delay_s)
        return super().answer(request)


def widen_aws() -> None:
    """All regions in which AWS sells accelerators."""
    for number, code in enumerate(REGIONS):
        aws_market.REGIONS[code] = "1.1"
        aws_market.NAMES[code] = (f"Place of {code}", f"X{number:02}-", f"x{number:02}")


def azure() -> AzureServer:
    server = AzureServer(page_size=AZURE_PAGE)
    first, server.rows = server.rows, []
    for number in range(AZURE_COPIES):
        for row in copy.deepcopy(first):
            if number and row.get("armRegionName"):
                row["armRegionName"] += str(number)
            server.rows.append(row)
    return server


def gcp() -> GcpServer:
    server = GcpServer(page_size=GCP_PAGE)
    pattern = server.skus[COMPUTE_ENGINE][0]
    for number in range(OTHER_SKUS):
        row = copy.deepcopy(pattern)
        row["skuId"], row["description"] = f"F{number:06}", f"Network Egress from place {number}"
        row["category"]["resourceFamily"] = "Network"
        server.skus[COMPUTE_ENGINE].append(row)
    return server


def main() -> None:
    widen_aws()
    with (
        mock.patch.object(aws_server, "EC2_PAGE", PAGE_ROWS),
        SlowAws(float(sys.argv[1])) as one,
        azure() as two,
        gcp() as three,
    ):
        print(json.dumps({"aws": one.url, "azure": two.url, "gcp": three.url}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
