"""`jobfile FILE`: what a job file says of accelerators and hours, as a request. No Django."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from planner.commands.command import Command, LoadCatalog, Options, read_text
from pricing.common.invalid_input import InvalidInput

MAX_FILE_BYTES = 4_000_000
MAX_RUNS = 1_000_000.0


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", help="job file; - reads standard input")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument(
        "--runs-per-month", type=float, default=1.0, metavar="N", help="times it runs a month"
    )
    parser.add_argument(
        "--accelerator", default="", help="accelerator, where the file leaves it open"
    )
    parser.add_argument(
        "--accelerators", type=float, help="how many, where the file leaves it open"
    )
    parser.add_argument(
        "--at-once", type=float, help="runs that go at once, where the file leaves it open"
    )
    parser.add_argument(
        "--hours", type=float, help="hours of a run, where the file leaves them open"
    )
    parser.add_argument("--tokens", type=float, help="tokens of a training")
    parser.add_argument("--model", default="", help="model of a training")
    parser.add_argument(
        "--request", default="", metavar="FILE", help="write the request, once nothing is open"
    )


def _answer(options: Options, _: LoadCatalog) -> str:
    from planner.usage.job_files import read_job_file

    text = read_text(options["file"], MAX_FILE_BYTES)
    facts = read_job_file(text, Path(options["file"]).name)
    _check(options)
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
    answered = {
        "accelerator": options["accelerator"],
        "peak_accelerators": options["accelerators"],
        "hours": options["hours"],
        "at_once": options["at_once"],
        "tokens": options["tokens"],
        "model": options["model"],
    }
    facts.questions = {name: why for name, why in facts.questions.items() if not answered.get(name)}
    facts.settle()
    request = facts.request(options["runs_per_month"])
    if options["request"]:
        _write(request, facts.questions, options["request"])
    if options["json"]:
        answer = facts.as_dict() | {"request": request}
        return json.dumps(answer, indent=2, allow_nan=False)
    return _describe(facts.as_dict(), request, options["runs_per_month"])


def _check(options: Options) -> None:
    limits = {"runs_per_month": MAX_RUNS, "accelerators": 1e7, "hours": 1e6, "tokens": 1e18}
    limits["at_once"] = 1e6
    for name, most in limits.items():
        value = options[name]
        if value is not None and not 0 < value <= most:
            raise InvalidInput(name, f"{value:g} is not between 0 and {most:g}")


def _write(request: dict[str, Any], questions: dict[str, str], name: str) -> None:
    if questions:
        refusals = [InvalidInput(field, why) for field, why in questions.items()]
        raise InvalidInput.together(refusals, len(refusals))
    try:
        Path(name).write_text(json.dumps(request, indent=2), encoding="utf-8")
    except OSError as error:
        raise InvalidInput("request", f"{name} cannot be written: {error.strerror}") from error


def _describe(facts: dict[str, Any], request: dict[str, Any], runs: float) -> str:
    lines = [f"{facts['form']}: {facts['name'] or 'without a name'}"]
    labels = {
        "accelerator": "accelerator",
        "accelerators": "accelerators",
        "nodes": "nodes",
        "hours": "hours of a run, at most",
        "runs": "runs that the file starts",
        "at_once": "runs at once",
        "slices": "slices, not whole accelerators",
        "machine": "machine",
    }
    for key, label in labels.items():
        value = facts[key]
        if value not in (None, ""):
            lines.append(
                f"  {label}: {value:g}" if isinstance(value, float) else f"  {label}: {value}"
            )
    lines += [f"Note: {note}" for note in facts["notes"]]
    lines += [f"Open: {name}: {why}" for name, why in facts["questions"].items()]
    if "hours_per_month" in request["workload"]:
        lines.append(f"Hours count {runs:g} a month (--runs-per-month), each run to its limit.")
    lines.append(json.dumps(request, indent=2))
    return "\n".join(lines)


JOB_FILE = Command(
    help="Read a job file (Slurm, Kubernetes, SkyPilot, training) as a request.",
    add_arguments=_add_arguments,
    answer=_answer,
)
