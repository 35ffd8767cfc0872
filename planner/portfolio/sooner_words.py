"""When a project does its runs, here and by itself, in sentences. PURE."""

from __future__ import annotations

from decimal import Decimal

from planner.contract.answer.portfolio import PortfolioAnswer, ProjectShare
from planner.contract.money import format_money


def describe_when(answer: PortfolioAnswer, one: ProjectShare) -> str:
    """When it does its runs here and by itself, and what it costs by itself to spread them."""
    sooner = format_money(one.alone_total or 0, answer.currency)
    if not one.sooner:
        return (
            "Its runs are spread over the months to their deadlines here; by itself it would do "
            f"them sooner, for {sooner} in all (not discounted)."
        )
    if not one.alone_sooner:
        return (
            "Its runs finish before their deadlines, as the limits of all leave no room for them "
            "otherwise."
        )
    instead = "no plan of its own would keep to its limits"
    if one.alone_spread is not None:
        spread = format_money(one.alone_spread, answer.currency)
        instead = f"it would pay {spread} by itself in place of {sooner}, not discounted"
    return f"Its runs finish before their deadlines: spread over the months to these, {instead}."


def describe_sooner(name: str, sooner: Decimal, spread: Decimal | None, currency: str) -> str:
    """That a project costs less by itself, as its runs are done sooner there.

    >>> describe_sooner("speech", Decimal(20160), Decimal(24215), "USD")
    'speech: its runs are spread over the months to their deadlines here. Compared by itself they \
finish sooner, for 20,160 USD in all and not 24,215 USD; give it the months of that answer as \
deadlines to plan so here too.'
    """
    instead = "where there is no plan here"
    if spread is not None:
        instead = f"and not {format_money(spread, currency)}"
    return (
        f"{name}: its runs are spread over the months to their deadlines here. Compared by itself "
        f"they finish sooner, for {format_money(sooner, currency)} in all {instead}; give it the "
        "months of that answer as deadlines to plan so here too."
    )
