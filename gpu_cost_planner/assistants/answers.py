"""Short answers: text that begins with the verdict, and the same figures as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.labels import NO_RANGE_HERE, SCENARIO_TITLES
from planner.contract.money import format_money
from planner.costing.advice.limit_words import describe_alternative
from pricing.common.invalid_input import InvalidInput
from pricing.market.offer_json import offer_json
from pricing.market.snapshot import Catalog

MOST_ROWS = 200
"""Rows of a table in one answer; how many are left out is said."""
MOST_WARNINGS = 5
MOST_CANDIDATES = 5


@dataclass(frozen=True)
class Answer:
    """What a tool gives: `text` for reading, `data` for computing."""

    text: str
    data: dict[str, Any]
    is_error: bool = False

    @classmethod
    def refused(cls, refusal: InvalidInput) -> Answer:
        """Each field with what is wrong and what is allowed."""
        lines = [str(one) for one in refusal.all()]
        text = "\n".join(["Refused; change these fields and call again:", *lines])
        return cls(text, {"errors": refusal.to_errors()}, is_error=True)


def answer_comparison(answer: ComparisonAnswer) -> Answer:
    """The verdict, the total of each scenario, what would be cheaper, and warnings."""
    lines = [*answer.advice, ""]
    lines += [_describe_scenario(one, answer) for one in answer.scenarios]
    for one in answer.cheaper_if:
        lines.append(describe_alternative(one, answer.currency))
    lines += [f"Note: {text}" for text in answer.warnings[:MOST_WARNINGS]]
    if len(answer.warnings) > MOST_WARNINGS:
        lines.append(f"and {len(answer.warnings) - MOST_WARNINGS} more notes")
    prices = ", ".join(f"{c.provider} of {c.as_of}" for c in answer.catalog)
    lines.append(f"Prices: {prices}. `explain` gives a table of this answer.")
    whole = answer.to_json()
    data = {name: whole[name] for name in ("currency", "start", "horizon_months", "verdict")}
    data |= {name: whole[name] for name in ("recommendation", "cheaper_if", "warnings")}
    data["scenarios"] = [_pick(one) for one in whole["scenarios"]]
    return Answer("\n".join(lines), data)


_SCENARIO_FIELDS = (
    *("key", "feasible", "allowed", "why_not", "why_not_allowed", "total_cost", "owed_after"),
    *("net_present_cost", "levelised_cost_per_accelerator_hour", "gap"),
)


def _pick(scenario: Mapping[str, Any]) -> dict[str, Any]:
    return {name: scenario[name] for name in _SCENARIO_FIELDS}


def _describe_scenario(scenario: ScenarioAnswer, answer: ComparisonAnswer) -> str:
    title = SCENARIO_TITLES[scenario.key]
    if not scenario.feasible:
        return f"{title}: not feasible. {' '.join(scenario.why_not)}".strip()
    total = format_money(scenario.require_total(), answer.currency)
    mark = " (advised)" if scenario.key == answer.recommendation.scenario else ""
    reason = "" if scenario.allowed else f" (not advised: {scenario.why_not_allowed})"
    return f"{title}: {total}{mark}{reason}"


def answer_estimate(answer: EstimateAnswer) -> Answer:
    """Hours with their range, memory, duration, and the best accelerators."""
    hours = answer.accelerator_hours
    how_often = "in 8 of 10 cases" if hours.holds else f"by published runs, which {NO_RANGE_HERE}"
    lines = [
        f"{hours.p50:,.0f} accelerator-hours ({hours.p10:,.0f} to {hours.p90:,.0f} {how_often}) "
        f"on {answer.accelerators:,} × {answer.accelerator}."
    ]
    if answer.wall_clock_hours is not None:
        lines.append(f"One run takes {answer.wall_clock_hours:,.1f} hours.")
    if answer.memory_per_accelerator_gib is not None:
        lines.append(
            f"{answer.memory_per_accelerator_gib:,.1f} GiB on each accelerator; at least "
            f"{answer.min_accelerators:,} are needed."
        )
    if answer.tier:
        lines.append(f"The work is {answer.tier.replace('_', ' ')}: {answer.tier_cards}.")
    fitting = [one for one in answer.candidates if one.fits][:MOST_CANDIDATES]
    for one in fitting:
        lines.append(
            f"{one.rank}. {one.accelerators:,} × {one.accelerator}: "
            f"{one.accelerator_hours:,.0f} accelerator-hours a run"
        )
    lines += answer.other_chips
    lines += [f"Warning: {text}" for text in answer.warnings]
    lines.append(f"Method: {answer.method}")
    whole = answer.to_json()
    return Answer("\n".join(lines), whole | {"candidates": whole["candidates"][: len(fitting)]})


def answer_offers(catalog: Catalog, rows: Sequence[int], count: int) -> Answer:
    """Offers in order of price, a line each."""
    revisions = {info.provider: info.revision for info in catalog.revisions}
    offers = [offer_json(catalog, row, revisions) for row in rows]
    for offer in offers:
        offer["as_of"] = offer["as_of"] and offer["as_of"].isoformat()
    lines = [f"{len(offers):,} of {count:,} offers, the cheapest first:"]
    lines += [
        f"{o['usd_per_accelerator_hour']} USD per accelerator-hour: {o['instance_type']} "
        f"({o['accelerator_count']:g} × {o['accelerator']}) {o['purchase_option']} in "
        f"{o['provider']} {o['zone'] or o['region']}, as of {o['as_of'] or 'an unknown day'}"
        for o in offers
    ]
    return Answer("\n".join(lines), {"count": count, "results": offers})


def answer_table(answer: ComparisonAnswer, table: str, scenario: object) -> Answer:
    """One table as CSV; of one with a row for each scenario's parts only those of `scenario`."""
    # pandas takes longer to import than a comparison takes to compute.
    from planner.exports.frames import FRAMES, format_csv

    frame = FRAMES[table](answer)
    chosen = _choose_scenario(answer, scenario)
    if table in ("lines", "capacity", "purchases") and chosen is not None:
        frame = frame[frame["scenario"] == chosen]
    shown = frame.head(MOST_ROWS)
    more = f"\nand {len(frame) - len(shown):,} more rows" if len(frame) > len(shown) else ""
    data = {"table": table, "rows": len(frame), "shown": len(shown)}
    return Answer(f"{format_csv(shown)}{more}".strip(), data)


def _choose_scenario(answer: ComparisonAnswer, scenario: object) -> str | None:
    if scenario is None:
        best = answer.recommendation.scenario
        return None if best is None else best.value
    allowed = [key.value for key in ScenarioKey]
    if scenario not in allowed:
        raise InvalidInput("scenario", f"{scenario!r} is unknown; allowed are {', '.join(allowed)}")
    return str(scenario)
