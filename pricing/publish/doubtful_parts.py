"""Regions and families in which a list that is sound elsewhere cannot be right. PURE.

A region mostly comes in answers of its own, and so do some families. Where one of them lost rows
as no provider takes offers off the market, changed its currency without converting the numbers, or
moved most of its prices beyond their bands, the fault is that answer's: what is published of it
stays in force with its own date, is named, and all else is published. Where more than a few look
so, or offers went elsewhere too, the fault is the list's, and `pricing.publish.losses` holds it
whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pricing.common.pluralize import pluralize
from pricing.ingest.provider import NotRead
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.families import instance_family
from pricing.market.offers import Offer
from pricing.publish.losses import MAX_OFFER_LOSS, MIN_PART_SIZE
from pricing.publish.outliers import Outlier, is_relabelled

MIN_PARTS = 5
"""Regions, or families, from which on some can be sound while another is not."""
MAX_LEFT_SHARE = 0.35
"""Share of the published offers that may be left: of more, little would be published."""
MAX_LOST_ELSEWHERE = 0.25
"""Share of all lost offers that may have gone from other parts: more is the list's loss."""
MIN_LOST_OFFERS = 3
"""Offers that have to go from a part too small for a share, along with half of it."""

PartOf = Callable[[Offer], str]


@dataclass(frozen=True)
class _Kind:
    """One way to take a list apart."""

    part_of: PartOf
    max_count: int
    """Parts that may be doubtful alone, or `max_share` of them where that is more."""
    max_share: float
    force: str
    """How an operator publishes what came of a part."""


def _family(offer: Offer) -> str:
    return instance_family(offer.instance_type)


_REGION = _Kind(lambda offer: offer.region, 1, 0.10, "--region {part} --force")
_FAMILY = _Kind(_family, 3, 0.10, "--force")


@dataclass(frozen=True)
class _Part:
    """What was published of a part, and what of it is gone or cannot be right."""

    name: str
    published: Sequence[Offer]
    lost: Sequence[Offer]
    moved: Sequence[Offer]
    has_other_currency: bool


def find_doubtful_parts(
    passed: Collection[Offer],
    before: Sequence[Offer],
    outliers: Iterable[Outlier],
    key: Callable[[Offer], str],
    rates: ExchangeRates,
    *,
    is_held: bool,
) -> tuple[NotRead, ...]:
    """What to leave as it is published; nothing where the list itself is in doubt.

    `before` are the published offers that the batch should hold; two offers of one `key` are one.
    Where the batch `is_held` otherwise, a loss of a small purchase option is one as well.
    """
    sold = {key(offer) for offer in passed if offer.sold_now}
    lost = [offer for offer in before if key(offer) not in sold]
    moved = [one.offer for one in outliers]
    relabelled = _find_relabelled(passed, before, rates)
    for kind in (_REGION, _FAMILY):
        doubtful_parts = _find_of_kind(kind, before, lost, moved, relabelled, is_held)
        if doubtful_parts:
            return doubtful_parts
    return ()


def find_unlisted(
    passed: Iterable[Offer], before: Sequence[Offer], reasons: Sequence[str]
) -> frozenset[str]:
    """Ids of priced offers that a held batch says are no longer sold, where they explain its loss.

    Prices and what is sold where come from lists apart: a half of the latter is no loss of prices.
    """
    if not reasons or len(before) < MIN_PART_SIZE:
        return frozenset()
    states = {offer.id: offer.sold_now for offer in passed}
    lost = [offer.id for offer in before if not states.get(offer.id)]
    unlisted = frozenset(one for one in lost if one in states)
    return unlisted if len(lost) - len(unlisted) <= MAX_LOST_ELSEWHERE * len(lost) else frozenset()


def _find_of_kind(
    kind: _Kind,
    before: Sequence[Offer],
    lost: Sequence[Offer],
    moved: Sequence[Offer],
    relabelled: Sequence[Offer],
    is_held: bool,
) -> tuple[NotRead, ...]:
    published, gone = _group(before, kind.part_of), _group(lost, kind.part_of)
    beyond = _group(moved, kind.part_of)
    other_currency = {kind.part_of(offer) for offer in relabelled}
    parts = [
        _Part(name, offers, gone.get(name, ()), beyond.get(name, ()), name in other_currency)
        for name, offers in sorted(published.items())
    ]
    if len(parts) < MIN_PARTS:
        return ()
    doubtful_parts = {
        part.name: doubtful for part in parts for doubtful in _judge(kind, part, is_held)
    }
    lost_elsewhere = sum(len(part.lost) for part in parts if part.name not in doubtful_parts)
    left = sum(len(part.published) for part in parts if part.name in doubtful_parts)
    is_alone = (
        len(doubtful_parts) <= max(kind.max_count, kind.max_share * len(parts))
        and left <= MAX_LEFT_SHARE * len(before)
        and lost_elsewhere <= max(MIN_LOST_OFFERS, MAX_LOST_ELSEWHERE * len(lost))
    )
    return tuple(doubtful_parts.values()) if is_alone else ()


def _judge(kind: _Kind, part: _Part, is_held: bool) -> Iterator[NotRead]:
    """`part`, or purchase options of it, where what came of it cannot be right."""
    size, lost, moved = len(part.published), len(part.lost), len(part.moved)
    is_short = _is_too_much(lost, size) or _is_most(lost, size)
    other = _FAMILY if kind is _REGION else _REGION
    if part.has_other_currency:
        yield _leave(kind, part, f"{part.name} changed its currency without converting the numbers")
    elif options := _find_short_options(part, strictly=not (is_short or is_held)):
        labels = " and ".join(option.replace("_", " ") for option in options)
        yield _leave(kind, part, f"{part.name} lost too many of its {labels} offers", options)
    elif is_short:
        yield _leave(kind, part, f"{part.name} lost {lost} of its {pluralize(size, 'offer')}")
    elif moved >= MIN_LOST_OFFERS and 2 * moved > size:
        yield _leave(kind, part, f"{moved} of {size} prices of {part.name} moved beyond their band")
    elif names := _find_short(part, other.part_of, strictly=True):
        yield _leave(kind, part, f"{part.name} lost too many of its offers of {names[0]}")


def _leave(kind: _Kind, part: _Part, reason: str, options: tuple[str, ...] = ()) -> NotRead:
    hint = f"refresh with {kind.force.format(part=part.name)} if that is so"
    if kind is _REGION:
        return NotRead(f"{reason}; {hint}", options, (part.name,))
    names = tuple(sorted({offer.instance_type for offer in part.published}))
    return NotRead(f"{reason}; {hint}", options, (), names)


def _is_too_much(lost: int, size: int) -> bool:
    return size >= MIN_PART_SIZE and lost > MAX_OFFER_LOSS * size


def _is_most(lost: int, size: int) -> bool:
    return lost == size or (lost >= MIN_LOST_OFFERS and 2 * lost >= size)


def _find_short_options(part: _Part, *, strictly: bool) -> tuple[str, ...]:
    """The purchase options that explain what `part` lost; none where they do not, or all do."""
    options = _find_short(part, _option, strictly=strictly)
    lost_elsewhere = sum(_option(offer) not in options for offer in part.lost)
    is_whole = len(options) == len({_option(offer) for offer in part.published})
    explains = lost_elsewhere <= MAX_LOST_ELSEWHERE * len(part.lost)
    return options if explains and not is_whole else ()


def _option(offer: Offer) -> str:
    return offer.purchase_option.value


def _find_short(part: _Part, part_of: PartOf, *, strictly: bool) -> tuple[str, ...]:
    """Parts within `part` that lost more than their share; `strictly`: none that are small."""
    sizes, losses = Counter(map(part_of, part.published)), Counter(map(part_of, part.lost))
    return tuple(
        name
        for name, lost in sorted(losses.items())
        if _is_too_much(lost, sizes[name]) or (not strictly and _is_most(lost, sizes[name]))
    )


def _find_relabelled(
    passed: Iterable[Offer], before: Iterable[Offer], rates: ExchangeRates
) -> list[Offer]:
    offers = {offer.id: offer for offer in before}
    return [
        offer
        for offer in passed
        if offer.sold_now and (old := offers.get(offer.id)) and is_relabelled(offer, old, rates)
    ]


def _group(offers: Iterable[Offer], part_of: PartOf) -> Mapping[str, list[Offer]]:
    groups: defaultdict[str, list[Offer]] = defaultdict(list)
    for offer in offers:
        groups[part_of(offer)].append(offer)
    return groups
