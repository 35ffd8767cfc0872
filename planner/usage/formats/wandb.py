"""System metrics of Weights & Biases for one run: its accelerators over its run time. PURE."""

from __future__ import annotations

import re

from planner.usage.cells import quantity
from planner.usage.formats.base import ReadOptions, TableFormat
from planner.usage.formats.slurm_time import split_by_month
from planner.usage.ledger import Ledger, Reason, UseKey
from planner.usage.tables import Table
from pricing.common.invalid_input import InvalidInput

_GPU = re.compile(r"system\.gpu\.(\d+)\.gpu")


def read(table: Table, ledger: Ledger, options: ReadOptions) -> None:
    """Hours are accelerators × run time; a sample without a value is unknown, not idle."""
    columns = table.columns()
    runtime, moment = columns.require("_runtime"), columns.require("_timestamp")
    gpus = {int(m[1]): i for i, name in enumerate(table.header) if (m := _GPU.fullmatch(name))}
    if not gpus:
        raise InvalidInput("column system.gpu.0.gpu", "is missing")
    first = last = longest = 0.0
    for row in table.rows:
        last = quantity(row[moment], "_timestamp")
        longest = max(longest, quantity(row[runtime], "_runtime"))
        first = first or last
        known = [quantity(row[index], "system.gpu") for index in gpus.values() if row[index]]
        ledger.account(Reason.ACCELERATOR_USE if known else Reason.UNKNOWN_SAMPLE)
    for month, share in split_by_month(first, first + longest):
        key = UseKey(month, "", "", "", "", "", options.projects.choose({}), "", "", "", "")
        ledger.use(key, None, len(gpus) * longest * share / 3600, None, None)
    ledger.hold("", first, first + longest, float(len(gpus)))
    ledger.note("One run of one host; the samples are means over 15 s.")


FORMAT = TableFormat(
    name="wandb",
    title="Weights & Biases system metrics",
    required=("_runtime", "_timestamp", "system.gpu.0.gpu"),
    read=read,
)
