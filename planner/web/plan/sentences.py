"""Sentences of the plan's pages that depend on what is known."""

from __future__ import annotations

from django import template

from planner.contract.answer.estimate import CpuNote
from planner.models import Job
from planner.web.common.formatting import figures, number, waiting

register = template.Library()


@register.filter
def sample_progress(job: Job, place: int | None) -> str:
    """How far a job is: `Simulating outcomes: 2,000 of 10,000`."""
    message = job.message or waiting(place)
    return f"{message}: {number(job.done)} of {number(job.total)}" if job.total else message


@register.filter
def cpu_sentence(cpu: CpuNote) -> str:
    """Whether a CPU would do, with the hours it would take where they are known.

    >>> cpu_sentence(CpuNote(is_enough=True, note="a CPU machine is enough", hours=12.34))
    'A CPU machine is enough (12.3 h of a machine with 16 virtual CPUs).'
    """
    note, hours = cpu.note, cpu.hours
    detail = "" if hours is None else f" ({figures(hours)} h of a machine with 16 virtual CPUs)"
    return f"{note[:1].upper()}{note[1:]}{detail}."
