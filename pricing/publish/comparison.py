"""One comparison of lists: what is published, joined by offer to what came. PURE.

A *part* is a purchase option of a machine family in a region. Three rules decide:

- **A common factor waits.** List prices of a part (spot apart, which moves by itself) are
  quarantined where their median moved by more than 15 %, by more than 5 % with little spread over
  many prices (a unit or a currency that was mixed up), or one of them by more than half. What is
  published of the part stays in force; all other parts are published. A part with nothing to
  compare follows the smallest group around it that has: its region or family, its option, the
  provider. It waits as well where it is far from what its machines cost on demand, or, on demand
  or without such a price, from what they cost in other regions, or their accelerator in others.
- **What a list lacks stays for two lists,** marked with the day of the first list without it. The
  third complete list without it ends it: it is no longer sold. The same holds where a list of what
  is sold where lost more than a fifth at once.
  A row that came and cannot be right is not lacking: what is published of it stays in force.
- **All else is published,** into an empty database too, where the bundled prices are compared,
  and again until a part that waits is released.

`force` takes the list as it came but for rows that are wrong by themselves.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from statistics import median

from pricing.common.words import pluralize
from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.machine_types import instance_family
from pricing.market.offers import ABSENT, COMPLETE_READS, ENDED, REFUSED, Offer, PurchaseOption
from pricing.publish.batch import OfferBatch, PriceChange, compare_offers
from pricing.publish.row_checks import check_each, check_pairs

MIN_ROWS = 20
"""Prices from which on the median of a group is that of more than one machine."""
NEAR, FAR, FAR_ROW = math.log(1.05), math.log(1.15), math.log(1.5)
"""Moves that wait: of many prices alike, of a part, of one price of a part."""
ALIKE = math.log(1.01)
"""Prices moved alike that moved within this of their median; half of them are little spread."""
TO_ON_DEMAND = {False: (math.log(0.2), math.log(1.5)), True: (math.log(0.03), math.log(1.5))}
"""Least and most that a part never compared may cost of its machines on demand; True: spot. Of all
2,000 bundled parts list prices lie between 0.37 and 1.24, spot between 0.09 and 1 (2026)."""
SAME_MACHINE, SAME_ACCELERATOR = math.log(2), math.log(3)
"""Most that its list prices may be from those of its machines in other regions, and of an
accelerator from those of the same in other machines."""
MIN_SIBLINGS = 3
MAX_UNLISTED_SHARE = 0.20
"""Share of what is sold that a list of what is sold where may lose at once."""
MIN_UNLISTED = 10
"""Offers from which on that share counts."""
MAX_NAMES = 5

Part = tuple[str, str, str]
"""(purchase option, region, family); empty text stands for all of them."""
ALL: Part = ("", "", "")
Absences = Mapping[str, tuple[dt.date, int]]
"""Offer id → (day of the first list without it, complete lists without it since)."""


@dataclass(frozen=True)
class PublishedState:
    """What is published of the provider at the moment; empty before the first revision."""

    offers: Sequence[Offer] = ()
    origin: str = ""
    exchange_rates: ExchangeRates = field(default_factory=ExchangeRates)
    expected: Sequence[Offer] = ()
    """What the first list of a provider is compared with while nothing is published."""
    known_regions: frozenset[str] = frozenset()
    """Regions of the provider in their right spelling."""
    absences: Absences = field(default_factory=dict)


@dataclass(frozen=True)
class HeldPart:
    """Prices that wait for an operator, and why."""

    part: Part
    reason: str
    ratio: float | None
    """Median of new prices over published ones; None where nothing is published of it."""
    offers: tuple[Offer, ...]
    moves: tuple[PriceChange, ...] = ()
    """The ten largest moves."""

    @property
    def name(self) -> str:
        return name_part(self.part)

    def describe(self) -> str:
        return f"{self.name}: {self.reason}"


@dataclass(frozen=True)
class Comparison:
    """What of a batch is published, and what is not."""

    offers: tuple[Offer, ...]
    """What would be published: what came and is sound, and what stays in force beside it."""
    rejected_rows: tuple[SkippedRow, ...] = ()
    held_parts: tuple[HeldPart, ...] = ()
    absences: Absences = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    """What the list lacks, by part, in words."""
    taken: int = 0
    """Offers published as they came."""

    @property
    def carried_over(self) -> int:
        """Offers that stay in force with their own dates."""
        return len(self.offers) - self.taken


def part_of(offer: Offer) -> Part:
    return offer.purchase_option.value, offer.region, _family(offer.instance_type)


_family = lru_cache(maxsize=4096)(instance_family)


def covers(part: Part, other: Part) -> bool:
    """Whether `other` is `part` or lies in it.

    >>> covers(("spot", "", ""), ("spot", "us-east-1", "p5"))
    True
    """
    return all(not name or name == of for name, of in zip(part, other, strict=True))


def name_part(part: Part) -> str:
    """A part in words.

    >>> name_part(("savings_plan", "", "")), name_part(("spot", "us-east-1", "p5"))
    ('savings plan', 'spot of p5 in us-east-1')
    """
    option, region, family = part
    name = option.replace("_", " ") or "all prices"
    return name + (f" of {family}" if family else "") + (f" in {region}" if region else "")


def compare_lists(
    batch: OfferBatch, state: PublishedState, today: dt.date, *, force: bool = False
) -> Comparison:
    """What of `batch` is published over `state`; the module gives the rules."""
    published = {offer.id: offer for offer in state.offers}
    passed, rejected = check_each(
        batch.offers,
        provider=batch.provider,
        rates=state.exchange_rates,
        known_regions=state.known_regions,
        latest=max(today, batch.as_of),
    )
    passed = _keep_unsold(batch, passed, state.offers)
    held = () if force else tuple(find_held_parts(passed, state))
    held_ids = {offer.id for part in held for offer in part.offers}
    listed = [
        offer if offer.id not in held_ids else replace(published[offer.id], absent_since=None)
        for offer in passed
        if offer.id not in held_ids or offer.id in published
    ]
    if not force:
        listed, contradictions = check_pairs(listed)
        rejected += contradictions
    came = {name for offer in passed for name in _ids(offer)}
    refused = {*_list_priced(batch.offers)} - came
    before = [offer for offer in state.offers if offer.id not in came]

    def is_lacking(offer: Offer) -> bool:
        return offer.sold_now and offer.id not in refused and not _is_unread(offer, batch)

    unread = [offer for offer in before if not is_lacking(offer)]
    lacking = [] if force else [offer for offer in before if is_lacking(offer)]
    unlisted = set() if force else _find_unlisted(listed, published)
    lacking += [replace(o, sold_now=True) for o in listed if o.id in unlisted]
    listed = [o for o in listed if o.id not in unlisted]
    absences = {o.id: state.absences[o.id] for o in unread if o.id in state.absences}
    ended, marked = [], []
    for offer in lacking:
        day, reads = state.absences.get(offer.id, (batch.as_of, 0))
        if reads + 1 >= COMPLETE_READS:
            ended.append(replace(offer, sold_now=False, absent_since=None))
        else:
            absences[offer.id] = day, reads + 1
            marked.append(replace(offer, absent_since=day))
    return Comparison(
        (*listed, *unread, *marked, *ended),
        tuple(rejected),
        held,
        absences,
        tuple(
            _describe_absent(
                marked,
                ended,
                [offer for offer in unread if offer.sold_now and offer.id in refused],
                [offer for offer in state.offers if offer.sold_now],
            )
        ),
        sum(offer.id not in held_ids for offer in listed),
    )


# Parts that wait --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Moves:
    """log(new / published) of a group of prices."""

    count: int
    typical: float
    largest: float
    is_alike: bool
    """Whether half of them or more moved within 1 % of the median."""

    @classmethod
    def of(cls, logs: Sequence[float]) -> _Moves:
        typical = median(logs)
        alike = sum(abs(log - typical) <= ALIKE for log in logs)
        return cls(len(logs), typical, max(logs, key=abs), 2 * alike >= len(logs))

    @property
    def has_common_factor(self) -> bool:
        return self.count >= MIN_ROWS and self.is_alike and abs(self.typical) > NEAR

    @property
    def is_far(self) -> bool:
        return abs(self.typical) > FAR or self.has_common_factor


def find_held_parts(offers: Sequence[Offer], state: PublishedState) -> Iterator[HeldPart]:
    """The parts of `offers` that wait, neighbours of one option under one name."""
    rates, before = state.exchange_rates, {o.id: o for o in (*state.expected, *state.offers)}
    logs: defaultdict[Part, list[float]] = defaultdict(list)
    rows: defaultdict[Part, list[Offer]] = defaultdict(list)
    for offer in offers:
        rows[part_of(offer)].append(offer)
        old = next((before[name] for name in _ids(offer) if name in before), None)
        if old is not None and (log := _log_ratio(offer, old, rates)) is not None:
            for group in _groups(part_of(offer)):
                logs[group].append(log)
    moves = {group: _Moves.of(values) for group, values in logs.items()}
    reasons = {part: _judge(part, moves) for part in rows}
    beside = _Siblings(before.values(), offers, rates)
    for part in sorted(rows, key=lambda part: part[0] != PurchaseOption.ON_DEMAND):
        if part not in moves and not reasons[part]:
            reasons[part] = beside.judge(rows[part])
        if reasons[part]:
            beside.leave_out(rows[part])
    for name, parts in _merge([part for part, why in reasons.items() if why], rows.keys()):
        waiting = [offer for part in parts for offer in rows[part]]
        moved = moves.get(name)
        why = {reasons[part] for part in parts}
        reason = why.pop() if len(why) == 1 or moved is None else _times(moved.typical)
        yield HeldPart(
            name,
            f"{pluralize(len(waiting), 'price')}, {reason}",
            None if moved is None else math.exp(moved.typical),
            tuple(waiting),
            compare_offers({o.id: o for o in state.offers}, waiting).moves,
        )


def _groups(part: Part) -> tuple[Part, ...]:
    """The groups whose median a price counts for; spot says nothing of other prices."""
    option, region, family = part
    own = (part, (option, region, ""), (option, "", family), (option, "", ""))
    if PurchaseOption(option).is_interruptible:
        return own
    return (*own, ("", region, ""), ("", "", family), ALL)


def _judge(part: Part, moves: Mapping[Part, _Moves]) -> str:
    own, (option, region, family) = moves.get(part), part
    beside: tuple[Part, ...] = (("", region, ""), ("", "", family))
    levels = (((option, region, ""), (option, "", family)), ((option, "", ""),), beside)
    around = [[moves[g] for g in level if g in moves and moves[g].count >= MIN_ROWS]
              for level in levels]  # fmt: skip
    if own is None:  # it follows the nearest that can be compared
        nearest = next(filter(None, around), [moves[ALL]] if ALL in moves else [])
        far = [group for group in nearest if group.is_far]
        return f"those beside it {_times(far[0].typical)}" if far else ""
    is_spot = PurchaseOption(option).is_interruptible
    shared = [group for level in around for group in level if group.has_common_factor]
    if is_spot:  # it moves by itself, in a region or a family too
        listed = [moves[group] for group in (*beside, ALL) if group in moves]
        shared = [
            *(group for group in around[1] if group.has_common_factor),
            *(group for group in (*around[0], *listed) if group.is_alike and group.is_far),
        ]
        shared = [group for group in shared if abs(own.typical) > NEAR]
    if any(abs(group.typical - own.typical) <= ALIKE for group in shared):
        return _times(own.typical)
    if is_spot:
        return ""
    if own.is_far:
        return _times(own.typical)
    return f"one of them {_times(own.largest)}" if abs(own.largest) > FAR_ROW else ""


class _Siblings:
    """What a part never compared may be held against."""

    def __init__(
        self, published: Iterable[Offer], offers: Sequence[Offer], rates: ExchangeRates
    ) -> None:
        self.rates = rates
        self.on_demand = {
            (offer.region, offer.instance_type): offer
            for offer in offers
            if offer.purchase_option is PurchaseOption.ON_DEMAND
        }
        self.waiting: set[tuple[str, str]] = set()
        self.known: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
        for offer in published:
            price = self._usd(offer)
            for name in _sibling_names(offer) if price and offer.sold_now else ():
                self.known[name].append(price)

    def leave_out(self, offers: Iterable[Offer]) -> None:
        """Take prices that wait for none that others are held against."""
        for offer in offers:
            name = offer.region, offer.instance_type
            if self.on_demand.get(name) is offer:
                del self.on_demand[name]
                self.waiting.add(name)

    def judge(self, offers: Sequence[Offer]) -> str:
        option = offers[0].purchase_option
        if any((offer.region, offer.instance_type) in self.waiting for offer in offers):
            return "of machines whose price on demand waits"
        pairs = [
            (offer, self.on_demand.get((offer.region, offer.instance_type))) for offer in offers
        ]
        ratios = (_log_ratio(offer, other, self.rates) for offer, other in pairs if other)
        logs = [ratio for ratio in ratios if ratio is not None]
        if option is not PurchaseOption.ON_DEMAND and logs:
            low, high = TO_ON_DEMAND[option.is_interruptible]
            is_far = not low <= median(logs) <= high
            return f"× {math.exp(median(logs)):.3g} of on demand" if is_far else ""
        if option.is_interruptible:
            return ""
        for at, most in enumerate((SAME_MACHINE, SAME_ACCELERATOR)):
            known = [(offer, self.known[_sibling_names(offer)[at]]) for offer in offers]
            logs = [math.log(price / median(others)) for offer, others in known
                    if len(others) >= MIN_SIBLINGS and (price := self._usd(offer))]  # fmt: skip
            if logs:
                typical = median(logs)
                words = ("these machines cost elsewhere", "the same accelerators cost")[at]
                return f"× {math.exp(typical):.3g} of what {words}" if abs(typical) > most else ""
        return ""

    def _usd(self, offer: Offer) -> float:
        price = self.rates.to_usd(offer.effective_price_per_hour, offer.currency)
        return float(price) / float(offer.accelerator_count)


def _sibling_names(offer: Offer) -> tuple[tuple[str, ...], tuple[str, ...]]:
    terms = offer.purchase_option.value, str(offer.term_months)
    return (*terms, "", offer.instance_type), (*terms, offer.accelerator, "")


def _times(log: float) -> str:
    ratio = math.exp(log)
    return f"× {f'{ratio:,.0f}' if ratio > 99 else f'{ratio:.3g}'} of what is published"


def _merge(waiting: Iterable[Part], parts: Iterable[Part]) -> Iterator[tuple[Part, list[Part]]]:
    """Parts that wait, together where all of an option waits, of it in a region, or of a family.

    >>> list(_merge([("spot", "a", "p5")], [("spot", "a", "p5"), ("spot", "b", "p5")]))
    [(('spot', 'a', 'p5'), [('spot', 'a', 'p5')])]
    """
    left = set(waiting)
    within: defaultdict[Part, list[Part]] = defaultdict(list)
    for part in parts:
        option, region, family = part
        for name in (part, (option, "", family), (option, region, ""), (option, "", "")):
            within[name].append(part)
    for name, of_name in sorted(within.items(), key=lambda item: -len(item[1])):
        if left.issuperset(of_name):
            left.difference_update(of_name)
            yield name, of_name


def _log_ratio(offer: Offer, old: Offer, rates: ExchangeRates) -> float | None:
    now, before = offer.effective_price_per_hour, old.effective_price_per_hour
    if offer.currency != old.currency:
        now, before = rates.to_usd(now, offer.currency), rates.to_usd(before, old.currency)
    return math.log(now / before) if now and before else None


def _ids(offer: Offer) -> tuple[str, ...]:
    """What an offer may be published as: the bundled list of a cloud may have no zones."""
    return (offer.id, replace(offer, zone="").id) if offer.zone else (offer.id,)


# What did not come ------------------------------------------------------------------------


def _list_priced(offers: Iterable[Offer]) -> Iterator[str]:
    """Ids of what came with a price, right or wrong; an adapter may give anything as a field."""
    for offer in offers:
        with suppress(AttributeError, TypeError, ValueError):
            if offer.price_per_hour or offer.upfront:
                yield offer.id


def _is_unread(offer: Offer, batch: OfferBatch) -> bool:
    if batch.regions and offer.region not in batch.regions:
        return True
    return any(_is_of(part, offer) for part in batch.not_read if not part.availability_only)


def _keep_unsold(batch: OfferBatch, passed: list[Offer], published: Iterable[Offer]) -> list[Offer]:
    parts = [part for part in batch.not_read if part.availability_only]
    unsold = {offer.id for offer in published if not offer.sold_now} if parts else set()
    return [
        replace(offer, sold_now=False)
        if offer.id in unsold and any(_is_of(part, offer) for part in parts)
        else offer
        for offer in passed
    ]


def _is_of(part: NotRead, offer: Offer) -> bool:
    limits = (
        (part.purchase_options, offer.purchase_option),
        (part.regions, offer.region),
        (part.instance_types, offer.instance_type),
    )
    return all(not allowed or value in allowed for allowed, value in limits)


def _find_unlisted(listed: Iterable[Offer], published: Mapping[str, Offer]) -> frozenset[str]:
    """Ids of priced offers that a list of what is sold where lost, where it lost too many."""
    sold = {offer.id for offer in published.values() if offer.sold_now}
    lost = frozenset(offer.id for offer in listed if not offer.sold_now and offer.id in sold)
    is_too_many = len(lost) >= MIN_UNLISTED and len(lost) > MAX_UNLISTED_SHARE * len(sold)
    return lost if is_too_many else frozenset()


def _describe_absent(
    marked: Sequence[Offer], ended: Sequence[Offer], refused: Sequence[Offer], sold: Sequence[Offer]
) -> Iterator[str]:
    """A line for each day of absence, one for what is no longer sold, and one for what came with
    prices that cannot be right; the largest part first."""
    sizes = Counter(map(part_of, sold))
    for day in sorted({offer.absent_since for offer in marked if offer.absent_since}):
        offers = [offer for offer in marked if offer.absent_since == day]
        yield f"{ABSENT}{day}: {_name_absent(offers, sizes)}"
    if ended:
        yield f"{ENDED}{_name_absent(ended, sizes)}"
    if refused:
        yield f"{REFUSED}{_name_absent(refused, sizes)}"


def _name_absent(offers: Iterable[Offer], sizes: Counter[Part]) -> str:
    lost = Counter(map(part_of, offers))
    whole = list(_merge([part for part, count in lost.items() if count >= sizes[part]], sizes))
    counts = {name: sum(lost.pop(part) for part in parts) for name, parts in whole}
    names = [f"{name_part(name)} ({pluralize(counts[name], 'price')})"
             for name in sorted(counts, key=counts.__getitem__, reverse=True)]  # fmt: skip
    names += [f"{name_part(name)} ({n} of {sizes[name]} prices)" for name, n in lost.most_common()]
    more = f" and {len(names) - MAX_NAMES} more parts" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more
