"""What to know of an answer before trusting it: one table of conditions and sentences. PURE.

Each row has a code, a sentence with gaps, and a function that gives what fills them once for each
time that the sentence is due. The weightiest come first; what the work did not allow for is last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np

from planner.comparison.results import ComparisonResults
from planner.comparison.verdict import RangeDoubts
from planner.contract.amounts import format_money
from planner.contract.answer.common import Category
from planner.contract.answer.verdict import Verdict
from planner.contract.labels import SCENARIO_TITLES, cloud_title
from planner.contract.request.rules import LARGEST_NODE, limit_places
from planner.costing.advice.verdict import write_chance
from planner.costing.analysis.plan_costs import may_rent
from planner.costing.assumptions.assumptions import default
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.rental import cheapest_on_demand
from planner.costing.cost_model.spend_pools import BILLED
from planner.costing.inputs.servers import holds_consumer_cards
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_hours_of, peak_of
from planner.costing.run_peaks import Floats, nodes_at_once
from planner.sizing.performance.confidence import warn_never_built
from planner.sizing.runs.served_run import ServingSize
from pricing.common.tables import read_rows
from pricing.common.words import capitalize_first, pluralize
from pricing.market.clouds import all_clouds
from pricing.market.offers import PurchaseOption

IDLE_SHARE = 0.1
"""Share of the accelerators rented at once from which those without work are named; an assumption
of this project, 2026."""
SAFE_TO_RESERVE = 1.1
"""Hours at p90 over those estimated from which a reservation by date may be too short; a planning
choice, 2026."""
WORTH_SAYING = 0.01
"""Share of a credit from which what is lost of it is said; a choice of this project, 2026."""
_WHOLE = 1e-6
"""Accelerators above a whole number, or node-hours, that are rounding."""
_CLOSE = 0.01
"""Gap that a search is content with anyway."""
_AMERICAN = "US"
"""Country of the default price of electricity and of the default grid, ISO 3166-1."""
_NOTES = {
    PurchaseOption.LOW_PRIORITY: "low priority exists only in Azure Batch and old scale sets",
    PurchaseOption.CAPACITY_BLOCK: "capacity is reserved ahead by date and paid upfront",
    PurchaseOption.DWS_CALENDAR_MODE: "capacity is reserved ahead by date, for up to 90 days",
    PurchaseOption.DWS_FLEX_START: "flex start waits for capacity and runs for at most seven days",
}
_LEFT_OUT = {
    "fewer_servers": "Whether fewer servers would pay back was not worked out",
    "explanation": "What limits cost was not fully worked out",
    "alternatives": "What would be cheaper if a limit were lifted was not fully worked out",
    "budgets": "What budgets rule out was not worked out",
    "drivers": "What moves the expected cost was not fully worked out",
}

Gaps = dict[str, object]


@dataclass(frozen=True)
class Facts:
    """An answer as far as warnings read it."""

    results: ComparisonResults
    verdict: Verdict
    caveats: RangeDoubts

    @property
    def inputs(self) -> ModelInputs:
        return self.results.inputs

    @property
    def advised(self) -> Scenario | None:
        key = self.results.recommendation.scenario
        return None if key is None else self.results.scenarios[key]

    @property
    def rented(self) -> list[CapacitySource]:
        """What the plans that may be advised rent at a known price."""
        plans = self.results.allowed_scenarios.values()
        used = {key for plan in plans for key in (*plan.used_hours, *plan.units_started)}
        return [s for s in self.inputs.sources if s.key in used and s.native is not None]

    def money(self, amount: object) -> str:
        return format_money(float(str(amount)), self.results.request.currency)

    def nodes(self, plan: Scenario, source: CapacitySource) -> Floats:
        """[T] machines of a source at work at once."""
        hours = plan.used_hours.get(source.key, np.zeros(self.inputs.calendar.months))
        return nodes_at_once(hours, peak_hours_of(plan, self.inputs, source))


def list_warnings(
    results: ComparisonResults, verdict: Verdict, caveats: RangeDoubts
) -> tuple[str, ...]:
    """The warnings of an answer, each once."""
    facts = Facts(results, verdict, caveats)
    rows = ((sentence, gaps) for _, sentence, find in WARNINGS for gaps in find(facts))
    return tuple(dict.fromkeys(sentence.format_map(gaps) for sentence, gaps in rows))


# Time -----------------------------------------------------------------------------------------


def _past_start(facts: Facts) -> Iterator[Gaps]:
    calendar = facts.inputs.calendar
    over = min(calendar.index(facts.results.preparation.today), calendar.months)
    if over > 0:
        months = pluralize(calendar.months, "month")
        yield {"start": calendar.start, "over": over, "of": months, "are": _are(over)}


# The plan -------------------------------------------------------------------------------------


def _never_built(facts: Facts) -> Iterator[Gaps]:
    plan = facts.advised
    if plan is not None:
        sources = (facts.inputs.by_key[key] for key in plan.used_hours)
        at_once = sum(facts.nodes(plan, source) * source.accelerators for source in sources)
        yield from _in_words(warn_never_built(float(np.max(at_once))))


def _idle_parts(facts: Facts) -> Iterator[Gaps]:
    plan, inputs, is_given = facts.advised, facts.inputs, not facts.results.demand.is_sized
    if plan is None or not (is_given or facts.results.request.workload.accelerators_per_job):
        return
    sources = [inputs.by_key[key] for key in {*plan.used_hours, *plan.units_started}]
    kinds = {source.accelerator for source in sources}
    if len(kinds) != 1 or any(source.existing is not None for source in sources):
        return
    rented = np.zeros(inputs.calendar.months)
    for source in sources:
        if source.term is not None:
            nodes = source.units_in_service(plan.units_started[source.key].astype(np.float64))
        elif inputs.rents_whole(source):
            nodes = facts.nodes(plan, source)
        else:
            return
        rented += np.where(inputs.hours > 0, nodes * source.accelerators, 0.0)
    own_peak = peak_of(plan, inputs)
    busy = (inputs.peak if own_peak is None else own_peak) / inputs.throughput[kinds.pop()]
    month = int(np.argmax(rented - busy))
    paid, at_work = round(float(rented[month])), ceil(float(busy[month]) - _WHOLE)
    if paid - at_work >= max(1, paid * IDLE_SHARE):
        yield {
            "busy": at_work,
            "paid": paid,
            "work": "works" if at_work == 1 else "work",
            "come": "come" if any(source.is_owned for source in sources) else "are rented",
            "how": f"a peak of {paid:,} accelerators (peak_accelerators) ends it sooner and may "
            "cost less"
            if is_given
            else "leave out accelerators_per_job, or state as many as a machine has: it ends "
            "sooner and costs less",
        }


def _beyond_peak(facts: Facts) -> Iterator[Gaps]:
    plan, inputs = facts.advised, facts.inputs
    held = [inputs.by_key[key] for key in facts.results.priced_keys(plan)] if plan else []
    for kind in {source.accelerator for source in held if source.term is not None}:
        size = next(iter(facts.results.demand.sizes.get(kind, ())), None)
        rent = cheapest_on_demand([one for one in inputs.priced_rentals if one.accelerator == kind])
        if isinstance(size, ServingSize) and size.beyond_peak and rent is not None:
            hours, per_hour = size.hours_beyond_peak, rent.hour_cash(inputs.calendar)
            paid = hours * per_hour[inputs.hours > 0].sum() / rent.accelerators
            yield {"hours": hours, "accelerator": size.accelerator.name, "paid": facts.money(paid)}


def _single_jobs(facts: Facts) -> Iterator[Gaps]:
    plan, inputs, workload = facts.advised, facts.inputs, facts.results.request.workload
    is_known = workload.kind != "accelerator_hours" or workload.accelerators_per_job is not None
    if plan is None or is_known or facts.results.preparation.rules.accelerators_per_job > 1:
        return
    sources = [inputs.by_key[key] for key in {*plan.used_hours, *plan.units_started}]
    is_small = any(source.accelerators < LARGEST_NODE and not source.is_owned for source in sources)
    if is_small and facts.results.demand.peak_accelerators.max() >= LARGEST_NODE:
        yield {}


def _late_servers(facts: Facts) -> Iterator[Gaps]:
    plan, simulation, inputs = facts.advised, facts.results.simulation, facts.inputs
    if plan is None or simulation is None or may_rent(plan, inputs) or not plan.buys:
        return
    begins = int(np.flatnonzero(inputs.hours)[0])
    late = np.zeros(simulation.parameters.samples, dtype=bool)
    for key, units in plan.units_started.items():
        server, term = inputs.servers.unsure.get(key), inputs.by_key[key].term
        if server is None or server.delivery is None or term is None:
            continue
        delays = simulation.outcomes.delays(server.delivery)
        there = int(np.flatnonzero(units)[0]) + term.lead_months
        if delays is not None and there <= begins:
            late |= there + delays > begins
    if late.any():
        share = write_chance(float(late.mean()))
        yield {"share": share, "month": inputs.calendar.month(begins)}


def _lowest_quote(facts: Facts) -> Iterator[Gaps]:
    for key, server in facts.inputs.servers.unsure.items():
        ends = server.price_range
        is_bought = facts.advised is not None and key in facts.advised.units_started
        if is_bought and ends is not None and ends.quotes and ends.low >= 1.0:
            price = server.unit_price
            most = facts.money(price * ends.high)
            yield {"server": server.label, "price": facts.money(price), "most": most}


def _split_runs(facts: Facts) -> Iterator[Gaps]:
    plan, demand, inputs = facts.advised, facts.results.demand, facts.inputs
    if plan is None or not demand.is_sized:
        return
    is_alone = np.array(demand.runs_at_once) == 1.0
    busy: dict[str, Floats] = {}
    for key, hours in sorted(plan.used_hours.items()):
        source, place = inputs.by_key[key], "your own premises"
        if source.provider and not source.is_owned:
            place = facts.results.preparation.name_place(source.provider, source.place)
        busy[place] = np.maximum(busy.get(place, 0.0), (hours > _WHOLE) & is_alone)
    is_split = np.sum(list(busy.values()), axis=0) > 1
    if is_split.any():
        places = [place for place, at_work in busy.items() if (at_work * is_split).any()]
        month = inputs.calendar.month(int(np.flatnonzero(is_split)[0]))
        yield {"month": month, "places": " and ".join(places)}


def _at_a_desk(facts: Facts) -> Iterator[Gaps]:
    plans, servers = facts.results.allowed_scenarios.values(), facts.inputs.servers
    bought = (
        server
        for server in servers.to_buy
        if any(f"server:{server.slug}" in plan.units_started for plan in plans)
    )
    for server in (*bought, *(server for server, _ in servers.owned)):
        if server.is_at_desk:
            has = "has consumer cards, whose driver licence rules out data centres, and "
            yield {
                "server": server.label,
                "has": has if holds_consumer_cards(server.accelerator) else "",
            }


def _short_reservation(facts: Facts) -> Iterator[Gaps]:
    most = facts.results.hours_range[1]
    if most > SAFE_TO_RESERVE and any(p.action == "reserve" for p in facts.verdict.decision):
        yield {"times": most}


# Credits and contracts ------------------------------------------------------------------------


def _sum_of(plan: Scenario, category: Category, label: str) -> float:
    lines = (x.amount for x in plan.lines if x.category is category and x.label == label)
    return float(sum(lines))


def _unused_credits(facts: Facts) -> Iterator[Gaps]:
    plans = [plan for plan in facts.results.scenarios.values() if plan.feasible]
    for credit in facts.results.request.existing.credits if plans else ():
        if not any(_sum_of(plan, Category.CREDIT, credit.label) for plan in plans):
            provider = cloud_title(credit.provider)
            yield {"label": credit.label, "provider": provider, "expires": credit.expires}


def _lost_credits(facts: Facts) -> Iterator[Gaps]:
    plan, calendar = facts.advised, facts.inputs.calendar
    for credit in facts.results.request.existing.credits if plan else ():
        assert plan is not None
        amount, paid = float(credit.amount), -_sum_of(plan, Category.CREDIT, credit.label)
        is_over = calendar.index(credit.expires) < calendar.months
        if is_over and 0 < paid < amount * (1 - WORTH_SAYING):
            yield {
                "label": credit.label,
                "paid": facts.money(paid),
                "amount": facts.money(amount),
                "lost": facts.money(amount - paid),
                "expires": credit.expires,
            }


def _unused_minimums(facts: Facts) -> Iterator[Gaps]:
    plans = [plan for plan in facts.results.scenarios.values() if plan.feasible]
    billed = {x.provider for plan in plans for x in plan.lines if x.category in BILLED}
    calendar = facts.inputs.calendar
    for minimum in facts.results.request.existing.minimum_spend if plans else ():
        first, last = calendar.index(minimum.first), calendar.index(minimum.last)
        if last < 0 or first >= calendar.months or minimum.provider not in billed:
            rest = facts.money(max(minimum.amount - minimum.spent, 0))
            provider = cloud_title(minimum.provider)
            yield {"label": minimum.label, "provider": provider, "rest": rest, "one": minimum}


def _shortfalls(facts: Facts) -> Iterator[Gaps]:
    for minimum in facts.results.request.existing.minimum_spend if facts.advised else ():
        assert facts.advised is not None
        owed = _sum_of(facts.advised, Category.SHORTFALL, minimum.label)
        if owed > 0:
            yield {"label": minimum.label, "owed": facts.money(owed)}


def _last_minute(facts: Facts) -> Iterator[Gaps]:
    calendar, lines = facts.inputs.calendar, () if facts.advised is None else facts.advised.lines
    for minimum in facts.results.request.existing.minimum_spend:
        last = calendar.index(minimum.last)
        upfront = (x for x in lines if x.category is Category.UPFRONT and x.month == last)
        paid = float(sum(x.amount for x in upfront if x.provider == minimum.provider))
        if paid > 0:
            yield {"label": minimum.label, "paid": facts.money(paid), "month": minimum.last}


def _unknown_providers(facts: Facts) -> Iterator[Gaps]:
    known = {offer.provider for offer in facts.inputs.rentals}
    known |= all_clouds().keys()
    commitments = facts.results.request.existing.commitments
    return ({"one": one} for one in commitments if one.provider not in known)


def _ended_contracts(facts: Facts) -> Iterator[Gaps]:
    signed = facts.results.request.existing
    names = [(f"commitment {one.label!r}", one.ends) for one in signed.commitments]
    names += [(f"lease of {one.server}", one.ends) for one in signed.leased_servers]
    for name, ends in names:
        if facts.inputs.calendar.index(ends) < 0:
            yield {"name": name, "ends": ends}


# Prices ---------------------------------------------------------------------------------------


def _undated_prices(facts: Facts) -> Iterator[Gaps]:
    priced = [(s.label, s.native) for s in facts.rented if s.native]
    undated = [label for label, one in priced if one.source != "request" and one.as_of is None]
    if undated:
        yield {"labels": "; ".join(undated)}


def _spot(facts: Facts) -> Iterator[Gaps]:
    for source in facts.rented:
        if source.is_spot:
            has_zone = source.zone and source.zone != source.label
            zone = f"; its price holds in zone {source.zone} only" if has_zone else ""
            yield {"label": source.label, "lost": 1.0 - source.goodput, "zone": zone}


def _unsold(facts: Facts) -> Iterator[Gaps]:
    offers = facts.results.preparation.offers.catalog_offers
    named = [slug in facts.inputs.throughput for slug in offers.accelerator.names]
    if facts.advised is None and any(named):
        is_named = np.array(named, dtype=bool)[offers.accelerator.codes]
        unsold = int((is_named & ~offers.sold_now).sum())
        if unsold:
            prices = pluralize(unsold, "known price")
            yield {"prices": prices, "is": _are(unsold)}


def _foreign_power(facts: Facts) -> Iterator[Gaps]:
    results = facts.results
    places = limit_places(results.request, results.preparation.catalog.regions)
    countries = {one.country for one in places.admitted if one.country and places.limits}
    is_abroad = countries and _AMERICAN not in countries
    is_foreign = not countries and results.request.currency != "USD"
    is_given = facts.inputs.assumptions.is_from_request("electricity_per_kwh")
    may_own = not results.is_small and any(one.is_owned for one in facts.inputs.sources)
    if (is_abroad or is_foreign) and not is_given and may_own:
        yield {"price": default("electricity_per_kwh").value}


# What the work did not allow for --------------------------------------------------------------


def _open_searches(facts: Facts) -> Iterator[Gaps]:
    search = facts.results.parts.get("scenarios")
    for key, scenario in facts.results.scenarios.items() if search and search.left_out else ():
        if scenario.feasible and scenario.gap > _CLOSE:
            room = capitalize_first(_room(search))
            yield {"scenario": SCENARIO_TITLES[key], "gap": scenario.gap, "room": room}


def _few_outcomes(facts: Facts) -> Iterator[Gaps]:
    risk, wanted = facts.results.risk, facts.results.risk_parameters.samples
    is_advised = facts.results.recommendation.scenario is not None
    if is_advised and (risk is None or risk.samples < wanted):
        room = _room(facts.results.parts.get("risk"))
        yield {"done": f"{risk.samples:,}" if risk else "None", "wanted": wanted, "room": room}


def _left_out(facts: Facts) -> Iterator[Gaps]:
    for name, words in _LEFT_OUT.items():
        part = facts.results.parts.get(name)
        if part is not None and part.left_out:
            yield {"words": words, "room": _room(part)}


def _room(part: WorkMeter | None) -> str:
    fewer = "ask for fewer months, offers, servers or limits"
    is_memory = part is not None and part.is_too_large  # which a job has no more of
    return fewer if is_memory else f"run it as a background job, or {fewer}"


# Sentences that others write ------------------------------------------------------------------


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _in_words(sentences: Iterator[str] | tuple[str, ...]) -> Iterator[Gaps]:
    return ({"words": words} for words in sentences if words)


def _of_servers(facts: Facts) -> Iterator[Gaps]:
    preparation = facts.results.preparation
    return _in_words(preparation.servers.warnings(facts.inputs.calendar, preparation.assumptions))


CONDITIONS: Mapping[str, Callable[[Facts], Iterator[Gaps]]] = {
    "past_start": _past_start,
    "undated_servers": lambda facts: (
        {"one": one} for one in facts.results.request.on_prem.already_owned if one.bought is None
    ),
    "late_work": lambda facts: _in_words((facts.caveats.warning,)),
    "never_built": _never_built,
    "idle_parts": _idle_parts,
    "beyond_peak": _beyond_peak,
    "single_jobs": _single_jobs,
    "late_servers": _late_servers,
    "lowest_quote": _lowest_quote,
    "sizing": lambda facts: _in_words(facts.results.sizing_notes),
    "split_runs": _split_runs,
    "offers": lambda facts: _in_words(facts.results.preparation.offers.warnings()),
    "servers": _of_servers,
    "unused_credit": _unused_credits,
    "lost_credit": _lost_credits,
    "unused_minimum": _unused_minimums,
    "shortfall": _shortfalls,
    "last_minute": _last_minute,
    "unknown_provider": _unknown_providers,
    "ended_contract": _ended_contracts,
    "undated_prices": _undated_prices,
    "absent_offers": lambda facts: (
        {"label": one.label, "day": one.native.absent_since}
        for one in facts.rented
        if one.native and one.native.absent_since
    ),
    "spot": _spot,
    "option_terms": lambda facts: (
        {"label": one.label, "note": _NOTES[PurchaseOption(one.purchase_option)]}
        for one in facts.rented
        if one.purchase_option in _NOTES
    ),
    "at_a_desk": _at_a_desk,
    "unsold": _unsold,
    "short_reservation": _short_reservation,
    "unknown_prices": lambda facts: _in_words(facts.verdict.unknown_prices),
    "foreign_power": _foreign_power,
    "open_search": _open_searches,
    "few_outcomes": _few_outcomes,
    "left_out": _left_out,
}
WARNINGS = tuple(
    (row["code"], row["sentence"], CONDITIONS[row["code"]])
    for row in read_rows(Path(__file__).with_suffix(".csv"))
)
"""Code, sentence and condition of every warning, the weightiest first."""
