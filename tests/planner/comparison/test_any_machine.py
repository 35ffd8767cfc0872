"""No figure depends on the number of cores, the seed of Python's hashes, the clock or the day."""

from __future__ import annotations

import datetime as dt
import io
import os
import subprocess
import sys
from contextlib import redirect_stdout
from typing import Any
from unittest import mock

import pytest

from planner.comparison import compare
from tests.planner.costing.market_of import CATALOG, request_of

ASK = """
import json, os, sys
cores = int(sys.argv[1])
if cores and hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
from tests.planner.comparison.compared import compared
from planner.sizing.estimate import estimate
workload = {"kind": "training", "parameters": 7e9, "tokens": 2e11, "accelerator": "H100 SXM",
            "runs": [{"start": "2027-03", "deadline": "2027-06"}, {"start": "2028-03"}]}
rising = [3000.0 + 170.0 * month for month in range(24)]
answers = [
    compared(hours=rising, constraints={"max_spot_share": 0.2}, risk={"samples": 2000, "seed": 7},
             sensitivity=True, cheaper_if=True).as_dict(),
    compared(hours=[0.0] * 5 + [9000.0] * 19, constraints={"monthly_budget": 120000}).as_dict(),
    estimate({"workload": workload}).answer.to_json(),
]
print(json.dumps(answers, sort_keys=True))
"""


def answers(cores: int, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(cores)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def here() -> str:
    """In this process, whatever its cores, its hashes and what it has computed before."""
    printed = io.StringIO()
    with mock.patch.object(sys, "argv", ["", "0"]), redirect_stdout(printed):
        exec(ASK, {})
    return printed.getvalue()


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("cores", "environment"),
    [
        pytest.param(1, {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati"}, id="one core"),
        pytest.param(0, {"OPENBLAS_NUM_THREADS": "2", "PYTHONHASHSEED": "2"}, id="two threads"),
    ],
)
def test_another_machine_gives_the_very_same_figures(
    here: str, cores: int, environment: dict[str, str]
) -> None:
    assert len(here) > 10_000
    assert answers(cores, **environment) == here


@pytest.mark.sweep
def test_another_day_gives_the_very_same_figures() -> None:
    """Where the request names its start; the age of the prices alone is told anew."""
    asked = {"risk": {"samples": 200, "seed": 7}, "sensitivity": True, "cheaper_if": True}
    request = request_of(start="2027-06", **asked)
    days = (dt.date(2026, 11, 20), dt.date(2027, 5, 3))
    first, second = (ageless(compare(request, CATALOG, today=day).to_json()) for day in days)
    assert first == second


def ageless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: ageless(one) for name, one in value.items() if "age_days" not in name}
    return [ageless(one) for one in value] if isinstance(value, list) else value
