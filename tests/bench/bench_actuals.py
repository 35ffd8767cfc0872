"""A file of 100,000 rows of actuals, and a million rows of a bill of AWS and of a log of Slurm:
seconds and memory, each in a process of its own.

The floors are the standard reader over the same file, and the process before the file is read.
"""

import csv
import datetime as dt
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench.row import SHORT, Row
from tests.bench.site.served import unlimited

ROOT = Path(__file__).parents[2]
ROWS = 10_000 if SHORT else 100_000
MAX_SECONDS, MAX_MIB = 10.0, 200.0

_LOAD = """
import csv, json, resource, sys, time
import django; django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
call_command("migrate", verbosity=0)
from planner.models import access_of
from planner.services.actuals import actuals
from planner.services.projects import projects
from planner.services.teams import teams
access = access_of(User.objects.create_user("bench"))
team = teams.create_team(access, "Bench")
access = access_of(User.objects.get())
project = projects.create_project(access, team, {"name": "A"})
memory = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before, began = memory(), time.perf_counter()
with open(sys.argv[1], newline="") as text:
    for row in csv.DictReader(text):
        pass
floor, began = time.perf_counter() - began, time.perf_counter()
with open(sys.argv[1], "rb") as stream:
    actuals.load_actuals(access, project, stream)
print(json.dumps([time.perf_counter() - began, floor, memory(), before]))
"""


_READ_USAGE = """
import csv, json, sys, time
from pathlib import Path
from planner.usage.ledger import Ledger
from planner.usage.reading import read_file
separator = sys.argv[2]
status = Path("/proc/self/status")
memory = lambda: int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
before, began = memory(), time.perf_counter()
with open(sys.argv[1], newline="") as text:
    for row in csv.reader(text, delimiter=separator):
        pass
floor, began = time.perf_counter() - began, time.perf_counter()
with open(sys.argv[1], "rb") as stream:
    rows = read_file(stream, "bench", Ledger()).rows
print(json.dumps([time.perf_counter() - began, floor, memory(), before, rows]))
"""
USAGE_ROWS = 20_000 if SHORT else 1_000_000
USAGE_MAX_MIB = 250.0
CUR_MAX_RATIO, SACCT_MAX_RATIO = 8.0, 16.0
"""Times the standard reader: 50 s for a bill and 20 s for a log on the reference machine, where a
million rows take it about 6 and 1.4 s."""


def bench() -> list[Row]:
    return [
        *_bench_upload(),
        *_bench_usage("bill of AWS", _format_cur, ",", CUR_MAX_RATIO),
        *_bench_usage("log of Slurm", _format_sacct, "|", SACCT_MAX_RATIO),
    ]


def _bench_usage(
    name: str, write: Callable[[Path], None], separator: str, max_ratio: float
) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "usage.txt"
        write(file)
        done = subprocess.run(
            [sys.executable, "-c", _READ_USAGE, str(file), separator],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
    seconds, floor, mib, before, rows = json.loads(done.stdout)
    assert rows == USAGE_ROWS
    what = f"usage, {name}"
    is_fast = seconds <= max_ratio * floor
    return [
        Row(f"{what}, {rows:,} rows", seconds * 1e3, floor * 1e3, f"<= {max_ratio:g} x", is_fast),
        Row(
            f"{what}, peak memory",
            mib,
            before,
            f"<= {USAGE_MAX_MIB:g} MiB",
            mib <= USAGE_MAX_MIB,
            "MiB",
        ),
    ]


START = dt.datetime(2026, 2, 1)
_FILLED = 40
"""Columns of a bill that nobody reads here, as real ones have."""


def _format_cur(file: Path) -> None:
    """Hours of machines of five kinds, covered ones and storage among them."""
    kinds = [
        ("Usage", "BoxUsage:p5.48xlarge"),
        ("SavingsPlanCoveredUsage", "USE1-BoxUsage:p4d.24xlarge"),
        ("DiscountedUsage", "EUC1-BoxUsage:g5.12xlarge"),
        ("Usage", "USE1-EBS:VolumeUsage.gp3"),
        ("Usage", "BoxUsage:m7i.large"),
    ]
    names = [
        *("identity/LineItemId", "identity/TimeInterval", "lineItem/LineItemType"),
        *("lineItem/UsageStartDate", "lineItem/UsageEndDate", "lineItem/ProductCode"),
        *("lineItem/UsageType", "lineItem/UsageAmount", "lineItem/CurrencyCode"),
        *("lineItem/UnblendedCost", "lineItem/UsageAccountId", "pricing/unit"),
    ]
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*names, *(f"product/p{n}" for n in range(_FILLED))])
        for n in range(USAGE_ROWS):
            kind, usage_type = kinds[n % len(kinds)]
            start = f"{START + dt.timedelta(hours=n % 672):%Y-%m-%dT%H:00:00Z}"
            end = f"{START + dt.timedelta(hours=n % 672 + 1):%Y-%m-%dT%H:00:00Z}"
            row = [f"line{n:040d}", f"{start}/{end}", kind, start, end, "AmazonEC2", usage_type]
            row += ["1", "USD", "12.345678", f"{n % 40:012d}", "Hrs"]
            writer.writerow([*row, *([""] * _FILLED)])


def _format_sacct(file: Path) -> None:
    """Jobs of an hour to half a day, one every seven seconds."""
    with file.open("w") as out:
        out.write("JobIDRaw|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|AllocTRES\n")
        for n in range(USAGE_ROWS):
            seconds, count = 3600 + n % 40_000, n % 8 + 1
            start = START + dt.timedelta(seconds=n * 7)
            end = start + dt.timedelta(seconds=seconds)
            out.write(
                f"{n}|u{n % 200}|lab{n % 20}|gpu|COMPLETED|{start:%Y-%m-%dT%H:%M:%S}|"
                f"{start:%Y-%m-%dT%H:%M:%S}|{end:%Y-%m-%dT%H:%M:%S}|{seconds}|"
                f"billing=8,cpu=8,gres/gpu:h100={count},gres/gpu={count},node=1\n"
            )


def _bench_upload() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "actuals.csv"
        file.write_text(format_actuals())
        done = subprocess.run(
            [sys.executable, "-c", _LOAD, str(file)],
            cwd=ROOT,
            env=unlimited(folder),
            check=True,
            capture_output=True,
            text=True,
        )
    seconds, floor, mib, before = json.loads(done.stdout.splitlines()[-1])
    return [
        Row(
            f"actuals, {ROWS:,} different rows",
            seconds * 1e3,
            floor * 1e3,
            f"<= {MAX_SECONDS:g} s",
            seconds <= MAX_SECONDS,
        ),
        Row("actuals, peak memory", mib, before, f"<= {MAX_MIB:g} MiB", mib <= MAX_MIB, "MiB"),
    ]


def format_actuals() -> str:
    """Every row another thing bought, so that nothing can be summed away."""
    lines = ["month,cost,hours,provider,region,instance_type,purchase_option,category"]
    lines += [
        f"2024-{n % 12 + 1:02d},{n % 977}.{n % 100:02d},{n % 730},aws,region-{n % 211},"
        f"m{n // 12}.8xlarge,on_demand,compute"
        for n in range(ROWS)
    ]
    return "\n".join(lines)
