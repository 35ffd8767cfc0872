"""`jobfile FILE`: what a job file says of accelerators and hours, as a request. No Django."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING

from planner.commands.command import Command, LoadCatalog, Options, read_text, write_request
from pricing.common.invalid_input import InvalidInput

if TYPE_CHECKING:
    from planner.usage.job_files.facts import JobFacts

MAX_FILE_BYTES = 4_000_000
_NUMBERS = {
    "runs_per_month": (1e6, "times it runs a month; once where it is not given"),
    "accelerators": (1e7, "how many, where the file leaves it open"),
    "at_once": (1e6, "runs that go at once, where the file leaves it open"),
    "hours": (1e6, "hours of a run, where the file leaves them open"),
    "tokens": (1e18, "tokens of a training"),
}
"""Option → the highest number that it may be, and what it says."""


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", help="job file; - reads standard input")
    for name, (_, meaning) in _NUMBERS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="N", help=meaning)
    for name, metavar, meaning in (
        ("accelerator", None, "accelerator, where the file leaves it open"),
        ("model", None, "model of a training"),
        ("request", "FILE", "write the request, once nothing is open"),
    ):
        parser.add_argument(f"--{name}", default="", metavar=metavar, help=meaning)


def _answer(options: Options, _: LoadCatalog) -> str:
    from planner.usage.job_files import read_job_file

    text = read_text(options["file"], MAX_FILE_BYTES)
    facts = read_job_file(text, Path(options["file"]).name)
    _answer_questions(facts, options)
    request = facts.request(options["runs_per_month"] or 1.0)
    if options["request"]:
        if facts.questions:
            refusals = [InvalidInput(field, why) for field, why in facts.questions.items()]
            raise InvalidInput.together(refusals, len(refusals))
        write_request(request, options["request"])
    return json.dumps(facts.as_dict() | {"request": request}, indent=2, allow_nan=False)


def _answer_questions(facts: JobFacts, options: Options) -> None:
    for name, (most, _) in _NUMBERS.items():
        value = options[name]
        if value is not None and not 0 < value <= most:
            raise InvalidInput(name, f"{value:g} is not between 0 and {most:g}")
    for name in ("accelerator", "accelerators", "hours"):
        if options[name]:
            setattr(facts, name, options[name])
    if options["at_once"]:
        facts.at_once = int(options["at_once"])
    if options["accelerators"]:
        facts.slices = ""
    elif facts.slices and options["accelerator"]:
        facts.ask_count(f"how many whole accelerators its slices ({facts.slices}) are")
    for name in ("tokens", "model"):
        if options[name] and facts.training:
            facts.training[name] = options[name]
    answered = {**options, "peak_accelerators": options["accelerators"]}
    facts.questions = {name: why for name, why in facts.questions.items() if not answered.get(name)}
    facts.settle()


JOB_FILE = Command(
    help="Read a job file (Slurm, Kubernetes, SkyPilot, training) as a request.",
    add_arguments=_add_arguments,
    answer=_answer,
)
