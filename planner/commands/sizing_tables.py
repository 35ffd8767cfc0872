"""Estimates and calibrations as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO

from rich.table import Table

from planner.commands.tables import make_console
from planner.contract.answer.estimate import (
    EstimateAnswer,
    EstimateCandidate,
    Parallelism,
    ServingPlan,
)
from planner.contract.labels import NO_RANGE_HERE
from planner.sizing.calibration.calibration import Calibration
from planner.sizing.estimate import Estimate

CANDIDATES_TITLE = "Accelerators: fewest that are in time (or 500 h) first, then the fastest"
FEW_HOURS = 10.0
"""Hours below which a digit after the point is told."""
SHOWN_CANDIDATES = 15
"""Accelerators that the table ranks; the JSON answer has all of them."""


def estimate_tables(estimate: Estimate) -> str:
    """The estimate, the ranking and the warnings."""
    out = StringIO()
    console = make_console(out)
    answer = estimate.answer
    console.print(_estimate(answer))
    if answer.candidates:
        console.print(_candidates(answer.candidates))
    console.print(f"Method: {answer.method}")
    for note in (*answer.notes, answer.cpu.note, *answer.other_chips):
        console.print(f"Note: {note}")
    for warning in answer.warnings:
        console.print(f"Warning: {warning}")
    return out.getvalue().rstrip()


def calibration_tables(calibration: Calibration) -> str:
    """Use of each GPU, and what it changes."""
    out = StringIO()
    console = make_console(out)
    table = Table(title="GPUs", title_justify="left")
    table.add_column("GPU")
    heads = (
        "samples",
        "utilisation",
        "memory peak GiB",
        "free",
        "power W",
        "clock MHz",
        "throttled",
    )
    for head in heads:
        table.add_column(head, justify="right")
    for use in calibration.gpus:
        table.add_row(
            f"{use.gpu} {use.name}".strip(),
            str(use.samples),
            f"{use.sustained_utilisation:.0%}",
            _number(use.memory_peak_gib, ",.1f"),
            _number(use.memory_headroom, ".0%"),
            _number(use.power_mean_w, ",.0f"),
            _number(use.clock_median_mhz, ",.0f"),
            _number(use.thermally_throttled_share, ".0%"),
        )
    console.print(table)
    for change in calibration.changes:
        console.print(f"{change.kind}: {change.message}")
    return out.getvalue().rstrip()


def _estimate(answer: EstimateAnswer) -> Table:
    hours = answer.accelerator_hours
    table = Table(title=f"{answer.accelerators:,} × {answer.accelerator}", show_header=False)
    table.title_justify = "left"
    rows = {
        "accelerator-hours, p10 to p90": _hours_between(hours.p10, hours.p90)
        + ("" if hours.holds else f" ({NO_RANGE_HERE})"),
        "accelerator-hours, p50": hours_words(hours.p50),
        "wall clock of one run, h": hours_words(answer.wall_clock_hours),
        "FLOPs of one run": _number(answer.training_flops, ".3g"),
        "MFU": _number(answer.mfu, ".1%"),
        "goodput": _number(answer.goodput, ".1%"),
        "memory per accelerator, GiB": _number(answer.memory_per_accelerator_gib, ",.1f"),
        "least accelerators": _number(answer.min_accelerators, ",d"),
        "layout": _layout(answer.parallelism),
        "weights": _weights(answer.weights_gb),
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


def _weights(weights_gb: Mapping[str, float] | None) -> str:
    """Weights by precision, the first question of memory; empty for other kinds of work."""
    return ", ".join(f"{gb:,.4g} GB in {name}" for name, gb in (weights_gb or {}).items())


def _serving(plan: ServingPlan | None) -> str:
    """Accelerators and hours a month of what is served; empty where nothing is."""
    if plan is None:
        return ""
    low, high = plan.accelerator_hours_per_month_p10, plan.accelerator_hours_per_month_p90
    return (
        f"{plan.accelerators:,} at {plan.precision}, "
        f"{plan.accelerator_hours_per_month:,.0f} h a month ({low:,.0f} to {high:,.0f})"
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


def _candidates(candidates: Sequence[EstimateCandidate]) -> Table:
    table = Table(title=CANDIDATES_TITLE, title_justify="left")
    table.add_column("accelerator")
    for head in ("count", "accelerator-hours", "wall clock h", "memory free", "energy kWh"):
        table.add_column(head, justify="right")
    for one in [c for c in candidates if c.fits][:SHOWN_CANDIDATES]:
        table.add_row(
            one.accelerator,
            f"{one.accelerators:,}",
            hours_words(one.accelerator_hours),
            hours_words(one.wall_clock_hours),
            _number(one.memory_headroom, ".0%"),
            _kwh(one.energy_kwh),
        )
    return table


def hours_words(hours: float | None) -> str:
    """Hours, with one digit below ten, or minutes where there is not one hour."""
    if hours is None:
        return ""
    if hours < 1:
        return f"{hours * 60:,.1f} min"
    return f"{hours:,.1f}" if round(hours, 1) < FEW_HOURS else f"{hours:,.0f}"


def _hours_between(least: float, most: float) -> str:
    """A range of hours, its unit said where one end is in minutes and the other is not."""
    unit = " h" if least < 1 <= most else ""
    return f"{hours_words(least)} to {hours_words(most)}{unit}"


def _kwh(energy: float | None) -> str:
    """Energy, with three digits below ten, where whole ones would be none."""
    return _number(energy, ",.3g" if (energy or 0) < 10 else ",.0f")


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
