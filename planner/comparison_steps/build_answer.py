"""The answer of a comparison, built from its results: the one place where it is put together.

PURE. Amounts are rounded here, to the cent or to the digits that are shown, and nowhere later.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from planner.comparison_steps.alternatives import find_alternatives
from planner.comparison_steps.budgets.gains import find_budget_gains
from planner.comparison_steps.build_analysis import (
    build_break_even,
    build_cost_curve,
    build_default_effects,
    build_explanation,
    build_grid,
    build_risk,
    build_robust_plan,
    build_sensitivity,
)
from planner.comparison_steps.build_scenario import build_scenarios
from planner.comparison_steps.build_verdict import build_verdict
from planner.comparison_steps.deadlines.words import warn_of_even_payments
from planner.comparison_steps.range_doubts import find_range_doubts
from planner.comparison_steps.results import ComparisonResults
from planner.comparison_steps.work_limits import warn_left_out
from planner.contract.answer.common import ScenarioKey, write_decimal
from planner.contract.answer.comparison import (
    AssumptionRow,
    CatalogRevision,
    ComparisonAnswer,
    ExchangeRateUsed,
    MultiplierChange,
    OfferUsed,
    ServerUsed,
)
from planner.contract.answer.coverage import PriceAge, PriceCoverage
from planner.contract.answer.demand import DemandAnswer, DemandCandidate, DemandRange
from planner.contract.answer.verdict import Recommendation, Verdict
from planner.contract.labels import RESERVED_AS_ESTIMATED
from planner.contract.money import format_money
from planner.contract.months import format_month
from planner.costing.advice.image_cores import warn_of_few_cores
from planner.costing.advice.local_power import warn_of_foreign_power
from planner.costing.advice.unfilled_machines import warn_of_unfilled_machines
from planner.costing.advice.warnings import warn_past_start, warn_undated_servers
from planner.costing.assumptions.assumption import Assumption
from planner.costing.assumptions.rule_assumptions import rule_assumptions
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.server import ServerToBuy
from planner.costing.results.scenario_result import cents
from planner.sizing.demand import Demand
from pricing.market.coverage import CoverageRow
from pricing.market.price_age import PartDates

SAFE_TO_RESERVE = 1.1
"""Hours at p90 over those estimated from which a reservation by date may be too short; a planning
choice, 2026."""


def build_answer(results: ComparisonResults) -> ComparisonAnswer:
    """The whole answer."""
    request, inputs = results.request, results.inputs
    sources, scenarios = list_used_sources(results), build_scenarios(results)
    offers = {s.offer_id: build_offer(s) for s in sources if s.offer_id}
    gains, caveats = find_budget_gains(results), find_range_doubts(results)
    verdict = build_verdict(results, gains, caveats)
    alternatives = find_alternatives(results, [gain.alternative for gain in gains or ()])
    return ComparisonAnswer(
        name=request.name,
        start=format_month(results.calendar.start),
        horizon_months=request.horizon_months,
        currency=request.currency,
        exchange_rate=_exchange_rate(results),
        catalog=build_catalog(results),
        coverage=tuple(_coverage(row) for row in results.preparation.coverage),
        assumptions=build_assumptions(results),
        demand=_demand(results.demand, results.hours_range, holds=caveats.holds),
        scenarios=scenarios,
        break_even=build_break_even(results.break_even, inputs),
        cost_curve=build_cost_curve(results.curve_lines, inputs, request.rules),
        verdict=verdict,
        recommendation=_recommendation(results),
        cheaper_if=alternatives,
        offers=offers,
        region_names=name_regions(results, sources),
        servers=tuple(
            build_server(source, inputs.servers.unsure.get(source.key))
            for source in sources
            if source.is_owned
        ),
        explanation=build_explanation(results, scenarios),
        risk=build_risk(results.risk, holds=caveats.holds),
        robust_plan=build_robust_plan(results),
        sensitivity=build_sensitivity(results),
        default_effects=build_default_effects(results.default_effects),
        price_grid=build_grid(results.curve_lines),
        warnings=(
            *warn_past_start(results.calendar, results.preparation.today),
            *warn_undated_servers(results.request.on_prem.already_owned),
            *filter(None, (caveats.warning,)),
            *warn_of_even_payments(results),
            *warn_of_unfilled_machines(request, inputs, verdict.decision, alternatives),
            *warn_of_few_cores(request, inputs, verdict.decision),
            *dict.fromkeys((*results.warnings, *_warnings_of(verdict, results))),
            *_warn_of_place(results),
            *warn_left_out(results),
        ),
    )


def _warn_of_place(results: ComparisonResults) -> Iterator[str]:
    """What the defaults of owning do not say of the places chosen, where owning is a question."""
    if not results.is_small:
        yield from warn_of_foreign_power(
            results.request, results.inputs, results.preparation.catalog
        )


def _warnings_of(verdict: Verdict, results: ComparisonResults) -> Iterator[str]:
    """What the verdict rests on, for readers of the warnings alone."""
    if verdict.exception:
        yield verdict.exception
    most = results.hours_range[1]
    if most > SAFE_TO_RESERVE and any(one.action == "reserve" for one in verdict.decision):
        yield (
            f"Capacity {RESERVED_AS_ESTIMATED}, and is paid for whether or not they are "
            f"needed: in 1 of 10 cases the work takes {most:.1f} times as long or more, and the "
            "rest has to be rented. If that is not possible, reserve more days or rent by the "
            f"hour.{_average_by_the_hour(results)}"
        )
    yield from verdict.unknown_prices


def _average_by_the_hour(results: ComparisonResults) -> str:
    """What renting on demand saves on average beside a reservation whose hours are not sure."""
    advised, risk = results.recommendation.scenario, results.risk
    if advised is None or risk is None or ScenarioKey.ON_DEMAND not in risk.mean:
        return ""
    saved = risk.mean[advised] - risk.mean[ScenarioKey.ON_DEMAND]
    if saved <= 0:
        return ""
    less = format_money(saved, results.request.currency)
    return (
        f" Over all simulated cases renting on demand costs {less} less on average (present "
        "value), as hours that the work does not take then cost nothing."
    )


def list_used_sources(results: ComparisonResults) -> tuple[CapacitySource, ...]:
    """Sources that a scenario or a break-even speaks of, in the order of their keys."""
    used = {row.against for row in results.break_even}
    used |= {s.key for s in results.inputs.sources if s.fixed_streams and s.offer_id}
    for scenario in results.scenarios.values():
        used |= set(scenario.used_hours) | set(scenario.units_started)
    used |= results.inputs.find_fallbacks(used)
    return tuple(s for key, s in sorted(results.inputs.by_key.items()) if key in used)


def name_regions(results: ComparisonResults, sources: Iterable[CapacitySource]) -> dict[str, str]:
    """What people call the regions of the offers that the answer mentions."""
    by_key = results.inputs.by_key
    drawn = (by_key[line.key] for line in results.curve_lines if line.key in by_key)
    places = sorted({(s.provider, s.region) for s in (*sources, *drawn) if s.provider})
    return {
        f"{provider}:{region}": results.preparation.name_region(provider, region)
        for provider, region in places
    }


def build_assumptions(results: ComparisonResults) -> tuple[AssumptionRow, ...]:
    """Every figure and rule that the answer rests on, with its unit and source."""
    preparation = results.preparation
    rules = rule_assumptions(preparation.request, preparation.rules)
    rows = (*preparation.priced_assumptions.rows, *rules)
    return tuple(_assumption(row) for row in rows)


def _assumption(row: Assumption) -> AssumptionRow:
    value = write_decimal(row.value) if isinstance(row.value, Decimal) else row.value
    return AssumptionRow(
        field=row.field, value=value, unit=row.unit, given=row.given, source=row.source
    )


def _exchange_rate(results: ComparisonResults) -> ExchangeRateUsed | None:
    request = results.request
    if request.currency == "USD":
        return None
    request_rate = request.exchange_rates.get(request.currency)
    if request_rate is not None:
        units = write_decimal(Decimal(str(request_rate.units_per_usd)))
        return ExchangeRateUsed(units_per_usd=units, as_of=request_rate.as_of, source="request")
    rate = results.preparation.catalog.exchange_rates.find(request.currency)
    units = write_decimal(Decimal(str(rate.units_per_usd)))
    return ExchangeRateUsed(units_per_usd=units, as_of=rate.date, source=rate.source)


def build_catalog(results: ComparisonResults) -> tuple[CatalogRevision, ...]:
    """The price lists that the answer used; none where the request leaves the catalog aside."""
    if not results.request.use_catalog:
        return ()
    catalog, today = results.preparation.catalog, results.preparation.today
    dates = catalog.part_dates
    return tuple(
        CatalogRevision(
            provider=info.provider,
            revision=info.revision,
            as_of=info.as_of,
            oldest_price_as_of=info.oldest_price_as_of,
            age_days=info.age_days(today),
            parts=tuple(_price_age(part, today) for part in dates.get(info.provider, ())),
        )
        for info in catalog.revisions
    )


def _price_age(dates: PartDates, today: dt.date) -> PriceAge:
    return PriceAge(
        part=dates.part.value,
        count=dates.count,
        undated=dates.undated,
        median_age_days=dates.median_age_days(today),
        oldest_age_days=dates.oldest_age_days(today),
        last_confirmed=dates.newest,
    )


def _coverage(row: CoverageRow) -> PriceCoverage:
    shown = {name: value for name, value in vars(row).items() if name in PriceCoverage.model_fields}
    return PriceCoverage.of_values(**{**shown, "state": row.state.value})


def _demand(demand: Demand, hours_range: tuple[float, float], *, holds: bool) -> DemandAnswer:
    low, high = hours_range
    hours, peak = demand.hours_per_month.tolist(), demand.peak_accelerators.tolist()
    total = float(sum(hours))
    return DemandAnswer(
        accelerator=demand.accelerator,
        hours_per_month=hours,
        peak_accelerators=peak,
        total_hours=total,
        total_hours_p10=total * low,
        total_hours_p90=total * high,
        highest_peak=max(peak, default=0.0),
        method=demand.method,
        range=DemandRange(p10=low, p90=high, holds=holds),
        candidates=tuple(
            DemandCandidate(
                accelerator=one.accelerator,
                relative_throughput=one.relative_throughput,
                min_accelerators=one.min_accelerators,
                notes=one.notes,
            )
            for one in demand.candidates
        ),
        excluded=_plain(demand.excluded),
    )


def _plain(mapping: Mapping[str, str]) -> dict[str, str]:
    return dict(mapping)


def _recommendation(results: ComparisonResults) -> Recommendation:
    advice = results.recommendation
    return Recommendation(
        scenario=advice.scenario,
        saving=advice.saving,
        next_best=advice.next_best,
        because=advice.because,
    )


def build_offer(source: CapacitySource) -> OfferUsed:
    """An offer with the provider's own price."""
    native = source.native
    known = OfferUsed(
        label=source.label,
        provider=source.provider,
        region=source.region,
        zone=source.zone,
        instance_type=source.instance_type,
        accelerator=source.accelerator,
        accelerator_count=source.accelerators,
        purchase_option=source.purchase_option,
        term_months=source.term.duration_months if source.term else None,
        goodput=source.goodput,
    )
    if native is None:
        return known
    return known.model_copy(
        update={
            "native_currency": native.currency,
            "native_price_per_hour": native.price_per_hour,
            "native_upfront": native.upfront,
            "units_per_usd": native.units_per_usd,
            "rate_date": native.rate_date,
            "multiplier": _round_factor(native.multiplier),
            "multiplier_changes": tuple(
                MultiplierChange(first=format_month(first), multiplier=_round_factor(factor))
                for first, factor in native.changes
            ),
            "as_of": native.as_of,
            "source": native.source,
            "sku": native.sku,
        }
    )


def _round_factor(factor: float) -> float:
    return float(f"{factor:.12g}")


def build_server(source: CapacitySource, unsure: ServerToBuy | None = None) -> ServerUsed:
    """A server as the answer lists it; `unsure` has the range of its price."""
    known = ServerUsed(
        key=source.key,
        label=source.label,
        accelerator=source.accelerator,
        accelerator_count=source.accelerators,
        power_kw=source.power_kw,
        idle_power_kw=source.idle_power_kw,
        price_source=source.server_price[0],
        price_year=source.server_price[1],
    )
    if unsure is None or unsure.price_range is None:
        return known
    ends = unsure.price_range
    return known.model_copy(
        update={
            "unit_price_p10": cents(unsure.unit_price * ends.low),
            "unit_price_p90": cents(unsure.unit_price * ends.high),
            "price_quotes": ends.quotes,
        }
    )
