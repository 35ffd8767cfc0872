"""One price for one machine where several meters bear its name.

Azure may keep several meters for one machine name in a region: an older and a newer state of
one meter, the same price twice, or a variant filed under the wrong name (a row of NC144lds
under NC144ds). The last one read is not the right one; without a rule that tells, there is no
price.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pricing.ingest.provider import SkippedRow
from pricing.market.offers import PurchaseOption
from pricing.providers.azure.price_rows import Price

_EARLIEST = dt.datetime.min.replace(tzinfo=dt.UTC)
_Meter = tuple[str, str, str, str]
_SIZE = re.compile(r"n[a-z]+\d+[a-z]*", re.IGNORECASE)


def resolve_meters(prices: Sequence[Price]) -> Iterator[Price | SkippedRow]:
    """At most one price for each machine, region, option and term."""
    newest = _find_newest(prices)
    groups: dict[tuple[str, str, str, int], list[Price]] = defaultdict(list)
    for price in prices:
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


def _find_newest(prices: Iterable[Price]) -> dict[_Meter, dt.datetime]:
    """When the state of each meter that is in force began."""
    newest: dict[_Meter, dt.datetime] = defaultdict(lambda: _EARLIEST)
    for price in prices:
        meter = _meter(price)
        newest[meter] = max(newest[meter], price.effective or _EARLIEST)
    return newest


def _meter(price: Price) -> _Meter:
    """What has states: savings plans are told in the rows of pay-as-you-go and go with them."""
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
