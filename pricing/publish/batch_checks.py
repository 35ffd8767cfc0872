"""Checks that a batch must pass before it is published. PURE.

There are four kinds of finding:

- A row that cannot be right by itself is *rejected* with its reason and the others go on: not in
  the form of an offer, a price of 0 or less, an unknown accelerator or currency, two prices for
  one offer, a region in two spellings, spot above on demand, a bigger size cheaper than a smaller
  one. A rejected offer is absent; it is never shown with an older price.
- A price that moved beyond its band is *quarantined* alone: what is
  published of it stays in force with its own date, and an operator decides on the new one.
- A region or family that cannot be right while the others can is
  *left* as it is published and named; the others are published.
- A batch that differs from the published state as a provider hardly ever does is *quarantined*
  whole for review: more than 5 % of its prices beyond their bands, too many offers gone, a
  currency changed without converting the number, more than 20 % of the rows rejected, impossible
  dates.

`force` overrules both quarantines, takes in every region and, of the rejected rows, the last two
kinds, which are improbable yet possible; nothing overrules the others.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pricing.common.pluralize import pluralize
from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.machine_types import instance_family
from pricing.market.offers import Offer
from pricing.publish.batch import OfferBatch
from pricing.publish.row_checks import RejectedRow, check_rows, find_contradictions

MAX_REJECTED_SHARE = 0.20
"""Share of the rows that may be rejected before the whole batch is quarantined for review."""


@dataclass(frozen=True)
class PublishedState:
    """What is published of the provider at the moment; empty before the first revision."""

    offers: Sequence[Offer] = ()
    as_of: dt.date | None = None
    origin: str = ""
    exchange_rates: ExchangeRates = field(default_factory=ExchangeRates)
    expected: Sequence[Offer] = ()
    """What the first list of a provider is compared with while nothing is published."""
    known_regions: frozenset[str] = frozenset()
    """Regions of the provider in their right spelling."""
    read_ranges: PriceRanges = lambda _offers: {}
    """What interruptible prices were before."""


@dataclass(frozen=True)
class CheckResult:
    """What the checks decided of a batch."""

    offers: tuple[Offer, ...]
    """What would be published: the rows that passed, and what stays in force beside them."""
    rejected_rows: tuple[SkippedRow, ...]
    reasons: tuple[str, ...]
    """Why the whole batch is quarantined; empty when it may be published."""
    carried_over: int = 0
    """Offers that stay in force with their own dates because they were not read."""
    outliers: tuple[Outlier, ...] = ()
    """Prices that are not published, their published ones staying in force."""
    doubtful_parts: tuple[NotRead, ...] = ()
    """Regions, or options of them, that stay as published because what came cannot be right."""


@dataclass(frozen=True)
class _Reading:
    """A batch and its rows, sorted by what was seen of each."""

    batch: OfferBatch
    passed: Sequence[Offer]
    rejected: Sequence[RejectedRow]
    outliers: Sequence[Outlier]


def check(
    batch: OfferBatch, published_state: PublishedState, today: dt.date, *, force: bool = False
) -> CheckResult:
    """Check `batch` against the published state; the module says what each finding leads to."""
    published = {offer.id: offer for offer in published_state.offers}
    rates = published_state.exchange_rates
    outliers: list[Outlier] = []

    def settle(offers: list[Offer]) -> list[Offer]:
        """Prices beyond their band say nothing of the others: the published ones do."""
        offers = _keep_unsold(batch, offers, published_state.offers)
        outliers.extend(find_outliers(offers, published, rates, published_state.read_ranges))
        settled = offers if force else _keep_published(offers, outliers)
        movers = find_movers(find_contradictions(settled), published, rates)
        outliers.extend(movers)
        too_many = is_too_many(outliers, sum(offer.id in published for offer in offers))
        return offers if force or too_many else _keep_published(settled, movers)

    passed, rejected_rows = check_rows(
        batch.offers,
        provider=batch.provider,
        rates=rates,
        known_regions=published_state.known_regions,
        latest=max(today, batch.as_of),
        settle=settle,
        force=force,
    )
    reading = _Reading(batch, passed, rejected_rows, outliers)
    result = _decide(reading, published_state, today, force=force)
    if force or batch.origin == "bundled":  # which one file holds
        return result
    for without, doubtful_parts in _leave_what_is_doubtful(reading, published_state, result):
        remaining = _decide(without, published_state, today)
        if not remaining.reasons:
            return replace(remaining, doubtful_parts=doubtful_parts)
    # Where leaving something is not enough, an operator judges the list as it came.
    return result


def _decide(
    reading: _Reading, published_state: PublishedState, today: dt.date, *, force: bool = False
) -> CheckResult:
    published = {offer.id for offer in published_state.offers}
    compared = sum(offer.id in published for offer in reading.passed)
    too_many = is_too_many(reading.outliers, compared)
    passed = list(reading.passed)
    if not (force or too_many):
        passed = _keep_published(passed, reading.outliers)
    checked_ids = {offer.id for offer in passed} | {row.offer_id for row in reading.rejected}
    # What the batch says nothing about: parts that were not read, and machines no longer sold,
    # whose last known price is still shown.
    carried_over = [
        offer
        for offer in published_state.offers
        if offer.id not in checked_ids and (not offer.sold_now or _is_unread(offer, reading.batch))
    ]
    reasons: list[str] = []
    if not force:
        reasons += _find_reasons(reading, passed, carried_over, published_state, today)
        moves = [one.describe() for one in reading.outliers] if too_many else []
        reasons += summarize_names(moves, f"changed by more than a factor of {MAX_PRICE_RATIO:g}")
    return CheckResult(
        (*passed, *carried_over),
        tuple(SkippedRow(row.reason, row.detail) for row in reading.rejected),
        tuple(reasons),
        len(carried_over),
        () if force or too_many else tuple(reading.outliers),
    )


def _find_reasons(
    reading: _Reading,
    passed: Sequence[Offer],
    carried_over: Sequence[Offer],
    published_state: PublishedState,
    today: dt.date,
) -> Iterator[str]:
    batch = reading.batch
    if published_state.as_of and batch.as_of < published_state.as_of:
        in_force = f"the revision in force of {published_state.as_of}"
        yield f"it is dated {batch.as_of}, older than {in_force}"
    if batch.as_of > today + dt.timedelta(days=1):
        yield f"it is dated {batch.as_of}, which is after today, {today}; check the clock"
    rejected_count = sum(1 for row in reading.rejected if row.counts_against_batch)
    if batch.offers and rejected_count > MAX_REJECTED_SHARE * len(batch.offers):
        offers = pluralize(len(batch.offers), "offer")
        yield f"{rejected_count} of its {offers} did not pass the checks"
    published = {offer.id: offer for offer in published_state.offers if offer.sold_now}
    relabelled = _find_relabelled(passed, published, published_state.exchange_rates)
    yield from summarize_names(
        [f"{o.id} {published[o.id].currency} → {o.currency}" for o in relabelled],
        "changed currency without converting the number",
    )
    if not published_state.offers:
        published = {offer.id: offer for offer in published_state.expected if offer.sold_now}
        carried_over = [o for o in published.values() if _is_unread(o, batch)]
    yield from find_losses(batch, passed, carried_over, published, _key(batch, published_state))


def _leave_what_is_doubtful(
    reading: _Reading, published_state: PublishedState, result: CheckResult
) -> Iterator[tuple[_Reading, tuple[NotRead, ...]]]:
    batch = reading.batch
    before = [o for o in published_state.offers if o.sold_now and not _is_unread(o, batch)]
    if doubtful_parts := find_doubtful_parts(
        reading,
        before,
        _key(batch, published_state),
        published_state.exchange_rates,
        is_quarantined=bool(result.reasons),
    ):
        left_out = {o.id for o in batch.offers if any(_covers(p, o) for p in doubtful_parts)}
        yield (
            _Reading(
                replace(
                    batch,
                    offers=tuple(offer for offer in batch.offers if offer.id not in left_out),
                    not_read=(*batch.not_read, *doubtful_parts),
                ),
                [offer for offer in reading.passed if offer.id not in left_out],
                [row for row in reading.rejected if row.offer_id not in left_out],
                [one for one in reading.outliers if one.offer.id not in left_out],
            ),
            doubtful_parts,
        )
    if unlisted := find_unlisted(reading.passed, before, result.reasons):
        sold = [replace(o, sold_now=True) if o.id in unlisted else o for o in reading.passed]
        offers = pluralize(len(unlisted), "priced offer")
        hint = "refresh with --force if that is so"
        reason = f"the list of what is sold where lacks {offers}; {hint}"
        yield replace(reading, passed=sold), (NotRead(reason, availability_only=True),)


def _keep_published(passed: list[Offer], outliers: Iterable[Outlier]) -> list[Offer]:
    before = {one.offer.id: one.before for one in outliers}
    return [before.get(offer.id, offer) for offer in passed] if before else passed


def _is_unread(offer: Offer, batch: OfferBatch) -> bool:
    if batch.regions and offer.region not in batch.regions:
        return True
    return any(_covers(part, offer) for part in batch.not_read if not part.availability_only)


def _keep_unsold(batch: OfferBatch, passed: list[Offer], published: Iterable[Offer]) -> list[Offer]:
    parts = [part for part in batch.not_read if part.availability_only]
    unsold = {offer.id for offer in published if not offer.sold_now} if parts else set()
    return [
        replace(offer, sold_now=False)
        if offer.id in unsold and any(_covers(part, offer) for part in parts)
        else offer
        for offer in passed
    ]


def _covers(part: NotRead, offer: Offer) -> bool:
    limits = (
        (part.purchase_options, offer.purchase_option),
        (part.regions, offer.region),
        (part.instance_types, offer.instance_type),
    )
    return all(not allowed or value in allowed for allowed, value in limits)


def _key(batch: OfferBatch, published_state: PublishedState) -> Callable[[Offer], str]:
    """By which two offers are one: the bundled list has no zones."""
    if batch.origin != "bundled" and (
        not published_state.offers or published_state.origin == "bundled"
    ):
        return lambda offer: replace(offer, zone="").id if offer.zone else offer.id
    return lambda offer: offer.id


MAX_PRICE_RATIO = 5.0
"""A price may rise or fall by this factor from one revision to the next."""
MIN_MOVE = 1.25
"""Factor from which on a price that contradicts another is taken to be the one that moved."""
_TOLERANCE = 1 + 1e-9
"""The same for a rise and a fall, rounding of floats aside."""
MAX_OUTLIER_SHARE = 0.05
"""Share of the prices compared that may be outliers before the batch is quarantined whole."""

PriceRange = tuple[float, float]
"""Lowest and highest effective price per hour that an offer ever had, in its own currency."""
PriceRanges = Callable[[Sequence[Offer]], Mapping[str, PriceRange]]
"""Ranges by offer id; an offer without a history is absent."""


@dataclass(frozen=True)
class Outlier:
    """A price beyond its band."""

    offer: Offer
    before: Offer
    ratio: float
    """Price now / price before, in one currency."""

    def describe(self) -> str:
        """The move in words: id, both prices, the ratio."""
        prices = f"{_format_price(self.before)} → {_format_price(self.offer)}"
        return f"{self.offer.id} {prices} (× {self.ratio:.3g})"


def find_outliers(
    offers: Iterable[Offer],
    published: Mapping[str, Offer],
    rates: ExchangeRates,
    read_ranges: PriceRanges,
) -> list[Outlier]:
    """The prices of `offers` beyond their band around `published` (offer id → offer)."""
    moved = [
        Outlier(offer, before, _price_ratio(offer, before, rates))
        for offer in offers
        if (before := published.get(offer.id)) is not None
        and not has_same_price(offer, before)
        and not is_relabelled(offer, before, rates)
    ]
    beyond = [one for one in moved if not _is_within(one.ratio, 1.0, 1.0)]
    spot = [one.before for one in beyond if one.offer.purchase_option.is_interruptible]
    ranges = read_ranges(spot) if spot else {}
    return [one for one in beyond if not _is_usual(one, ranges)]


def find_movers(
    pairs: Iterable[tuple[Offer, Offer]], published: Mapping[str, Offer], rates: ExchangeRates
) -> list[Outlier]:
    """Of each pair that contradicts itself the price that moved further, where that is known.

    Both were published without a contradiction: what moved is at fault, not what stayed.
    """
    movers: dict[str, Outlier] = {}
    for pair in pairs:
        known = [(offer, published[offer.id]) for offer in pair if offer.id in published]
        if len(known) < len(pair):
            continue
        moves = [Outlier(offer, old, _price_ratio(offer, old, rates)) for offer, old in known]
        mover = max(moves, key=lambda one: abs(math.log(one.ratio)))
        if not _is_within(mover.ratio, 1 / MIN_MOVE, MIN_MOVE, factor=1.0):
            movers[mover.offer.id] = mover
    return list(movers.values())


def is_too_many(outliers: Sequence[Outlier], compared: int) -> bool:
    """Whether so many of the `compared` prices are outliers that the list itself is in doubt."""
    return len(outliers) > MAX_OUTLIER_SHARE * compared


def has_same_price(offer: Offer, before: Offer) -> bool:
    """Whether neither price nor currency changed."""
    return offer is before or (
        offer.price_per_hour == before.price_per_hour
        and offer.upfront == before.upfront
        and offer.currency == before.currency
    )


def is_relabelled(offer: Offer, before: Offer, rates: ExchangeRates) -> bool:
    """Whether the currency changed and the number was not converted: as a number it moved less
    than as an amount of money. Its price may have moved a little on the same day."""
    if offer.currency == before.currency:
        return False
    number = float(offer.effective_price_per_hour) / float(before.effective_price_per_hour)
    return abs(math.log(number)) < abs(math.log(_price_ratio(offer, before, rates)))


def _is_usual(one: Outlier, ranges: Mapping[str, PriceRange]) -> bool:
    lowest, highest = ranges.get(one.offer.id, (0.0, 0.0))
    price = float(one.before.effective_price_per_hour)
    if not (lowest and highest and price):
        return False
    return _is_within(one.ratio, min(lowest / price, 1.0), max(highest / price, 1.0))


def _is_within(
    ratio: float, lowest: float, highest: float, factor: float = MAX_PRICE_RATIO
) -> bool:
    factor *= _TOLERANCE
    return lowest / factor <= ratio <= highest * factor


def _price_ratio(offer: Offer, before: Offer, rates: ExchangeRates) -> float:
    price_now, price_before = offer.effective_price_per_hour, before.effective_price_per_hour
    if offer.currency == before.currency:
        return float(price_now) / float(price_before)
    return float(
        rates.to_usd(price_now, offer.currency) / rates.to_usd(price_before, before.currency)
    )


def _format_price(offer: Offer) -> str:
    return f"{offer.effective_price_per_hour:.6g} {offer.currency}/h"


MAX_OFFER_LOSS = 0.20
"""Share of the offers sold now that may go from one revision to the next, of all and of a part."""
MIN_PART_SIZE = 10
"""Offers of a part from which on its share counts: of fewer, one machine is a fifth."""

PartOf = Callable[[Offer], str]


def _family(offer: Offer) -> str:
    return instance_family(offer.instance_type)


def _region(offer: Offer) -> str:
    return offer.region


def _option(offer: Offer) -> str:
    return offer.purchase_option.value


_PARTS: tuple[tuple[str, PartOf], ...] = (
    ("family", _family),
    ("region", _region),
    ("option", lambda offer: _option(offer).replace("_", " ")),
    ("", lambda offer: f"{_family(offer)} in {offer.region}"),
)


def find_losses(
    batch: OfferBatch,
    passed: Iterable[Offer],
    carried_over: Iterable[Offer],
    published: Mapping[str, Offer],
    key: Callable[[Offer], str],
) -> Iterator[str]:
    """Each loss that no provider would make, as a reason to quarantine `batch`.

    `published` are the offers sold now by id, `carried_over` those of them that were not read;
    two offers of the same `key` are one offer.
    """
    unread = [offer for offer in carried_over if offer.sold_now]
    before = [published[one] for one in published.keys() - {offer.id for offer in unread}]
    sold = [offer for offer in passed if offer.sold_now]
    is_short = len(sold) < (1 - MAX_OFFER_LOSS) * len(before)
    if is_short:
        lost_share = 1 - len(sold) / len(before)
        sold_count = pluralize(len(sold), "offer")
        yield f"it has {sold_count} on sale, down from {len(before)} ({lost_share:.0%} fewer)"
    other_regions = [o for o in unread if batch.regions and o.region not in batch.regions]
    families = set(map(_family, before)) - set(map(_family, (*sold, *other_regions)))
    yield from summarize_names(sorted(families), "families are gone", "family is gone")
    regions = {o.region for o in before} - {o.region for o in sold}
    yield from summarize_names(sorted(regions), "regions are gone", "region is gone")
    if is_short:
        return
    sold_keys = set(map(key, sold))
    lost = [offer for offer in before if key(offer) not in sold_keys]
    for kind, part_of in _PARTS:
        sizes, losses = Counter(map(part_of, before)), Counter(map(part_of, lost))
        names = [
            f"{kind} {part} ({count} of {sizes[part]})".strip()
            for part, count in sorted(losses.items())
            if _is_too_much(count, sizes[part])
        ]
        one, many = "part lost more than 20% of its", "parts lost more than 20% of their"
        yield from summarize_names(names, f"{many} offers", f"{one} offers")


def summarize_names(
    names: Sequence[str], plural: str, singular: str = "", max_names: int = 5
) -> Iterable[str]:
    """One sentence on all of `names`, the first few of them by name."""
    if names:
        suffix = f" and {len(names) - max_names} more" if len(names) > max_names else ""
        count = pluralize(len(names), singular or plural, plural)
        yield f"{count}: {', '.join(names[:max_names])}{suffix}"


MIN_PARTS = 5
"""Regions, or families, from which on some can be sound while another is not."""
MAX_PART_SHARE = 0.10
"""Share of the regions, or families, that may be doubtful alone, where that is more than one
region or three families."""
MAX_LEFT_SHARE = 0.35
"""Share of the published offers that may be left: of more, little would be published."""
MAX_LOST_ELSEWHERE = 0.25
"""Share of all lost offers that may have gone from other parts: more is the list's loss."""
MIN_LOST_OFFERS = 3
"""Offers that have to go from a part too small for a share, along with half of it."""


@dataclass(frozen=True)
class _Part:
    """What was published of a region or family, and what of it is gone or cannot be right."""

    part_of: PartOf
    name: str
    published: Sequence[Offer]
    lost: Sequence[Offer]
    moved: int
    has_other_currency: bool


def find_doubtful_parts(
    reading: _Reading,
    before: Sequence[Offer],
    key: Callable[[Offer], str],
    rates: ExchangeRates,
    *,
    is_quarantined: bool,
) -> tuple[NotRead, ...]:
    """What to leave as it is published; nothing where the list itself is in doubt.

    `before` are the published offers that the batch should hold; two offers of one `key` are one.
    Where the batch `is_quarantined` otherwise, a loss of a small purchase option is one as well.
    """
    sold = {key(offer) for offer in reading.passed if offer.sold_now}
    lost = [offer for offer in before if key(offer) not in sold]
    relabelled = _find_relabelled(reading.passed, {o.id: o for o in before}, rates)
    for part_of, max_count in ((_region, 1), (_family, 3)):
        published, gone = _group(before, part_of), _group(lost, part_of)
        moved = Counter(part_of(one.offer) for one in reading.outliers)
        other_currency = set(map(part_of, relabelled))
        parts = [
            _Part(part_of, name, offers, gone[name], moved[name], name in other_currency)
            for name, offers in sorted(published.items())
        ]
        doubtful = {part.name: one for part in parts for one in _judge(part, is_quarantined)}
        lost_elsewhere = sum(len(part.lost) for part in parts if part.name not in doubtful)
        left = sum(len(part.published) for part in parts if part.name in doubtful)
        if (
            doubtful
            and len(parts) >= MIN_PARTS
            and len(doubtful) <= max(max_count, MAX_PART_SHARE * len(parts))
            and left <= MAX_LEFT_SHARE * len(before)
            and lost_elsewhere <= max(MIN_LOST_OFFERS, MAX_LOST_ELSEWHERE * len(lost))
        ):
            return tuple(doubtful.values())
    return ()


def _judge(part: _Part, is_quarantined: bool) -> Iterator[NotRead]:
    size, lost = len(part.published), len(part.lost)
    is_short = _is_too_much(lost, size) or _is_most(lost, size)
    other = _family if part.part_of is _region else _region
    if part.has_other_currency:
        yield _leave(part, f"{part.name} changed its currency without converting the numbers")
    elif options := _find_short_options(part, strictly=not (is_short or is_quarantined)):
        labels = " and ".join(option.replace("_", " ") for option in options)
        yield _leave(part, f"{part.name} lost too many of its {labels} offers", options)
    elif is_short:
        yield _leave(part, f"{part.name} lost {lost} of its {pluralize(size, 'offer')}")
    elif part.moved >= MIN_LOST_OFFERS and 2 * part.moved > size:
        moved = f"{part.moved} of {size} prices of {part.name}"
        yield _leave(part, f"{moved} moved beyond their band")
    elif names := _find_short(part, other, strictly=True):
        yield _leave(part, f"{part.name} lost too many of its offers of {names[0]}")


def _leave(part: _Part, reason: str, options: tuple[str, ...] = ()) -> NotRead:
    if part.part_of is _region:
        hint = f"refresh with --region {part.name} --force if that is so"
        return NotRead(f"{reason}; {hint}", options, (part.name,))
    names = tuple(sorted({offer.instance_type for offer in part.published}))
    return NotRead(f"{reason}; refresh with --force if that is so", options, (), names)


def _is_too_much(lost: int, size: int) -> bool:
    return size >= MIN_PART_SIZE and lost > MAX_OFFER_LOSS * size


def _is_most(lost: int, size: int) -> bool:
    return lost == size or (lost >= MIN_LOST_OFFERS and 2 * lost >= size)


def _find_short_options(part: _Part, *, strictly: bool) -> tuple[str, ...]:
    options = _find_short(part, _option, strictly=strictly)
    lost_elsewhere = sum(_option(offer) not in options for offer in part.lost)
    is_whole = len(options) == len(set(map(_option, part.published)))
    explains = lost_elsewhere <= MAX_LOST_ELSEWHERE * len(part.lost)
    return options if explains and not is_whole else ()


def _find_short(part: _Part, part_of: PartOf, *, strictly: bool) -> tuple[str, ...]:
    sizes, losses = Counter(map(part_of, part.published)), Counter(map(part_of, part.lost))
    return tuple(
        name
        for name, lost in sorted(losses.items())
        if _is_too_much(lost, sizes[name]) or (not strictly and _is_most(lost, sizes[name]))
    )


def find_unlisted(
    passed: Iterable[Offer], before: Sequence[Offer], reasons: Sequence[str]
) -> frozenset[str]:
    """Ids of priced offers that a quarantined batch no longer sells, where they explain its loss.

    Prices and what is sold where come from lists apart: a half of the latter is no loss of prices.
    """
    if not reasons or len(before) < MIN_PART_SIZE:
        return frozenset()
    states = {offer.id: offer.sold_now for offer in passed}
    lost = [offer.id for offer in before if not states.get(offer.id)]
    unlisted = frozenset(one for one in lost if one in states)
    return unlisted if len(lost) - len(unlisted) <= MAX_LOST_ELSEWHERE * len(lost) else frozenset()


def _find_relabelled(
    offers: Iterable[Offer], published: Mapping[str, Offer], rates: ExchangeRates
) -> list[Offer]:
    return [
        offer
        for offer in offers
        if offer.sold_now
        and (old := published.get(offer.id)) is not None
        and is_relabelled(offer, old, rates)
    ]


def _group(offers: Iterable[Offer], part_of: PartOf) -> defaultdict[str, list[Offer]]:
    groups: defaultdict[str, list[Offer]] = defaultdict(list)
    for offer in offers:
        groups[part_of(offer)].append(offer)
    return groups
