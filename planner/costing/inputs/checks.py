"""What a request cannot ask for, once market, terms and demand are known. PURE."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence

from planner.contract.accelerator_names import describe_reading
from planner.contract.labels import cloud_title
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.finance import ON_PREMISES
from planner.costing.assumptions.assumptions import Assumptions
from planner.sizing.demand import Demand
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import all_accelerators
from pricing.market.clouds import COMMERCIAL, PARTITIONS, all_clouds, find_partition, is_local_zone
from pricing.market.place_names import AREAS, COUNTRY_CODES, COUNTRY_GROUPS
from pricing.market.snapshot import Catalog, Region

MIN_PEAK_HOURS = 0.001
"""Hours for which the peak of a month must be up at least: 3.6 s."""


_MAX_LISTED = 12
_LIMITS = ("providers", "regions", "geographies")


def check_names(request: ComparisonRequest, catalog: Catalog) -> None:
    """Raise `InvalidInput` for a provider, region or geography that neither the catalog nor a
    private offer has, wherever it stands, or an interconnect that no accelerator has.

    The catalog's names count as known where its prices are left aside, too.
    """
    _check_interconnect(request.constraints.interconnect)
    custom_names = {
        "providers": {offer.provider for offer in request.custom_offers},
        "regions": {offer.region for offer in request.custom_offers},
    }
    custom_names["geographies"] = set(COUNTRY_GROUPS)
    for field, kind, names in _named_fields(request):
        own_names = custom_names.get(kind, ())
        if field in ("constraints.regions", "constraints.geographies"):
            known = catalog.known_names(kind) | set(own_names)
            _refuse_words(field, [name for name in names if name not in known], catalog)
        catalog.check_names(kind, names, field, own_names)
    _check_home(request, catalog)
    _check_choices("constraints.partitions", request.constraints.partitions, PARTITIONS)
    countries = sorted({place.country for place in catalog.regions.values() if place.country})
    after = request.risk and request.risk.end_after_months
    if after and request.horizon_months and after >= request.horizon_months:
        problem = f"{after} is not before the end of a plan of {request.horizon_months} months"
        raise InvalidInput("risk.end_after_months", f"{problem}; give an earlier month")
    codes = request.constraints.countries or ()
    unknown = [code for code in codes if code not in countries]
    _refuse_words("constraints.countries", unknown, catalog)
    _check_choices("constraints.countries", codes, countries)


def _named_fields(request: ComparisonRequest) -> Iterator[tuple[str, str, Sequence[str]]]:
    limits = request.constraints
    for kind in _LIMITS:
        yield f"constraints.{kind}", kind, getattr(limits, kind) or ()
    rules = {"constraints.quotas": limits.quotas, "price_adjustments": request.price_adjustments}
    for field, entries in rules.items():
        for i, rule in enumerate(entries):
            for part, kind in (("provider", "providers"), ("region", "regions")):
                name = getattr(rule, part)
                yield f"{field}.{i}.{part}", kind, () if name is None else (name,)


def check_providers(request: ComparisonRequest, catalog: Catalog) -> None:
    """Raise `InvalidInput` for a credit or a minimum spend at a provider that nobody knows: neither
    the catalog, the clouds with an adapter, nor an offer or a commitment of the request."""
    signed, home = request.existing, request.data.home
    own = {offer.provider for offer in request.custom_offers}
    own |= {one.provider for one in signed.commitments}
    own |= all_clouds().keys()
    if home is not None and home.provider != ON_PREMISES:
        own.add(home.provider)
    named: dict[str, list[str | None]] = {
        "constraints.provider_months": [
            one.provider for one in request.constraints.provider_months
        ],
        "existing.credits": [one.provider for one in signed.credits],
        "existing.minimum_spend": [one.provider for one in signed.minimum_spend],
    }
    for field, providers in named.items():
        for i, name in enumerate(providers):
            names = () if name is None else (name,)
            catalog.check_names("providers", names, f"{field}.{i}.provider", own)


def _refuse_words(field: str, names: Sequence[str], catalog: Catalog) -> None:
    for name in names:
        hint = _name_places(name, catalog)
        if hint:
            raise InvalidInput(field, f"{name!r} is not known here; did you mean {hint}?")


def _name_places(name: str, catalog: Catalog) -> str:
    words = re.sub(r"[\s_-]+", " ", name.lower()).strip()
    code = COUNTRY_CODES.get(words, words.upper())
    if any(place.country == code for place in catalog.regions.values()):
        return f"the country {code} (constraints.countries)"
    geographies = catalog.known_names("geographies") | set(COUNTRY_GROUPS)
    areas = [area for area in AREAS.get(words, (words.replace(" ", "-"),)) if area in geographies]
    if areas:
        kind = "the geography" if len(areas) == 1 else "the geographies"
        return f"{kind} {', '.join(areas)} (constraints.geographies)"
    named = rf"\b{re.escape(words)}\b"
    near = [
        f"{region} ({cloud_title(provider)})"
        for (provider, region), place in sorted(catalog.regions.items())
        if len(words) > 2 and re.search(named, _called(region, place))
        if find_partition(provider, region) == COMMERCIAL and not is_local_zone(region)
    ]
    kind = "the region" if len(near) == 1 else "the regions"
    return f"{kind} {', '.join(near[:_MAX_LISTED])} (constraints.regions)" if near else ""


def _called(region: str, place: Region) -> str:
    identifier = re.sub(r"(?<=[a-z])(?=\d)|-", " ", region)
    return f"{place.city}, {place.name}, {identifier}".lower()


def _check_home(request: ComparisonRequest, catalog: Catalog) -> None:
    home = request.data.home
    if home is None or home.provider == ON_PREMISES:
        return
    named = {(offer.provider, offer.region) for offer in request.custom_offers}
    if home.place in named:
        return
    places = named | set(catalog.regions)
    providers = sorted({provider for provider, _ in places})
    _check_choices("data.home.provider", [home.provider], [*providers, ON_PREMISES])
    regions = sorted(region for provider, region in places if provider == home.provider)
    _check_choices("data.home.region", [home.place[1]], regions)


def _check_choices(field: str, names: Sequence[str] | None, allowed: Sequence[str]) -> None:
    for name in names or ():
        if name not in allowed:
            raise InvalidInput(field, f"{name!r} is not known; allowed are {', '.join(allowed)}")


def _check_interconnect(name: str | None) -> None:
    if name is None:
        return
    known = sorted({a.interconnect for a in all_accelerators() if a.interconnect})
    if not any(name.lower() in part.lower() for part in known):
        raise InvalidInput(
            "constraints.interconnect",
            f"{name!r} is no known interconnect; allowed are {', '.join(known)}",
        )


def check_server_life(request: ComparisonRequest, assumptions: Assumptions) -> None:
    """Raise `InvalidInput` for a useful life that is over when the server arrives."""
    of_all = (assumptions["useful_life_months"], assumptions["lead_time_months"])
    _check_life("on_prem.useful_life_months", *of_all)
    for i, server in enumerate(request.on_prem.servers or ()):
        life, lead = server.useful_life_months, server.lead_time_months
        if life is not None or lead is not None:
            field = "lead_time_months" if life is None else "useful_life_months"
            stated = (of_all[0] if life is None else life, of_all[1] if lead is None else lead)
            _check_life(f"on_prem.servers.{i}.{field}", *stated)


def _check_life(field: str, life: float, lead: float) -> None:
    if life > lead:
        return
    if field.endswith("lead_time_months"):
        raise InvalidInput(
            field,
            f"{lead:g} is no shorter than the useful life of {life:g} months; "
            f"allowed are less than {life:g}",
        )
    raise InvalidInput(
        field,
        f"{life:g} is no longer than the lead time of {lead:g} months; "
        f"allowed are more than {lead:g}",
    )


def check_start(request: ComparisonRequest, today: dt.date) -> None:
    """Raise `InvalidInput` for a plan that begins before today's month."""
    start = request.start
    if start is not None and (start.year, start.month) < (today.year, today.month):
        raise InvalidInput(
            "start",
            f"{start:%Y-%m} is over: today is {today:%Y-%m-%d}, and what is past can no longer be "
            f"decided; give {today:%Y-%m} or later, or leave it out for the month after this one",
        )


def check_quotes(request: ComparisonRequest, today: dt.date) -> None:
    """Raise `InvalidInput` for a quote of a server that is dated after today's month."""
    for i, server in enumerate(request.on_prem.servers or ()):
        for j, quote in enumerate(server.quotes):
            if (quote.quoted.year, quote.quoted.month) > (today.year, today.month):
                raise InvalidInput(
                    f"on_prem.servers.{i}.quotes.{j}.quoted",
                    f"{quote.quoted:%Y-%m} is after today, {today:%Y-%m-%d}; give the month in "
                    f"which the seller asked this price, at most {today:%Y-%m}",
                )


def check_contract(request: ComparisonRequest, assumptions: Assumptions) -> None:
    """Raise `InvalidInput` for servers that are paid for longer than they serve."""
    life = int(assumptions["useful_life_months"])
    _check_months("on_prem.financing.months", request.on_prem.financing.months, life)
    for i, server in enumerate(request.on_prem.servers or ()):
        terms = server.financing or request.on_prem.financing
        at = f"on_prem.servers.{i}" if server.financing is not None else "on_prem"
        own = life if server.useful_life_months is None else server.useful_life_months
        _check_months(f"{at}.financing.months", terms.months, own)


def _check_months(field: str, months: int | None, life: int) -> None:
    if months and months > life:
        raise InvalidInput(
            field,
            f"{months} is longer than the useful life of {life} months; allowed are 1 to {life}",
        )


def check_fiscal_years(request: ComparisonRequest) -> None:
    """Raise `InvalidInput` for a fiscal year that has two budgets."""
    years = [budget.fiscal_year for budget in request.constraints.capex_by_fiscal_year]
    for i, year in enumerate(years):
        if year in years[:i]:
            raise InvalidInput(
                f"constraints.capex_by_fiscal_year.{i}.fiscal_year",
                f"{year} is given twice; allowed is once",
            )


def check_minimum_duration(demand: Demand) -> None:
    """Raise `InvalidInput` for given hours that are over in seconds at their peak."""
    if demand.is_sized:
        return
    has_work = demand.hours_per_month > 0
    min_hours = (demand.hours_per_month[has_work] / demand.peak_accelerators[has_work]).min()
    if min_hours < MIN_PEAK_HOURS:
        raise InvalidInput(
            "workload.hours_per_month",
            f"keeps its peak busy for {min_hours:.3g} h in a month; "
            f"allowed are {MIN_PEAK_HOURS:g} h or more, or 0",
        )


def tell_readings(request: ComparisonRequest) -> Iterator[str]:
    """A sentence for each name that several accelerators bear, whichever part of the request
    it stands in: as which it is read."""
    for name in dict.fromkeys(filter(None, _names(request))):
        yield from filter(None, (describe_reading(name),))


def _names(request: ComparisonRequest) -> Iterator[str | None]:
    limits = request.constraints
    yield request.workload.accelerator
    yield from limits.accelerators or ()
    yield from (quota.accelerator for quota in limits.quotas)
    yield from (offer.accelerator for offer in request.custom_offers)
    yield from (server.accelerator for server in request.on_prem.servers or ())
    yield from (one.accelerator for one in request.existing.commitments)
