"""From a request and a catalog to the sources that a plan may use, and why others may not. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from planner.contract.amounts import add_months, name_day
from planner.contract.answer.common import write_decimal
from planner.contract.copies import cached_property
from planner.contract.labels import LIMIT_TITLES
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.constraints import Constraints, CustomOffer
from planner.contract.request.rules import (
    LARGEST_NODE,
    NOWHERE,
    PlaceLimits,
    PlanRules,
    describe_conflict,
    limit_places,
)
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model.capacity_source import CapacitySource, read_native_price
from planner.costing.cost_model.rental import (
    available_months,
    describe_offer,
    estimate_spot_goodputs,
    staff_over_plan,
)
from planner.costing.cost_model.storage_egress import CloudData
from planner.costing.cost_model.terms import Calendar, discount_factors
from planner.costing.inputs.checks import tell_readings
from planner.costing.inputs.dominance import (
    OPTION_CODE,
    EligibleOffers,
    build_eligible_offers,
    find_larger_nodes,
    split_by_equal_values,
    undominated_commitments,
    undominated_rentals,
)
from planner.costing.inputs.existing import SupplyLimits, warn_of_places
from planner.costing.inputs.job_nodes import JobNodes
from planner.costing.inputs.offer_rules import (
    NONE_FITS,
    WHOLE_NODE,
    Adjustment,
    Filters,
    GuardRails,
    QuotaRule,
    Rows,
    StatedQuotas,
    counts_bills,
    depends_on_payments,
    list_provider_groups,
    match_adjustment,
    match_quota,
    parts_nodes,
    read_adjustment,
)
from planner.sizing.demand import Demand
from pricing.common.words import pluralize
from pricing.market.accelerators import get as sheet_of
from pricing.market.accelerators import resolve
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.offer_table import OfferTable
from pricing.market.offers import HOURS_PER_MONTH, Offer, PurchaseOption
from pricing.market.snapshot import Catalog

Floats = NDArray[np.float64]
_FAR = 4
"""Times the peak from which on a quota binds nothing, whatever becomes of the hours; 2026."""
_INTERRUPTIBLE = [OPTION_CODE[option] for option in PurchaseOption if option.is_interruptible]


@dataclass(frozen=True)
class OfferSelection:
    """What can be rented for one demand, with the limits that decide it."""

    request: ComparisonRequest
    catalog: Catalog
    demand: Demand
    assumptions: Assumptions
    calendar: Calendar
    units_per_usd: float
    custom: OfferTable
    rules: PlanRules
    shares_quotas: bool = False
    """Whether other demands use the same quotas."""

    @cached_property
    def throughput(self) -> dict[str, float]:
        """r of each accelerator that can do the work."""
        return {c.accelerator: c.relative_throughput for c in self.demand.candidates}

    @cached_property
    def job_nodes(self) -> JobNodes:
        """The machines that hold the jobs of the work."""
        return JobNodes(self.rules, self.demand.candidates, self.demand.run_width)

    @cached_property
    def quota_rules(self) -> tuple[QuotaRule, ...]:
        """What counts offers: quotas, and providers whose prices are special."""
        return (*self.stated_quotas.rules, *list_provider_groups(self.request.existing))

    @cached_property
    def stated_quotas(self) -> StatedQuotas:
        """Quotas of the request that may bind: of a demand by itself, those within `_FAR` times
        its peak, which runs that are finished early put into one month."""
        stated = StatedQuotas.read(self.request)
        if self.shares_quotas:
            return stated
        demand = self.demand
        peak = float(demand.peak_accelerators.max(initial=0.0))
        if demand.is_sized:
            peak = max(peak, float(demand.hours_per_month.sum()) / HOURS_PER_MONTH)
        most = {
            one.accelerator: _FAR * peak / one.relative_throughput + _FAR * LARGEST_NODE
            for one in demand.candidates
        }
        return stated.without_loose(most)

    @cached_property
    def filters(self) -> Filters:
        """Limits on the catalog's offers."""
        return Filters.of(self.request.constraints, tuple(sorted(self.throughput)) or NONE_FITS)

    @cached_property
    def guard_rails(self) -> GuardRails:
        """What the catalog's offers must keep to unless the request says otherwise."""
        return GuardRails(self.rules, limit_places(self.request, self.catalog.regions))

    @cached_property
    def data(self) -> CloudData:
        """Data that the work holds and moves."""
        return CloudData.read(self.request.data, self.assumptions, self.units_per_usd, self.rates)

    def rentals(self, named: Collection[str] = ()) -> Iterator[CapacitySource]:
        """Every offer that can matter and those of `named` ids, the team's own first."""
        for table, custom in ((self.custom, self.request.custom_offers), (self.catalog_offers, ())):
            offers = self._eligible(table, custom)
            hourly, committed = self._undominated(offers, custom)
            others = (i for i in range(len(offers) if named else 0) if offers.offer(i).id in named)
            for i in dict.fromkeys((*hourly, *committed, *others)):
                yield self._rental(offers, i, custom)
            if self.rules.whole_nodes and not custom and not offers.counts_bills:
                peak = float(self.demand.peak_accelerators.max())
                pairs = find_larger_nodes(offers, hourly, self._data_cost(offers), peak)
                for small, large in pairs.items():
                    if offers.parts_nodes and large in hourly:
                        continue
                    yield replace(
                        self._rental(offers, large, ()), stands_for=offers.offer(small).id
                    )

    @cached_property
    def custom_filter(self) -> CustomOfferFilter:
        """The request's own offers under its limits."""
        places = limit_places(self.request, self.catalog.regions)
        return CustomOfferFilter(self.request, self.custom, places, self.throughput)

    @property
    def catalog_offers(self) -> OfferTable:
        """The catalog's offers, or none where the request leaves the catalog aside."""
        return self.catalog.offers if self.request.use_catalog else OfferTable.from_offers(())

    def _eligible(self, table: OfferTable, custom: Sequence[CustomOffer]) -> EligibleOffers:
        rows = self._fitting_rows(table, is_own=bool(custom))
        rows = rows[~self.stated_quotas.are_beyond(table, rows)]
        offers = build_eligible_offers(
            table,
            rows,
            self.throughput,
            self.quota_rules,
            () if custom else self.adjustments,
            self.catalog.grids,
            self.job_nodes.packed_sizes,
        )
        limits = self.request.constraints
        apart = SupplyLimits.read(limits).tells_providers_apart or bool(limits.provider_months)
        pools, parted = counts_bills(self.request), parts_nodes(self.request)
        offers = replace(offers, tells_providers_apart=apart)
        offers = replace(offers, counts_bills=pools, parts_nodes=parted)
        if custom:
            return offers
        return convert_prices(offers, self.catalog.exchange_rates, self.rates)

    def _fitting_rows(self, table: OfferTable, is_own: bool) -> Rows:
        within = self.guard_rails.rows
        rows = self.custom_filter.rows() if is_own else within(table, self.filters.rows(table))
        return self.job_nodes.fitting(table, rows, is_own=is_own)

    @cached_property
    def rates(self) -> ExchangeRates:
        """The catalog's exchange rates, those of the request in their place."""
        return merge_exchange_rates(self.request, self.catalog.exchange_rates)

    @cached_property
    def adjustments(self) -> tuple[Adjustment, ...]:
        """Contract discounts of the request as rules on offers."""
        return tuple(map(read_adjustment, self.request.price_adjustments))

    def warnings(self) -> Iterator[str]:
        """How names are read, what of the request's own prices, discounts and limits has no
        effect, and how dollars are converted."""
        yield from tell_readings(self.request)
        conflict = describe_conflict(self.guard_rails.places)
        if conflict and len(self.catalog_offers):
            yield f"{conflict[0].upper()}{conflict[1:]}."
        yield from self.custom_filter.warnings()
        places = limit_places(self.request, self.catalog.regions)
        yield from warn_of_places(self.request.existing.commitments, places)
        every = np.arange(len(self.catalog_offers))
        for i, own in enumerate(map(read_adjustment, self.request.price_adjustments), start=1):
            if not match_adjustment(self.catalog_offers, every, own).any():
                yield f"Discount {i} matches no price of the catalog and changes nothing."
        tables = (self.catalog_offers, self.custom)
        for rule in StatedQuotas.read(self.request).rules:
            if not any(match_quota(table, np.arange(len(table)), rule).any() for table in tables):
                yield f"The {rule.words} matches no price and limits nothing."
        for table in (self.catalog_offers, self.custom):
            rows = self._fitting_rows(table, is_own=table is self.custom)
            yield from self.stated_quotas.warnings(table, rows)
        if self.request.currency != "USD":
            yield describe_rate(self.rates.find(self.request.currency))

    def _undominated(
        self, offers: EligibleOffers, custom: Sequence[CustomOffer]
    ) -> tuple[list[int], list[int]]:
        peak = float(self.demand.peak_accelerators.max())
        own = [custom[int(row)] for row in offers.rows] if custom else []
        dated = [i for i, one in enumerate(own) if one.available_from or one.available_until]
        term, rate = int(offers.term_months.max(initial=1)), self.calendar.discount_rate_per_year
        average_discount = float(np.mean(discount_factors(rate, term)))
        keep_payments = depends_on_payments(self.request)
        data = self._data_cost(offers)
        accelerators = offers.accelerator_count / np.maximum(offers.capacity, 1e-12)
        staff = staff_over_plan(accelerators / self.units_per_usd, self.assumptions, self.calendar)
        goodput, whole = self._goodput(offers), self.rules.whole_nodes
        hourly = undominated_rentals(
            offers, goodput, data, peak, dated, whole_nodes=whole, staff=staff
        )
        tax = self.calendar.tax_rate
        later_relief = tax * self.calendar.upfront_deduction_spread / (1 - tax)
        committed = undominated_commitments(
            offers, average_discount, data, peak, keep_payments, dated, later_relief, staff[0]
        )
        return hourly, committed

    def _goodput(self, offers: EligibleOffers) -> Floats:
        spot = np.flatnonzero(np.isin(offers.option, _INTERRUPTIBLE))
        goodput = np.ones(len(offers))
        table, rows = offers.table, offers.rows[spot]
        least = np.array([self.min_accelerators.get(n, 1) for n in table.accelerator.names])
        nodes = np.ceil(least[table.accelerator.codes[rows]] / table.accelerator_count[rows])
        published = table.interruptions_per_month[rows]
        goodput[spot] = estimate_spot_goodputs(published, nodes, self.assumptions, self.data)
        return goodput

    def _data_cost(self, offers: EligibleOffers) -> Floats:
        cost = np.zeros(len(offers))
        if self.data.has_data:
            table, rows = offers.table, offers.rows
            places = (table.provider.codes[rows], table.region.codes[rows])
            for entries in split_by_equal_values(np.arange(len(offers)), places):
                offer = offers.offer(int(entries[0]))
                cost[entries] = self.data.monthly_cost_at(offer.provider, offer.region)
        return cost

    @cached_property
    def min_accelerators(self) -> Mapping[str, int]:
        """Least number of each accelerator that holds one job."""
        return {c.accelerator: c.min_accelerators for c in self.demand.candidates}

    def _rental(
        self, offers: EligibleOffers, i: int, custom: Sequence[CustomOffer]
    ) -> CapacitySource:
        offer = offers.offer(i)
        bits, multiplier = int(offers.quotas[i]), float(offers.multiplier[i])
        custom_offer = custom[int(offers.rows[i])] if custom else None
        label = custom_offer.label if custom_offer else ""
        count = float(offer.accelerator_count)
        return CapacitySource(
            key=offer.id,
            label=label or describe_offer(offer),
            purchase_option=offer.purchase_option.value,
            accelerator=offer.accelerator,
            accelerators=count,
            capacity=float(offers.capacity[i]),
            instance_type=offer.instance_type,
            is_spot=offer.purchase_option.is_interruptible,
            offer=offer,
            price_per_hour=float(offers.usd_per_hour[i]) * self.units_per_usd,
            upfront=float(offers.upfront_usd[i]) * self.units_per_usd,
            limit_groups=tuple(q.group for n, q in enumerate(self.quota_rules) if bits >> n & 1),
            available=self._available(offer, custom_offer),
            min_accelerators=self.min_accelerators[offer.accelerator],
            native=read_native_price(offer, self.rates.find(offer.currency), multiplier),
        )

    def _available(self, offer: Offer, custom: CustomOffer | None) -> NDArray[np.bool_] | None:
        calendar, term = (
            self.calendar,
            offer.term_months if offer.purchase_option.is_commitment else 1,
        )
        own = None
        if custom is not None:
            own = available_months(custom.available_from, custom.available_until, calendar)
        spans = [
            (one.first, one.last and add_months(one.last, 1 - (term or 1)))
            for one in self.request.constraints.provider_months
            if one.provider == offer.provider
        ]
        if not spans:
            return own
        masks = [available_months(first, last, calendar) for first, last in spans]
        named = np.logical_or.reduce([mask for mask in masks if mask is not None])
        both = np.asarray(named if own is None else named & own)
        return None if both.all() else both


_UNTOLD = "a limit that the request states"


@dataclass(frozen=True)
class CustomOfferFilter:
    """Private offers under the limits of their request."""

    request: ComparisonRequest
    table: OfferTable
    """Row `i` is the i-th of its offers."""
    places: PlaceLimits
    """Its limits on their places."""
    throughput: Mapping[str, float]
    """r of each accelerator that can do the work."""

    @property
    def limits(self) -> Constraints:
        """What the request limits."""
        return self.request.constraints

    def rows(self) -> NDArray[np.intp]:
        """Rows that meet every limit; of those on places, an offer without a known place does."""
        admitted = [row for row in range(len(self.table)) if not any(self._refusals(row))]
        return np.array(admitted, dtype=np.intp)

    def warnings(self) -> Iterator[str]:
        """Which offers of the right accelerator are left out, and why."""
        for row, offer in enumerate(self.request.custom_offers):
            why = next((words for words in self._refusals(row) if words != _UNTOLD), "")
            if why and self.table.offer(row).accelerator in self.throughput:
                yield f"{offer.label} left out: {why}."

    def _refusals(self, row: int) -> Iterator[str]:
        limits, offer = self.limits, self.table.offer(row)
        place = self.request.custom_offers[row].provider, self.request.custom_offers[row].region
        for limit in self.places.broken_at(*place):
            yield f"{self.places.describe(*place)} is outside {limit.words}"
        most, least = limits.max_term_months, limits.min_accelerators_per_node
        if most and offer.term_months > most:
            longest = pluralize(most, "month")
            yield f"{LIMIT_TITLES['max_term_months']} that may be signed is {longest}"
        if least is None and offer.accelerator_count < WHOLE_NODE:
            yield (
                "nodes hold at least one whole accelerator, as a share of a card does not hold the "
                "memory of a whole one; a limit of less than one accelerator per node admits it"
            )
        options, memory = limits.purchase_options, self.table.accelerator_memory_gib[row]
        link = (limits.interconnect or "").lower()
        if (
            offer.accelerator not in self.throughput
            or (limits.providers is not None and offer.provider not in (NOWHERE, *limits.providers))
            or (options is not None and offer.purchase_option not in options)
            or offer.accelerator_count < (least or WHOLE_NODE)
            or memory < (limits.min_accelerator_memory_gib or 0.0)
            or link not in sheet_of(offer.accelerator).interconnect
        ):
            yield _UNTOLD


def build_custom_offer_table(offers: Sequence[CustomOffer]) -> OfferTable:
    """The team's own prices as a table; row `i` is the i-th of them."""
    return OfferTable.from_offers(
        [
            Offer(
                provider=offer.provider,
                region=offer.region,
                instance_type=offer.instance_type or "custom",
                accelerator=resolve(offer.accelerator, f"custom_offers.{i}.accelerator").slug,
                accelerator_count=Fraction(str(offer.accelerator_count)).limit_denominator(1000),
                purchase_option=offer.purchase_option,
                price_per_hour=Decimal(str(offer.usd_per_hour)),
                upfront=Decimal(str(offer.upfront_usd)),
                term_months=offer.term_months or 0,
                zone=offer.label,
                source="request",
            )
            for i, offer in enumerate(offers)
        ]
    )


def merge_exchange_rates(request: ComparisonRequest, catalog_rates: ExchangeRates) -> ExchangeRates:
    """The catalog's exchange rates, replaced by the request's where it sets one."""
    request_rates = {
        currency: (
            ExchangeRate(
                currency, rate.as_of or dt.date.min, Decimal(str(rate.units_per_usd)), "request"
            ),
        )
        for currency, rate in request.exchange_rates.items()
    }
    return (
        ExchangeRates({**catalog_rates.by_currency, **request_rates})
        if request_rates
        else catalog_rates
    )


def describe_rate(rate: ExchangeRate) -> str:
    """At what rate dollars are converted, from whom and of which day.

    >>> describe_rate(ExchangeRate("EUR", dt.date(2026, 6, 30), Decimal("0.90"), "h10 (Fed)"))
    'US dollars are converted at 0.90 EUR per USD (Fed, 30 June 2026).'
    """
    source, day = rate.source.rpartition("(")[2].removesuffix(")"), name_day(rate.date)
    if source == "request":
        source, day = "as the request states", f"{rate.date:%B %Y}"
    dated = f"{source}, {day}" if rate.date > dt.date.min else source
    units = write_decimal(rate.units_per_usd)
    return f"US dollars are converted at {units} {rate.currency} per USD ({dated})."


def convert_prices(
    offers: EligibleOffers, old_rates: ExchangeRates, new_rates: ExchangeRates
) -> EligibleOffers:
    """Dollar prices that were native price / rate before, at the rates after: × before / after."""
    factors = {
        currency: float(old_rates.find(currency).units_per_usd / rates[-1].units_per_usd)
        for currency, rates in new_rates.by_currency.items()
        if currency in old_rates.by_currency and rates is not old_rates.by_currency[currency]
    }
    if not factors:
        return offers
    change = np.array([factors.get(offers.offer(i).currency, 1.0) for i in range(len(offers))])
    return replace(
        offers, usd_per_hour=offers.usd_per_hour * change, upfront_usd=offers.upfront_usd * change
    )
