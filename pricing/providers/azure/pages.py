"""The pages of one question to the public Retail Prices API.

Every page names the next one (`NextPageLink`, with port and host of its own). Only the
server that was configured is ever asked: a link back to prices.azure.com, as behind a mirror,
is followed on the mirror, and a link elsewhere ends the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from pricing.ingest.endpoints import redact_url, same_origin
from pricing.ingest.http import BadRequest, ProviderHttpClient
from pricing.ingest.provider import ProviderUnavailable, RunStopped
from pricing.ingest.retries import RetryableError

PUBLIC_URL = "https://prices.azure.com"
PATH = "/api/retail/prices"
API_VERSION = "2023-01-01-preview"
"""The first version whose rows hold savings plans. Filter values mind capitals since then."""

_NOT_IN_REGION_NAME = re.compile(r"[^a-z0-9]")


class EmptyPriceList(ProviderUnavailable):
    """The question is not understood, or finds nothing."""


def read_pages(
    http: ProviderHttpClient, folder: str, regions: Sequence[str], *, n_series_only: bool
) -> Iterator[Any]:
    """The pages of `regions`, or of all where none is named, recorded in `folder`.

    `n_series_only` leaves the choice of N-series machines to the server; not every one can.
    """
    first = _first_page(http, folder, _query(regions, n_series_only=n_series_only))
    if first is None:
        where = f" of {', '.join(regions)}" if regions else ""
        raise EmptyPriceList(
            http.provider,
            f"the price list{where} is empty",
            "Check the spelling of the regions (such as westus3) and AZURE_RETAIL_PRICES_URL.",
        )
    yield from _iterate_pages(http, folder, first)


def page_name(folder: str, number: int) -> str:
    """Under which a page is recorded."""
    return f"{folder}/{number:04}.json"


def _query(regions: Sequence[str], *, n_series_only: bool) -> dict[str, str | int]:
    conditions = ["serviceName eq 'Virtual Machines'"]
    if n_series_only:
        conditions.append("contains(armSkuName, 'Standard_N')")
    if regions:
        region_conditions = [
            f"armRegionName eq '{re.sub(_NOT_IN_REGION_NAME, '', name)}'" for name in regions
        ]
        conditions.append(
            region_conditions[0]
            if len(region_conditions) == 1
            else f"({' or '.join(region_conditions)})"
        )
    return {"api-version": API_VERSION, "$filter": " and ".join(conditions)}


def _first_page(http: ProviderHttpClient, folder: str, query: Mapping[str, str | int]) -> Any:
    """The first page, or None if the question is not understood or finds nothing."""
    try:
        page = http.get_json(
            page_name(folder, 1), _base_url(http), params=query, check=_check_complete
        )
    except BadRequest:
        return None
    return page if page["Items"] else None


def _iterate_pages(http: ProviderHttpClient, folder: str, page: Any) -> Iterator[Any]:
    """`page` and all that come after it."""
    visited_links: set[str] = set()
    number, full_page_rows = 1, len(page["Items"])
    while True:
        yield page
        link = page.get("NextPageLink")
        if not link:
            return
        if link in visited_links:
            raise ProviderUnavailable(
                http.provider,
                f"the price list repeats itself after {number} pages",
                "Try again later; the list may have changed while it was read.",
            )
        visited_links.add(link)
        number += 1
        name = page_name(folder, number)
        try:
            page = http.get_json(name, _resolve_next_link(http, link), check=_check_not_empty)
        except BadRequest:
            if len(page["Items"]) >= full_page_rows:
                raise
            # Past the end the API answers 400, and the last page was a short one.
            http.record_page(name, b'{"Items": []}')
            return


def _resolve_next_link(http: ProviderHttpClient, link: str) -> str:
    """Where the next page is asked for: always at the configured server."""
    base = _base_url(http)
    if not (same_origin(base, link) or same_origin(PUBLIC_URL, link)):
        raise RunStopped(
            http.provider,
            f"the next page of prices is at {redact_url(link)}, on another server",
            "It was not followed. Check AZURE_RETAIL_PRICES_URL and the mirror behind it.",
        )
    return f"{base}?{urlsplit(link).query}"


def _base_url(http: ProviderHttpClient) -> str:
    url = http.endpoint("AZURE_RETAIL_PRICES_URL", PUBLIC_URL).url
    return url if url.lower().endswith(PATH) else f"{url}{PATH}"


def _check_complete(page: Any) -> None:
    """A page that says that it holds more rows than came with it is asked for again."""
    if not isinstance(page, dict) or not isinstance(page.get("Items"), list):
        raise RetryableError("the answer has no Items")
    if not all(isinstance(row, dict) for row in page["Items"]):
        raise RetryableError("the answer's Items are not rows")
    count = page.get("Count")
    if isinstance(count, int) and count > len(page["Items"]):
        raise RetryableError(f"{len(page['Items'])} of {count} rows received")


def _check_not_empty(page: Any) -> None:
    """A page that another one announced is not empty."""
    _check_complete(page)
    if not page["Items"]:
        raise RetryableError("an empty page in the middle of the price list")
