"""The public price files: no credentials, no machine types, no spot prices.

An index names the file of each region; `offer_file` reads it as a stream. AWS has one list for
its global regions and one for China, in CNY; `AWS_PRICE_LIST_URL` may name several.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

from pricing.ingest.endpoints import checked_endpoint, same_origin, shown
from pricing.ingest.http import Pages
from pricing.ingest.provider import NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws import offer_file, plan_file, savings_plans
from pricing.providers.aws.machines import Machines
from pricing.providers.aws.offer_file import OfferFileError
from pricing.providers.aws.regions import NOT_PRICED, other_partition, unknown_among
from pricing.providers.aws.rows import Sku, read_product, read_terms

DEFAULT_URL = "https://pricing.us-east-1.amazonaws.com"
_NEEDS_CREDENTIALS = (PurchaseOption.SPOT, PurchaseOption.CAPACITY_BLOCK)
_LOST = (
    "The last published prices stay in force; try again, and if it lasts, check the address in "
    "AWS_PRICE_LIST_URL."
)
Found = Iterator[Offer | SkippedRow | NotRead]


@dataclass(frozen=True)
class _List:
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


def read(pages: Pages) -> Found:
    """Every accelerator in the price files of the wanted regions."""
    context = pages.context
    options = tuple(option.value for option in _NEEDS_CREDENTIALS)
    yield NotRead("needs AWS credentials", options, context.regions)
    lists = [(one, _index(pages, one)) for one in _lists(pages)]
    files = {code: (one, entry) for one, index in lists for code, entry in index.files.items()}
    wanted = context.regions or tuple(sorted(files))
    missing = unknown_among(wanted, files)
    if len(missing) == len(wanted):
        raise ProviderUnavailable(
            "aws",
            f"AWS has no price file for {', '.join(missing)}",
            f"Choose among {', '.join(sorted(files))}.",
        )
    yield from (SkippedRow(NOT_PRICED, region) for region in missing)
    wanted = tuple(region for region in wanted if region in files)
    unseen = None if context.regions else other_partition(files)
    if unseen is not None:
        yield unseen
    dates = {one: index.published for one, index in lists}
    plans = {one: _plan_index(pages, one) for one, _ in lists}
    for done, region in enumerate(wanted):
        context.progress("regions", done, len(wanted))
        of_list, path = files[region]
        skus: dict[str, Sku] = {}
        day = dates[of_list] or context.retrieved_at.date()
        yield from _offers(pages, of_list, region, path, day, skus)
        yield from _plans(pages, of_list, region, plans[of_list].get(region, ""), day, skus)


@dataclass(frozen=True)
class _Index:
    files: Mapping[str, str]
    """Path of the newest file by region."""
    published: dt.date | None


def _lists(pages: Pages) -> list[_List]:
    urls = pages.context.settings.get("AWS_PRICE_LIST_URL", "").strip() or DEFAULT_URL
    return [_list(url) for url in urls.replace(",", " ").split()]


def _list(url: str) -> _List:
    """A base address, or one that goes on to .../offers/v1.0/aws or .../offers/v1.0/cn."""
    base, _, rest = url.partition("/offers/v1.0/")
    base = checked_endpoint("aws", "AWS_PRICE_LIST_URL", base).url
    china = rest.startswith("cn") or ".amazonaws.com.cn" in base
    return _List(base, "cn" if china else "aws")


def _index(pages: Pages, of_list: _List) -> _Index:
    document = pages.get_json(f"offers-{of_list.partition}.json", of_list.offers)
    try:
        paths = {code: one["currentVersionUrl"] for code, one in document["regions"].items()}
        published = document.get("publicationDate", "")[:10]
        day = dt.date.fromisoformat(published) if published else None
    except (AttributeError, KeyError, TypeError, ValueError):
        what = f"{shown(of_list.offers)} is no index of price files"
        raise ProviderUnavailable("aws", what, _LOST) from None
    if not paths:
        raise ProviderUnavailable("aws", f"{shown(of_list.offers)} lists no regions", _LOST)
    return _Index(paths, day)


def _plan_index(pages: Pages, of_list: _List) -> dict[str, str]:
    """Path of the savings-plan file by region; empty where the list has none."""
    try:
        document = pages.get_json(f"plans-{of_list.partition}.json", of_list.plans)
        return {one["regionCode"]: one["versionUrl"] for one in document["regions"]}
    except (ProviderUnavailable, KeyError, TypeError):
        return {}


def _address(of_list: _List, path: str) -> str:
    url = path if "://" in path else f"{of_list.url}/{path.lstrip('/')}"
    if not same_origin(of_list.url, url):
        raise ProviderUnavailable("aws", f"the index leads elsewhere, to {shown(url)}", _LOST)
    return url


def _offers(
    pages: Pages, of_list: _List, region: str, path: str, day: dt.date, skus: dict[str, Sku]
) -> Found:
    """The offers of a region. `skus` is filled with the machines that were found."""
    machines = Machines(pages.context.retrieved_at.date())
    name = f"offers-{region}.json.gz"
    with pages.download(name, _address(of_list, path)) as file:
        try:
            yield from region_offers(file, machines, region, day, skus, pages.context.regions)
        except OfferFileError as error:
            raise ProviderUnavailable("aws", f"{name} cannot be read ({error})", _LOST) from None


def region_offers(
    file: IO[bytes],
    machines: Machines,
    region: str,
    day: dt.date,
    skus: dict[str, Sku],
    only: tuple[str, ...] = (),
) -> Found:
    """The offers of one file; `only` limits them to these regions."""
    reader = _Reader(machines, region, day, skus, only)
    for entry in offer_file.entries(file):
        yield from reader.take(*entry)
    if not reader.products:
        file.seek(0)
        for sku, product in offer_file.products(file):
            yield from reader.take("products", sku, product)
        file.seek(0)
        for entry in offer_file.entries(file):
            yield from reader.take(*entry)
    for sku in skus.keys() - reader.priced:
        yield SkippedRow("sold without a listed price", f"{skus[sku].machine.instance_type} {sku}")


class _Reader:
    """Keeps the accelerators of one file and drops the rest as it goes by."""

    def __init__(
        self,
        machines: Machines,
        region: str,
        day: dt.date,
        skus: dict[str, Sku],
        only: tuple[str, ...],
    ) -> None:
        self.machines, self.region, self.day, self.skus = machines, region, day, skus
        self.only = only
        self.products = 0
        self.priced: set[str] = set()

    def take(self, section: str, sku: str, value: Any) -> Iterator[Offer | SkippedRow]:
        if section == "products":
            self.products += 1
            found = read_product({"sku": sku} | value, self.machines, self.region)
            if isinstance(found, SkippedRow):
                yield found
            elif found is not None and (not self.only or found.region in self.only):
                self.skus[sku] = found
        elif sku in self.skus:
            self.priced.add(sku)
            yield from read_terms(self.skus[sku], value, self.day, sold_now=True)


def _plans(
    pages: Pages, of_list: _List, region: str, path: str, day: dt.date, skus: Mapping[str, Sku]
) -> Found:
    if not path:
        option = (PurchaseOption.SAVINGS_PLAN.value,)
        yield NotRead("the price list has no savings-plan file", option, (region,))
        return
    name = f"plans-{region}.json.gz"
    with pages.download(name, _address(of_list, path)) as file:
        try:
            rates = list(plan_file.rates(file, skus, region))
        except OfferFileError as error:
            raise ProviderUnavailable("aws", f"{name} cannot be read ({error})", _LOST) from None
    yield from savings_plans.cheapest(rates, day)
