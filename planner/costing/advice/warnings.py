"""What a reader of an answer should know of its prices before trusting it. PURE."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import ceil
from statistics import median

import numpy as np
from numpy.typing import NDArray

from planner.contract.amounts import format_money
from planner.contract.answer.common import ScenarioKey
from planner.contract.labels import BEFORE_TODAY, COMMITTED, NOT_COUNTED
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.on_prem import Existing, OwnedServer
from planner.contract.request.rules import limit_places
from planner.costing.analysis.carbon import ON_PREM_G_CO2E_PER_KWH
from planner.costing.assumptions.assumptions import default
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.ownership import ServerToBuy
from planner.costing.cost_model.rental import is_list_price_by_date
from planner.costing.cost_model.terms import Calendar
from planner.costing.inputs.exclusions import describe_missing, find_missing
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import Quota
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_hours_of, peak_of
from planner.costing.run_peaks import nodes_at_once
from planner.sizing.demand import Demand
from planner.sizing.performance.confidence import warn_never_built
from pricing.common.pluralize import as_sentence, pluralize
from pricing.market.offer_table import OfferTable
from pricing.market.offers import HOURS_PER_MONTH, PurchaseOption
from pricing.market.places import EU
from pricing.market.snapshot import Catalog, Region

_OWED_AFTER_CENT = Decimal("0.01")


def left_to_others(plan: Scenario, inputs: ModelInputs) -> tuple[Decimal, int]:
    """What commitments and leases cost after the horizon where their share within it alone counts,
    after tax as totals are, and for how many months; 0 where all of them counts."""
    if inputs.term_end != "prorate":
        return Decimal(0), 0
    calendar, amount, last = inputs.calendar, 0.0, 0
    for key, units_started in plan.units_started.items():
        source = inputs.by_key[key]
        if source.term is None or (source.is_owned and not source.is_leased):
            continue
        amount += float(source.due_after_horizon() @ units_started)
        start = int(np.flatnonzero(units_started)[-1]) + source.term.lead_months
        last = max(last, start + source.term.duration_months)
    owed = Decimal(str(amount * (1.0 - calendar.tax_rate))).quantize(_OWED_AFTER_CENT)
    months = last - calendar.months
    return (owed, months) if owed > 0 and months > 0 else (Decimal(0), 0)


def left_of_signed(existing: Existing, inputs: ModelInputs) -> Decimal:
    """What contracts that are there already cost after the horizon where that is not counted, after
    tax; 0 where all of it is."""
    if inputs.term_end == "full":
        return Decimal(0)
    calendar, owed = inputs.calendar, 0.0
    prices = [(one.price_per_month * one.units, one.ends) for one in existing.commitments]
    prices += [(one.rent_per_month * one.units, one.ends) for one in existing.leased_servers]
    for price, ends in prices:
        owed += price * max(0, calendar.index(ends) + 1 - calendar.months)
    return Decimal(str(owed * (1.0 - calendar.tax_rate))).quantize(_OWED_AFTER_CENT)


def describe_owed(plan: Scenario, inputs: ModelInputs, request: ComparisonRequest) -> str:
    """What is owed after the last month of the plan: of its total, or beyond it; what tax saves
    then where that is more."""
    last = inputs.calendar.month(inputs.calendar.months - 1)
    if plan.owed_after < 0:
        saved = format_money(-plan.owed_after, request.currency)
        return f"{saved} of tax saved after {last:%B %Y} is already deducted"
    if plan.owed_after:
        owed = format_money(plan.owed_after, request.currency)
        return f"{owed} of the cost is owed after {last:%B %Y}"
    beyond = left_to_others(plan, inputs)[0] + left_of_signed(request.existing, inputs)
    if beyond:
        more = format_money(beyond, request.currency)
        return f"{more} more is owed after {last:%B %Y}{NOT_COUNTED}"
    return "nothing is owed afterwards"


Floats = NDArray[np.float64]

MANY_MACHINES = 64
"""Machines rented at once beyond which capacity is a contract of its own: the largest Capacity
Block (EC2 user guide, Capacity Blocks for ML, 2025)."""
IDLE_SHARE = 0.1
"""Share of the accelerators rented at once from which those without work are named; an assumption
of this project, 2026."""
_CENT = 0.005
_WHOLE = 1e-6
"""Accelerators above a whole number that are its rounding, 2026."""
_NOTES = {
    PurchaseOption.LOW_PRIORITY: "low priority exists only in Azure Batch and old scale sets.",
    PurchaseOption.CAPACITY_BLOCK: "capacity is reserved ahead by date and paid upfront.",
    PurchaseOption.DWS_CALENDAR_MODE: "capacity is reserved ahead by date, for up to 90 days.",
    PurchaseOption.DWS_FLEX_START: "flex start waits for capacity and runs for at most seven days.",
}


def collect_warnings(
    inputs: ModelInputs,
    scenarios: Mapping[ScenarioKey, Scenario],
    allowed: Mapping[ScenarioKey, Scenario],
    catalog_offers: OfferTable,
    advised: Scenario | None,
) -> Iterator[str]:
    """Warnings on the answer as a whole; on what it rents, those of what may be advised."""
    committed = scenarios[ScenarioKey.COMMITTED]
    options = {s.purchase_option for s in inputs.sources if not s.is_owned}
    if committed.feasible and options and not options & COMMITTED:
        missing = find_missing(inputs.coverage, COMMITTED)
        if missing:
            yield "No commitment has a known price here: Committed is the same as On demand."
            if advised is None:  # the verdict of a plan names those that matter to it
                yield from describe_missing(missing)
        else:
            yield "No commitment fits: Committed is the same as On demand."
    used_keys = {key for s in allowed.values() for key in (*s.used_hours, *s.units_started)}
    rented = [s for s in inputs.sources if s.key in used_keys and s.native is not None]
    yield from _warn_price_dates([s for s in rented if s.native and s.native.source != "request"])
    for source in rented:
        yield from _warn_option_terms(source)
    for source in rented:
        yield from _warn_quota_below_node(source, inputs.quotas)
    yield from _warn_many_machines(rented, inputs, allowed.values(), advised)
    for server in inputs.servers.to_buy:
        if not server.is_hosted and f"server:{server.slug}" in used_keys:
            yield (
                f"{server.label} has consumer cards, whose driver licence rules out data centres: "
                "it is counted as standing in an office, without colocation."
            )
    unsold = 0 if advised else _count_unsold(catalog_offers, inputs.throughput)
    if unsold:
        yield (
            "1 known price of these accelerators is not offered: its machine is retired, or not "
            "sold where it is listed."
            if unsold == 1
            else f"{unsold:,} known prices of these accelerators are not offered: their machines "
            "are retired, or not sold where they are listed."
        )


def warn_past_start(calendar: Calendar, today: dt.date) -> Iterator[str]:
    """That months of the plan are over: what it decides for them nobody can do any more.

    >>> list(warn_past_start(Calendar(dt.date(2026, 9, 1), 12), dt.date(2026, 11, 20)))
    ['The plan begins in September 2026, before today: 2 of its 12 months are over.']
    """
    over = calendar.index(today)
    if over > 0:
        past, of_all = min(over, calendar.months), pluralize(calendar.months, "month")
        yield (
            f"The plan begins in {calendar.start:%B %Y}{BEFORE_TODAY}"
            f"{past} of its {of_all} {'is' if past == 1 else 'are'} over."
        )


def warn_undated_servers(servers: Sequence[OwnedServer]) -> Iterator[str]:
    """Servers in place whose month of purchase nobody gave, which is taken for granted."""
    for one in servers:
        if one.bought is None:
            yield (
                f"{one.units} × {one.server} in place: no month of purchase is given, so half of "
                "the useful life is assumed to be over at the start."
            )


def _count_unsold(offers: OfferTable, accelerators: Collection[str]) -> int:
    named = [slug in accelerators for slug in offers.accelerator.names]
    is_named = np.array(named, dtype=bool)[offers.accelerator.codes] if named else np.zeros(0, bool)
    return int((is_named & ~offers.sold_now).sum())


def _warn_many_machines(
    rented: Iterable[CapacitySource],
    inputs: ModelInputs,
    plans: Collection[Scenario],
    advised: Scenario | None,
) -> Iterator[str]:
    def count(plan: Scenario, source: CapacitySource) -> float:
        if source.key not in plan.used_hours:
            return 0.0
        return float(_nodes_of(plan, inputs, source).max())

    for source in rented:
        if source.is_committed or is_list_price_by_date(source):
            continue
        own = count(advised, source) if advised else 0.0
        most = own or max(count(plan, source) for plan in plans)
        if most > MANY_MACHINES:
            machines = f"{most:,.0f} × {source.instance_type} at once"
            of_plan = machines if own else f"Another plan than the advised one rents {machines}"
            yield (
                f"{of_plan}: no cloud keeps that many ready to rent by the hour. Ask for a "
                "capacity contract; the list price is only where negotiations start."
            )


def warn_without_deadline(demand: Demand, calendar: Calendar) -> Iterator[str]:
    """That runs without a deadline are done as soon as the usual number of accelerators can,
    where fewer might do them within the horizon."""
    if not demand.is_sized or not demand.candidates:
        return
    runs, last = demand.runs, calendar.months - 1
    without_deadline = [
        run for run in runs if run.deadline is None and calendar.index(run.start) < last
    ]
    busy, peak = np.flatnonzero(demand.hours_per_month), demand.peak_accelerators.max()
    if (
        (runs and not without_deadline)
        or busy[-1] == last
        or peak <= demand.candidates[0].min_accelerators
    ):
        return
    done = ""
    if len(without_deadline) == len(runs):
        months = " to ".join(
            dict.fromkeys(f"{calendar.month(int(t)):%Y-%m}" for t in busy[[0, -1]])
        )
        done = f", here in {months}"
    yield (
        "Without a deadline, work is done as soon as the usual number of accelerators can do "
        f"it{done}. A deadline under workload.runs, as late as {calendar.month(last):%Y-%m}, lets "
        "fewer do it over more months and may cost less."
    )


def warn_beyond_horizon(scenario: Scenario, inputs: ModelInputs, currency: str) -> Iterator[str]:
    """What the commitments of a plan bind to after the horizon and its totals leave out; after
    tax, as the totals are."""
    calendar, amount_due, last = inputs.calendar, 0.0, 0
    for key, units_started in scenario.units_started.items():
        source = inputs.by_key[key]
        if source.is_owned or source.term is None or source.term.charges_after_horizon:
            continue
        amount_due += float(source.due_after_horizon() @ units_started)
        last = max(last, int(np.flatnonzero(units_started)[-1]) + source.term.duration_months)
    amount_due *= 1.0 - calendar.tax_rate
    after = " after tax" if calendar.tax_rate else ""
    if last > calendar.months and amount_due >= _CENT:
        yield (
            f"Commitments outlast the horizon, the last until {calendar.month(last - 1):%Y-%m}: "
            f"{format_money(amount_due, currency)}{after} more than these totals is owed under "
            'them, upfront payments included (counted with term_end "full").'
        )


def warn_of_purchases(
    plan: Scenario | None, inputs: ModelInputs, request: ComparisonRequest, demand: Demand
) -> Iterator[str]:
    """Warnings on what the advised plan needs at once, signs and buys."""
    if plan is None:
        return
    yield from warn_never_built(_count_at_once(plan, inputs))
    yield from _warn_idle_parts(plan, inputs, demand, request.workload.accelerators_per_job)
    yield from _warn_prorated(plan, inputs, request.currency)
    for key, server in inputs.servers.unsure.items():
        if key in plan.units_started:
            yield from _warn_lowest_quote(server, request.currency)


def warn_of_sizing(plan: Scenario | None, inputs: ModelInputs, demand: Demand) -> tuple[str, ...]:
    """What sizing says of the accelerators of a plan; of the reference where there is no plan."""
    keys = {*plan.used_hours, *plan.units_started} if plan else ()
    notes = demand.warnings_on({inputs.by_key[key].accelerator for key in keys})
    return tuple(map(as_sentence, notes))


def _count_at_once(plan: Scenario, inputs: ModelInputs) -> float:
    at_once = np.zeros(inputs.calendar.months)
    for key in plan.used_hours:
        source = inputs.by_key[key]
        at_once += _nodes_of(plan, inputs, source) * source.accelerators
    return float(at_once.max())


def _warn_idle_parts(
    plan: Scenario, inputs: ModelInputs, demand: Demand, job: int | None
) -> Iterator[str]:
    sources = [inputs.by_key[key] for key in {*plan.used_hours, *plan.units_started}]
    kinds = {source.accelerator for source in sources}
    has_own = any(source.existing is not None for source in sources)
    if len(kinds) != 1 or has_own or not (job or not demand.is_sized):
        return
    rented = np.zeros(inputs.calendar.months)
    for source in sources:
        if source.term is not None:
            nodes = source.units_in_service(plan.units_started[source.key].astype(np.float64))
        elif inputs.rents_whole(source):
            nodes = _nodes_of(plan, inputs, source)
        else:
            return
        rented += np.where(inputs.hours > 0, nodes * source.accelerators, 0.0)
    own_peak = peak_of(plan, inputs)
    busy = (inputs.peak if own_peak is None else own_peak) / inputs.throughput[kinds.pop()]
    month = int(np.argmax(rented - busy))
    paid, at_work = round(float(rented[month])), ceil(float(busy[month]) - _WHOLE)
    if paid - at_work < max(1, paid * IDLE_SHARE):
        return
    works = "works" if at_work == 1 else "work"
    whole = "come" if any(source.is_owned for source in sources) else "are rented"
    yield (
        f"Only {at_work:,} of the {paid:,} accelerators paid for at once {works}, because machines "
        f"{whole} whole. If the work can use them all, "
        + (
            f"a peak of {paid:,} accelerators (peak_accelerators) ends it sooner and may cost less."
            if not demand.is_sized
            else "leave out accelerators_per_job, or state as many as a machine has: it ends "
            "sooner and costs less."
        )
    )


def _nodes_of(plan: Scenario, inputs: ModelInputs, source: CapacitySource) -> Floats:
    """[T] machines of a source at work at once."""
    hours, at_peak = plan.used_hours[source.key], peak_hours_of(plan, inputs, source)
    return nodes_at_once(hours, at_peak)


def _warn_prorated(scenario: Scenario, inputs: ModelInputs, currency: str) -> Iterator[str]:
    amount, left = left_to_others(scenario, inputs)
    if left:
        months, them = ("month", "it") if left == 1 else (f"{left} months", "them")
        yield (
            f"Assumes that somebody else uses the remaining {months} and pays "
            f'{format_money(amount, currency)} for {them} (counted with term_end "full").'
        )


def _warn_lowest_quote(server: ServerToBuy, currency: str) -> Iterator[str]:
    ends = server.price_range
    if ends is not None and ends.quotes and ends.low >= 1.0:
        price, most = server.unit_price, server.unit_price * ends.high
        yield (
            f"{server.label}: {format_money(price, currency)} is the lowest price known for it, "
            f"{format_money(most, currency)} the highest of the last two years; ask for a current "
            "quote."
        )


def _warn_price_dates(rented: Sequence[CapacitySource]) -> Iterator[str]:
    undated = [s.label for s in rented if s.native and s.native.as_of is None]
    if undated:
        yield f"The source gives no date for the price of {'; '.join(undated)}."
    dates = [s.native.as_of for s in rented if s.native and s.native.as_of]
    if dates:
        yield f"The oldest rental price used is from {min(dates)}."


def _warn_quota_below_node(source: CapacitySource, quotas: Sequence[Quota]) -> Iterator[str]:
    for quota in quotas:
        if quota.group in source.limit_groups and quota.most < source.accelerators:
            yield (
                f"{source.label}: a machine has "
                f"{pluralize(int(source.accelerators), 'accelerator')} and quota "
                f"{quota.group} allows {quota.most:g}; none can be rented whole until the quota "
                f"is {source.accelerators:g}."
            )


def _warn_option_terms(source: CapacitySource) -> Iterator[str]:
    if source.is_spot:
        lost_share = f"{1.0 - source.goodput:.1%}"
        yield (
            f"{source.label}: can be reclaimed at any time; {lost_share} of its hours are counted "
            "as lost."
        )
    if source.is_spot and source.zone and source.zone != source.label:
        yield f"The spot price of {source.instance_type} applies in zone {source.zone} only."
    if source.purchase_option in _NOTES:
        yield f"{source.label}: {_NOTES[PurchaseOption(source.purchase_option)]}"


LEAST_USE, MOST_USE = 0.25, 0.9
"""Share of a month for which the peak lasts, between which a level and a rise above it may be far
from all at once; planning choices, 2026."""


def warn_of_uneven_hours(
    plan: Scenario | None, inputs: ModelInputs, demand: Demand
) -> Iterator[str]:
    """That a stated peak is taken to do all hours of a month, where several machines are paid for
    all month: those that only a part of the day needs may be rented for it."""
    if (
        plan is None
        or not demand.has_stated_peak
        or not (
            any(
                inputs.by_key[key].units_in_service(started.astype(np.float64)).max() > 1
                for key, started in plan.units_started.items()
            )
        )
    ):
        return
    month = int(np.argmax(inputs.hours))
    peak, hours = float(inputs.peak[month]), float(inputs.hours[month])
    lasts = hours / peak
    if not LEAST_USE < lasts / HOURS_PER_MONTH < MOST_USE:
        return
    yield (
        f"{hours:,.0f} hours a month at a peak of {peak:,.0f} are assumed to fall together: "
        f"{peak:,.0f} accelerators for {lasts:,.0f} of {HOURS_PER_MONTH} hours and none for the "
        "rest. A load with a steady base and a daytime peak may cost less: plan the base and the "
        "peak as two projects of a portfolio."
    )


NamePlace = Callable[[str, str], str]
"""What people call a provider's region."""
_SOME_HOURS = 1e-6
"""Node-hours from which a machine is at work."""


def warn_of_split_runs(
    plan: Scenario | None, inputs: ModelInputs, demand: Demand, name_place: NamePlace
) -> Iterator[str]:
    """That one run of sized work has machines in several places in the same month."""
    if plan is None or not demand.is_sized:
        return
    is_alone = np.array(demand.runs_at_once) == 1.0
    busy: dict[str, NDArray[np.bool_]] = defaultdict(lambda: np.zeros(is_alone.size, dtype=bool))
    for key, hours in sorted(plan.used_hours.items()):
        busy[_name(inputs.by_key[key], name_place)] |= (hours > _SOME_HOURS) & is_alone
    is_split = np.sum(list(busy.values()), axis=0) > 1
    if not is_split.any():
        return
    places = [place for place, at_work in busy.items() if (at_work & is_split).any()]
    month = inputs.calendar.month(int(np.flatnonzero(is_split)[0]))
    yield (
        f"From {month:%B %Y}, a single run has machines in several places at once ("
        f"{' and '.join(places)}), and no network between them is known to be fast enough: the "
        "plan holds only if the work splits into independent parts, such as separate attempts. If "
        "it does not, plan for machines in one place that hold all of it."
    )


def _name(source: CapacitySource, name_place: NamePlace) -> str:
    if source.is_owned or not source.provider:
        return "your own premises"
    return name_place(source.provider, source.region)


AMERICAN = "US"
"""Country of the default price of electricity and of the default grid, ISO 3166-1."""
AMERICAN_MONEY = "USD"
"""Its currency, ISO 4217."""
EU_PRICE = "0.19 EUR/kWh on average in the EU (non-household, Eurostat nrg_pc_205, H1 2025)"
"""What electricity costs there, for a reader to judge the default by; large data centres pay
less."""


def warn_of_foreign_power(
    request: ComparisonRequest, inputs: ModelInputs, catalog: Catalog
) -> Iterator[str]:
    """That own servers are counted with American electricity and its carbon where the places of
    the request hold none of the United States, and what is known of the place; without a place,
    its price where the money of the plan is not American."""
    places = _chosen_places(request, catalog)
    countries = {place.country for place in places if place.country}
    if not any(source.is_owned for source in inputs.sources):
        return
    is_given = inputs.assumptions.is_from_request("electricity_per_kwh")
    price = default("electricity_per_kwh").value
    if not countries and request.currency != AMERICAN_MONEY and not is_given:
        yield (
            f"Electricity for own servers is counted at {price:g} USD/kWh, the average industrial "
            f"price in the United States, although the plan is in {request.currency} and names no "
            "place: give your price as on_prem.electricity_per_kwh."
        )
    if not countries or AMERICAN in countries:
        return
    if not is_given:
        local = f"; it is {EU_PRICE}" if countries <= EU else ""
        yield (
            f"Electricity for own servers is counted at {price:g} USD/kWh, the average industrial "
            "price in the United States, although the places chosen are elsewhere: give your price "
            f"as on_prem.electricity_per_kwh{local}."
        )
    if request.on_prem.g_co2e_per_kwh is None:
        known = [p.g_co2e_per_kwh for p in places if p.g_co2e_per_kwh is not None]
        middle = " (median)" if len(set(known)) > 1 else ""
        local = f"; in the regions chosen it is {median(known):,.0f}{middle}" if known else ""
        yield (
            "Carbon of own servers is counted for the grid of the eastern United States, "
            f"{ON_PREM_G_CO2E_PER_KWH:,.0f} g CO2e/kWh{local}. Give your grid's value as "
            "on_prem.g_co2e_per_kwh."
        )


def _chosen_places(request: ComparisonRequest, catalog: Catalog) -> list[Region]:
    places = limit_places(request, catalog.regions)
    return places.admitted if places.limits else []
