"""The price list of Azure.

It is read as a whole. Where that fails on the way, the regions that are known or were seen are
read one by one, and each that fails too is told as not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pricing.ingest.fetch import PART_ERRORS, explain_unread, map_side_by_side
from pricing.ingest.http import (
    BadRequest,
    ProviderHttpClient,
    RetryableError,
    redact_url,
    same_origin,
)
from pricing.ingest.provider import NotRead, ProviderUnavailable, RunStopped
from pricing.providers.azure.price_rows import region_name

REGIONS_AT_ONCE = 4
TRIED_REGIONS = 3
"""Where none of the first so many regions answers, the whole list is taken as unavailable."""
_NEW_REGIONS = "regions opened lately"
"""In place of a region's name: nobody knows it, and nothing of it is published."""
N_SERIES = " and contains(armSkuName, 'Standard_N')"
_RETRY_HINT = "The last published prices stay in force; try again later."

T = TypeVar("T")
ReadRow = Callable[[Mapping[str, Any]], Iterable[T]]


def read_prices(http: ProviderHttpClient, read_row: ReadRow[T]) -> Iterator[T | NotRead]:
    """What `read_row` makes of every row that may be of an accelerator machine."""
    wanted = list(dict.fromkeys(region_name(region) for region in http.context.regions))
    prices: list[T] = []
    seen: set[str] = set()
    failure = _read(http, "prices", wanted, read_row, prices, seen)
    if failure is None:
        yield from prices
    elif len(wanted) == 1:
        raise failure
    else:
        known = {region_name(region) for region in http.context.known_regions}
        regions = sorted((seen | known if not wanted else set(wanted)) - {""})
        yield from _read_regions(http, regions, failure, read_row)


def _read(
    http: ProviderHttpClient,
    folder: str,
    regions: Sequence[str],
    read_row: ReadRow[T],
    prices: list[T],
    seen: set[str],
    condition: str = N_SERIES,
) -> ProviderUnavailable | None:
    """Adds to `prices` and the regions `seen`; gives why the walk through the pages ended before
    the last. `RunStopped` passes through. Not every server can choose the N-series machines."""
    try:
        for page in read_pages(http, folder, regions, condition):
            for row in page["Items"]:
                region = region_name(str(row.get("armRegionName") or ""))
                if not regions or region in regions:
                    seen.add(region)
                    prices.extend(read_row(row))
    except RunStopped:
        raise
    except EmptyPriceList as error:
        return _read(http, folder, regions, read_row, prices, seen, "") if condition else error
    except ProviderUnavailable as error:
        return error
    except PART_ERRORS as error:
        what = f"a row of the price list is not understood ({type(error).__name__}: {error})"
        return ProviderUnavailable(http.provider, what, _RETRY_HINT)
    return None


def _read_regions(
    http: ProviderHttpClient,
    regions: Sequence[str],
    of_whole: ProviderUnavailable,
    read_row: ReadRow[T],
) -> Iterator[T | NotRead]:
    def read(region: str) -> list[T] | ProviderUnavailable:
        prices: list[T] = []
        return _read(http, f"prices/{region}", [region], read_row, prices, set()) or prices

    failures: dict[str, ProviderUnavailable] = {}
    answers = map_side_by_side(read, regions, REGIONS_AT_ONCE)
    for number, (region, prices) in enumerate(zip(regions, answers, strict=True), 1):
        http.context.progress("regions", number, len(regions))
        if isinstance(prices, ProviderUnavailable):
            failures[region] = prices
            if number == len(failures) == min(TRIED_REGIONS, len(regions)):
                raise of_whole
        else:
            yield from prices
    if not regions:
        raise of_whole
    unread = {region: NotRead(f"prices in {region}", regions=(region,)) for region in failures}
    yield from (explain_unread(part, failures[region]) for region, part in unread.items())
    part = NotRead("the list of all regions", regions=(_NEW_REGIONS,))
    yield explain_unread(part, of_whole)


PUBLIC_URL = "https://prices.azure.com"
PATH = "/api/retail/prices"
API_VERSION = "2023-01-01-preview"
"""The first version whose rows hold savings plans. Filter values mind capitals since then."""

_NOT_IN_REGION_NAME = re.compile(r"[^a-z0-9]")


class EmptyPriceList(ProviderUnavailable):
    """The question is not understood, or finds nothing."""


def read_pages(
    http: ProviderHttpClient, folder: str, regions: Sequence[str], condition: str = N_SERIES
) -> Iterator[Any]:
    """The pages of `regions`, or of all where none is named; errors name `folder`."""
    sizes: list[int] = []

    def check(page: Any) -> None:
        _check_complete(page)
        if sizes and not page["Items"]:
            raise RetryableError("an empty page in the middle of the price list")

    base = http.endpoint("AZURE_RETAIL_PRICES_URL", PUBLIC_URL).url
    base = base if base.lower().endswith(PATH) else f"{base}{PATH}"
    query = {"api-version": API_VERSION, "$filter": _make_filter(regions) + condition}
    try:
        for page in http.get_pages(folder, base, query, partial(_follow, http, base), check=check):
            sizes.append(len(page["Items"]))
            if not sizes[0]:
                break
            yield page
    except BadRequest:
        # Past the end the API answers 400, and the last page was a short one.
        if sizes and sizes[-1] >= sizes[0]:
            raise
    if not any(sizes):
        where = f" of {', '.join(regions)}" if regions else ""
        raise EmptyPriceList(
            http.provider,
            f"the price list{where} is empty",
            "Check the spelling of the regions (such as westus3) and AZURE_RETAIL_PRICES_URL.",
        )


def _make_filter(regions: Sequence[str]) -> str:
    names = [f"armRegionName eq '{_NOT_IN_REGION_NAME.sub('', name)}'" for name in regions]
    places = (
        f" and ({' or '.join(names)})" if len(names) > 1 else "".join(f" and {n}" for n in names)
    )
    return f"serviceName eq 'Virtual Machines'{places}"


def _follow(http: ProviderHttpClient, base: str, page: Any) -> tuple[str, None] | None:
    link = page.get("NextPageLink")
    if not link:
        return None
    if not (same_origin(base, link) or same_origin(PUBLIC_URL, link)):
        raise RunStopped(
            http.provider,
            f"the next page of prices is at {redact_url(link)}, on another server",
            "It was not followed. Check AZURE_RETAIL_PRICES_URL and the mirror behind it.",
        )
    return f"{base}?{urlsplit(link).query}", None


def _check_complete(page: Any) -> None:
    if not isinstance(page, dict) or not isinstance(page.get("Items"), list):
        raise RetryableError("the answer has no Items")
    if not all(isinstance(row, dict) for row in page["Items"]):
        raise RetryableError("the answer's Items are not rows")
    count = page.get("Count")
    if isinstance(count, int) and count > len(page["Items"]):
        raise RetryableError(f"{len(page['Items'])} of {count} rows received")
