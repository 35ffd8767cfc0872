"""Azure on loopback: the Retail Prices API and what of Resource Manager the adapter asks."""

import json
import re
from typing import Any

from tests.pricing.servers.azure_truth import Row, price_rows, resource_skus
from tests.pricing.servers.base import FakeServer, Reply, Request

LINK_HOST = "https://prices.azure.com:443"
"""Next pages are named at this host, port and all, whatever host was asked."""
_EQUALS = re.compile(r"(\w+) eq '([^']*)'")
_CONTAINS = re.compile(r"contains\((\w+), ?'([^']*)'\)")
_JSON = {"Content-Type": "application/json; charset=utf-8"}


class AzureServer(FakeServer):
    """`rows` and `skus` are what it sells; `understands_contains` whether it can be asked so,
    `always_links` whether the last page names a next one, which there is not."""

    def __init__(
        self, rows: list[Row] | None = None, page_size: int = 10, link_host: str = LINK_HOST
    ) -> None:
        super().__init__()
        self.rows = price_rows() if rows is None else rows
        self.skus = resource_skus()
        self.page_size = page_size
        self.link_host = link_host
        self.understands_contains = True
        self.always_links = False

    @property
    def settings(self) -> dict[str, str]:
        return {"AZURE_RETAIL_PRICES_URL": self.url}

    @property
    def settings_with_subscription(self) -> dict[str, str]:
        return self.settings | {
            "AZURE_RESOURCE_MANAGER_URL": self.url,
            "AZURE_SUBSCRIPTION_ID": "00000000-1111-2222-3333-444444444444",
        }

    def answer(self, request: Request) -> Reply:
        if request.path == "/api/retail/prices":
            return self._prices(request)
        if re.fullmatch(r"/subscriptions/[^/]+/providers/Microsoft.Compute/skus", request.path):
            return self._skus(request)
        return _reply({"error": {"code": "NotFound", "message": "no such path"}}, 404)

    def _prices(self, request: Request) -> Reply:
        wanted = request.query.get("$filter", [""])[0]
        if "|" in wanted or ("contains(" in wanted and not self.understands_contains):
            return _reply({"Error": {"Code": "BadRequest", "Message": "Invalid OData"}}, 400)
        version = request.query.get("api-version", [""])[0]
        rows = [_shown(row, version) for row in self.rows if _matches(row, wanted)]
        start = int(request.query.get("$skip", ["0"])[0])
        if start and start >= len(rows):
            return _reply({"Error": {"Code": "BadRequest", "Message": "past the end"}}, 400)
        page = rows[start : start + self.page_size]
        end = start + len(page)
        last = end + 1 if self.always_links else len(rows)
        return _reply(
            {
                "BillingCurrency": "USD",
                "CustomerEntityId": "Default",
                "CustomerEntityType": "Retail",
                "Items": page,
                "NextPageLink": self._link(request, end) if end < last else None,
                "Count": len(page),
            }
        )

    def _link(self, request: Request, skip: int) -> str:
        query = "&".join(
            f"{name}={values[0]}" for name, values in request.query.items() if name != "$skip"
        )
        return f"{self.link_host}/api/retail/prices?{query}&$skip={skip}".replace(" ", "%20")

    def _skus(self, request: Request) -> Reply:
        place = re.search(r"location eq '([^']*)'", request.query.get("$filter", [""])[0])
        skus = [
            sku
            for sku in self.skus
            if not place or place[1].lower() in [name.lower() for name in sku["locations"]]
        ]
        start = int(request.query.get("$skiptoken", ["0"])[0])
        page: dict[str, Any] = {"value": skus[start : start + self.page_size]}
        if start + self.page_size < len(skus):
            page["nextLink"] = f"{self.url}{request.path}?$skiptoken={start + self.page_size}"
        return _reply(page)


def _matches(row: Row, wanted: str) -> bool:
    """Values mind capitals; what joins them is `and`, and `or` within one field."""
    equal: dict[str, set[str]] = {}
    for name, value in _EQUALS.findall(wanted):
        equal.setdefault(name, set()).add(value)
    holds = [(name, value) for name, value in _CONTAINS.findall(wanted)]
    return all(row.get(name) in values for name, values in equal.items()) and all(
        value in str(row.get(name, "")) for name, value in holds
    )


def _shown(row: Row, version: str) -> Row:
    """Savings plans are told to those alone who ask for the version that has them."""
    if version == "2023-01-01-preview":
        return row
    return {name: value for name, value in row.items() if name != "savingsPlan"}


def _reply(document: Any, status: int = 200) -> Reply:
    return Reply(json.dumps(document).encode(), status, dict(_JSON))
