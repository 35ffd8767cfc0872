"""What a reader of an answer should know of its prices before trusting it. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import ScenarioKey
from planner.contract.labels import BEFORE_TODAY
from planner.contract.money import format_money
from planner.contract.purchase_options import COMMITTED
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.on_prem import OwnedServer
from planner.contract.request.workload import AcceleratorHours, Samples, Training
from planner.costing.advice.owed_after import left_to_others
from planner.costing.cost_model.by_date import is_list_price_by_date
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.server import ServerToBuy
from planner.costing.cost_model.terms import Calendar
from planner.costing.inputs.missing_prices import describe_missing, find_missing
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import Quota
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_hours_of, peak_of
from planner.costing.run_peaks import nodes_at_once
from planner.sizing.demand import Demand
from planner.sizing.performance.beyond_published import warn_never_built
from pricing.common.pluralize import pluralize
from pricing.common.sentences import as_sentence
from pricing.market.offer_table import OfferTable
from pricing.market.offers import PurchaseOption

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
    if inputs.limits_dates:
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
    """Prices of some accelerators that nobody can rent at today."""
    named = [slug in accelerators for slug in offers.accelerator.names]
    is_named = np.array(named, dtype=bool)[offers.accelerator.codes] if named else np.zeros(0, bool)
    return int((is_named & ~offers.sold_now).sum())


def _warn_many_machines(
    rented: Iterable[CapacitySource],
    inputs: ModelInputs,
    plans: Collection[Scenario],
    advised: Scenario | None,
) -> Iterator[str]:
    """Warnings on more machines by the hour at once than clouds hold ready for everybody, in the
    advised plan or, said to be so, in another."""

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


def has_no_deadline(workload: AcceleratorHours | Training | Samples) -> bool:
    """Whether sized work has no run that must be done by a month."""
    return not isinstance(workload, AcceleratorHours) and all(
        run.deadline is None for run in workload.runs or ()
    )


def warn_without_deadline(
    workload: AcceleratorHours | Training | Samples, demand: Demand, calendar: Calendar
) -> Iterator[str]:
    """That runs without a deadline are done as soon as the usual number of accelerators can,
    where fewer might do them within the horizon."""
    if isinstance(workload, AcceleratorHours):
        return
    runs, last = workload.runs or (), calendar.months - 1
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
    plan: Scenario | None, inputs: ModelInputs, request: ComparisonRequest
) -> Iterator[str]:
    """Warnings on what the advised plan needs at once, signs and buys."""
    if plan is None:
        return
    yield from warn_never_built(_count_at_once(plan, inputs))
    if request.rules == 1:
        return
    yield from _warn_idle_parts(plan, inputs, request.workload)
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
    """Most accelerators of all kinds that a plan has at work at once."""
    at_once = np.zeros(inputs.calendar.months)
    for key in plan.used_hours:
        source = inputs.by_key[key]
        at_once += _nodes_of(plan, inputs, source) * source.accelerators
    return float(at_once.max())


def _warn_idle_parts(
    plan: Scenario, inputs: ModelInputs, workload: AcceleratorHours | Training | Samples
) -> Iterator[str]:
    """That machines rented or bought have more accelerators than the work keeps busy at once, where
    the request says how many those are."""
    is_given = isinstance(workload, AcceleratorHours)
    sources = [inputs.by_key[key] for key in {*plan.used_hours, *plan.units_started}]
    kinds = {source.accelerator for source in sources}
    has_own = any(source.existing is not None for source in sources)
    if len(kinds) != 1 or has_own or not (is_given or workload.accelerators_per_job):
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
            f"a peak of {paid:,} (peak_accelerators) ends it sooner and may cost less."
            if is_given
            else "leave out accelerators_per_job, or state as many as a machine has: it ends "
            "sooner and costs less."
        )
    )


def _nodes_of(plan: Scenario, inputs: ModelInputs, source: CapacitySource) -> Floats:
    """[T] machines of a source at work at once."""
    hours, at_peak = plan.used_hours[source.key], peak_hours_of(plan, inputs, source)
    return nodes_at_once(hours, at_peak)


def _warn_prorated(scenario: Scenario, inputs: ModelInputs, currency: str) -> Iterator[str]:
    """What a plan leaves to others of its commitments and leases."""
    amount, left = left_to_others(scenario, inputs)
    if left:
        months, them = ("month", "it") if left == 1 else (f"{left} months", "them")
        yield (
            f"Assumes that somebody else uses the remaining {months} and pays "
            f'{format_money(amount, currency)} for {them} (counted with term_end "full").'
        )


def _warn_lowest_quote(server: ServerToBuy, currency: str) -> Iterator[str]:
    """That a plan counts with the lowest price that anybody asked."""
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
    """Nodes by the hour count by the fraction; a quota below one keeps it from being rented."""
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
