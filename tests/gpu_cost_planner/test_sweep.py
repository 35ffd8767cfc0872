"""Sweeps: a row for each combination, on one process or two, resumed where they were stopped."""

import datetime as dt
import json
import subprocess
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gpu_cost_planner import InvalidInput, compare, sweep
from gpu_cost_planner import variations as sweeps
from gpu_cost_planner.variations import COLUMNS, list_variations
from tests.planner.costing.market_of import CATALOG

TODAY = dt.date(2026, 11, 20)
WORK = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 1000}
REQUEST = {"start": "2027-01", "horizon_months": 3, "workload": WORK, "sensitivity": False}
GRID = {"workload.hours_per_month": [100, 5840], "finance.discount_rate_per_year": [0.0, 0.1]}


def swept(tmp_path: Path | None = None, **options: object):
    journal = None if tmp_path is None else tmp_path / "journal.jsonl"
    settings = {"catalog": CATALOG, "today": TODAY, "processes": 1, "journal": journal}
    settings["exact"] = True
    return sweep(REQUEST, GRID, **{**settings, **options})  # type: ignore[arg-type]


@cache
def plainly_swept():
    """On one process, without a journal: what other ways are held against."""
    return swept()


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The requests that are compared in this process."""
    requests: list[object] = []

    def count(request: object, *arguments: object, **options: object) -> object:
        requests.append(request)
        return answer_request(request, *arguments, **options)

    answer_request = sweeps.compare
    monkeypatch.setattr(sweeps, "compare", count)
    return requests


def test_a_row_for_each_combination_with_the_figures_of_its_answer() -> None:
    frame = plainly_swept()
    assert [*frame.columns] == [*GRID, *COLUMNS]
    assert frame[[*GRID]].values.tolist() == [[100, 0.0], [100, 0.1], [5840, 0.0], [5840, 0.1]]
    request = {**REQUEST, "workload": {**WORK, "hours_per_month": 5840}}
    request["finance"] = {"discount_rate_per_year": 0.1}
    answer = compare(request, catalog=CATALOG, today=TODAY)
    row, best = frame.iloc[3], answer.recommended
    assert best is not None
    assert row["recommended"] == answer.recommendation.scenario
    assert (row["total_cost"], row["net_present_cost"]) == (best.total_cost, best.net_present_cost)
    totals = {s.key.value: s.total_cost for s in answer.answer.scenarios if s.feasible}
    assert {key: row[f"total_{key}"] for key in totals} == totals
    assert isinstance(row["total_cost"], Decimal)
    assert frame["refused"].isna().all()


@pytest.mark.sweep
def test_two_processes_give_the_same_rows() -> None:
    assert swept(processes=2).equals(plainly_swept())


@pytest.mark.sweep
def test_a_stopped_sweep_goes_on_and_does_nothing_twice(
    tmp_path: Path, compared: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = plainly_swept()
    compared.clear()
    with monkeypatch.context() as patch:
        patch.setattr(sweeps, "summarize", stop_after(2))
        with pytest.raises(KeyboardInterrupt):
            swept(tmp_path)
    path = tmp_path / "journal.jsonl"
    assert len(path.read_text().splitlines()) == 2
    path.write_bytes(path.read_bytes() + b'["half a li')
    compared.clear()
    assert swept(tmp_path).equals(whole)
    assert len(compared) == 2
    assert swept(tmp_path).equals(whole)
    assert len(compared) == 2


def stop_after(count: int):
    """`summarize` that is interrupted after so many answers."""
    summarize, seen = sweeps.summarize, []

    def stop(answer: object) -> object:
        if len(seen) == count:
            raise KeyboardInterrupt
        seen.append(answer)
        return summarize(answer)  # type: ignore[arg-type]

    return stop


@pytest.mark.sweep
def test_other_prices_or_another_month_are_compared_anew(
    tmp_path: Path, compared: list[object]
) -> None:
    swept(tmp_path)
    from pricing.market.snapshot import Catalog

    swept(tmp_path, catalog=Catalog.of(CATALOG.offers.offers[:-1]))
    assert len(compared) == 8
    swept(tmp_path, today=dt.date(2027, 3, 1))
    assert len(compared) == 8, "the request names its start, so the day changes nothing"
    no_start = {key: value for key, value in REQUEST.items() if key != "start"}
    for day in (TODAY, dt.date(2026, 12, 24)):
        sweep(no_start, {"horizon_months": [1]}, catalog=CATALOG, today=day, processes=1,
              journal=tmp_path / "journal.jsonl")  # fmt: skip
    assert len(compared) == 10


def test_a_file_that_is_no_journal_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text("name,amount\n")
    with pytest.raises(InvalidInput, match="line 1 is no line of a journal"):
        swept(tmp_path)
    assert path.read_text() == "name,amount\n"


def test_a_combination_that_the_market_refuses_says_why() -> None:
    grid = {"constraints.regions": [["us-east-1"], ["nowhere-1"]]}
    frame = sweep(REQUEST, grid, catalog=CATALOG, today=TODAY, processes=1)
    assert frame["refused"].isna().tolist() == [True, False]
    assert frame["refused"][1].startswith("constraints.regions: 'nowhere-1' is not in")
    assert frame["recommended"].notna().tolist() == [True, False]
    assert frame["total_cost"].notna().tolist() == [True, False]


def test_lists_are_varied_by_place() -> None:
    request = {**REQUEST, "on_prem": {"servers": [{"server": "dgx-h100", "unit_price": 1}]}}
    grid = {"on_prem.servers.0.unit_price": [200_000, 300_000]}
    prices = [
        v.request["on_prem"]["servers"][0]["unit_price"] for v in list_variations(request, grid)
    ]
    assert prices == [200_000, 300_000]
    assert request["on_prem"]["servers"][0]["unit_price"] == 1  # type: ignore[index]


@pytest.mark.parametrize(
    ("grid", "field"),
    [
        ({}, "grid"),
        ({"horizon_months": []}, "horizon_months"),
        ({"currency": "EUR"}, "currency"),
        ({"horizon_months": [12, 200]}, "horizon_months"),
        ({"finance.discount": [0.1]}, "finance.discount"),
        ({"horizon_months.x": [1]}, "horizon_months.x"),
        ({"custom_offers.0.label": ["x"]}, "custom_offers.0.label"),
    ],
)
def test_a_grid_that_cannot_be_used_is_refused_before_anything_is_compared(
    grid: dict[str, list[object]], field: str, compared: list[object]
) -> None:
    with pytest.raises(InvalidInput) as caught:
        sweep({**REQUEST, "custom_offers": []}, grid, catalog=CATALOG, processes=1)
    assert caught.value.field == field
    assert compared == []


@pytest.mark.parametrize("values", [np.array([2, 3]), pd.Series([2, 3]), range(2, 4), (2, 3)])
def test_values_are_those_of_an_array_a_series_or_a_range(values: object) -> None:
    requests = [one.request for one in list_variations(REQUEST, {"horizon_months": values})]  # type: ignore[dict-item]
    assert [one["horizon_months"] for one in requests] == [2, 3]
    assert {type(one["horizon_months"]) for one in requests} == {int}


@pytest.mark.sweep  # Processes are started, killed and waited for.
def test_workers_end_with_a_sweep_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "request.json").write_text(json.dumps(REQUEST))
    journal = tmp_path / "journal.jsonl"
    hours = ",".join(str(10 * n) for n in range(1, 2001))
    command = [sys.executable, "-m", "gpu_cost_planner", "sweep", str(tmp_path / "request.json")]
    command += ["--vary", f"workload.hours_per_month={hours}", "--processes", "2", "--quiet"]
    killed = subprocess.Popen([*command, "--journal", str(journal)], stdout=subprocess.DEVNULL)
    wait_for(lambda: journal.exists() and journal.read_text().count("\n") > 3)
    children = Path(f"/proc/{killed.pid}/task/{killed.pid}/children").read_text().split()
    assert len(children) >= 2
    killed.kill()
    killed.wait()
    wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def wait_for(happens: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not happens():
        assert time.monotonic() < until
        time.sleep(0.1)
