"""What a list no longer holds: judged as a whole and part by part. PURE.

A provider hardly ever takes a fifth of a family, a region or a purchase option off the market at
once; a page cut in half does. What was read is compared with what is published of it: the rest,
which stays in force unread, must not hide a loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pricing.common.pluralize import pluralize
from pricing.market.families import instance_family
from pricing.market.offers import Offer
from pricing.publish.batch import OfferBatch

MAX_OFFER_LOSS = 0.20
"""Share of the offers sold now that may go from one revision to the next, of all and of a part."""
MIN_PART_SIZE = 10
"""Offers of a part from which on its share counts: of fewer, one machine is a fifth."""

_PARTS: tuple[tuple[str, Callable[[Offer], str]], ...] = (
    ("family", lambda offer: instance_family(offer.instance_type)),
    ("region", lambda offer: offer.region),
    ("option", lambda offer: offer.purchase_option.value.replace("_", " ")),
    ("", lambda offer: f"{instance_family(offer.instance_type)} in {offer.region}"),
)


def find_losses(
    batch: OfferBatch,
    passed: Iterable[Offer],
    carried_over: Iterable[Offer],
    published: Mapping[str, Offer],
    key: Callable[[Offer], str],
) -> Iterator[str]:
    """Each loss that no provider would make, as a reason to hold `batch`.

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
    families = _families(before) - _families((*sold, *other_regions))
    yield from summarize_names(sorted(families), "families are gone", "family is gone")
    regions = {o.region for o in before} - {o.region for o in sold}
    yield from summarize_names(sorted(regions), "regions are gone", "region is gone")
    if not is_short:
        sold_keys = {key(offer) for offer in sold}
        lost = [offer for offer in before if key(offer) not in sold_keys]
        yield from _find_short_parts(before, lost)


def _find_short_parts(before: Sequence[Offer], lost: Sequence[Offer]) -> Iterator[str]:
    """Parts that lost more than their share, those of one kind in one sentence."""
    for kind, part_of in _PARTS:
        sizes, losses = Counter(map(part_of, before)), Counter(map(part_of, lost))
        names = [
            f"{kind} {part} ({count} of {sizes[part]})".strip()
            for part, count in sorted(losses.items())
            if sizes[part] >= MIN_PART_SIZE and count > MAX_OFFER_LOSS * sizes[part]
        ]
        yield from summarize_names(
            names,
            "parts lost more than 20% of their offers",
            "part lost more than 20% of its offers",
        )


def _families(offers: Iterable[Offer]) -> set[str]:
    return {instance_family(name) for name in {o.instance_type for o in offers}}


def summarize_names(
    names: Sequence[str], plural: str, singular: str = "", max_names: int = 5
) -> Iterable[str]:
    """One sentence on all of `names`, the first few of them by name."""
    if names:
        suffix = f" and {len(names) - max_names} more" if len(names) > max_names else ""
        count = pluralize(len(names), singular or plural, plural)
        yield f"{count}: {', '.join(names[:max_names])}{suffix}"
