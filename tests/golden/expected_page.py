"""What the page of an answer must show: its headline, cards, tables and charts, cell by cell."""

from __future__ import annotations

from typing import Any

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from tests.golden.shown import (
    OPTIONS,
    TITLES,
    money,
    month,
    number,
    percent,
    plain,
    rate,
    short,
)

HOW = {"server": "bought", "commitment": "committed", "capacity_block": "reserved by date"}


def headline(answer: ComparisonAnswer) -> str:
    """The line of figures below the recommendation."""
    advice, best, currency = answer.recommendation, answer.recommended, answer.currency
    assert best is not None
    parts = [
        f"{short(best.total_cost, currency)} over {answer.horizon_months} months",
        f"{short(best.net_present_cost, currency)} in today's money",
    ]
    if advice.saving and advice.next_best:
        other = TITLES[advice.next_best].lower()
        parts[-1] += f", {short(advice.saving, currency)} less than {other}"
    if answer.risk:
        likely = percent(answer.risk.probability_cheapest[best.key])
        parts.append(f"cheapest in {likely} of {number(answer.risk.samples)} simulated outcomes")
    parts.append(f"proven within {percent(best.gap, 2)}")
    return " · ".join(parts)


def demand(answer: ComparisonAnswer) -> str:
    """The line of hours and peak."""
    work = answer.demand
    peak = plain(work.highest_peak)
    if work.total_hours_p10 != work.total_hours_p90:
        low, high = number(work.total_hours_p10), number(work.total_hours_p90)
        peak += f"; likely {low} to {high} h (p10 to p90)"
    method = work.method[:1].upper() + work.method[1:]
    hours = number(work.total_hours)
    return f"{hours} accelerator-hours of {work.accelerator} at a peak of {peak}. {method}."


def card(answer: ComparisonAnswer, scenario: ScenarioAnswer) -> str:
    """Everything on the card of one scenario, in order."""
    currency, key = answer.currency, scenario.key
    parts = [TITLES[key]]
    if key == answer.recommendation.scenario:
        parts.append("recommended")
    if not scenario.feasible:
        return " ".join([*parts, "Not possible", *scenario.why_not])
    parts.append(short(scenario.total_cost, currency))
    parts.append(f"{short(scenario.net_present_cost, currency)} in today's money")
    per_hour = rate(scenario.levelised_cost_per_accelerator_hour, currency)
    parts.append(f"{per_hour} per accelerator-hour")
    if answer.risk:
        spread = getattr(answer.risk, key)
        parts.append(f"p10–p90 {short(spread.p10, currency)} – {short(spread.p90, currency)}")
        parts.append(f"cheapest in {percent(answer.risk.probability_cheapest[key])}")
    saving = scenario.saving_against_on_demand
    if key != "on_demand" and saving is not None:
        parts.append(_saving(saving, currency))
    return " ".join(parts)


def _saving(saving: Any, currency: str) -> str:
    if saving == 0:
        return "the same as on demand"
    direction = "less" if saving > 0 else "more"
    return f"{short(abs(saving), currency)} {direction} than on demand, undiscounted"


# Tables ---------------------------------------------------------------------------------------


def tables(answer: ComparisonAnswer, shown: ScenarioAnswer) -> dict[str, list[list[str]]]:
    """Label → rows of every table that the answer fills."""
    every = {
        "What to buy, and when": purchases(answer, shown),
        "How sure is it": risk(answer),
        "Break-even": break_even(answer),
        "Owning against renting by use and price of renting": grid(answer),
        "Offers and servers used": sources(answer, shown),
        "Energy and carbon": energy(answer),
    }
    return {label: rows for label, rows in every.items() if rows}


def purchases(answer: ComparisonAnswer, shown: ScenarioAnswer) -> list[list[str]]:
    rows = []
    for one in shown.purchases:
        first, last = month(answer.start, one.first), month(answer.start, one.last)
        at_start = one.due_at_start is not None and money(one.due_at_start, answer.currency)
        monthly = one.due_per_month is not None and money(one.due_per_month, answer.currency)
        rows.append(
            [
                month(answer.start, one.month),
                one.label,
                HOW[one.kind],
                f"{plain(one.units)} {one.unit}",
                first if first == last else f"{first} to {last}",
                at_start or "",
                monthly or "",
            ]
        )
    return rows


def risk(answer: ComparisonAnswer) -> list[list[str]]:
    rows = []
    for key, title in TITLES.items():
        spread = getattr(answer.risk, key, None)
        if answer.risk and spread:
            figures = (spread.p10, spread.p50, spread.p90, spread.cvar_90)
            likely = percent(answer.risk.probability_cheapest[key], 1)
            regret = money(answer.risk.regret[key], answer.currency)
            rows.append([title, *(money(one, answer.currency) for one in figures), likely, regret])
    return rows


def break_even(answer: ComparisonAnswer) -> list[list[str]]:
    rows = []
    for one in answer.break_even:
        hours = ["never: renting costs less per hour than running it"]
        if one.hours is not None:
            hours = [f"{number(one.hours)} h", number(one.months_at_full_use, 1)]
        use = one.utilisation_over_life
        rows.append([one.server, one.label, *hours, "never" if use is None else percent(use)])
    return rows


def grid(answer: ComparisonAnswer) -> list[list[str]]:
    if answer.price_grid is None:
        return []
    pairs = zip(answer.price_grid.utilisations, answer.price_grid.difference, strict=True)
    return [[percent(use), *map(_grid_cell, costs)] for use, costs in pairs]


def _grid_cell(difference: Any) -> str:
    return f"{'own' if difference < 0 else 'rent'} {number(abs(difference))}"


def sources(answer: ComparisonAnswer, shown: ScenarioAnswer) -> list[list[str]]:
    rows = []
    for one in shown.costs_by_source:
        offer, currency = answer.offers.get(one.offer_id), answer.currency
        price = rate(one.lowest_unit_price, currency)
        if one.lowest_unit_price != one.highest_unit_price:
            price += f" to {rate(one.highest_unit_price, currency)}"
        option = one.purchase_option or one.category.value
        rows.append(
            [
                one.label,
                f"{one.provider or 'own'} {one.region}".strip(),
                OPTIONS.get(option, option.replace("_", " ")),
                f"{price} per {one.unit.removesuffix('s')}",
                number(one.quantity),
                money(one.amount, currency),
                (offer.sku or "not known") if offer else "",
                (offer.as_of.isoformat() if offer.as_of else "undated") if offer else "",
                offer.source if offer else "",
            ]
        )
    return rows


def energy(answer: ComparisonAnswer) -> list[list[str]]:
    rows = []
    for scenario in answer.feasible:
        one = scenario.energy
        assert one is not None
        kwh = "not known" if one.kwh is None else number(one.kwh)
        kwh += " and more" if one.kwh is not None and one.unknown_power else ""
        is_part = one.kwh_of_unknown_grid or one.unknown_power
        known = one.kg_co2e_of_known_grid
        carbon = "not known" if known is None else number(known) + " and more" * bool(is_part)
        names = "; ".join(dict.fromkeys(s.carbon_source for s in one.sources if s.carbon_source))
        if one.kwh_of_unknown_grid:
            missing = number(one.kwh_of_unknown_grid)
            names += f" Without {missing} kWh whose grid we do not know."
        if one.unknown_power:
            names += f" Power not known of {', '.join(one.unknown_power)}."
        rows.append([TITLES[scenario.key], kwh, carbon, names.strip()])
    return rows


# Prose ----------------------------------------------------------------------------------------


def sentences(answer: ComparisonAnswer, shown: ScenarioAnswer | None) -> list[str]:
    """What stands on the page word for word."""
    words = [*answer.recommendation.because, *answer.warnings]
    if shown:
        words += shown.warnings
        words += answer.explanation.limits_and_switches if answer.explanation else ()
        if answer.robust_plan:
            words += [*answer.robust_plan.words, *answer.robust_plan.warnings, _robust(answer)]
        if answer.risk:
            words.append(
                f"{number(answer.risk.samples)} samples, seed {answer.risk.seed}, in today's money"
            )
        if answer.price_grid:
            own, rent = (answer.labels[answer.price_grid.server],
                         answer.labels[answer.price_grid.against])  # fmt: skip
            words.append(f"{own} against {rent}: which of the two is cheaper")
            words.append(" ".join(f"rent × {plain(f)}" for f in answer.price_grid.price_factors))
    return [" ".join(one.replace("\u00a0", " ").split()) for one in words]


def _robust(answer: ComparisonAnswer) -> str:
    plan, currency = answer.robust_plan, answer.currency
    assert plan is not None
    assert plan.gap is not None
    better = (
        "No scenario's plan is better across those outcomes."
        if plan.same_as is None
        else "None of the plans tried is better across those outcomes than a scenario above."
    )
    few = plan.representative_samples
    return (
        f"Expected {money(plan.expected, currency)} in today's money over "
        f"{number(plan.samples)} simulated outcomes, {money(plan.cvar_90, currency)} on average "
        f"in the worst 10 % of them; {money(plan.net_present_cost, currency)} if all goes as "
        f"expected. {better} It was optimised over {few} representative outcomes: over those "
        f"{few} it is within {percent(plan.gap, 2)} of the optimum."
    )
