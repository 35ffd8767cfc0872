"""Answers as tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from io import StringIO
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from planner.contract.amounts import NOISE, decimals_of, format_named_shares
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import (
    CalibrationAnswer,
    EstimateAnswer,
    Parallelism,
    ServingPlan,
)
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.scenario import least_changes
from planner.contract.labels import NO_RANGE_HERE, accelerator_name
from planner.costing.advice.verdict import describe_alternative, describe_budget
from planner.portfolio.words import METHOD_TITLES, list_orders
from planner.sizing.estimate import Estimate
from pricing.common.words import pluralize

WIDTH = 110
"""Characters of a line; the same on every terminal, so that outputs can be compared."""


T = TypeVar("T")


def as_text(draw: Callable[[T], Iterator[str | Table]]) -> Callable[[T], str]:
    """What `draw` gives, printed as plain text of a fixed width, in a notebook too."""

    @wraps(draw)
    def print_all(answer: T) -> str:
        out = StringIO()
        console = Console(file=out, width=WIDTH, highlight=False, markup=False, force_jupyter=False)
        for part in draw(answer):
            console.print(part)
        return out.getvalue().rstrip()

    return print_all


def make_table(
    title: str, texts: Iterable[str], figures: Iterable[str], rows: Iterable[Sequence[str]]
) -> Table:
    """A table with columns of texts, which may be folded, and of figures to their right."""
    table = Table(title=title, title_justify="left")
    for head in texts:
        table.add_column(head, overflow="fold")
    for head in figures:
        table.add_column(head, justify="right")
    for row in rows:
        table.add_row(*row)
    return table


@as_text
def comparison_tables(answer: ComparisonAnswer) -> Iterator[str | Table]:
    name = answer.name or "Comparison"
    yield f"{name}: {pluralize(answer.horizon_months, 'month')} from {answer.start}"
    yield from (f"  {sentence}" for sentence in answer.advice)
    for one in answer.cheaper_if:
        yield f"  {describe_alternative(one, answer.currency)}"
    for use in answer.verdict.budget if answer.verdict else ():
        yield f"  {describe_budget(use, answer.currency)}"
    yield _scenarios(answer)
    for scenario in answer.scenarios:
        for reason in (*scenario.why_not, scenario.why_not_allowed):
            if reason:
                yield f"{scenario.key.value}: {reason}"
    for relaxation in least_changes(answer.by_key):
        yield f"To ask for it: {relaxation.field} = {relaxation.required_value:.10g}"
    # What is proven is proven of the widest scenario, whose warnings say which prices it lacks.
    warnings = (*answer.warnings, *answer.by_key[ScenarioKey.HYBRID].warnings)
    yield from (f"Note: {warning}" for warning in dict.fromkeys(warnings))


def _scenarios(answer: ComparisonAnswer) -> Table:
    best, currency, rows = answer.recommendation.scenario, answer.currency, []
    worth = "present value, as stated" if answer.risk is None else "expected present value"
    for one in answer.scenarios:
        # The reason of what may not be advised stands below the tables.
        mark = " *" if one.key == best else "" if one.allowed else " (not advised)"
        outcomes = answer.risk.range_of(one.key) if answer.risk else None
        figures = ("not feasible", "", "", "", "")
        if one.feasible:
            present = outcomes.mean if outcomes else one.require_present_cost()
            figures = (
                _money(outcomes and outcomes.expected, currency),
                _money(None if answer.risk and not outcomes else present, currency),
                _money(one.require_total(), currency),
                _number(one.levelised_cost_per_accelerator_hour, ",.4f"),
                f"{one.gap or 0:.2%}",
            )
        rows.append((f"{one.key.value}{mark}", *figures))
    hour = f"per hour of {accelerator_name(answer.demand.accelerator)}"
    heads = (f"expected {currency}", worth, f"as stated {currency}", hour, "gap")
    return make_table("Scenarios", ("scenario",), heads, rows)


CANDIDATES_TITLE = "Accelerators: fewest that are in time (or 500 h) first, then the fastest"
FEW_HOURS = 10.0
"""Hours below which a digit after the point is told."""
SHOWN_CANDIDATES = 15
"""Accelerators that the table ranks; the JSON answer has all of them."""


@as_text
def estimate_tables(estimate: Estimate) -> Iterator[str | Table]:
    answer = estimate.answer
    yield _estimate(answer)
    if answer.candidates:
        heads = ("count", "accelerator-hours", "wall clock h", "memory free", "energy kWh")
        rows = (
            (
                *(one.accelerator, f"{one.accelerators:,}"),
                *(hours_words(one.accelerator_hours), hours_words(one.wall_clock_hours)),
                *(_number(one.memory_headroom, ".0%"), _kwh(one.energy_kwh)),
            )
            for one in [c for c in answer.candidates if c.fits][:SHOWN_CANDIDATES]
        )
        yield make_table(CANDIDATES_TITLE, ("accelerator",), heads, rows)
    for near in answer.neighbours:
        yield (
            f"Published: {near.run}, {hours_words(near.accelerator_hours)} accelerator-hours; this "
            f"work done so: {hours_words(near.scaled_hours)} ({near.differs})"
        )
    yield f"Method: {answer.method}"
    yield from (f"Note: {note}" for note in (*answer.notes, answer.cpu.note, *answer.other_chips))
    for warning in answer.warnings:
        yield f"Warning: {warning}"


@as_text
def calibration_tables(calibration: CalibrationAnswer) -> Iterator[str | Table]:
    heads = ("samples", "utilisation", "memory peak GiB", "free", "power W")
    rows = (
        (
            f"{use.gpu} {use.name}".strip(),
            str(use.samples),
            f"{use.sustained_utilisation:.0%}",
            _number(use.memory_peak_gib, ",.1f"),
            _number(use.memory_headroom, ".0%"),
            _number(use.power_mean_w, ",.0f"),
        )
        for use in calibration.gpus
    )
    yield make_table("GPUs", ("GPU",), heads, rows)
    yield from (f"{change.kind}: {change.message}" for change in calibration.changes)


def _estimate(answer: EstimateAnswer) -> Table:
    hours = answer.accelerator_hours
    table = Table(title=f"{answer.accelerators:,} × {answer.accelerator}", show_header=False)
    table.title_justify = "left"
    # A range of hours, its unit said where one end is in minutes and the other is not.
    unit = " h" if hours.p10 < 1 <= hours.p90 else ""
    rows = {
        "accelerator-hours, p10 to p90": f"{hours_words(hours.p10)} to {hours_words(hours.p90)}"
        + unit
        + ("" if hours.holds else f" ({NO_RANGE_HERE})"),
        "accelerator-hours, p50": hours_words(hours.p50),
        "wall clock of one run, h": hours_words(answer.wall_clock_hours),
        "FLOPs of one run": _number(answer.training_flops, ".3g"),
        "MFU": _number(answer.mfu, ".1%"),
        "goodput": _number(answer.goodput, ".1%"),
        "memory per accelerator, GiB": _number(answer.memory_per_accelerator_gib, ",.1f"),
        "least accelerators": _number(answer.min_accelerators, ",d"),
        "layout": _layout(answer.parallelism),
        "weights": ", ".join(
            f"{gb:,.4g} GB in {name}" for name, gb in (answer.weights_gb or {}).items()
        ),
        "tier": f"{(answer.tier or '').replace('_', ' ')}: {answer.tier_cards}"
        if answer.tier
        else "",
        "energy of one run, kWh": _kwh(answer.energy_kwh),
        "answers written, accelerator-hours": hours_words(
            answer.rollouts.writing_hours if answer.rollouts else None
        ),
        "serving, accelerators": _serving(answer.serving),
    }
    for name, text in rows.items():
        if text:
            table.add_row(name, text)
    return table


def _serving(plan: ServingPlan | None) -> str:
    if plan is None:
        return ""
    cost = plan.usd_per_million_tokens
    price = "" if cost is None else f", {cost:,.2f} USD a million tokens"
    return (
        f"{plan.accelerators:,} at {plan.precision} in {pluralize(plan.replicas, 'replica')}, "
        f"first token after {plan.first_token_seconds:.2g} s, "
        f"{plan.seconds_between_tokens * 1e3:.0f} ms a token{price}"
    )


def _layout(layout: Parallelism | None) -> str:
    if layout is None:
        return ""
    kind = f" ({layout.checkpointing})" if layout.checkpointing else ""
    checkpointing = f", activation checkpointing{kind}" if layout.activation_checkpointing else ""
    more = {"context": layout.context, "expert": layout.expert}
    others = "".join(f" · {name} {size}" for name, size in more.items() if size and size > 1)
    batch = f", micro-batch {layout.micro_batch_size}" if layout.micro_batch_size else ""
    return (
        f"tensor {layout.tensor} · pipeline {layout.pipeline}{others} · data {layout.data}, "
        f"ZeRO stage {layout.zero_stage}{checkpointing}{batch}"
    )


def hours_words(hours: float | None) -> str:
    """Hours, with one digit below ten, or minutes where there is not one hour."""
    if hours is None:
        return ""
    if hours < 1:
        return f"{hours * 60:,.1f} min"
    return f"{hours:,.1f}" if round(hours, 1) < FEW_HOURS else f"{hours:,.0f}"


def _kwh(energy: float | None) -> str:
    """Energy, with three digits below ten, where whole ones would be none."""
    return _number(energy, ",.3g" if (energy or 0) < 10 else ",.0f")


def _number(value: object, form: str) -> str:
    return "" if value is None else format(value, form)


LEAST_SHOWN = 0.0001
"""Least share that two digits of per cent show."""


@as_text
def portfolio_tables(answer: PortfolioAnswer) -> Iterator[str | Table]:
    months = pluralize(answer.horizon_months, "month")
    yield f"{answer.name or 'Portfolio'}: {months} from {answer.start}"
    yield f"  {answer.headline}"
    yield from (f"  {order}" for order in list_orders(answer))
    if answer.gap is not None:
        by = f"more than {max(answer.gap, LEAST_SHOWN):.2%} " if answer.gap > NOISE else ""
        of = " for the months in which it does the work" if answer.is_laid_anew else ""
        yield f"  Proven: no plan is {by}cheaper{of}."
    if answer.why_no_range:
        yield f"  The total has no range. {answer.why_no_range}"
    yield _projects(answer)
    yield from (f"{one.name}: {one.explanation}" for one in answer.projects)
    if answer.saving and answer.shares_method is not None:
        yield f"Shares are divided {METHOD_TITLES[answer.shares_method]}."
    for text in (*answer.why_not, *answer.warnings):
        yield f"Note: {text}"


def _projects(answer: PortfolioAnswer) -> Table:
    known = {one.name: one.fraction for one in answer.projects if one.fraction is not None}
    fractions = format_named_shares(known, 1)
    rows = (
        (
            *(one.name, one.alone_way, _money(one.alone, answer.currency)),
            "waits" if one.waits else _money(one.share, answer.currency),
            _money(one.saving, answer.currency),
            fractions.get(one.name, ""),
            _money(one.without, answer.currency),
        )
        for one in answer.projects
    )
    heads = ("alone", "share", "saves", "of the plan", "others without it")
    title = f"Shares of the plan, net present {answer.currency}"
    return make_table(title, ("project", "alone it would"), heads, rows)


def _money(amount: object, currency: str) -> str:
    return "" if amount is None else f"{amount:,.{decimals_of(currency)}f}"
