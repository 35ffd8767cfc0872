"""The pages of the public Retail Prices API.

Every page names the next one (`NextPageLink`, with port and host of its own). Only the
server that was configured is ever asked: a link back to prices.azure.com, as behind a mirror,
is followed on the mirror, and a link elsewhere ends the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from pricing.ingest.endpoints import same_origin, shown
from pricing.ingest.http import BadRequest, Pages
from pricing.ingest.provider import ProviderUnavailable
from pricing.ingest.retries import RetryableError
from pricing.providers.azure.price_rows import region_name

PUBLIC_URL = "https://prices.azure.com"
PATH = "/api/retail/prices"
API_VERSION = "2023-01-01-preview"
"""The first version whose rows hold savings plans. Filter values mind capitals since then."""

_NOT_IN_NAMES = re.compile(r"[^a-z0-9]")


def price_rows(pages: Pages) -> Iterator[Mapping[str, Any]]:
    """Every row of the price list that may be of an accelerator machine."""
    regions = [region_name(region) for region in pages.context.regions]
    first = _first_page(pages, _query(regions, narrow=True))
    if first is None:
        first = _first_page(pages, _query(regions, narrow=False))
    if first is None:
        where = f" of {', '.join(regions)}" if regions else ""
        raise ProviderUnavailable(
            pages.provider,
            f"the price list{where} is empty",
            "Check the spelling of the regions (such as westus3) and AZURE_RETAIL_PRICES_URL.",
        )
    read = 0
    for page in _following(pages, first):
        read += len(page["Items"])
        pages.context.progress("prices", read, None)
        yield from page["Items"]


def _query(regions: Sequence[str], *, narrow: bool) -> dict[str, str | int]:
    """`narrow` leaves the choice of N-series machines to the server; not every one can."""
    wanted = ["serviceName eq 'Virtual Machines'"]
    if narrow:
        wanted.append("contains(armSkuName, 'Standard_N')")
    if regions:
        each = [f"armRegionName eq '{re.sub(_NOT_IN_NAMES, '', name)}'" for name in regions]
        wanted.append(each[0] if len(each) == 1 else f"({' or '.join(each)})")
    return {"api-version": API_VERSION, "$filter": " and ".join(wanted)}


def _first_page(pages: Pages, query: Mapping[str, str | int]) -> Any:
    """The first page, or None if the question is not understood or finds nothing."""
    try:
        page = pages.get_json(_name(1), _base(pages), params=query, check=_check_whole)
    except BadRequest:
        return None
    return page if page["Items"] else None


def _following(pages: Pages, page: Any) -> Iterator[Any]:
    """`page` and all that come after it."""
    seen: set[str] = set()
    number, full = 1, len(page["Items"])
    while True:
        yield page
        link = page.get("NextPageLink")
        if not link:
            return
        if link in seen:
            raise ProviderUnavailable(
                pages.provider,
                f"the price list leads in a circle after {number} pages",
                "Try again later; the list may have changed while it was read.",
            )
        seen.add(link)
        number += 1
        try:
            page = pages.get_json(_name(number), _followed(pages, link), check=_check_further)
        except BadRequest:
            if len(page["Items"]) >= full:
                raise
            # Past the end the API answers 400, and the last page was a short one.
            pages.keep(_name(number), b'{"Items": []}')
            return


def _followed(pages: Pages, link: str) -> str:
    """Where the next page is asked for: always at the configured server."""
    base = _base(pages)
    if not (same_origin(base, link) or same_origin(PUBLIC_URL, link)):
        raise ProviderUnavailable(
            pages.provider,
            f"the next page of prices is said to be at {shown(link)}, on another server",
            "It was not followed. Check AZURE_RETAIL_PRICES_URL and the mirror behind it.",
        )
    return f"{base}?{urlsplit(link).query}"


def _base(pages: Pages) -> str:
    url = pages.endpoint("AZURE_RETAIL_PRICES_URL", PUBLIC_URL).url
    return url if url.lower().endswith(PATH) else f"{url}{PATH}"


def _name(number: int) -> str:
    return f"prices/{number:04}.json"


def _check_whole(page: Any) -> None:
    """A page that says that it holds more rows than came with it is asked for again."""
    if not isinstance(page, dict) or not isinstance(page.get("Items"), list):
        raise RetryableError("the answer has no Items")
    if not all(isinstance(row, dict) for row in page["Items"]):
        raise RetryableError("the answer's Items are not rows")
    count = page.get("Count")
    if isinstance(count, int) and count > len(page["Items"]):
        raise RetryableError(f"{len(page['Items'])} of {count} rows came")


def _check_further(page: Any) -> None:
    """A page that another one announced is not empty."""
    _check_whole(page)
    if not page["Items"]:
        raise RetryableError("an empty page in the middle of the price list")
