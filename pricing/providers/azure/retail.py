"""The price list of Azure, region by region.

The list is read once as a whole, which names the regions. Where that took one page it is what
was sold at one moment. Where it took several, rows may have moved from page to page meanwhile,
and each region is read anew by itself: mostly one page, and one that takes several counts once
two readings of it agree. A region that fails is told as not read, and where the whole list fails
the regions that are known are read all the same.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar
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
MAX_READINGS = 3
"""Times a region of several pages is read until two readings agree."""
MIN_ROW_SHARE = 0.8
"""Of the rows that the whole list has of a region, what the region's own list must have."""
TRIED_REGIONS = 3
"""Where none of the first so many regions answers, the whole list is taken as unavailable."""
_NEW_REGIONS = "regions opened lately"
"""In place of a region's name: nobody knows it, and nothing of it is published."""
_RETRY_HINT = "The last published prices stay in force; try again later."

T = TypeVar("T")
Row = Mapping[str, Any]
ReadRow = Callable[[Row], Iterable[T]]


@dataclass
class _Reading(Generic[T]):
    """What one walk through the pages of one question brought, by region."""

    prices: dict[str, list[T]] = field(default_factory=lambda: defaultdict(list))
    row_counts: Counter[str] = field(default_factory=Counter)
    digests: Counter[str] = field(default_factory=Counter)
    """Sums over the rows of a region, in whatever order they came."""
    pages: int = 0
    n_series_only: bool = True
    """Whether the server chose the N-series machines."""
    failure: ProviderUnavailable | None = None
    """Why the walk ended before its last page."""

    def is_same(self, region: str, other: _Reading[T]) -> bool:
        return self.digests[region] == other.digests[region]


def read_prices(http: ProviderHttpClient, read_row: ReadRow[T]) -> Iterator[T | NotRead]:
    """What `read_row` makes of every row that may be of an accelerator machine."""
    wanted = list(dict.fromkeys(region_name(region) for region in http.context.regions))
    whole = _read(http, "prices", wanted, read_row)
    if whole.failure and len(wanted) == 1:
        raise whole.failure
    if whole.failure or whole.pages > 1:
        # A wanted region that nobody knows may be another cloud's.
        known = {region_name(region) for region in http.context.known_regions}
        if wanted:
            known = known & set(wanted) or set(wanted if whole.failure else ())
        regions = sorted((whole.row_counts.keys() | known) - {""})
        yield from _read_regions(http, regions, whole, read_row)
    else:
        for prices in whole.prices.values():
            yield from prices


def _read(
    http: ProviderHttpClient,
    folder: str,
    regions: Sequence[str],
    read_row: ReadRow[T],
    whole: _Reading[T] | None = None,
) -> _Reading[T]:
    """One walk through the pages; `RunStopped` passes through.

    What `whole` learned of the server is not tried again: without its choice a region is long.
    """
    is_known = whole is not None and not whole.failure
    for n_series_only in (whole.n_series_only,) if whole and is_known else (True, False):
        reading = _Reading[T](n_series_only=n_series_only)
        try:
            for page in read_pages(http, folder, regions, n_series_only=n_series_only):
                reading.pages += 1
                for row in page["Items"]:
                    region = region_name(str(row.get("armRegionName") or ""))
                    if not regions or region in regions:
                        reading.row_counts[region] += 1
                        reading.digests[region] += hash(json.dumps(row, sort_keys=True))
                        reading.prices[region].extend(read_row(row))
        except RunStopped:
            raise
        except ProviderUnavailable as error:
            reading.failure = error
        except PART_ERRORS as error:
            what = f"a row of the price list is not understood ({type(error).__name__}: {error})"
            reading.failure = ProviderUnavailable(http.provider, what, _RETRY_HINT)
        if not isinstance(reading.failure, EmptyPriceList):
            break
    return reading


def _read_regions(
    http: ProviderHttpClient, regions: Sequence[str], whole: _Reading[T], read_row: ReadRow[T]
) -> Iterator[T | NotRead]:
    yield from whole.prices.pop("", ())
    whole.prices.clear()

    def read(region: str) -> list[T] | ProviderUnavailable:
        try:
            return _read_region(http, region, whole, read_row)
        except ProviderUnavailable as error:
            return error

    failures: dict[str, ProviderUnavailable] = {}
    answers = map_side_by_side(read, regions, REGIONS_AT_ONCE)
    for regions_done, (region, prices) in enumerate(zip(regions, answers, strict=True)):
        http.context.progress("regions", regions_done, len(regions))
        if isinstance(prices, RunStopped):
            raise prices
        if isinstance(prices, ProviderUnavailable):
            failures[region] = prices
            if regions_done + 1 == len(failures) == min(TRIED_REGIONS, len(regions)):
                raise whole.failure or prices
        else:
            yield from prices
    if whole.failure and not regions:
        raise whole.failure
    for region, failure in failures.items():
        yield explain_unread(NotRead(f"prices in {region}", regions=(region,)), failure)
    if whole.failure:
        part = NotRead("the list of all regions", regions=(_NEW_REGIONS,))
        yield explain_unread(part, whole.failure)


def _read_region(
    http: ProviderHttpClient, region: str, whole: _Reading[T], read_row: ReadRow[T]
) -> list[T]:
    before = whole
    for number in range(1, MAX_READINGS + 1):
        reading = _read(http, f"prices/{region}-{number}", [region], read_row, whole)
        if reading.failure and not whole.failure and reading.is_same(region, whole):
            return reading.prices[region]  # all of it came; it may be that there is nothing
        if reading.failure:
            raise reading.failure
        if reading.pages == 1 or reading.is_same(region, before):
            rows, rows_of_whole = reading.row_counts[region], whole.row_counts[region]
            if rows < MIN_ROW_SHARE * rows_of_whole:
                what = f"{rows:,} rows came of the {rows_of_whole:,} that the whole list has"
                raise ProviderUnavailable(http.provider, what, _RETRY_HINT)
            return reading.prices[region]
        before = reading
    what = f"its rows changed each of the {MAX_READINGS} times that they were read"
    raise ProviderUnavailable(http.provider, what, _RETRY_HINT)


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
    """The pages of `regions`, or of all where none is named; errors name `folder`.

    `n_series_only` leaves the choice of N-series machines to the server; not every one can.
    """
    sizes: list[int] = []

    def check(page: Any) -> None:
        _check_complete(page)
        if sizes and not page["Items"]:
            raise RetryableError("an empty page in the middle of the price list")

    base = http.endpoint("AZURE_RETAIL_PRICES_URL", PUBLIC_URL).url
    base = base if base.lower().endswith(PATH) else f"{base}{PATH}"
    query = {"api-version": API_VERSION, "$filter": _make_filter(regions, n_series_only)}
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


def _make_filter(regions: Sequence[str], n_series_only: bool) -> str:
    conditions = ["serviceName eq 'Virtual Machines'"]
    if n_series_only:
        conditions.append("contains(armSkuName, 'Standard_N')")
    names = [f"armRegionName eq '{_NOT_IN_REGION_NAME.sub('', name)}'" for name in regions]
    if names:
        conditions.append(names[0] if len(names) == 1 else f"({' or '.join(names)})")
    return " and ".join(conditions)


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
