"""AWS on loopback: pricing (JSON 1.1), EC2 (query and XML), savings plans (REST JSON), service
quotas (JSON 1.1) and the public price files, all from one known market.

Answers of EC2 are written by botocore's own model of them, so that boto3 reads what AWS sends.
"""

import datetime as dt
import gzip
import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from tests.pricing.servers import aws_rows as rows
from tests.pricing.servers.aws_market import NAMES, NOW, PUBLISHED, STRANGERS, Box, Market
from tests.pricing.servers.base import FakeServer, Reply, Request

_SCOPE = re.compile(r"Credential=[^/]+/\d+/([a-z0-9-]+)/")
EC2_PAGE = 9


class FakeAws(FakeServer):
    """`FakeAws(market)`; change `market` between two fetches to move prices."""

    def __init__(self, market: Market | None = None) -> None:
        super().__init__()
        share_loader()
        self.market = market or Market()
        self.keeps_filters = True
        """False: GetProducts sends everything, whatever was asked for."""
        self.refuses: set[str] = set()
        """EC2 actions, or regions, that this account may not use."""
        self.drop: Callable[[rows.Row], bool] = lambda _row: False
        """Rows of the price list that get lost."""
        self.zone_ids = True
        self.price_page = 40
        """Rows of one page of GetProducts."""
        self._rows: list[rows.Row] = []
        self._rows_of = ""

    def answer(self, request: Request) -> Reply:
        target = request.headers.get("x-amz-target", "")
        if request.method == "GET":
            return self._file(request.path)
        if target.endswith("GetProducts"):
            return self._products(json.loads(request.body))
        if request.path.endswith("DescribeSavingsPlansOfferingRates"):
            return self._plans(json.loads(request.body))
        return self._ec2(request)

    def price_rows(self) -> list[rows.Row]:
        state = repr(self.market)
        if state != self._rows_of:
            self._rows, self._rows_of = rows.all_rows(self.market), state
        return [row for row in self._rows if not self.drop(row)]

    # The price list --------------------------------------------------------------------

    def _products(self, asked: dict[str, Any]) -> Reply:
        if "pricing" in self.refuses:
            return json_error(400, "AccessDeniedException", "not authorized: pricing:GetProducts")
        filters = asked.get("Filters", []) if self.keeps_filters else []
        found = [
            row
            for row in self.price_rows()
            if all(row["product"]["attributes"].get(f["Field"]) == f["Value"] for f in filters)
        ]
        page = int(asked.get("NextToken", "page:0").split(":")[1])
        start, end = page * self.price_page, (page + 1) * self.price_page
        part = found[start:end]
        answer: dict[str, Any] = {"FormatVersion": "aws_v1"}
        answer["PriceList"] = [json.dumps(row) for row in part]
        if len(found) > end:
            answer["NextToken"] = f"page:{page + 1}"
        return json_reply(answer)

    def _file(self, path: str) -> Reply:
        partition = "cn" if self.market.currency == "CNY" else "aws"
        parts = path.strip("/").split("/")
        if parts[:3] == ["offers", "v1.0", partition] and parts[3] == "AmazonEC2":
            return self._offers(parts, partition)
        if parts[:3] == ["savingsPlan", "v1.0", partition]:
            return self._plan_files(parts, partition)
        return Reply(b"<Error><Code>NoSuchKey</Code></Error>", 404)

    def _places(self) -> list[str]:
        return list(dict.fromkeys(region for region, _ in self.market.places()))

    def _offers(self, parts: list[str], partition: str) -> Reply:
        folder = f"/offers/v1.0/{partition}/AmazonEC2/{rows.VERSION}"
        if parts[-1] == "region_index.json":
            regions = {
                code: {"regionCode": code, "currentVersionUrl": f"{folder}/{code}/index.json"}
                for code in self._places()
            }
            published = PUBLISHED.strftime("%Y-%m-%dT%H:%M:%SZ")
            return json_reply({"publicationDate": published, "regions": regions})
        return packed(rows.offer_file(self.price_rows(), parts[-2]))

    def _plan_files(self, parts: list[str], partition: str) -> Reply:
        folder = f"/savingsPlan/v1.0/{partition}/AWSComputeSavingsPlan/{rows.VERSION}"
        if parts[-1] == "region_index.json":
            regions = [
                {"regionCode": code, "versionUrl": f"{folder}/{code}/index.json"}
                for code in self._places()
            ]
            return json_reply({"regions": regions})
        return packed(rows.plan_file(self.market, parts[-2]))

    # Savings plans ---------------------------------------------------------------------

    def _plans(self, asked: dict[str, Any]) -> Reply:
        if "savingsplans" in self.refuses:
            return json_error(403, "AccessDeniedException", "no")
        wanted = {one["name"]: one["values"] for one in asked.get("filters", [])}
        found = [
            plan_result(self.market, region, *row)
            for region in wanted.get("region", self._places())
            for row in rows.plan_rows(self.market, region)
            if row[3].name.split(".")[0] in wanted.get("instanceFamily", [row[3].name])
        ]
        start = int(asked.get("nextToken") or 0)
        end = start + min(asked.get("maxResults", 1000), 100)
        more = str(end) if end < len(found) else ""
        return json_reply({"searchResults": found[start:end], "nextToken": more})

    # EC2 -------------------------------------------------------------------------------

    def _ec2(self, request: Request) -> Reply:
        asked = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        action, region = asked["Action"], region_of(request)
        if region in self.refuses or region not in self.market.regions:
            return xml_error(401, "AuthFailure", "AWS was not able to validate the credentials")
        if action in self.refuses:
            return xml_error(403, "UnauthorizedOperation", f"You may not {action}")
        key, found = self._ec2_items(action, region, asked)
        start = int(asked.get("NextToken") or 0)
        answer: dict[str, Any] = {key: found[start : start + EC2_PAGE]}
        if len(found) > start + EC2_PAGE:
            answer["NextToken"] = str(start + EC2_PAGE)
        return Reply(ec2_xml(action, answer).encode(), headers={"Content-Type": "text/xml"})

    def _ec2_items(
        self, action: str, region: str, asked: dict[str, str]
    ) -> tuple[str, list[dict[str, Any]]]:
        sold = [box for box in (*self.market.boxes, *STRANGERS) if self.market.sold(box, region)]
        names = {value for name, value in asked.items() if name.startswith("InstanceType")}
        if action == "DescribeInstanceTypeOfferings":
            items = [
                {"InstanceType": box.name, "LocationType": "region", "Location": region}
                for box in sold
            ]
            return "InstanceTypeOfferings", items
        wanted = [box for box in sold if box.name in names or not names]
        if action == "DescribeInstanceTypes":
            return "InstanceTypes", [described(box) for box in wanted]
        if action == "DescribeCapacityBlockOfferings":
            blocks = [box for box in wanted if box.blocks]
            return "CapacityBlockOfferings", [
                block for box in blocks for block in self._block_items(box, region)
            ]
        boxes = [box for box in wanted if box.spot and box.slug]
        return "SpotPriceHistory", [item for box in boxes for item in self._spot_items(box, region)]

    def _block_items(self, box: Box, region: str) -> list[dict[str, Any]]:
        """The dearer block comes first."""
        return [
            {
                "CapacityBlockOfferingId": f"cb-{box.name}-{days}",
                "InstanceType": box.name,
                "AvailabilityZone": f"{region}a",
                "InstanceCount": 1,
                "CapacityBlockDurationHours": 24 * days,
                "UpfrontFee": str(self.market.block_fee(box, region) * fee),
                "CurrencyCode": "USD",
                "Tenancy": "default",
            }
            for days, fee in ((2, 3), (1, 1))
        ]

    def _spot_items(self, box: Box, region: str) -> list[dict[str, Any]]:
        """Per zone: the price in force, the one before the window, and the one for Windows."""
        items = []
        for name, zone_id in self.market.zones(region):
            price = self.market.spot(box, region, zone_id)
            for text, hours, level in (
                ("Linux/UNIX", 4, "0.5"),
                ("Linux/UNIX", 1, "1"),
                ("Windows", 0, "2"),
            ):
                item = {
                    "AvailabilityZone": name,
                    "InstanceType": box.name,
                    "ProductDescription": text,
                    "SpotPrice": f"{price * type(price)(level):.6f}",
                    "Timestamp": NOW - dt.timedelta(hours=hours),
                }
                items.append(item | ({"AvailabilityZoneId": zone_id} if self.zone_ids else {}))
        return items


def region_of(request: Request) -> str:
    """From the credential scope of the signature: loopback has one address for all regions."""
    found = _SCOPE.search(request.headers.get("authorization", ""))
    return found[1] if found else ""


def plan_result(
    market: Market, region: str, kind: str, months: int, payment: str, box: Box, rate: Any
) -> dict[str, Any]:
    said = {"region": region, "instanceType": box.name, "instanceFamily": box.name.split(".")[0],
            "productDescription": "Linux/UNIX", "tenancy": "shared"}  # fmt: skip
    return {
        "savingsPlanOffering": {
            "offeringId": f"{kind}-{months}-{payment}",
            "paymentOption": payment.replace("_", " ").title(),
            "planType": kind,
            "durationSeconds": months * 730 * 3600,
            "currency": market.currency,
        },
        "rate": str(rate),
        "unit": "Hrs",
        "productType": "EC2",
        "serviceCode": "AmazonEC2",
        "usageType": f"{NAMES[region][1]}BoxUsage:{box.name}",
        "operation": "RunInstances",
        "properties": [{"name": name, "value": value} for name, value in said.items()],
    }


def described(box: Box) -> dict[str, Any]:
    """A machine as DescribeInstanceTypes tells it."""
    count = int(box.count)
    device = {"Name": box.device, "Manufacturer": box.maker, "Count": count,
              "MemoryInfo": {"SizeInMiB": box.device_mib}}  # fmt: skip
    kinds: dict[str, dict[str, Any]] = {
        "gpu": {"GpuInfo": {"Gpus": [
            device | {"GpuPartitionSize": float(min(box.count, 1)),
                      "LogicalGpuCount": max(count, 1)}
        ]}},
        "neuron": {"NeuronInfo": {"NeuronDevices": [device]}},
        "inferentia": {"NeuronInfo": {"NeuronDevices": [device]},
                       "InferenceAcceleratorInfo": {"Accelerators": [device]}},
        "fpga": {"FpgaInfo": {"Fpgas": [device]}},
        "none": {},
    }  # fmt: skip
    classes = ["on-demand", "spot", *(["capacity-block"] if box.blocks else [])]
    network: dict[str, Any] = {"NetworkPerformance": "High"}
    if box.network_gbps is not None:
        card = {"BaselineBandwidthInGbps": box.network_gbps}
        network = {"NetworkPerformance": "Up to 99 Gigabit", "NetworkCards": [card]}
    return {
        "InstanceType": box.name,
        "SupportedUsageClasses": classes,
        "VCpuInfo": {"DefaultVCpus": box.vcpus},
        "MemoryInfo": {"SizeInMiB": int(box.memory_gib * 1024)},
        "NetworkInfo": network,
    } | kinds[box.kind]


@cache
def share_loader() -> Any:
    """All boto3 sessions of a process read botocore's data once: each would decode the 2 MB of EC2
    for itself."""
    from botocore import session
    from botocore.loaders import create_loader

    loader = create_loader()
    session.create_loader = lambda _search_paths: loader
    return loader


@cache
def _ec2_model() -> Any:
    from botocore.model import ServiceModel

    return ServiceModel(share_loader().load_service_model("ec2", "service-2"))


def ec2_xml(action: str, answer: dict[str, Any]) -> str:
    """`answer` as EC2 writes it, by botocore's model of the operation."""
    shape = _ec2_model().operation_model(action).output_shape
    inside = "<requestId>fake</requestId>" + _members(shape, answer)
    return f'<?xml version="1.0" encoding="UTF-8"?><{action}Response>{inside}</{action}Response>'


def _members(shape: Any, value: dict[str, Any]) -> str:
    return "".join(
        _element(member.serialization.get("name", name), member, value[name])
        for name, member in shape.members.items()
        if name in value
    )


def _element(tag: str, shape: Any, value: Any) -> str:
    if shape.type_name == "structure":
        inside = _members(shape, value)
    elif shape.type_name == "list":
        inside = "".join(_element("item", shape.member, one) for one in value)
    elif isinstance(value, dt.datetime):
        inside = value.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    elif isinstance(value, bool):
        inside = str(value).lower()
    else:
        inside = escape(str(value))
    return f"<{tag}>{inside}</{tag}>"


def json_reply(answer: dict[str, Any]) -> Reply:
    return Reply(json.dumps(answer).encode(), headers={"Content-Type": "application/json"})


def packed(document: dict[str, Any]) -> Reply:
    """A big file, compressed on the way."""
    body = gzip.compress(json.dumps(document).encode(), 1, mtime=0)
    return Reply(body, headers={"Content-Encoding": "gzip"})


def json_error(status: int, code: str, message: str) -> Reply:
    body = json.dumps({"__type": code, "message": message}).encode()
    return Reply(body, status, {"x-amzn-ErrorType": code})


def xml_error(status: int, code: str, message: str) -> Reply:
    error = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    return Reply(f"<Response><Errors>{error}</Errors></Response>".encode(), status)
