"""The answer of a comparison, built from its results: the one place where it is put together.

PURE. Amounts are rounded here, to the cent or to the digits that are shown, and nowhere later.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np

from planner.comparison.alternatives import describe_idle, describe_instead, find_alternatives
from planner.comparison.budgets import find_budget_gains
from planner.comparison.drivers import build_drivers, list_turns
from planner.comparison.own_servers import weigh_sale
from planner.comparison.policy import build_policy
from planner.comparison.results import ComparisonResults
from planner.comparison.unknown_prices import find_unknown_prices
from planner.comparison.verdict import (
    MOST_REASONS,
    RangeDoubts,
    build_verdict,
    find_range_doubts,
    months_to_pay_back,
)
from planner.comparison.warnings import list_warnings
from planner.contract.amounts import FiscalYears, format_month, name_day
from planner.contract.answer.common import AnswerModel, Category, ScenarioKey, write_decimal
from planner.contract.answer.comparison import (
    AssumptionRow,
    CatalogRevision,
    ComparisonAnswer,
    DemandAnswer,
    DemandCandidate,
    DemandRange,
    ExchangeRateUsed,
    OfferUsed,
    PriceAge,
    PriceCoverage,
    ServerUsed,
)
from planner.contract.answer.policy import EarlyStop
from planner.contract.answer.risk import BreakEvenRow, CostRange, Driver, RiskAnswer
from planner.contract.answer.scenario import (
    FiscalYearFinance,
    LeaseYear,
    Purchase,
    ScenarioAnswer,
    ScenarioEnergy,
    ScenarioFinance,
    SourceEnergy,
    sum_by_source,
)
from planner.contract.answer.verdict import Recommendation, Verdict
from planner.contract.labels import traits
from planner.contract.request.workload import Serving
from planner.costing.advice.early_stop import describe_end, list_stops
from planner.costing.advice.verdict import best_without_buying
from planner.costing.analysis.carbon import Energy, GridCarbon, calculate_energy
from planner.costing.analysis.simulation import RiskResult
from planner.costing.assumptions.assumptions import rule_assumptions
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import UnitCharge
from planner.costing.cost_model.ownership import ServerToBuy
from planner.costing.cost_model.terms import Calendar, ChargeTiming
from planner.costing.results.entries import Group
from planner.costing.results.scenario_result import Scenario, cents
from planner.costing.statements.returns import (
    book_leases,
    internal_rate_of_return,
    summarize_fiscal_years,
    why_no_internal_rate,
)

M = TypeVar("M", bound=AnswerModel)
_PERCENTILES = ("p10", "p50", "p90", "total_p10", "total_p50", "total_p90")
NO_SINGLE_RATE = "no single rate between −99% and 1,000,000% makes both plans worth the same"

STOP_MONTHS = 3
"""Months between two rows of what is owed if the work stops."""
LIKELY = 0.5
"""Chance of turning the advice from which a price that is not known leaves nothing proven; 2026."""
NOT_PROVEN = "Not proven: a price that is not known is likely to turn the advice."


def build_answer(results: ComparisonResults) -> ComparisonAnswer:
    """The whole answer."""
    *_, whole = build_in_steps(results)
    return whole


def build_in_steps(results: ComparisonResults) -> Iterator[ComparisonAnswer]:
    """First what is advised, its cost and range; then the whole answer, with what else was weighed:
    alternatives, drivers and later dates."""
    gains, caveats = find_budget_gains(results), find_range_doubts(results)
    verdict = build_verdict(results, gains, caveats)
    unknown = find_unknown_prices(results)
    verdict = verdict.model_copy(update={"ask_first": tuple(row.sentence for row in unknown)})
    first = _build_first(results, verdict, unknown, caveats)
    yield first
    own, without_own = weigh_sale(results)
    known = [*(gain.alternative for gain in gains or ()), *without_own]
    alternatives, drivers = find_alternatives(results, known), build_drivers(results)
    idle, currency = describe_idle(results), results.request.currency
    instead = describe_instead(alternatives, verdict.expected, currency)
    policy, plan = build_policy(results), results.advised
    risk = results.inputs, results.risk_parameters, currency
    ends = "" if plan is None else describe_end(plan, *risk)
    verdict = verdict.model_copy(
        update={
            "turns": list_turns(drivers),
            "sentence": f"{verdict.sentence} {idle}".rstrip(),
            "reasons": (*filter(None, (ends, own, *instead)), *verdict.reasons)[:MOST_REASONS],
            "waiting": policy.sentence if policy is not None and policy.triggers else "",
        }
    )
    yield first.model_copy(
        update={
            "verdict": verdict,
            "cheaper_if": alternatives,
            "drivers": (*drivers, *unknown),
            "stops": _list_stops(results),
            "policy": policy,
            "warnings": list_warnings(results, verdict, caveats),
        }
    )


def _build_first(
    results: ComparisonResults, verdict: Verdict, unknown: tuple[Driver, ...], caveats: RangeDoubts
) -> ComparisonAnswer:
    request, inputs, preparation = results.request, results.inputs, results.preparation
    sources = _list_used_sources(results)
    places = sorted({(s.provider, s.region) for s in sources if s.provider})
    return ComparisonAnswer(
        name=request.name,
        start=format_month(results.calendar.start),
        horizon_months=request.horizon_months,
        currency=request.currency,
        exchange_rate=_exchange_rate(results),
        catalog=build_catalog(results),
        coverage=tuple(
            _copy(PriceCoverage, row, state=row.state.value) for row in preparation.coverage
        ),
        assumptions=build_assumptions(results),
        demand=_demand(results, holds=caveats.holds),
        scenarios=build_scenarios(results),
        break_even=tuple(
            _copy(
                BreakEvenRow,
                row,
                label=inputs.by_key[row.against].label,
                rent_per_hour=_digits(row.rent_per_hour, 6),
                running_cost_per_hour=_digits(row.running_cost_per_hour, 6),
            )
            for row in results.break_even
        ),
        verdict=verdict,
        cost_per_million_tokens=_cost_of_tokens(results, verdict),
        recommendation=_recommendation(results, unknown),
        offers={s.offer_id: build_offer(s) for s in sources if s.offer_id},
        region_names={":".join(place): preparation.name_region(*place) for place in places},
        servers=tuple(
            build_server(source, inputs.servers.unsure.get(source.key))
            for source in sources
            if source.is_owned
        ),
        risk=_risk(results.risk, holds=caveats.holds),
        drivers=unknown,
        warnings=list_warnings(results, verdict, caveats),
    )


def _list_stops(results: ComparisonResults) -> tuple[EarlyStop, ...]:
    plan, after = results.advised, results.risk_parameters.end_after_months
    rows = list_stops(plan, results.inputs, STOP_MONTHS, after) if plan else ()
    leaves_any = any(row.owed or row.resale or row.paid_ahead for row in rows)
    return tuple(_copy(EarlyStop, row) for row in rows) if leaves_any else ()


def _copy(model: type[M], row: object, **others: Any) -> M:
    names = (name for name in model.model_fields if name not in others and hasattr(row, name))
    return model(**{name: getattr(row, name) for name in names}, **others)


# What the answer rests on ---------------------------------------------------------------------


def build_assumptions(results: ComparisonResults) -> tuple[AssumptionRow, ...]:
    """Every figure and rule that the answer rests on, with its unit and source."""
    preparation = results.preparation
    rules = rule_assumptions(preparation.request, preparation.rules)
    rows = (
        _copy(
            AssumptionRow,
            row,
            value=write_decimal(row.value) if isinstance(row.value, Decimal) else row.value,
        )
        for row in (*preparation.priced_assumptions.rows, *rules)
    )
    return *rows, *_rate_row(results)


def _exchange_rate(results: ComparisonResults) -> ExchangeRateUsed | None:
    currency = results.request.currency
    if currency == "USD":
        return None
    rate = results.preparation.offers.rates.find(currency)
    day = rate.date if rate.date > dt.date.min else None
    units = write_decimal(rate.units_per_usd)
    return ExchangeRateUsed(units_per_usd=units, as_of=day, source=rate.source)


def _rate_row(results: ComparisonResults) -> Iterator[AssumptionRow]:
    rate, currency = _exchange_rate(results), results.request.currency
    if rate is not None:
        is_given = rate.source == "request"
        dated = f"{rate.source}, {name_day(rate.as_of)}" if rate.as_of else rate.source
        yield AssumptionRow(
            field=f"exchange_rates.{currency}",
            value=rate.units_per_usd,
            unit=f"{currency} per USD",
            given=is_given,
            source=rate.source if is_given else dated,
        )


def build_catalog(results: ComparisonResults) -> tuple[CatalogRevision, ...]:
    """The price lists that the answer used; none where the request leaves the catalog aside."""
    if not results.request.use_catalog:
        return ()
    catalog, today = results.preparation.catalog, results.preparation.today
    return tuple(
        _copy(
            CatalogRevision,
            info,
            age_days=info.age_days(today),
            parts=tuple(
                PriceAge(
                    part=dates.part.value,
                    count=dates.count,
                    undated=dates.undated,
                    median_age_days=dates.median_age_days(today),
                    oldest_age_days=dates.oldest_age_days(today),
                    last_confirmed=dates.newest,
                )
                for dates in catalog.part_dates.get(info.provider, ())
            ),
        )
        for info in catalog.revisions
    )


def _demand(results: ComparisonResults, *, holds: bool) -> DemandAnswer:
    demand, (low, high) = results.demand, results.hours_range
    hours, peak = demand.hours_per_month.tolist(), demand.peak_accelerators.tolist()
    total, size = float(sum(hours)), results.main_size
    return DemandAnswer(
        accelerator=demand.accelerator,
        hours_per_month=hours,
        peak_accelerators=peak,
        total_hours=total,
        total_hours_p10=total * low,
        total_hours_p90=total * high,
        highest_peak=max(peak, default=0.0),
        method=size.method if size else demand.method,
        range=DemandRange(p10=low, p90=high, holds=holds),
        candidates=tuple(_copy(DemandCandidate, c) for c in demand.candidates),
        excluded=dict(demand.excluded),
    )


def _recommendation(results: ComparisonResults, unknown: Sequence[Driver]) -> Recommendation:
    recommendation = _copy(Recommendation, results.recommendation)
    if not any((row.chance or 0.0) >= LIKELY for row in unknown):
        return recommendation
    because = (*recommendation.because[:-1], NOT_PROVEN)
    return recommendation.model_copy(update={"because": because})


def _cost_of_tokens(results: ComparisonResults, verdict: Verdict) -> dict[str, Decimal]:
    """Cost over the tokens of all answers, 1e6, that are expected before a project ends; empty for
    other work and without a plan."""
    work, cost = results.request.workload, verdict.expected or verdict.total
    if not isinstance(work, Serving) or cost is None:
        return {}
    drawn, tokens = results.simulation, work.tokens_per_month * results.request.horizon_months
    may_end = drawn is not None and drawn.outcomes.ends is not None
    if drawn is not None and may_end:
        tokens *= drawn.share_done
    if not tokens:
        return {}
    amounts = {"expected": cost}
    if verdict.range and not may_end:
        amounts |= {"p10": verdict.range.p10, "p90": verdict.range.p90}
    return {name: _digits(float(amount) / tokens * 1e6, 4) for name, amount in amounts.items()}


def _list_used_sources(results: ComparisonResults) -> tuple[CapacitySource, ...]:
    used = {row.against for row in results.break_even}
    used |= {s.key for s in results.inputs.sources if s.fixed_streams and s.offer_id}
    for scenario in results.scenarios.values():
        used |= set(scenario.used_hours) | set(scenario.units_started)
    used |= results.inputs.find_fallbacks(used)
    return tuple(s for key, s in sorted(results.inputs.by_key.items()) if key in used)


def build_offer(source: CapacitySource) -> OfferUsed:
    """An offer with the provider's own price."""
    native = source.native
    known = _copy(
        OfferUsed,
        source,
        accelerator_count=source.accelerators,
        term_months=source.term.duration_months if source.term else None,
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
            "multiplier": float(f"{native.multiplier:.12g}"),
            "as_of": native.as_of,
            "source": native.source,
            "sku": native.sku,
        }
    )


def build_server(source: CapacitySource, unsure: ServerToBuy | None = None) -> ServerUsed:
    """A server as the answer lists it; `unsure` has the range of its price."""
    ends, price = (None, {}) if unsure is None else (unsure.price_range, {})
    if unsure is not None and ends is not None:
        price = {
            "unit_price_p10": cents(unsure.unit_price * ends.low),
            "unit_price_p90": cents(unsure.unit_price * ends.high),
            "price_quotes": ends.quotes,
        }
    return _copy(
        ServerUsed,
        source,
        accelerator_count=source.accelerators,
        price_source=source.server_price[0],
        price_year=source.server_price[1],
        **price,
    )


# Scenarios ------------------------------------------------------------------------------------


def build_scenarios(results: ComparisonResults) -> tuple[ScenarioAnswer, ...]:
    """The scenarios; a plan that two of them share is written out once."""
    built: dict[int, ScenarioAnswer] = {}
    return tuple(_scenario(scenario, results, built) for scenario in results.scenarios.values())


def _scenario(
    scenario: Scenario, results: ComparisonResults, built: dict[int, ScenarioAnswer]
) -> ScenarioAnswer:
    own: dict[str, Any] = {
        "key": scenario.key,
        "allowed": not results.why_not_allowed(scenario.key),
        "why_not_allowed": results.why_not_allowed(scenario.key),
        "warnings": scenario.warnings,
    }
    if not scenario.feasible:
        return ScenarioAnswer(
            **own, feasible=False, why_not=scenario.why_not, relaxations=scenario.relaxations
        )
    own["gap"] = scenario.gap
    own["bound"] = min(cents(scenario.bound), scenario.net_present_cost)
    same = built.get(id(scenario.lines))
    if same is not None:
        return same.model_copy(update=own)
    total, cash = scenario.total_cost, scenario.cash_per_month
    rent = results.scenarios[ScenarioKey.ON_DEMAND]
    grids = GridCarbon(results.preparation.catalog, results.request.on_prem.g_co2e_per_kwh)
    at_work = {(row.source, row.month) for row in scenario.capacity if row.hours_used > 0}
    built[id(scenario.lines)] = answer = ScenarioAnswer(
        **own,
        feasible=True,
        why_not=scenario.why_not,
        total_cost=total,
        within_horizon=total - scenario.owed_after,
        owed_after=scenario.owed_after,
        net_present_cost=scenario.net_present_cost,
        levelised_cost_per_accelerator_hour=scenario.levelised_cost_per_accelerator_hour,
        saving_against_on_demand=rent.total_cost - total if rent.feasible else None,
        cost_by_category=scenario.cost_by_category,
        cash_per_month=cash,
        accrued_per_month=scenario.accrued,
        write_off=dict(scenario.write_off),
        cumulative_cost=tuple(accumulate(cash)),
        lines=scenario.lines,
        capacity=scenario.capacity,
        purchases=build_purchases(scenario, results.inputs.by_key, at_work),
        costs_by_source=sum_by_source(scenario.lines),
        energy=_energy(calculate_energy(scenario, results.inputs, grids.intensity)),
        finance=_finance(scenario, results),
    )
    return answer


def _energy(energy: Energy) -> ScenarioEnergy:
    return ScenarioEnergy(
        kwh=_round(energy.kwh, 3),
        kg_co2e=_round(energy.kg_co2e, 3),
        kg_co2e_of_known_grid=_round(energy.kg_co2e_of_known_grid, 3),
        why_not=energy.why_not,
        kwh_of_unknown_grid=round(energy.kwh_of_unknown_grid, 3),
        unknown_power=energy.unknown_power,
        sources=tuple(
            _copy(SourceEnergy, source, kwh=round(source.kwh, 3), kg_co2e=_round(source.kg_co2e, 3))
            for source in energy.by_source
        ),
    )


def _round(figure: float | None, digits: int) -> float | None:
    return None if figure is None else round(figure, digits)


def build_purchases(
    scenario: Scenario, by_key: Mapping[str, CapacitySource], at_work: Container[tuple[str, int]]
) -> tuple[Purchase, ...]:
    """What a plan buys, commits to and reserves, in the order of months and sources; `at_work`:
    (source, month) in which units are used.

    Units and months come from the plan, amounts due at the start from its lines, and the monthly
    payment from the charges of the commitment at the price of the month in which it begins.
    """
    due: dict[tuple[str, int], Decimal] = defaultdict(Decimal)
    rows = []
    for line in scenario.lines:
        if line.category in (Category.UPFRONT, Category.CAPEX):
            due[line.source, line.month] += line.amount
        if line.category is Category.UPFRONT and traits(line.purchase_option).is_paid_ahead:
            reserved = _copy(
                Purchase,
                line,
                kind="capacity_block",
                units=line.quantity,
                first=line.month,
                last=line.month,
                due_at_start=line.amount,
            )
            rows.append(reserved)
    started = [
        _unit_purchase(by_key[key], int(month), int(units[month]), due, at_work)
        for key, units in scenario.units_started.items()
        for month in np.flatnonzero(units)
    ]
    return tuple(sorted((*started, *rows), key=lambda row: (row.month, row.source)))


def _unit_purchase(
    source: CapacitySource,
    month: int,
    units: int,
    due: Mapping[tuple[str, int], Decimal],
    at_work: Container[tuple[str, int]],
) -> Purchase:
    assert source.term is not None
    first = month + source.term.lead_months
    last = min(first + source.term.duration_months, source.term.months) - 1
    per_month = sum(
        float(charge.amounts(source.term)[month, month])
        for charge in source.unit_charges
        if isinstance(charge, UnitCharge)
        and charge.timing is ChargeTiming.MONTHLY
        and charge.category is Category.COMMITMENT
    )
    return Purchase(
        month=month,
        source=source.key,
        label=source.label,
        kind="server" if source.is_owned else "commitment",
        units=units,
        unit="servers" if source.is_owned else "commitments",
        first=first,
        last=last,
        idle_months=tuple(t for t in range(first, last + 1) if (source.key, t) not in at_work),
        due_at_start=due.get((source.key, month)),
        due_per_month=cents(units * per_month) if per_month else None,
    )


def _finance(scenario: Scenario, results: ComparisonResults) -> ScenarioFinance:
    calendar, rent = results.calendar, best_without_buying(results.allowed_scenarios)
    returns = _returns(scenario, rent, calendar) if rent is not None and scenario.buys else {}
    per_year = (scenario.total_cost * 12 / calendar.months).quantize(Decimal("0.01"))
    years = tuple(_fiscal_years(scenario, results))
    return ScenarioFinance(cost_per_year=per_year, fiscal_years=years, **returns)


def _returns(own: Scenario, rent: Scenario, calendar: Calendar) -> dict[str, Any]:
    saved: dict[float, int] = defaultdict(int)
    for entries, sign in ((rent.entries, 1), (own.entries, -1)):
        for entry in entries:
            moments = calendar.paid_months(entry.paid)
            for month in np.flatnonzero(entry.due).tolist():
                saved[round(float(moments[month]), 9)] += sign * int(entry.due[month])
    moments_paid = sorted(moment for moment, amount in saved.items() if amount)
    flows = np.array([saved[moment] for moment in moments_paid], dtype=np.float64) / 100.0
    years = np.array(moments_paid, dtype=np.float64) / 12.0
    internal = internal_rate_of_return(flows, years)
    why_not = "" if internal is not None else why_no_internal_rate(flows, years) or NO_SINGLE_RATE
    return {
        "against": rent.key,
        "net_present_value": rent.net_present_cost - own.net_present_cost,
        "internal_rate_of_return": _round(internal, 8),
        "why_no_internal_rate": why_not,
        "payback_months": months_to_pay_back(own, rent, calendar),
        "discounted_payback_months": months_to_pay_back(own, rent, calendar, is_discounted=True),
    }


def _fiscal_years(scenario: Scenario, results: ComparisonResults) -> Iterator[FiscalYearFinance]:
    calendar = results.calendar
    years = FiscalYears(calendar.start, results.request.finance.fiscal_year_start_month)
    leases = book_leases(scenario, results.inputs)
    by_year = summarize_fiscal_years(scenario.entries, leases, calendar, years)
    for year, sums in by_year.items():
        first, after = years.months_of(year)
        booked = {
            group.value: _money(sums.booked[group]) for group in Group if group is not Group.LOAN
        }
        lease_year = LeaseYear(
            depreciation=_money(sums.lease_depreciation),
            interest=_money(sums.lease_interest),
            right_of_use=_money(sums.right_of_use),
            liability=_money(sums.lease_liability),
            cost=_money(sums.ifrs_cost),
        )
        yield FiscalYearFinance(
            fiscal_year=year,
            first=format_month(calendar.month(max(first, 0))),
            last=format_month(calendar.month(after - 1)),
            cash=_money(sums.cash),
            capital=_money(sums.capital),
            **booked,
            cost=_money(sums.cost),
            loan=_money(sums.loan),
            leases=None if leases is None else lease_year,
        )


def _money(amount: int) -> Decimal:
    return Decimal(amount).scaleb(-2)


# Analyses -------------------------------------------------------------------------------------


def _digits(amount: float, digits: int) -> Decimal:
    return Decimal(str(round(amount, digits)))


def _risk(risk: RiskResult | None, *, holds: bool) -> RiskAnswer | None:
    if risk is None:
        return None
    return _copy(
        RiskAnswer,
        risk,
        **{
            key.value: CostRange(
                **dict(zip(_PERCENTILES, map(cents, (*present, *total)), strict=True)),
                mean=cents(risk.mean[key]),
                expected=cents(risk.total_mean[key]),
            )
            for key, present in risk.percentiles.items()
            for total in (risk.total_percentiles[key],)
        },
        probability_cheapest=dict(risk.probability_cheapest),
        holds=holds,
    )
