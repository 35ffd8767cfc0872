"""The public price files: no credentials, no machine types, no spot prices.

An index names the file of each region; `offer_file` reads it as a stream. AWS has one list for
its global regions and one for China, in CNY; `AWS_PRICE_LIST_URL` may name several.
"""

from __future__ import annotations

import datetime as dt
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from pricing.ingest.downloads import download
from pricing.ingest.fetch import PART_ERRORS, explain_unread, read_part
from pricing.ingest.http import ProviderHttpClient, check_endpoint, redact_url, same_origin
from pricing.ingest.provider import NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws.options import is_linux_use, keep_cheapest, make_rate
from pricing.providers.aws.rows import (
    NOT_PRICED,
    MachineLookup,
    Sku,
    find_unknown,
    partition_regions,
    read_product,
    read_terms,
    report_other_partition,
)

DEFAULT_URL = "https://pricing.us-east-1.amazonaws.com"
_CREDENTIALS_ONLY = (PurchaseOption.SPOT, PurchaseOption.CAPACITY_BLOCK)
_RETRY_HINT = (
    "The last published prices stay in force; try again, and if it lasts, check the address in "
    "AWS_PRICE_LIST_URL."
)
FetchedRows = Iterator[Offer | SkippedRow | NotRead]


@dataclass(frozen=True)
class _PriceList:
    url: str
    partition: str

    @property
    def offers(self) -> str:
        return f"{self.url}/offers/v1.0/{self.partition}/AmazonEC2/current/region_index.json"

    @property
    def plans(self) -> str:
        folder = f"savingsPlan/v1.0/{self.partition}/AWSComputeSavingsPlan"
        return f"{self.url}/{folder}/current/region_index.json"


def read(http: ProviderHttpClient, reason: str, default_url: str = DEFAULT_URL) -> FetchedRows:
    """Every accelerator in the price files of the wanted regions.

    `reason` says why spot and Capacity Blocks are not read. A region whose file fails, and a
    list beside others, is told as not read.
    """
    context = http.context
    options = tuple(option.value for option in _CREDENTIALS_ONLY)
    yield NotRead(reason, options, context.regions)
    indexes, unread = _read_indexes(http, default_url)
    yield from unread
    files = {
        code: (one, path) for one, index in indexes.items() for code, path in index.files.items()
    }
    wanted_regions = context.regions or tuple(sorted(files))
    missing = find_unknown(wanted_regions, files)
    if len(missing) == len(wanted_regions):
        raise ProviderUnavailable(
            "aws",
            f"AWS has no price file for {', '.join(missing)}",
            f"Choose among {', '.join(sorted(files))}.",
        )
    yield from (SkippedRow(NOT_PRICED, region) for region in missing)
    wanted_regions = tuple(region for region in wanted_regions if region in files)
    not_read = None if context.regions else report_other_partition(files)
    if not_read is not None:
        yield not_read
    plans = {one: _read_plan_index(http, one, files) for one in indexes}
    yield from (one for one in plans.values() if isinstance(one, NotRead))
    failures = 0
    for regions_done, region in enumerate(wanted_regions):
        context.progress("regions", regions_done, len(wanted_regions))
        one, path = files[region]
        day = indexes[one].published or context.retrieved_at.date()
        files_of = _RegionFiles(http, one, region, day)
        skus: dict[str, Sku] = {}
        try:
            with files_of.open("offers", path) as file:
                rows = list(
                    region_offers(file, MachineLookup(), region, day, skus, context.regions)
                )
        except PART_ERRORS as error:
            failures += 1
            if failures == len(wanted_regions):
                raise
            yield explain_unread(NotRead(f"prices in {region}", regions=(region,)), error)
            continue
        yield from rows
        index = plans[one]
        if not isinstance(index, NotRead):
            yield from _read_savings_plans(files_of, index.get(region, ""), skus)


@dataclass(frozen=True)
class _Index:
    files: Mapping[str, str]
    """Path of the newest file by region."""
    published: dt.date | None


@dataclass(frozen=True)
class _RegionFiles:
    http: ProviderHttpClient
    price_list: _PriceList
    region: str
    day: dt.date

    @contextmanager
    def open(self, kind: str, path: str) -> Iterator[IO[bytes]]:
        price_list = self.price_list
        url = path if "://" in path else f"{price_list.url}/{path.lstrip('/')}"
        if not same_origin(price_list.url, url):
            what = f"the index points to another server, {redact_url(url)}"
            raise ProviderUnavailable("aws", what, _RETRY_HINT)
        name = f"{kind}-{self.region}.json.gz"
        with download(self.http, name, url) as file:
            try:
                yield file
            except OfferFileError as error:
                what = f"{name} cannot be read ({error})"
                raise ProviderUnavailable("aws", what, _RETRY_HINT) from None


def _read_indexes(
    http: ProviderHttpClient, default_url: str
) -> tuple[dict[_PriceList, _Index], list[NotRead]]:
    indexes: dict[_PriceList, _Index] = {}
    unread: list[NotRead] = []
    urls = http.context.settings.get("AWS_PRICE_LIST_URL", "").strip() or default_url
    lists: list[_PriceList] = []
    for url in urls.replace(",", " ").split():
        base, _, list_path = url.partition("/offers/v1.0/")
        base = check_endpoint("aws", "AWS_PRICE_LIST_URL", base).url
        china = list_path.startswith("cn") or ".amazonaws.com.cn" in base
        lists.append(_PriceList(base, "cn" if china else "aws"))
    for one in lists:
        try:
            indexes[one] = _read_index(http, one)
        except ProviderUnavailable as error:
            if len(unread) + 1 == len(lists):
                raise
            regions = partition_regions(one.partition)
            unread.append(explain_unread(NotRead("a price list", regions=regions), error))
    return indexes, unread


def _read_index(http: ProviderHttpClient, price_list: _PriceList) -> _Index:
    document = http.get_json(f"offers-{price_list.partition}.json", price_list.offers)
    try:
        paths = {code: one["currentVersionUrl"] for code, one in document["regions"].items()}
        published = document.get("publicationDate", "")[:10]
        day = dt.date.fromisoformat(published) if published else None
    except (AttributeError, KeyError, TypeError, ValueError):
        what = f"{redact_url(price_list.offers)} is no index of price files"
        raise ProviderUnavailable("aws", what, _RETRY_HINT) from None
    if not paths:
        raise ProviderUnavailable(
            "aws", f"{redact_url(price_list.offers)} lists no regions", _RETRY_HINT
        )
    return _Index(paths, day)


def _read_plan_index(
    http: ProviderHttpClient, price_list: _PriceList, files: Mapping[str, tuple[_PriceList, str]]
) -> dict[str, str] | NotRead:
    try:
        document = http.get_json(f"plans-{price_list.partition}.json", price_list.plans)
        return {one["regionCode"]: one["versionUrl"] for one in document["regions"]}
    except PART_ERRORS as error:
        regions = tuple(sorted(code for code, (one, _) in files.items() if one == price_list))
        part = NotRead("the index of savings plans", (PurchaseOption.SAVINGS_PLAN.value,), regions)
        return explain_unread(part, error)


def region_offers(
    file: IO[bytes],
    machines: MachineLookup,
    region: str,
    day: dt.date,
    skus: dict[str, Sku],
    only_regions: tuple[str, ...] = (),
) -> FetchedRows:
    """The offers of one file; `only_regions` limits them to these regions, `skus` learns them."""
    products, priced_skus = 0, set[str]()
    for section, sku, value in entries(file):
        if section != "products":
            if sku in skus:
                priced_skus.add(sku)
                yield from read_terms(skus[sku], value, day, sold_now=True)
            continue
        products += 1
        product = read_product({"sku": sku} | value, machines, region)
        if isinstance(product, SkippedRow):
            yield product
        elif product is not None and (not only_regions or product.region in only_regions):
            skus[sku] = product
    if not products:
        raise OfferFileError("it holds no products")
    for sku in skus.keys() - priced_skus:
        yield SkippedRow("sold without a listed price", f"{skus[sku].machine.instance_type} {sku}")


def _read_savings_plans(files: _RegionFiles, path: str, skus: Mapping[str, Sku]) -> FetchedRows:
    region, option = files.region, (PurchaseOption.SAVINGS_PLAN.value,)
    if not path:
        yield NotRead("the price list has no savings-plan file", option, (region,))
        return

    def read_rates() -> list[Offer | SkippedRow]:
        with files.open("plans", path) as file:
            return list(plan_rates(file, skus, region, files.day))

    rates = read_part(NotRead(f"savings plans in {region}", option, (region,)), read_rates)
    yield from keep_cheapest(rates)


CHUNK_BYTES = 1 << 18
_TERMS = b'"terms"'
_TERM_SECTIONS = frozenset((b'"OnDemand"', b'"Reserved"'))
_SECTION_KEY = re.compile(rb'"(terms|OnDemand|Reserved)"\s*:\s*\{')
_MAX_KEY_BYTES = 64
"""Bytes that a key with its colon, bracket and white space may take."""

Entry = tuple[str, str, Any]
"""(section, SKU, its value); the section is products, OnDemand or Reserved."""
_Piece = bytes | re.Match[bytes]


class OfferFileError(ValueError):
    """Cut off, garbled, or something else altogether."""


@contextmanager
def _readable() -> Iterator[None]:
    """A file that is no whole JSON document, or no whole gzip of one, is an `OfferFileError`."""
    import ijson

    try:
        yield
    except (ijson.JSONError, EOFError, OSError, zlib.error) as error:
        raise OfferFileError(str(error).splitlines()[0]) from None


def entries(file: IO[bytes]) -> Iterator[Entry]:
    """Every entry of the three maps in the order of the file."""
    # Each map gives the next one when it was read to its end.
    from ijson.backends import yajl2_c

    part: SectionFile | None = SectionFile("products", _split_at_keys(file))
    with _readable():
        while part is not None:
            for sku, value in yajl2_c.kvitems(part, part.prefix, buf_size=CHUNK_BYTES):
                yield part.section, sku, value
            part = part.following


class SectionFile:
    """One map as a file of its own: a JSON object from its key to the key of the next map."""

    def __init__(self, section: str, pieces: Iterator[_Piece], key: bytes = b"") -> None:
        self.section = section
        self.following: SectionFile | None = None
        self.prefix = "products" if section == "products" else f"terms.{section}"
        self._pieces = pieces
        self._opening = key
        self._is_at_end = False
        if section == "terms":
            self._opening = b"{" + key
        elif section != "products":
            self._opening = b'{"terms":{' + key

    def read(self, size: int) -> bytes:
        """The next bytes, empty at the end. ijson asks for 0 to see that they are bytes."""
        if not size or self._is_at_end:
            return b""
        if self._opening:
            opening, self._opening = self._opening, b""
            return opening
        piece = next(self._pieces, b"")
        if isinstance(piece, bytes):
            self._is_at_end = not piece
            return piece
        self._is_at_end = True
        self.following = SectionFile(piece[1].decode(), self._pieces, piece[0])
        return b'"":0}' if self.section == "products" else b'"":0}}'


def _split_at_keys(file: IO[bytes]) -> Iterator[_Piece]:
    data = b""
    expected_keys = frozenset((_TERMS,))
    while chunk := file.read(CHUNK_BYTES):
        data += chunk
        start = 0
        while matches := [one for key in expected_keys if (one := _find_key(data, start, key))]:
            key = min(matches, key=lambda one: one.start())
            if key.start() > start:
                yield data[start : key.start()]
            yield key
            start = key.end()
            quoted_key = b'"%b"' % key[1]
            expected_keys = _TERM_SECTIONS if quoted_key == _TERMS else expected_keys - {quoted_key}
        end = max(start, len(data) - _MAX_KEY_BYTES)
        if end > start:
            yield data[start:end]
        data = data[end:]
    if data:
        yield data


def _find_key(data: bytes, start: int, key: bytes) -> re.Match[bytes] | None:
    position = data.find(key, start)
    while position >= 0:
        match = _SECTION_KEY.match(data, position)
        if match:
            return match
        position = data.find(key, position + len(key))
    return None


_PLANS = {"ComputeSavingsPlans": "Compute", "EC2InstanceSavingsPlans": "EC2Instance"}
_MONTHS = {"1yr": 12, "3yr": 36}


def plan_rates(
    file: IO[bytes], skus: Mapping[str, Sku], region: str, day: dt.date
) -> Iterator[Offer | SkippedRow]:
    """The rates of the machines in `skus`, the Linux SKUs of the region's offer file."""
    from ijson.backends import yajl2_c

    products = SectionFile("products", _split_at_keys(file))
    with _readable():
        rows = yajl2_c.items(products, "products.item", buf_size=CHUNK_BYTES)
        plans = {row["sku"]: row["attributes"] for row in rows}
        if not plans or products.following is None:
            raise OfferFileError("it holds no savings plans")
        prefix = "terms.savingsPlan.item.rates.item"
        for row in yajl2_c.items(products.following, prefix, buf_size=CHUNK_BYTES):
            yield from _parse_rate(row, plans, skus, region, day)


def _parse_rate(
    row: Mapping[str, Any],
    plans: Mapping[str, Mapping[str, str]],
    skus: Mapping[str, Sku],
    region: str,
    day: dt.date,
) -> Iterator[Offer | SkippedRow]:
    sku = skus.get(row.get("discountedSku", ""))
    is_linux = is_linux_use(row.get("discountedUsageType", ""), row.get("discountedOperation", ""))
    if sku is None or not is_linux or row.get("discountedRegionCode", region) != sku.region:
        return
    plan = plans.get(row.get("rateCode", "").partition(".")[0])
    if plan is None:
        yield SkippedRow("unknown savings plan", row.get("rateCode", ""))
        return
    plan_type = _PLANS.get(plan.get("productFamily", ""))
    if plan_type is None:
        return
    price = row.get("discountedRate", {})
    yield make_rate(
        sku.machine,
        sku.region,
        plan_type,
        _MONTHS.get(plan.get("purchaseTerm", ""), 0),
        plan.get("purchaseOption", ""),
        price.get("price"),
        currency=price.get("currency", "USD"),
        as_of=day,
    )
