"""Clouds whose price list is one document or a few: what their adapters share.

Such an adapter is a `FlatList` with an address, a key where one is needed, and `read`, which
gives an offer or the reason for none for each row. The list is read whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from pricing.ingest.fetch import PART_ERRORS
from pricing.ingest.http import ProviderHttpClient, RetryableError, is_loopback
from pricing.ingest.provider import FetchContext, NotRead, Provider, ProviderUnavailable, SkippedRow
from pricing.market import accelerators
from pricing.market.offers import Offer, PurchaseOption

_MEMORY_TOLERANCE = 0.12
"""Lists give memory in GB or GiB, gross or usable; of two kinds of one card neither is so near."""
_HINT = "The last published prices stay in force; try again later."
Row = Offer | SkippedRow | NotRead


class FlatList(Provider):
    """One cloud. Subclasses set the fields and write `read`."""

    setting: str
    """Names the address of the list, for a proxy or mirror."""
    default_url: str
    key_setting: str = ""
    """Names the key; empty for a list that is open to anyone."""
    by_default = False
    """Read where it is named, or other clouds are asked for; see `pricing.discovery`."""

    def is_configured(self, settings: Mapping[str, str]) -> bool:
        """Whether the list can be asked: it is open, there is a key, or it is on loopback."""
        url = settings.get(self.setting, "")
        has_key = bool(settings.get(self.key_setting, "").strip())
        return not self.key_setting or has_key or is_loopback(url)

    def fetch(self, context: FetchContext) -> Iterator[Row]:
        """Every row of the list in the wanted regions; raises `ProviderUnavailable`."""
        with ProviderHttpClient(self.name, context) as http:
            try:
                rows = list(self.read(PriceListReader(self, http)))
            except ProviderUnavailable:
                raise
            except PART_ERRORS as error:
                what = f"the price list is not understood ({type(error).__name__}: {error})"
                raise ProviderUnavailable(self.name, what, _HINT) from None
        if not any(isinstance(row, Offer) for row in rows):
            what = "the price list has no accelerators"
            raise ProviderUnavailable(self.name, what, _HINT)
        wanted = set(context.regions)
        for row in rows:
            if not (wanted and isinstance(row, Offer)) or row.region in wanted:
                yield row

    def read(self, reader: PriceListReader) -> Iterator[Row]:
        raise NotImplementedError


class PriceListReader:
    """Asks for the pages of one list and makes offers of its rows."""

    def __init__(self, provider: FlatList, http: ProviderHttpClient) -> None:
        self.provider, self.http = provider, http
        self.context = http.context
        self.endpoint = http.endpoint(provider.setting, provider.default_url)

    def get(
        self,
        name: str,
        path: str,
        check: Callable[[Any], object],
        header: str = "Authorization",
        scheme: str = "Bearer ",
        body: object = None,
        **params: str | int,
    ) -> Any:
        """The document at `path`, or the answer to `body`; it is asked for again where `check`
        raises, which takes out of it what has to be there."""
        setting, headers = self.provider.key_setting, dict[str, str]()
        if setting and not self.endpoint.anonymous:
            key = self.context.settings.get(setting, "").strip()
            if not key:
                hint = f"Set {setting}, or leave this cloud out of the refresh."
                raise ProviderUnavailable(self.provider.name, f"{setting} is not set", hint)
            headers = {header: f"{scheme}{key}"}
        return self.http.get_json(
            f"{name}.json",
            f"{self.endpoint.url}{path}",
            params=params or None,
            headers=lambda: headers,
            body=body,
            check=lambda document: _check(check, document),
        )

    def offer(
        self,
        *,
        region: str,
        machine: str,
        accelerator: str,
        count: Fraction | int,
        price: object,
        accelerator_gib: float | None = None,
        option: PurchaseOption = PurchaseOption.ON_DEMAND,
        **fields: Any,
    ) -> Offer | SkippedRow:
        label = f"{machine} {region} {option.value}"
        device = find_device(accelerator, accelerator_gib)
        if device is None:
            size = f" of {accelerator_gib:g} GB" if accelerator_gib else ""
            return SkippedRow("unknown accelerator", f"{accelerator}{size}")
        try:
            amount = parse_price(price)
        except ValueError as error:
            return SkippedRow("unreadable price", f"{label}: {error}")
        if not amount:
            return SkippedRow("no price", label)
        return Offer(
            provider=self.provider.name,
            region=region,
            instance_type=machine,
            accelerator=device.slug,
            accelerator_count=Fraction(count),
            purchase_option=option,
            price_per_hour=amount,
            as_of=self.context.retrieved_at.date(),
            **({"source": f"{self.provider.title} price list"} | fields),
        )


def _check(check: Callable[[Any], object], document: Any) -> None:
    try:
        check(document)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        raise RetryableError("the answer is not in the form of the price list") from None


def find_device(name: str, memory_gib: float | None) -> accelerators.Accelerator | None:
    """The accelerator of this name with about this memory each; None where none is, or several.

    >>> find_device("A100 SXM4", 39.6).slug, find_device("H100", 80).slug
    ('nvidia-a100-40gb-sxm', 'nvidia-h100-80gb-sxm')
    >>> find_device("H100", 40) is None, find_device("A100", None) is None
    (True, True)
    """
    if not memory_gib:
        return accelerators.find(name)
    sizes = {
        abs(one.memory_gib - memory_gib): one.memory_gib for one in accelerators.candidates(name)
    }
    for text in [*(f"{name} {sizes[away]:g}GB" for away in sorted(sizes)), name]:
        device = accelerators.find(text)
        if device and abs(device.memory_gib - memory_gib) <= _MEMORY_TOLERANCE * memory_gib:
            return device
    return None


def parse_price(value: object) -> Decimal:
    """A price as written, 0 for none; `ValueError` for what is no finite number of 0 or more.

    >>> parse_price("1.70"), parse_price(2.39), parse_price(None)
    (Decimal('1.70'), Decimal('2.39'), Decimal('0'))
    """
    if value is None:
        return Decimal(0)
    try:
        amount = Decimal(str(value)) if not isinstance(value, bool) else Decimal("NaN")
    except InvalidOperation:
        raise ValueError(f"{value!r} is not a price") from None
    if not amount.is_finite() or amount < 0:
        raise ValueError(f"{value!r} is not a price")
    return amount
