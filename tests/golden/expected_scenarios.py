"""The scenarios of an answer as the page groups them: those with one plan in one row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from planner.web.common.fields import with_labels
from tests.golden.shown import TITLES, money


def groups(answer: ComparisonAnswer) -> list[list[ScenarioAnswer]]:
    """Scenarios with the same plan together: the advised first, then by total, then those that
    have none."""
    best = answer.recommendation.scenario
    found: dict[Any, list[ScenarioAnswer]] = {}
    for one in answer.scenarios:
        plan: Any = one.why_not
        if one.feasible:
            plan = tuple((line.month, line.label, line.category, line.amount) for line in one.lines)
        found.setdefault((one.feasible, one.allowed, plan), []).append(one)
    firsts = found.values()
    return sorted(
        firsts,
        key=lambda group: (
            best not in [one.key for one in group],
            not group[0].feasible,
            group[0].total_cost or 0,
        ),
    )


def scenarios(answer: ComparisonAnswer) -> list[list[str]]:
    """Rows of the scenarios on the first screen, one for each plan."""
    currency = answer.currency
    rows = []
    for group in groups(answer):
        one = group[0]
        named = f"{group_title(group)} {_mark(answer, group)}{_oldest(answer, group)}"
        if not one.feasible:
            rows.append(
                [named.strip(), f"not possible: {with_labels(between_semicolons(one.why_not))}"]
            )
            continue
        spread = getattr(answer.risk, one.key, None)
        known = spread and spread.total_p10 is not None
        low_high = (
            [money(spread.total_p10, currency), money(spread.total_p90, currency)] if known else []
        )
        is_left_out = answer.risk and not known and not one.allowed
        span = "no range: not advised" if is_left_out else " – ".join(low_high)
        mean = [] if answer.risk is None else [money(spread.expected, currency) if spread else ""]
        rows.append([named.strip(), *mean, money(one.total_cost, currency), "", span])
    return rows


def group_title(group: list[ScenarioAnswer]) -> str:
    """Scenarios of one plan; those of owning that own nothing are named by another."""
    paid_for = {line.category.value for line in group[0].lines}
    keys = {other.key.value for other in group}
    unnamed = _unnamed(keys, paid_for) if group[0].feasible else []
    ordered = [key for key in TITLES if key in keys and key not in unnamed]
    return " = ".join(TITLES[key] for key in ordered)


def feasible_groups(answer: ComparisonAnswer) -> list[list[ScenarioAnswer]]:
    """Those that have a plan."""
    return [group for group in groups(answer) if group[0].feasible]


def with_region(label: str, answer: ComparisonAnswer) -> str:
    """A label with the regions as people call them, before the zone where it has one."""
    for key, name in answer.region_names.items():
        region = re.escape(key.partition(":")[2])
        label = re.sub(rf" in {region},", f" in {name},", label)
        label = re.sub(rf" in ({region}[a-z]),", rf" in {name}, \1,", label)
    return label


def _oldest(answer: ComparisonAnswer, group: list[ScenarioAnswer]) -> str:
    """The oldest price that a plan other than the advised one pays."""
    if answer.recommendation.scenario in {one.key for one in group}:
        return ""
    paid = {line.source for line in group[0].lines}
    days = [o.as_of for key, o in answer.offers.items() if key in paid and o.as_of]
    if not days:
        return ""
    oldest = sorted(days)[0]
    return f" oldest rental price paid: {oldest.day} {oldest:%B %Y}"


def _mark(answer: ComparisonAnswer, group: list[ScenarioAnswer]) -> str:
    """What stands below a title: whether it is advised, and what the plan leaves out."""
    one, keys = group[0], {other.key.value for other in group}
    words = []
    if answer.recommendation.scenario in keys:
        words.append("advised")
    elif not one.allowed:
        words.append("not advised")
    if one.feasible:
        words.append(_note(keys, {line.category.value for line in one.lines}))
    return " ".join(filter(None, [*words, "" if one.allowed else one.why_not_allowed]))


def _unnamed(keys: set[str], paid_for: set[str]) -> list[str]:
    """Scenarios of owning whose plan owns nothing: another names it."""
    owning = [key for key in ("on_prem", "hybrid") if key in keys]
    return owning if "capex" not in paid_for and keys - set(owning) else []


def _note(keys: set[str], paid_for: set[str]) -> str:
    is_rented = "on_demand" in keys and "cloud" in keys
    is_unbought = keys & {"on_prem", "hybrid"} and "capex" not in paid_for
    left_out = ["signed"] * bool(is_rented) + ["bought"] * bool(is_unbought)
    if left_out:
        others = [TITLES[key].lower() for key in _unnamed(keys, paid_for)]
        same = f"same as {' and '.join(others)}: " if others else ""
        return f"{same}nothing is {' or '.join(left_out)}"
    rents = "on_prem" in keys and paid_for & {"compute", "commitment"}
    return "machines rented before and alongside its servers" if rents else ""


def between_semicolons(reasons: Sequence[str]) -> str:
    """Reasons of which some are sentences, as one: none ends or begins within it."""
    joined = "; ".join(reasons).removesuffix(".")
    return joined.replace(".; ", "; ").replace("; It is not known ", "; it is not known ")
