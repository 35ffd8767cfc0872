"""`calibrate LOG`: what a log of nvidia-smi, DCGM or Prometheus says about the plan."""

from __future__ import annotations

import json
from argparse import ArgumentParser

from planner.commands.command import Command, LoadCatalog, Options
from planner.commands.reading import read_bytes

MAX_LOG_BYTES = 200_000_000
"""Largest log that is read: about two weeks of one line a second from eight GPUs."""


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", help="log of nvidia-smi, DCGM or Prometheus; - reads standard input"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def _answer(options: Options, _: LoadCatalog) -> str:
    from planner.commands.sizing_tables import calibration_tables
    from planner.sizing.calibration.calibration import calibrate
    from planner.sizing.calibration.log_text import decode_log

    calibration = calibrate(decode_log(read_bytes(options["file"], MAX_LOG_BYTES)))
    if options["json"]:
        return json.dumps(calibration.as_dict(), indent=2, allow_nan=False)
    return calibration_tables(calibration)


CALIBRATE = Command(
    help="Read a log of nvidia-smi, DCGM or Prometheus: utilisation, memory, power.",
    add_arguments=_add_arguments,
    answer=_answer,
)
