"""Reference data beside the prices: exchange rates and regions, replaced whole when loaded."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields

from django.db import transaction

from pricing import models
from pricing.common.amounts import quantize
from pricing.common.invalid_input import InvalidInput
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.snapshot import Region

_EXAMPLES = 5
"""Regions that an error names where none is near the one asked for."""


def exchange_rates() -> ExchangeRates:
    rows = models.ExchangeRate.objects.values_list("currency", "date", "units_per_usd", "source")
    return ExchangeRates.of(ExchangeRate(*row) for row in rows)


def regions() -> dict[tuple[str, str], Region]:
    return {
        (row.provider, row.region): Region(**{f.name: getattr(row, f.name) for f in fields(Region)})
        for row in models.Region.objects.all()
    }


def region_names(provider: str) -> frozenset[str]:
    """The regions of a provider in their right spelling."""
    rows = models.Region.objects.filter(provider=provider)
    return frozenset(rows.values_list("region", flat=True))


def select_providers(providers: Sequence[str], regions: Sequence[str]) -> list[str]:
    """The providers that have one of `regions`, all of them without any.

    A provider of which no region is known yet is asked. Raises `InvalidInput` for a region
    that none of them has.
    """
    regions_by_provider = {name: (region_names(name) | listed_regions(name)) for name in providers}
    for region in regions:
        if all(names and region not in names for names in regions_by_provider.values()):
            suggestion = _suggest_regions(region, frozenset().union(*regions_by_provider.values()))
            raise InvalidInput(
                "region", f"{region!r} is no region of {', '.join(providers)}; {suggestion}"
            )
    wanted = set(regions)
    return [
        name
        for name, names in regions_by_provider.items()
        if not wanted or not names or wanted & names
    ]


def _suggest_regions(region: str, known: frozenset[str]) -> str:
    normalized = "".join(region.lower().split())
    close = difflib.get_close_matches(normalized, known, n=3)
    if close:
        return f"did you mean {', '.join(close)}?"
    ellipsis = ", …" if len(known) > _EXAMPLES else ""
    return f"known are {', '.join(sorted(known)[:_EXAMPLES])}{ellipsis}"


def listed_regions(provider: str) -> frozenset[str]:
    listed = models.Listing.objects.filter(provider=provider).values_list("region", flat=True)
    return frozenset(listed.distinct())


@transaction.atomic
def replace_exchange_rates(rates: Iterable[ExchangeRate]) -> int:
    """Put `rates` in the place of those kept; gives how many there are now."""
    models.ExchangeRate.objects.all().delete()
    rows = [
        models.ExchangeRate(**asdict(rate) | {"units_per_usd": quantize(rate.units_per_usd)})
        for rate in rates
    ]
    return len(models.ExchangeRate.objects.bulk_create(rows))


@transaction.atomic
def replace_regions(regions: Mapping[tuple[str, str], Region]) -> int:
    """Put `regions` in the place of those kept; gives how many there are now."""
    models.Region.objects.all().delete()
    rows = [
        models.Region(provider=provider, region=name, **asdict(region))
        for (provider, name), region in regions.items()
    ]
    return len(models.Region.objects.bulk_create(rows))
