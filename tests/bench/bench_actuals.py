"""A file of 100,000 rows of actuals: seconds and memory, in a process of its own.

The floors are csv.DictReader over the same file, and the process before the file is read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.row import SHORT, Row

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


def bench() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "actuals.csv"
        file.write_text(format_actuals())
        done = subprocess.run(
            [sys.executable, "-c", _LOAD, str(file)],
            cwd=ROOT,
            env=os.environ
            | {
                "DJANGO_SETTINGS_MODULE": "planner.settings",
                "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3",
                "DEBUG": "1",
                "LOG_LEVEL": "ERROR",
            },
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
        f"2027-{n % 12 + 1:02d},{n % 977}.{n % 100:02d},{n % 730},aws,region-{n % 211},"
        f"m{n // 12}.8xlarge,on_demand,compute"
        for n in range(ROWS)
    ]
    return "\n".join(lines)
