"""What the page of an answer must show: its scenarios, tables and charts, cell by cell."""

import datetime as dt
from typing import Any

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from planner.web.answer.charts import span
from planner.web.common.fields import with_labels
from pricing.market.accelerators import get
from tests.golden.expected_finance import fiscal_years, leases, returns
from tests.golden.expected_scenarios import feasible_groups, group_title, groups, with_region
from tests.golden.shown import (
    OPTIONS,
    PROVIDERS,
    add_up,
    exact,
    money,
    named_month,
    number,
    percent,
    plain,
    rate,
    unit_word,
)

HOW = {"server": "bought", "commitment": "committed", "capacity_block": "reserved by date"}


def day(value: dt.date) -> str:
    return f"{value:%-d %B %Y}"


def demand(answer: ComparisonAnswer) -> str:
    """The line of hours and peak."""
    work = answer.demand
    peak = f"{plain(round(work.highest_peak, 1))} accelerators"
    if work.highest_peak == 1:
        peak = "1 accelerator"
    if work.total_hours_p10 != work.total_hours_p90:
        low, high = number(work.total_hours_p10), number(work.total_hours_p90)
        peak += f"; likely {low} to {high} h (8 of 10 cases)"
    hours = number(work.total_hours)
    return f"{hours} accelerator-hours of {get(work.accelerator).name} at a peak of {peak}."


def tables(answer: ComparisonAnswer, shown: ScenarioAnswer) -> dict[str, list[list[str]]]:
    """Label → rows of every table that the answer fills."""
    every = {
        "Cost of each scenario": totals(answer),
        "What to buy, and when": purchases(answer, shown),
        "How sure is it": risk(answer),
        "Drivers": drivers(answer),
        "Break-even": break_even(answer),
        "Offers and servers used": sources(answer, shown),
        "Energy and carbon": energy(answer),
        "Fiscal years": fiscal_years(shown),
        "Leases under IFRS 16": leases(shown),
    }
    return {label: rows for label, rows in every.items() if rows}


def totals(answer: ComparisonAnswer) -> list[list[str]]:
    currency = answer.currency
    rows = []
    for group in feasible_groups(answer):
        one = group[0]
        rent = answer.by_key[ScenarioKey.ON_DEMAND].total_cost
        rows.append(
            [
                group_title(group),
                money(one.total_cost, currency),
                money(one.within_horizon, currency),
                money(one.owed_after, currency),
                "" if rent is None else money(round(rent) - round(one.total_cost), currency),
                money(one.net_present_cost, currency),
                rate(one.levelised_cost_per_accelerator_hour, currency),
                percent(one.gap, 2),
            ]
        )
    return rows


def purchases(answer: ComparisonAnswer, shown: ScenarioAnswer) -> list[list[str]]:
    rows = []
    for one in shown.purchases:
        first, last = named_month(answer.start, one.first), named_month(answer.start, one.last)
        at_start = one.due_at_start is not None and money(one.due_at_start, answer.currency)
        beside = sum(
            line.amount
            for line in shown.lines
            if (line.source, line.month) == (one.source, one.month)
            and line.category in ("install", "network_storage", "spares")
        )
        if beside:
            more = f"and {money(beside, answer.currency)} for network, spares, installation"
            at_start = f"{at_start or ''} {more}".strip()
        monthly = one.due_per_month is not None and money(one.due_per_month, answer.currency)
        rows.append(
            [
                named_month(answer.start, one.month),
                one.label,
                HOW[one.kind],
                f"{plain(round(one.units, 2))} {_units_word(one)}",
                (first if first == last else f"{first} to {last}") + _idle(answer, one),
                at_start or "",
                monthly or "",
            ]
        )
    return rows


def _idle(answer: ComparisonAnswer, one: Any) -> str:
    """The months of a purchase without work, each span from its first to its last."""
    spans: list[list[int]] = []
    for index in one.idle_months:
        if spans and spans[-1][-1] == index - 1:
            spans[-1].append(index)
        else:
            spans.append([index])
    ends = [
        (named_month(answer.start, span[0]), named_month(answer.start, span[-1])) for span in spans
    ]
    written = [first if first == last else f"{first} to {last}" for first, last in ends]
    return f" without work in {', '.join(written)}" if written else ""


def _units_word(one: Any) -> str:
    unit = unit_word(one.unit)
    return unit.removesuffix("s") if one.units == 1 else unit


def risk(answer: ComparisonAnswer) -> list[list[str]]:
    rows = []
    simulated = [
        [one.key for one in group]
        for group in groups(answer)
        if answer.risk and getattr(answer.risk, group[0].key, None)
    ]
    chances = [
        exact(sum(answer.risk.probability_cheapest[key] for key in keys)) * 1000
        for keys in simulated
    ]
    shares = iter(add_up(chances))
    for group in groups(answer):
        keys = [one.key for one in group]
        spread = getattr(answer.risk, keys[0], None)
        if answer.risk and spread:
            figures = (spread.p10, spread.p50, spread.p90)
            likely = f"{next(shares) / 10:.1f}%"
            rows.append(
                [group_title(group), *(money(one, answer.currency) for one in figures), likely]
            )
    return rows


def drivers(answer: ComparisonAnswer) -> list[list[str]]:
    rows = []
    for one in answer.drivers:
        costs = [
            money(cost, answer.currency) for cost in (one.expected_at_low, one.expected_at_high)
        ]
        advice = [one.advice_at_low, one.advice_at_high, one.sentence]
        chance = "" if one.chance is None else percent(one.chance)
        rows.append([one.label, span(one), *costs, *advice, chance])
    return rows


SERVERS = {
    "server:dgx-h100": "DGX H100 (8x H100)",
    "server:hgx-h100-8": "HGX H100 server (8x H100)",
}


def break_even(answer: ComparisonAnswer) -> list[list[str]]:
    rows = []
    for one in answer.break_even:
        hours = ["never: renting costs less per hour than running it"]
        if one.hours is not None:
            hours = [f"{number(one.hours)} h", number(one.months_at_full_use, 1)]
        named = answer.labels | SERVERS
        server = named[f"server:{one.server}"]
        against = with_region(one.label, answer)
        rows.append(
            [server, against, _paying_use(one.over_life, one.utilisation_over_life), *hours]
        )
    return rows


def _paying_use(when: str, share: float | None) -> str:
    if share is None:
        return "never"
    at = f"{number(share * 730)} h of use a month ({percent(share)})"
    words = {"from": f"from {at}", "up_to": f"up to {at}", "always": "at any use"}
    return words.get(when, "never")


def sources(answer: ComparisonAnswer, shown: ScenarioAnswer) -> list[list[str]]:
    rows, digits = [], max(2 * (one.quantity % 1 > 0) for one in shown.costs_by_source)
    for one in shown.costs_by_source:
        offer, currency = answer.offers.get(one.offer_id), answer.currency
        price = rate(one.lowest_unit_price, currency)
        if one.lowest_unit_price != one.highest_unit_price:
            price += f" to {rate(one.highest_unit_price, currency)}"
        option = one.purchase_option or one.category.value
        provider = PROVIDERS.get(one.provider, one.provider)
        region = answer.region_names.get(f"{one.provider}:{one.region}", one.region)
        server = next((s for s in answer.servers if s.key == one.source), None)
        quantity = number(one.quantity, digits)
        source = offer.source if offer else ""
        if offer and offer.multiplier != 1:
            sign = "−" if offer.multiplier < 1 else "+"
            source += f", {sign}{abs(offer.multiplier * 100 - 100):.3g}%"
        if server:
            known = server.price_source
            source = "your own figure" if known == "request" else known
            if server.unit_price_p10 is not None:
                low, high = server.unit_price_p10, server.unit_price_p90
                ends = f"{money(low, answer.currency)} to {money(high, answer.currency)}"
                quotes = server.price_quotes
                source += f"; {ends} by {quotes} dated quotes" if quotes else f"; {ends} assumed"
        dated = str(server.price_year or "") if server else ""
        rows.append(
            [
                offer.instance_type if offer else one.label,
                f"{provider} {region}".strip() or "own",
                OPTIONS.get(option, option.replace("_", " ")),
                f"{price} per {unit_word(one.unit).removesuffix('s')}",
                quantity,
                money(one.amount, currency),
                (offer.sku or "not known") if offer else "none",
                (day(offer.as_of) if offer and offer.as_of else dated) or "undated",
                source or "not known",
            ]
        )
    return rows


def energy(answer: ComparisonAnswer) -> list[list[str]]:
    rows = []
    for group in feasible_groups(answer):
        one = group[0].energy
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
        rows.append([group_title(group), kwh, carbon, names.strip()])
    return rows


def sentences(answer: ComparisonAnswer, shown: ScenarioAnswer | None) -> list[str]:
    """What stands on the page word for word, with fields as the form labels them."""
    words = [*_on_the_page(answer), *answer.warnings, answer.demand.method]
    if shown:
        words += shown.warnings
        words += returns(shown, answer.currency)
        if answer.risk:
            words.append(
                f"{number(answer.risk.samples)} samples, seed {answer.risk.seed}, in today's money"
            )
    return [" ".join(with_labels(one).replace("\u00a0", " ").split()) for one in words]


def advice(answer: ComparisonAnswer) -> list[str]:
    """The sentences of the verdict; of an answer kept before there were any, all that was said."""
    told = answer.verdict
    if told is None:
        return list(answer.recommendation.because)
    words = told.sentence, told.sizing, *told.due_later, *told.reasons, *told.turns
    return [one for one in words if one]


def _on_the_page(answer: ComparisonAnswer) -> list[str]:
    """The same, what to do and what it costs apart."""
    told, words = answer.verdict, advice(answer)
    if told is None:
        return words
    return [told.headline, told.sentence.removeprefix(told.headline).strip(), *words[1:]]


def asked(answer: ComparisonAnswer) -> list[list[str]]:
    """What stands above the answer's own assumptions."""
    rows = [
        ["First month", day(answer.month(0)).removeprefix("1 "), "month", "given", "the request"],
        ["Horizon", str(answer.horizon_months), "months", "given", "the request"],
    ]
    rate = answer.exchange_rate
    if rate:
        seen = f", {day(rate.as_of)}" if rate.as_of else ""
        unit = f"{answer.currency} per USD"
        rows.append(["Exchange rate", rate.units_per_usd, unit, "default", f"{rate.source}{seen}"])
    return rows
