"""A portfolio's answer as tables for a terminal."""

from __future__ import annotations

from io import StringIO

from rich.table import Table

from planner.commands.tables import make_console
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.money import decimals_of, format_money
from planner.contract.months import format_month
from planner.contract.shares import NOISE, format_named_shares
from planner.portfolio.risk.words import describe_range
from planner.portfolio.words import METHOD_TITLES
from pricing.common.pluralize import pluralize

LEAST_SHOWN = 0.0001
"""Least share that two digits of per cent show."""


def portfolio_tables(answer: PortfolioAnswer) -> str:
    """What to do, what each project pays and why, what is bought when."""
    out = StringIO()
    console = make_console(out)
    months = pluralize(answer.horizon_months, "month")
    console.print(f"{answer.name or 'Portfolio'}: {months} from {answer.start}")
    console.print(f"  {answer.headline}")
    for sentence in _facts(answer):
        console.print(f"  {sentence}")
    console.print(_projects(answer))
    if answer.purchases:
        console.print(_purchases(answer))
    for one in answer.projects:
        console.print(f"{one.name}: {one.explanation}")
    for text in (*answer.why_not, *answer.warnings):
        console.print(f"Note: {text}")
    return out.getvalue().rstrip()


def _facts(answer: PortfolioAnswer) -> list[str]:
    facts = []
    if answer.gap is not None:
        by = f"more than {max(answer.gap, LEAST_SHOWN):.2%} " if answer.gap > NOISE else ""
        of = " for the months in which it does the work" if answer.is_laid_anew else ""
        facts.append(f"Proven: no plan is {by}cheaper{of}.")
    if answer.range is not None:
        ends = describe_range(answer.range, answer.currency)
        facts.append(f"All payments, not discounted, come to {ends}.")
    if answer.why_no_range:
        facts.append(f"The total has no range. {answer.why_no_range}")
    if answer.utilisation is not None:
        facts.append(f"Machines held are in use for {answer.utilisation:.0%} of their hours.")
    if answer.shares_method is not None:
        facts.append(f"Shares are divided {METHOD_TITLES[answer.shares_method]}.")
    if answer.next_order is not None:
        month = format_month(answer.month(answer.next_order.month))
        facts.append(f"Next server to order: {answer.next_order.label}, in {month}.")
    if answer.capital_to_approve is not None:
        capital = format_money(answer.capital_to_approve, answer.currency)
        facts.append(f"Capital to approve now, with network, spares and installation: {capital}.")
    if answer.resale:
        resale = format_money(answer.resale, answer.currency)
        facts.append(f"Its cost is net of {resale} of resale at the end, which nobody guarantees.")
    return facts


def _projects(answer: PortfolioAnswer) -> Table:
    table = Table(title=f"Shares of the plan, net present {answer.currency}", title_justify="left")
    table.add_column("project")
    table.add_column("alone it would")
    for head in ("alone", "share", "saves", "of the plan", "others without it"):
        table.add_column(head, justify="right")
    known = {one.name: one.fraction for one in answer.projects if one.fraction is not None}
    fractions = format_named_shares(known, 1)
    for one in answer.projects:
        table.add_row(
            one.name,
            one.alone_way,
            _money(one.alone, answer.currency),
            "waits" if one.waits else _money(one.share, answer.currency),
            _money(one.saving, answer.currency),
            fractions.get(one.name, ""),
            _money(one.without, answer.currency),
        )
    return table


def _purchases(answer: PortfolioAnswer) -> Table:
    table = Table(title="Bought and committed to", title_justify="left")
    for head in ("ordered", "in service", "what"):
        table.add_column(head)
    for head in ("units", f"due at start, {answer.currency}"):
        table.add_column(head, justify="right")
    for row in answer.purchases:
        table.add_row(
            format_month(answer.month(row.month)),
            f"{format_month(answer.month(row.first))} to {format_month(answer.month(row.last))}",
            row.label,
            f"{row.units:g}",
            _money(row.due_at_start, answer.currency),
        )
    return table


def _money(amount: object, currency: str) -> str:
    return "" if amount is None else f"{amount:,.{decimals_of(currency)}f}"
