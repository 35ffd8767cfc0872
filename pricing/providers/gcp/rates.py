"""SKUs of the Cloud Billing Catalog into hourly rates of components, by region and terms.

https://cloud.google.com/billing/docs/reference/rest/v1/services.skus/list
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pricing.ingest.provider import SkippedRow
from pricing.market.offers import HOURS_PER_MONTH, PurchaseOption
from pricing.providers.gcp import descriptions

GIB_PER_GB = Decimal("1.073741824")
"""GB in a GiB: 1024³ / 1000³. A price per GB × this is a price per GiB."""

_PER_HOUR: Mapping[str, tuple[frozenset[str], Decimal, int]] = {
    # usageUnit: (kinds of component it may price, factor, divisor) to an hour and a GiB
    "h": (frozenset({"gpu", "slice", "tpu", "core"}), Decimal(1), 1),
    "GiBy.h": (frozenset({"ram", "ssd"}), Decimal(1), 1),
    "GBy.h": (frozenset({"ram", "ssd"}), GIB_PER_GB, 1),
    "GiBy.mo": (frozenset({"ssd"}), Decimal(1), HOURS_PER_MONTH),
    "GBy.mo": (frozenset({"ssd"}), GIB_PER_GB, HOURS_PER_MONTH),
}
_NANOS = Decimal(1_000_000_000)

Sku = Mapping[str, Any]


@dataclass(frozen=True)
class Rate:
    """US dollars for one unit of a component in an hour, in one region, on these terms."""

    component: str
    option: PurchaseOption
    months: int
    region: str
    usd_per_hour: Decimal
    sku_id: str
    rank: int = 0


def read_sku(sku: Sku) -> Iterator[Rate | SkippedRow]:
    """The rates of one SKU, one for each of its regions; nothing for what is none of ours."""
    category = sku.get("category") or {}
    group = str(category.get("resourceGroup") or "")
    text = descriptions.normalize(str(sku.get("description") or ""))
    part = descriptions.parse_component(text, group)
    if part is None:
        if group.upper() in ("GPU", "TPU") and not descriptions.find_exclusion(text):
            yield SkippedRow("unknown accelerator", _format_label(sku))
        return
    terms = descriptions.parse_terms(text, str(category.get("usageType") or ""))
    reason = descriptions.find_exclusion(text) or (terms if isinstance(terms, str) else "")
    price = _parse_hourly_price(sku, part.name)
    regions = _list_regions(sku)
    reason = reason or (price if isinstance(price, str) else "") or ("" if regions else "no region")
    if reason:
        yield SkippedRow(reason, _format_label(sku))
        return
    assert isinstance(terms, descriptions.Terms)
    assert isinstance(price, Decimal)
    usd_per_unit = price * part.share.denominator / part.share.numerator
    for region in regions:
        yield Rate(
            part.name,
            terms.option,
            terms.months,
            region,
            usd_per_unit,
            str(sku.get("skuId") or ""),
            terms.rank,
        )


class RateBook:
    """Rates by component, terms and region. Two prices for one are none."""

    def __init__(self, rates: Iterable[Rate]) -> None:
        self._rates: dict[tuple[str, PurchaseOption, int], dict[str, list[Rate]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for rate in rates:
            region_rates = self._rates[rate.component, rate.option, rate.months][rate.region]
            if region_rates and rate.rank < region_rates[0].rank:
                region_rates.clear()
            if not region_rates or rate.rank == region_rates[0].rank:
                region_rates.append(rate)

    def regions(self, component: str, option: PurchaseOption, months: int) -> list[str]:
        """Regions in which the component has a rate on these terms."""
        return sorted(self._rates.get((component, option, months), ()))

    def rate(
        self, component: str, option: PurchaseOption, months: int, region: str
    ) -> Rate | SkippedRow:
        """The rate, or why there is none."""
        rates = self._rates.get((component, option, months), {}).get(region, [])
        where = f"{component} {region} {option.value} {months or ''}".strip()
        if not rates:
            return SkippedRow("a part of the machine has no price", where)
        if len({rate.usd_per_hour for rate in rates}) > 1:
            return SkippedRow("two prices for one part of the machine", where)
        return rates[0]


def multiply_exactly(rate: Decimal, quantity: Decimal | Fraction | int) -> Decimal:
    """`rate` × `quantity`, exact where a decimal can be.

    >>> multiply_exactly(Decimal("3"), Fraction(1, 8))
    Decimal('0.375')
    """
    if isinstance(quantity, Fraction):
        return rate * quantity.numerator / quantity.denominator
    return rate * quantity


def _parse_hourly_price(sku: Sku, component: str) -> Decimal | str:
    """US dollars per hour and unit (core, GiB, accelerator), or why there is no such price."""
    infos = sku.get("pricingInfo") or ()
    if not infos:
        return "no price"
    expression = _select_latest(infos).get("pricingExpression") or {}
    base = [
        r
        for r in expression.get("tieredRates") or ()
        if _parse_decimal(r.get("startUsageAmount")) == 0
    ]
    if not base:
        return "no price from the first unit on"
    unit_price = base[0].get("unitPrice") or {}
    if str(unit_price.get("currencyCode") or "USD").upper() != "USD":
        return "converted price, not in US dollars"
    kinds, factor, divisor = _PER_HOUR.get(
        str(expression.get("usageUnit") or ""), (frozenset[str](), Decimal(0), 1)
    )
    if component.partition(":")[0] not in kinds:
        return "unit is not understood"
    amount = (
        _parse_decimal(unit_price.get("units")) + _parse_decimal(unit_price.get("nanos")) / _NANOS
    )
    return amount * factor / divisor if amount > 0 else "price is zero"


def _select_latest(infos: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The newest state of a price; the API puts it first and dates it in RFC 3339."""
    return max(infos, key=lambda info: str(info.get("effectiveTime") or ""))


def _list_regions(sku: Sku) -> list[str]:
    """Where the SKU holds: `serviceRegions`; `geoTaxonomy` only where those name no region."""
    region_names = [str(region) for region in sku.get("serviceRegions") or ()]
    if not _drop_global(region_names):
        region_names = [
            str(region) for region in (sku.get("geoTaxonomy") or {}).get("regions") or ()
        ]
    return _drop_global(region_names)


def _drop_global(regions: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(regions) if name and name.lower() != "global"]


def _parse_decimal(value: object) -> Decimal:
    return Decimal(str(value)) if value not in (None, "") else Decimal(0)


def _format_label(sku: Sku) -> str:
    return f"{sku.get('skuId') or '?'} {sku.get('description') or ''}".strip()
