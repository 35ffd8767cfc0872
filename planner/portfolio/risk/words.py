"""How sure the total of a portfolio is, in words. PURE."""

from __future__ import annotations

from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.risk import PortfolioRange
from planner.contract.money import format_money


def describe_sureness(answer: PortfolioAnswer) -> str:
    """A sentence of how far all payments may go from plan; "" without a range that holds."""
    ends = answer.range
    if ends is None or not ends.holds:
        return ""
    low, high = (format_money(one, answer.currency) for one in (ends.p10, ends.p90))
    why = f" {ends.note[:1].upper()}{ends.note[1:]}." if ends.note else ""
    return (
        f" All payments, not discounted: {low.rpartition(' ')[0]} to {high} in 8 of 10 cases.{why}"
    )


def describe_range(ends: PortfolioRange, currency: str) -> str:
    """Between what the total lies in 8 of 10 simulated outcomes, with the middle and the mean."""
    low, middle, high, mean = (
        format_money(one, currency) for one in (ends.p10, ends.p50, ends.p90, ends.mean)
    )
    doubt = "" if ends.holds else _FAR_FROM_PUBLISHED
    why = f"; {ends.note}" if ends.note else ""
    return f"{low} to {high} in 8 of 10 cases (median {middle}, mean {mean}){doubt}{why}"


_FAR_FROM_PUBLISHED = (
    "; it does not hold here, as the work of a project is far from every published run"
)

TOO_LITTLE_WORK = (
    "The work allowed for one question ran out before enough outcomes were simulated. As a "
    "background job, or with fewer projects or months, the total has a range."
)
"""Why a plan that may have a range has none."""
NO_PLAN = "There is no plan, so there is no total that could vary."
"""Why an answer without a plan has no range."""
WHY_NO_RANGE = (
    "Prices and hours are simulated for one project on machines of its own. Where projects share "
    "machines, each outcome would have to decide anew who uses them. For the risk of a project, "
    "compare it by itself."
)
"""Why the total of a joint plan has no range under rules before 6, and in answers of before."""
