"""One row of the Retail Prices API into prices, or the reason why it is none.

https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices

Nothing but the words of a row tells its variants apart: Windows and Linux share the machine's
name and the meter, Spot and Low Priority are `Consumption` like pay-as-you-go.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from pricing.ingest.flat_list import parse_price
from pricing.ingest.provider import SkippedRow
from pricing.market.offers import PurchaseOption

CLOCK_TOLERANCE = dt.timedelta(days=1)
"""A price may begin or end so much beside our own clock, which may be off."""

_ACCELERATOR_SERIES = re.compile(r"(?:standard_|basic_)?n[a-z]+\d", re.IGNORECASE)
"""N-series: NC, NCC, ND, NG, NP, NV and later ones. NP is FPGA, as our machine types say."""
_OPTION_WORDS = re.compile(r"\s+(?:spot|low priority)\s*$", re.IGNORECASE)
_HOUR = re.compile(r"\s*1\s*hour\s*", re.IGNORECASE)
_YEARS = re.compile(r"\s*(\d+)\s*years?\s*", re.IGNORECASE)
_NOT_PUBLIC = re.compile(r"euap|stg|stage|brazilus")
"""Regions for Microsoft's own use, which the API lists beside the public ones."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Price:
    """What one row, or one savings plan in it, asks for one machine in one region."""

    region: str
    instance_type: str
    option: PurchaseOption
    per_hour: Decimal
    upfront: Decimal = Decimal(0)
    term_months: int = 0
    payment_option: str = ""
    sku_name: str = ""
    sku_id: str = ""
    effective: dt.datetime | None = None
    is_unusable: bool = False
    """It has no amount that can be read, and takes the place of older states all the same."""

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.region, self.instance_type.lower(), self.option.value, self.term_months


def region_name(text: str) -> str:
    """The region as prices spell it: Resource SKUs say "WestUS3", prices "westus3".

    >>> region_name("WestUS3"), region_name("West US 3")
    ('westus3', 'westus3')
    """
    return re.sub(r"[\s_-]", "", text).lower()


def read_row(row: Row, now: dt.datetime) -> Iterator[Price | SkippedRow]:
    name = _text(row, "armSkuName") or _text(row, "skuName")
    if not bool(_ACCELERATOR_SERIES.match(name)):
        return
    rejection = next((reason for reason, applies in _REASONS if applies(row, now)), "")
    if rejection:
        yield SkippedRow(rejection, _words(row))
        if rejection in _WITHOUT_AMOUNT and not _starts_later(row, now):
            prices = (one for one in _read_prices(row) if isinstance(one, Price))
            yield from (replace(price, is_unusable=True) for price in prices)
        return
    yield from _read_prices(row)


def _read_prices(row: Row) -> Iterator[Price | SkippedRow]:
    if _text(row, "type").lower() == "reservation":
        # `retailPrice` is the whole term's, whatever unit the row names: it becomes `upfront`,
        # undivided, and is counted once. Paying it in monthly parts costs the same.
        if term := parse_term_months(_text(row, "reservationTerm")):
            yield _price(
                row,
                PurchaseOption.RESERVED,
                per_hour=Decimal(0),
                upfront=_amount(row, "retailPrice"),
                term_months=term,
                payment_option="all_upfront",
            )
        else:
            yield SkippedRow("reservation without a known term", _words(row))
        return
    words = f"{_text(row, 'skuName')} | {_text(row, 'meterName')}".lower()
    option = PurchaseOption.ON_DEMAND
    if re.search(r"\bspot\b", words):
        option = PurchaseOption.SPOT
    elif re.search(r"\blow priority\b", words):
        option = PurchaseOption.LOW_PRIORITY
    price = _price(row, option, per_hour=_amount(row, "retailPrice"))
    yield price
    if price.option is PurchaseOption.ON_DEMAND:
        plans = row.get("savingsPlan") or []
        for plan in plans if isinstance(plans, list) else [plans]:
            plan_fields = plan if isinstance(plan, Mapping) else {}
            term = parse_term_months(_text(plan_fields, "term"))
            rate = _amount(plan_fields, "retailPrice") or _amount(plan_fields, "unitPrice")
            if not term or rate <= 0:
                yield SkippedRow("savings plan without a term or price", _words(row))
                continue
            yield _price(
                row,
                PurchaseOption.SAVINGS_PLAN,
                per_hour=rate,
                term_months=term,
                payment_option="no_upfront",
            )


def _price(row: Row, option: PurchaseOption, **terms: Any) -> Price:
    return Price(
        region=region_name(_text(row, "armRegionName")),
        instance_type=_text(row, "armSkuName"),
        option=option,
        sku_name=_OPTION_WORDS.sub("", _text(row, "skuName")),
        sku_id=_text(row, "skuId"),
        effective=parse_moment(row.get("effectiveStartDate")),
        **terms,
    )


def parse_term_months(text: str) -> int:
    """Months of "1 Year", "3 Years"; 0 for what is not a number of years.

    >>> parse_term_months("3 Years"), parse_term_months("")
    (36, 0)
    """
    match = _YEARS.fullmatch(text)
    return 12 * int(match[1]) if match else 0


def parse_moment(text: object) -> dt.datetime | None:
    """A time of the API, UTC where it does not say."""
    try:
        parsed = dt.datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=dt.UTC)


def _words(row: Row) -> str:
    parts = (_text(row, "armSkuName") or _text(row, "skuName"), _text(row, "productName"))
    return " | ".join(part for part in parts if part)


def _text(row: Row, field: str) -> str:
    value = row.get(field)
    return value.strip() if isinstance(value, str) else ""


# Why a row is not a price of a Linux machine -----------------------------------------------


def _starts_later(row: Row, now: dt.datetime) -> bool:
    start = parse_moment(row.get("effectiveStartDate"))
    return start is not None and start > now + CLOCK_TOLERANCE


def _has_ended(row: Row, now: dt.datetime) -> bool:
    end = parse_moment(row.get("effectiveEndDate"))
    is_over = end is not None and end < now - CLOCK_TOLERANCE
    return is_over or _has(row, "meterName", r"\bexpired\b")


def _has(row: Row, field: str, pattern: str) -> bool:
    return re.search(pattern, _text(row, field), re.IGNORECASE) is not None


def _amount(row: Row, field: str) -> Decimal:
    try:
        return parse_price(row.get(field))
    except ValueError:
        return Decimal(0)


def _parse_region(row: Row) -> str:
    return region_name(_text(row, "armRegionName"))


_OTHER_UNIT = "unit is not an hour"
_CONVERTED = "converted price, not in US dollars"
_ZERO = "price is zero or missing"
_WITHOUT_AMOUNT = frozenset({_OTHER_UNIT, _CONVERTED, _ZERO})
_REASONS: tuple[tuple[str, Callable[[Row, dt.datetime], bool]], ...] = (
    ("no product name, Windows cannot be told", lambda row, _: not _text(row, "productName")),
    ("Windows", lambda row, _: _has(row, "productName", r"\b(?:windows|win)\b")),
    (
        "Dedicated Host",
        lambda row, _: (
            _has(row, "productName", "dedicated host")
            or _has(row, "armSkuName" if _text(row, "armSkuName") else "skuName", r"[_ ]type\d+$")
        ),
    ),
    (
        "Cloud Services",
        lambda row, _: (
            _has(row, "productName", "cloud *services")
            or _has(row, "serviceName", "^cloud *services$")
        ),
    ),
    ("not a virtual machine", lambda row, _: not _has(row, "serviceName", "^(virtual machines)?$")),
    (
        "promotion",
        lambda row, _: _has(row, "armSkuName", "_promo$") or _has(row, "productName", r"\bpromo\b"),
    ),
    ("expired", _has_ended),
    ("dev/test", lambda row, _: _has(row, "type", "^devtestconsumption$")),
    ("unknown type of price", lambda row, _: not _has(row, "type", "^(consumption|reservation)$")),
    (
        "not the primary meter",
        lambda row, _: str(row.get("isPrimaryMeterRegion", True)).lower() == "false",
    ),
    ("price of a volume tier", lambda row, _: _amount(row, "tierMinimumUnits") != 0),
    (_OTHER_UNIT, lambda row, _: not _HOUR.fullmatch(_text(row, "unitOfMeasure"))),
    (_CONVERTED, lambda row, _: not _has(row, "currencyCode", "^(usd)?$")),
    (_ZERO, lambda row, _: _amount(row, "retailPrice") <= 0),
    ("no machine name", lambda row, _: not _text(row, "armSkuName")),
    ("no region", lambda row, _: not _parse_region(row)),
    ("not a public region", lambda row, _: bool(_NOT_PUBLIC.search(_parse_region(row)))),
    ("not yet in effect", _starts_later),
)


_EARLIEST = dt.datetime.min.replace(tzinfo=dt.UTC)
_Meter = tuple[str, str, str, str]
_SIZE = re.compile(r"n[a-z]+\d+[a-z]*", re.IGNORECASE)


def resolve_meters(prices: Sequence[Price]) -> Iterator[Price | SkippedRow]:
    newest: dict[_Meter, dt.datetime] = defaultdict(lambda: _EARLIEST)
    groups: dict[tuple[str, str, str, int], list[Price]] = defaultdict(list)
    for price in prices:
        meter = _meter(price)
        newest[meter] = max(newest[meter], price.effective or _EARLIEST)
        groups[price.key].append(price)
    for group in groups.values():
        yield from _resolve_group(group, newest)


def _resolve_group(
    group: Sequence[Price], newest: Mapping[_Meter, dt.datetime]
) -> Iterator[Price | SkippedRow]:
    current = [p for p in group if (p.effective or _EARLIEST) == newest[_meter(p)]]
    usable = [price for price in group if not price.is_unusable]  # the others are told already
    yield from (_skip("older state of a price", p) for p in usable if p not in current)
    current = [price for price in usable if price in current]
    if not current:
        return
    best_match = max(_match_strength(price) for price in current)
    best_matches = [price for price in current if _match_strength(price) == best_match]
    yield from (_skip("meter of another machine", p) for p in current if p not in best_matches)
    if len({(price.per_hour, price.upfront) for price in best_matches}) > 1:
        yield from (_skip("several meters with different prices", p) for p in best_matches)
        return
    yield best_matches[0]
    yield from (_skip("same price from another meter", price) for price in best_matches[1:])


def _meter(price: Price) -> _Meter:
    is_hourly = price.option in (PurchaseOption.ON_DEMAND, PurchaseOption.SAVINGS_PLAN)
    terms = "" if is_hourly else f"{price.option.value} {price.term_months}"
    return price.region, price.instance_type.lower(), price.sku_id, terms


def _match_strength(price: Price) -> int:
    """How surely a meter is the machine's own: 2 by its whole name, 1 by its size, 0 not.

    Names are compared without punctuation; "ND96isrH100v5" is Standard_ND96isr_H100_v5, and
    "NC144dsxlRTX6kv6" at least of the size NC144ds. A machine is never named from a meter.
    """
    machine, meter = _normalize_name(price.instance_type), _normalize_name(price.sku_name)
    if machine == meter:
        return 2
    size = _SIZE.match(re.sub(r"(?i)^(?:standard|basic)_", "", price.instance_type))
    return 1 if size and meter.startswith(size[0].lower()) else 0


def _normalize_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", re.sub(r"^(?:standard|basic)[_ ]", "", name.lower()))


def _skip(reason: str, price: Price) -> SkippedRow:
    where = f"{price.instance_type} {price.region} {price.option.value}"
    return SkippedRow(reason, f"{where}: {price.sku_name}")
