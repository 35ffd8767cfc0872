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
from pricing.ingest.provider import NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws import offer_file, plan_file, savings_plans
from pricing.providers.aws.machines import MachineLookup
from pricing.providers.aws.offer_file import OfferFileError
from pricing.providers.aws.regions import NOT_PRICED, find_unknown, report_other_partition
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


def read(http: ProviderHttpClient) -> FetchedRows:
    """Every accelerator in the price files of the wanted regions."""
    context = http.context
    options = tuple(option.value for option in _CREDENTIALS_ONLY)
    yield NotRead("needs AWS credentials", options, context.regions)
    lists = [(one, _read_index(http, one)) for one in _read_price_lists(http)]
    files = {code: (one, entry) for one, index in lists for code, entry in index.files.items()}
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
    dates = {one: index.published for one, index in lists}
    plans = {one: _read_plan_index(http, one) for one, _ in lists}
    for regions_done, region in enumerate(wanted_regions):
        context.progress("regions", regions_done, len(wanted_regions))
        price_list, path = files[region]
        skus: dict[str, Sku] = {}
        day = dates[price_list] or context.retrieved_at.date()
        yield from _read_offers(http, price_list, region, path, day, skus)
        yield from _read_savings_plans(
            http, price_list, region, plans[price_list].get(region, ""), day, skus
        )


@dataclass(frozen=True)
class _Index:
    files: Mapping[str, str]
    """Path of the newest file by region."""
    published: dt.date | None


def _read_price_lists(http: ProviderHttpClient) -> list[_PriceList]:
    urls = http.context.settings.get("AWS_PRICE_LIST_URL", "").strip() or DEFAULT_URL
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


def _read_plan_index(http: ProviderHttpClient, price_list: _PriceList) -> dict[str, str]:
    """Path of the savings-plan file by region; empty where the list has none."""
    try:
        document = http.get_json(f"plans-{price_list.partition}.json", price_list.plans)
        return {one["regionCode"]: one["versionUrl"] for one in document["regions"]}
    except (ProviderUnavailable, KeyError, TypeError):
        return {}


def _file_url(price_list: _PriceList, path: str) -> str:
    url = path if "://" in path else f"{price_list.url}/{path.lstrip('/')}"
    if not same_origin(price_list.url, url):
        raise ProviderUnavailable(
            "aws", f"the index points to another server, {redact_url(url)}", _RETRY_HINT
        )
    return url


def _read_offers(
    http: ProviderHttpClient,
    price_list: _PriceList,
    region: str,
    path: str,
    day: dt.date,
    skus: dict[str, Sku],
) -> FetchedRows:
    """The offers of a region. `skus` is filled with the machines that were found."""
    machines = MachineLookup(http.context.retrieved_at.date())
    name = f"offers-{region}.json.gz"
    with Download(http, name, _file_url(price_list, path)) as file:
        try:
            yield from region_offers(file, machines, region, day, skus, http.context.regions)
        except OfferFileError as error:
            raise ProviderUnavailable(
                "aws", f"{name} cannot be read ({error})", _RETRY_HINT
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


def _read_savings_plans(
    http: ProviderHttpClient,
    price_list: _PriceList,
    region: str,
    path: str,
    day: dt.date,
    skus: Mapping[str, Sku],
) -> FetchedRows:
    if not path:
        option = (PurchaseOption.SAVINGS_PLAN.value,)
        yield NotRead("the price list has no savings-plan file", option, (region,))
        return
    name = f"plans-{region}.json.gz"
    with Download(http, name, _file_url(price_list, path)) as file:
        try:
            rates = list(plan_file.rates(file, skus, region))
        except OfferFileError as error:
            raise ProviderUnavailable(
                "aws", f"{name} cannot be read ({error})", _RETRY_HINT
            ) from None
    yield from savings_plans.select_cheapest(rates, day)
