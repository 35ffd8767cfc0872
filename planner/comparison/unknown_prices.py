"""Prices that are not known, and below which of them another plan would be advised. PURE.

A provider that rents the work's machine on demand and sells other families under a term sells this
one under it too, at a price that the catalog lacks. It is tried at the median discount of the known
families: with E(p) the expected cost of the best plan that signs it at price p,

    E(p) = E(p0) + (p − p0) · H,   H = discounted machine-hours that the contract pays for

so that signing turns the advice below the least of p0 + (E(advised) − E(p0)) / H and of the prices
at which it clears the hurdle against the best plan without it: with S its savings at p0 in the
outcomes, N the hours undiscounted, h the share and w the chance of the hurdle,

    p0 + (mean S − h · p0 · N) / (H + h · N),  p0 + (mean S − effort) / H,  p0 + S at 1 − w / H

Asking is worth the mean of max(0, E(advised) − E(p)) over the discounts of the known families. What
is not known is never advised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from statistics import median

import numpy as np

from planner.comparison.results import SMALL_SHARE, ComparisonResults
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.risk import Driver
from planner.contract.copies import replace
from planner.contract.labels import ON_DEMAND, cloud_title, traits
from planner.contract.request.constraints import CustomOffer
from planner.costing.choice import FEW_SOLVES, Choice, judge
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.results.scenario_result import cents
from planner.costing.scenarios import solve_scenario
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize
from pricing.market.clouds import find_partition
from pricing.market.discounts import Terms
from pricing.market.offers import HOURS_PER_MONTH, PurchaseOption

MOST = 3
"""Unknown prices that are tried, those of the largest discount first."""


def find_unknown_prices(results: ComparisonResults) -> tuple[Driver, ...]:
    """Prices that turn the advice at a discount that is known of some family, the dearest to leave
    unasked first; none where the work is small or nothing is looked for."""
    request = results.request
    if (
        results.is_small
        or results.choice is None
        or not (request.cheaper_if and request.use_catalog)
    ):
        return ()
    rows, work = [], results.work.share(SMALL_SHARE)
    for terms, machine, discounts in list(_list_unknown(results))[:MOST]:
        with suppress(WorkSpentError, InvalidInput):
            row = _Unknown(results, terms, machine, discounts).build(work)
            if row is not None:
                rows.append(row)
    return tuple(sorted(rows, key=lambda row: -(row.worth_asking or 0)))


def _list_unknown(
    results: ComparisonResults,
) -> Iterator[tuple[Terms, CapacitySource, Mapping[str, float]]]:
    inputs, months = results.inputs, results.calendar.months
    rented = {key for plan in results.solved_scenarios.values() for key in plan.used_hours}
    machines: dict[str, CapacitySource] = {}
    for source in inputs.sources:
        if source.purchase_option in ON_DEMAND and source.offer is not None and source.provider:
            best = machines.get(source.provider)
            is_better = best is None or (source.key in rented) > (best.key in rented)
            if is_better or (best and _price(source) < _price(best)):
                machines[source.provider] = source
    own = {
        (source.provider, source.purchase_option, source.term.duration_months)
        for source in inputs.sources
        if source.term
    }
    unknown = {
        (row.accelerator, row.provider, row.purchase_option, term)
        for row in inputs.coverage
        for term in row.unknown_terms
        if term <= months and (row.provider, row.purchase_option, term) not in own
    }
    by_partition = results.preparation.catalog.offers.discounts
    partitions = {
        name: by_partition.get(find_partition(name, machine.region), {})
        for name, machine in machines.items()
    }
    rows = [
        (terms, machines[provider], by_family)
        for provider, discounts in partitions.items()
        for terms, by_family in discounts.items()
        if terms[0] == provider and (machines[provider].accelerator, *terms) in unknown
    ]
    yield from sorted(rows, key=lambda row: (-median(row[2].values()), row[0]))


def _price(source: CapacitySource) -> float:
    return source.price_per_hour / source.capacity


@dataclass(frozen=True)
class _Unknown:
    results: ComparisonResults
    terms: Terms
    machine: CapacitySource
    discounts: Mapping[str, float]

    def build(self, work: WorkMeter) -> Driver | None:
        """What is not known, with its turn; None where no known discount turns the advice."""
        results, machine = self.results, self.machine
        offer = machine.offer
        assert offer is not None
        on_demand = float(offer.price_per_hour)
        at = on_demand * (1.0 - median(self.discounts.values()))
        choice, hours, undiscounted = self._with_price(at, work)
        if choice is None or hours <= 0:
            return None
        advised, units = results.expected_cost, results.preparation.units_per_usd
        expected = float(choice.expected[choice.index])
        turn = at + (advised - expected) / (hours * units)
        savings = choice.savings_of(self.terms)
        if savings is not None:
            saved, bound = savings
            terms, mean = results.terms, float(saved.mean())
            share, paid = terms.hurdle_share, undiscounted * units
            lower = (mean - share * bound) / (hours * units + share * paid)
            chance = float(np.quantile(saved, 1.0 - terms.hurdle_chance))
            lower = min(lower, min(mean - terms.effort_cost, chance) / (hours * units))
            turn = min(turn, at + lower)
        prices = [on_demand * (1.0 - discount) for discount in self.discounts.values()]
        turning = [price for price in prices if price < turn]
        if not turning:
            return None
        gains = [max(0.0, advised - expected - (p - at) * hours * units) for p in prices]
        worth = float(np.mean(gains))
        advice, unaffected = results.choice, cents(0.0)
        if advice is not None:
            unaffected = cents(float(advice.total[advice.index].mean()))
        return Driver(
            field=f"unknown_prices.{'.'.join(map(str, self.terms))}",
            label=f"{cloud_title(self.terms[0])}'s {self._name()}",
            unit=f"{results.request.currency}/h",
            value=None,
            low=round(min(prices) * units, 2),
            high=round(max(prices) * units, 2),
            source=f"discounts of {pluralize(len(prices), 'known family', 'known families')}",
            expected_at_low=unaffected,
            expected_at_high=unaffected,
            advice_at_low="sign",
            advice_at_high="sign" if max(prices) < turn else "do not sign",
            turns_at=round(turn * units, 2),
            chance=len(turning) / len(prices),
            worth_asking=cents(worth),
            sentence=self._describe(turn * units, len(turning), worth),
        )

    def _with_price(
        self, usd_per_hour: float, work: WorkMeter
    ) -> tuple[Choice | None, float, float]:
        """The choice where the price is known, and the hours that it pays for, discounted and not;
        without a choice where it signs nothing."""
        results, machine = self.results, self.machine
        provider, option, months = self.terms
        custom = CustomOffer(
            label="unknown price",
            accelerator=machine.accelerator,
            accelerator_count=machine.accelerators,
            purchase_option=PurchaseOption(option),
            usd_per_hour=round(usd_per_hour, 4),
            term_months=months,
            provider=provider,
            region=machine.region,
            instance_type=machine.instance_type,
        )
        request = results.request.model_copy(
            update={"custom_offers": (*results.request.custom_offers, custom)}
        )
        preparation = replace(results.preparation, request=request)
        names = ("units_per_usd", "assumptions", "calendar", "laid_out", "all_servers", "coverage")
        known = vars(results.preparation)
        vars(preparation).update({name: known[name] for name in names if name in known})
        inputs = preparation.inputs
        plan = solve_scenario(inputs, ScenarioKey.HYBRID, work.share(0.5))
        if not plan.feasible:
            return None, 0.0, 0.0
        choice, _ = judge(
            inputs, [plan], results.terms, results.few_outcomes, work, most_solves=FEW_SOLVES
        )
        key = next((s.key for s in inputs.sources if s.label == custom.label), "")
        started = choice.plan.units_started.get(key)
        if started is None:
            return None, 0.0, 0.0
        discount, left = inputs.calendar.discount, 1.0 - inputs.calendar.tax_rate
        starts = np.flatnonzero(started).tolist()
        worth = sum(started[m] * float(discount[m : m + months].sum()) for m in starts)
        hours = HOURS_PER_MONTH * left
        return choice, worth * hours, float(started.sum()) * months * hours

    def _name(self) -> str:
        _, option, months = self.terms
        years = f"{months // 12}-year" if months % 12 == 0 else f"{months}-month"
        return f"{years} {traits(option).label.lower()} rate of {self.machine.instance_type}"

    def _describe(self, turn: float, below: int, worth: float) -> str:
        families = f"{below} of {len(self.discounts)} known families are"
        currency = self.results.request.currency
        return (
            f"Ask {cloud_title(self.terms[0])} for its {self._name()}: below {turn:,.2f} "
            f"{currency} an hour signing wins ({families}); asking is worth {worth:,.0f} "
            f"{currency}."
        )
