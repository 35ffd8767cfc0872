"""The scenarios of an answer as the page groups them: those with one plan in one row."""

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
    """Scenarios of one plan have the title of the plainest."""
    return _titles(group)[0]


def _titles(group: list[ScenarioAnswer]) -> list[str]:
    keys = {one.key.value for one in group}
    return [title for key, title in TITLES.items() if key in keys]


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
    words.append(_note(group))
    return " ".join(filter(None, [*words, "" if one.allowed else one.why_not_allowed]))


def _note(group: list[ScenarioAnswer]) -> str:
    """The scenarios of the same plan, and that an owning one rents."""
    first, *others = _titles(group)
    paid_for = {line.category.value for line in group[0].lines}
    joined = " and ".join(", ".join(map(str.lower, others)).rsplit(", ", 1))
    same = f"{joined}: the same" if others else ""
    if group[0].feasible:
        same += " plan" if others else ""
        is_beside = first == TITLES["on_prem"] and paid_for & {"compute", "commitment"}
        beside = "machines rented before and alongside its servers" if is_beside else ""
        same = "; ".join(filter(None, [same, beside]))
    return same[:1].upper() + same[1:]


def between_semicolons(reasons: Sequence[str]) -> str:
    """Reasons of which some are sentences, as one: none ends or begins within it."""
    joined = "; ".join(reasons).removesuffix(".")
    return joined.replace(".; ", "; ").replace("; It is not known ", "; it is not known ")
