"""What each scenario owes later, or why there is none. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner.comparison_steps.preparation import Preparation
from planner.contract.answer.common import ScenarioKey
from planner.contract.purchase_options import COMMITTED, OWNED, SPOT
from planner.costing.advice.limit_words import list_relaxations
from planner.costing.advice.warnings import warn_beyond_horizon
from planner.costing.analysis.rent_mix import may_rent
from planner.costing.cost_model.ownership import first_arrival_month
from planner.costing.inputs.exclusions import explain_exclusions
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import scenario_options
from pricing.common.copies import replace
from pricing.common.pluralize import pluralize
from pricing.market.offers import PurchaseOption


def explain_scenarios(
    scenarios: Mapping[ScenarioKey, Scenario], preparation: Preparation
) -> dict[ScenarioKey, Scenario]:
    """Scenarios with what they owe later, or with the reasons for what is not there."""
    inputs, currency = preparation.inputs, preparation.request.currency
    return {
        key: replace(s, warnings=(*s.warnings, *warn_beyond_horizon(s, inputs, currency)))
        if s.feasible
        else _explain_absence(key, s, preparation)
        for key, s in scenarios.items()
    }


def _explain_absence(key: ScenarioKey, scenario: Scenario, preparation: Preparation) -> Scenario:
    """A scenario without a plan, with the limits in its way and the least that would do."""
    relaxations = list_relaxations(scenario.conflicts, preparation.request, preparation.inputs)
    sentences = [one.sentence[0].lower() + one.sentence[1:-1] for one in relaxations]
    return replace(
        scenario,
        relaxations=relaxations,
        why_not=(
            *sentences,
            *scenario.why_not,
            *_when_servers_come(scenario, preparation),
            *_which_contracts_outlast(scenario, preparation),
            *_why_not(key, preparation),
        ),
    )


def _when_servers_come(scenario: Scenario, preparation: Preparation) -> Iterator[str]:
    """When servers serve that are ordered at once, where nothing else may do the work before."""
    inputs, to_buy = preparation.inputs, preparation.servers.to_buy
    if OWNED not in scenario_options(scenario.key, inputs.interruptible) or not to_buy:
        return
    calendar = preparation.calendar
    arrival = first_arrival_month(
        [one for one in inputs.sources if one.is_owned and one.existing is None], calendar.months
    )
    is_waited_for = 0 < arrival < calendar.months and inputs.hours[:arrival].any()
    if is_waited_for and not may_rent(scenario, inputs):
        ordered, serves = f"{calendar.month(0):%B %Y}", f"{calendar.month(arrival):%B %Y}"
        yield (
            f"servers ordered in {ordered} are in service from {serves}: begin the work then, or "
            "give a shorter on_prem.lead_time_months"
        )


def _which_contracts_outlast(scenario: Scenario, preparation: Preparation) -> Iterator[str]:
    """That all contracts on sale end after the plan, which takes none that does, where nothing is
    rented by the hour either."""
    inputs, months = preparation.inputs, preparation.calendar.months
    options = scenario_options(scenario.key, inputs.interruptible) & COMMITTED
    terms = [
        source.term.duration_months
        for source in inputs.sources
        if source.purchase_option in options and source.term is not None
    ]
    is_alone = terms and not may_rent(scenario, inputs)
    if is_alone and inputs.term_end == "within" and min(terms) > months:
        yield (
            f"contracts on sale run for {pluralize(min(terms), 'month')} or more, and a plan of "
            f"{pluralize(months, 'month')} signs none that outlasts it"
        )


def _why_not(key: ScenarioKey, preparation: Preparation) -> tuple[str, ...]:
    request, servers = preparation.request, preparation.servers
    if key is ScenarioKey.ON_PREM:
        if request.on_prem.servers == ():
            return ("no server may be bought: the list of servers is empty",)
        return () if servers.to_buy else servers.summarize_exclusions()
    options = scenario_options(key, preparation.inputs.interruptible)
    wanted = SPOT if key is ScenarioKey.SPOT else options - {OWNED}
    if wanted & {s.purchase_option for s in preparation.inputs.sources}:
        return ()
    missing = [option for option in PurchaseOption if option.value in wanted]
    return explain_exclusions(preparation.offers, missing) if request.use_catalog else ()
