"""Where pandas is not used, against the same work done with it, in processor time.

Streaming must not fall behind the frame by more than a third, since that is why it is kept. The
rows of actuals are read in processes of their own, for their peak memory (VmHWM of Linux; that
of `getrusage` begins with the parent's).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports import Context
from planner.exports.csv_export import APPROVAL_COLUMNS, COLUMNS, as_csv, cost_rows, text_cell
from planner.exports.frames import MONEY, lines_frame
from tests.bench.bench_actuals import ROOT, ROWS, format_actuals
from tests.bench.bench_compare import TODAY, bundled, processor_ms
from tests.bench.row import Row

MONTHS = 60
MAX_RATIO = 1.33
MAX_FRAME_MS = 20.0

_READ = """
import json, sys, time
from planner.services.actuals.bills import Group, Sums, read_actuals_file
from planner.usage import tables as cells

def read_with_pandas(path):
    import pandas as pd
    keys, parts, rows = list(Group._fields), [], 0
    for frame in pd.read_csv(path, dtype=str, keep_default_na=False, chunksize=10_000):
        rows += len(frame)
        assert frame.month.str.fullmatch(r"[12][0-9]{3}-(0[1-9]|1[0-2])").all()
        for key in keys[1:]:
            frame[key] = frame[key].str.strip()
            assert (frame[key].str.len() <= 120).all()
        frame["hours"] = pd.to_numeric(frame.hours)
        assert frame.hours.between(0, 1e12).all()
        frame["cost"] = [cells.amount(cost, "cost") for cost in frame.cost]
        parts.append(frame.groupby(keys).agg(hours=("hours", "sum"), cost=("cost", "sum")))
    table = pd.concat(parts).groupby(level=keys).agg(hours=("hours", "sum"), cost=("cost", "sum"))
    groups = [Group(*key) for key in table.index]
    hours, cost = dict(zip(groups, table.hours)), dict(zip(groups, table.cost))
    return Sums("csv", "USD", rows, hours=hours, cost=cost).content_digest()

began = time.process_time()
if sys.argv[2] == "pandas":
    digest = read_with_pandas(sys.argv[1])
else:
    with open(sys.argv[1], "rb") as stream:
        digest = read_actuals_file(stream, "USD", lambda name: None).digest
seconds = time.process_time() - began
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps([seconds, int(status["VmHWM"].split()[0]) / 1024, digest]))
"""


def bench() -> list[Row]:
    return [*_exports(), *_actuals()]


def _exports() -> list[Row]:
    answer, context = compare(_request(), bundled(), today=TODAY), Context()
    assert as_csv(answer, context) == csv_through_a_frame(answer, context)
    csv_ms = processor_ms(lambda: as_csv(answer, context))
    frame_csv_ms = processor_ms(lambda: csv_through_a_frame(answer, context))
    rows_ms = processor_ms(lambda: list(cost_rows(answer)))
    frame_ms = processor_ms(lambda: lines_frame(answer))
    as_slow = f"<= {MAX_RATIO:g} x"
    return [
        Row(
            f"CSV of {MONTHS} months, streaming against a frame",
            csv_ms,
            frame_csv_ms,
            as_slow,
            csv_ms <= frame_csv_ms * MAX_RATIO,
        ),
        Row(
            f"frame of the lines of {MONTHS} months, against their rows",
            frame_ms,
            rows_ms,
            f"<= {MAX_FRAME_MS:g} ms",
            frame_ms <= MAX_FRAME_MS,
        ),
    ]


def _request() -> dict[str, object]:
    hours = [3000 + 700 * month for month in range(MONTHS)]
    return {
        "start": "2027-01",
        "horizon_months": MONTHS,
        "workload": {
            "kind": "accelerator_hours",
            "accelerator": "H100 SXM",
            "hours_per_month": hours,
        },
        "on_prem": {"servers": [{"server": "dgx-h100"}]},
        "data": {"storage_gib": 10_000, "egress_gib_per_month": 100},
        "finance": {"tax_rate": 0.2},
    }


def csv_through_a_frame(answer: ComparisonAnswer, context: Context) -> bytes:
    """The CSV export, byte for byte, made of a frame."""
    offers = pd.DataFrame(
        {
            "offer_id": list(answer.offers),
            "price_as_of": [str(offer.as_of or "") for offer in answer.offers.values()],
            "price_source": [offer.source for offer in answer.offers.values()],
        }
    )
    approval = dict(zip(APPROVAL_COLUMNS, context.approval_columns, strict=True))
    frame = lines_frame(answer).merge(offers, on="offer_id", how="left").assign(**approval)
    for name, dtype in frame.dtypes.astype(str).items():
        if dtype == "str":
            frame[name] = frame[name].map(text_cell, na_action="ignore")
        elif dtype == MONEY:
            frame[name] = frame[name].map("{:f}".format)
    text = frame[list(COLUMNS)].to_csv(index=False, lineterminator="\r\n")
    return text.encode("utf-8-sig")


def _actuals() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "actuals.csv"
        file.write_text(format_actuals())
        ours_s, ours_mib, ours = _read(file, "stream")
        pandas_s, pandas_mib, theirs = _read(file, "pandas")
    assert ours == theirs
    name = f"actuals, {ROWS:,} rows, stream against pandas"
    return [
        Row(name, ours_s * 1e3, pandas_s * 1e3, "<= 3 s", ours_s <= 3),
        Row(f"{name}, memory", ours_mib, pandas_mib, "<= 1 x", ours_mib <= pandas_mib, "MiB"),
    ]


def _read(file: Path, how: str) -> tuple[float, float, str]:
    """Processor time, s, peak memory, MiB, and digest of a file that is read."""
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(file), how],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, mib, digest = json.loads(done.stdout)
    return seconds, mib, digest
