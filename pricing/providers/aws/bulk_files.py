"""The public price files: no credentials, no machine types, no spot prices.

An index names the file of each region; `offer_file` reads it as a stream. AWS has one list for
its global regions and one for China, in CNY; `AWS_PRICE_LIST_URL` may name several.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

from pricing.ingest.downloads import Download
from pricing.ingest.endpoints import check_endpoint, redact_url, same_origin
from pricing.ingest.http import ProviderHttpClient
from pricing.ingest.parts import PART_ERRORS, explain_unread, read_part
from pricing.ingest.provider import NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws import offer_file, plan_file, savings_plans
from pricing.providers.aws.machines import MachineLookup
from pricing.providers.aws.offer_file import OfferFileError
from pricing.providers.aws.regions import (
    NOT_PRICED,
    find_unknown,
    partition_regions,
    report_other_partition,
)
from pricing.providers.aws.rows import Sku, read_product, read_terms

DEFAULT_URL = "https://pricing.us-east-1.amazonaws.com"
_CREDENTIALS_ONLY = (PurchaseOption.SPOT, PurchaseOption.CAPACITY_BLOCK)
_RETRY_HINT = (
    "The last published prices stay in force; try again, and if it lasts, check the address in "
    "AWS_PRICE_LIST_URL."
)
FetchedRows = Iterator[Offer | SkippedRow | NotRead]


@dataclass(frozen=True)
class _PriceList:
    """One price list of AWS: where it is, and which partition it is of."""

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
            rows = list(_read_offers(files_of, path, skus))
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
    """The files of one region in one list, and the day of the list."""

    http: ProviderHttpClient
    price_list: _PriceList
    region: str
    day: dt.date

    def download(self, kind: str, path: str) -> Download:
        url = _file_url(self.price_list, path)
        return Download(self.http, f"{kind}-{self.region}.json.gz", url)


def _read_indexes(
    http: ProviderHttpClient, default_url: str
) -> tuple[dict[_PriceList, _Index], list[NotRead]]:
    """The index of each list; one of several may fail."""
    indexes: dict[_PriceList, _Index] = {}
    unread: list[NotRead] = []
    lists = _price_lists(http, default_url)
    for one in lists:
        try:
            indexes[one] = _read_index(http, one)
        except ProviderUnavailable as error:
            if len(unread) + 1 == len(lists):
                raise
            regions = partition_regions(one.partition)
            unread.append(explain_unread(NotRead("a price list", regions=regions), error))
    return indexes, unread


def _price_lists(http: ProviderHttpClient, default_url: str) -> list[_PriceList]:
    urls = http.context.settings.get("AWS_PRICE_LIST_URL", "").strip() or default_url
    return [_parse_price_list(url) for url in urls.replace(",", " ").split()]


def _parse_price_list(url: str) -> _PriceList:
    """A base address, or one that goes on to .../offers/v1.0/aws or .../offers/v1.0/cn."""
    base, _, list_path = url.partition("/offers/v1.0/")
    base = check_endpoint("aws", "AWS_PRICE_LIST_URL", base).url
    china = list_path.startswith("cn") or ".amazonaws.com.cn" in base
    return _PriceList(base, "cn" if china else "aws")


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
    http: ProviderHttpClient,
    price_list: _PriceList,
    files: Mapping[str, tuple[_PriceList, str]],
) -> dict[str, str] | NotRead:
    """Path of the savings-plan file by region; what is not read where the index fails."""
    try:
        document = http.get_json(f"plans-{price_list.partition}.json", price_list.plans)
        return {one["regionCode"]: one["versionUrl"] for one in document["regions"]}
    except PART_ERRORS as error:
        regions = tuple(sorted(code for code, (one, _) in files.items() if one == price_list))
        part = NotRead("the index of savings plans", (PurchaseOption.SAVINGS_PLAN.value,), regions)
        return explain_unread(part, error)


def _file_url(price_list: _PriceList, path: str) -> str:
    url = path if "://" in path else f"{price_list.url}/{path.lstrip('/')}"
    if not same_origin(price_list.url, url):
        raise ProviderUnavailable(
            "aws", f"the index points to another server, {redact_url(url)}", _RETRY_HINT
        )
    return url


def _read_offers(files: _RegionFiles, path: str, skus: dict[str, Sku]) -> FetchedRows:
    """The offers of a region. `skus` is filled with the machines that were found."""
    context = files.http.context
    machines = MachineLookup(context.retrieved_at.date())
    download = files.download("offers", path)
    with download as file:
        try:
            yield from region_offers(file, machines, files.region, files.day, skus, context.regions)
        except OfferFileError as error:
            raise ProviderUnavailable(
                "aws", f"{download.name} cannot be read ({error})", _RETRY_HINT
            ) from None


def region_offers(
    file: IO[bytes],
    machines: MachineLookup,
    region: str,
    day: dt.date,
    skus: dict[str, Sku],
    only_regions: tuple[str, ...] = (),
) -> FetchedRows:
    """The offers of one file; `only_regions` limits them to these regions."""
    reader = _EntryReader(machines, region, day, skus, only_regions)
    for entry in offer_file.entries(file):
        yield from reader.read_entry(*entry)
    if not reader.products:
        file.seek(0)
        for sku, product in offer_file.products(file):
            yield from reader.read_entry("products", sku, product)
        file.seek(0)
        for entry in offer_file.entries(file):
            yield from reader.read_entry(*entry)
    if not reader.products:
        raise OfferFileError("it holds no products")
    for sku in skus.keys() - reader.priced_skus:
        yield SkippedRow("sold without a listed price", f"{skus[sku].machine.instance_type} {sku}")


class _EntryReader:
    """Keeps the accelerators of one file and drops the rest as it goes by."""

    def __init__(
        self,
        machines: MachineLookup,
        region: str,
        day: dt.date,
        skus: dict[str, Sku],
        only_regions: tuple[str, ...],
    ) -> None:
        self.machines, self.region, self.day, self.skus = machines, region, day, skus
        self.only_regions = only_regions
        self.products = 0
        self.priced_skus: set[str] = set()

    def read_entry(self, section: str, sku: str, value: Any) -> Iterator[Offer | SkippedRow]:
        if section == "products":
            self.products += 1
            product = read_product({"sku": sku} | value, self.machines, self.region)
            if isinstance(product, SkippedRow):
                yield product
            elif product is not None and (
                not self.only_regions or product.region in self.only_regions
            ):
                self.skus[sku] = product
        elif sku in self.skus:
            self.priced_skus.add(sku)
            yield from read_terms(self.skus[sku], value, self.day, sold_now=True)


def _read_savings_plans(files: _RegionFiles, path: str, skus: Mapping[str, Sku]) -> FetchedRows:
    region, option = files.region, (PurchaseOption.SAVINGS_PLAN.value,)
    if not path:
        yield NotRead("the price list has no savings-plan file", option, (region,))
        return

    def read_rates() -> list[savings_plans.Rate | SkippedRow]:
        download = files.download("plans", path)
        with download as file:
            try:
                return list(plan_file.rates(file, skus, region))
            except OfferFileError as error:
                raise ProviderUnavailable(
                    "aws", f"{download.name} cannot be read ({error})", _RETRY_HINT
                ) from None

    rates = read_part(NotRead(f"savings plans in {region}", option, (region,)), read_rates)
    yield from savings_plans.make_offers(rates, files.day)
