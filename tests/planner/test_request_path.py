"""A page request goes down through the layers and hardly ever back up.

A climb is a call, made while `GET /plan/?…` is answered, from a module to one that depends on it:
through a callback, a registry or an import inside a function. Calls are counted by module pair.
"""

import functools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlencode

import grimp
import pytest
from django.test import Client

from tests.planner.costing.market_of import H100
from tests.planner.workspace import market

ROOT = Path(__file__).parents[2]
PACKAGES = ("planner", "pricing")
MAX_CLIMBS, MAX_FILES = 5, 120
PLAN = {
    "workload.kind": "accelerator_hours",
    "workload.accelerator": H100,
    "workload.hours_per_month": "5840",
    "horizon_months": "12",
}
SMALLEST = {
    "on_prem.servers": "none",
    "constraints.purchase_options": "on_demand",
    "constraints.providers": "aws",
}
RISK = {"risk.samples": "1000"}
EVERYTHING = {**RISK, "sensitivity": "true", "constraints.monthly_budget": "1000000"}
"""With the explanation and the sensitivities."""

Profiler = Callable[[FrameType, str, Any], None]


@functools.cache
def module_name(file: str) -> str:
    """The module of a source file of ours, "" for any other file."""
    path = Path(file)
    if not path.is_relative_to(ROOT) or path.relative_to(ROOT).parts[0] not in PACKAGES:
        return ""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def calling_module(frame: FrameType) -> str:
    """The nearest module of ours that the call comes from, across frameworks."""
    caller = frame.f_back
    while caller is not None and not module_name(caller.f_code.co_filename):
        caller = caller.f_back
    return module_name(caller.f_code.co_filename) if caller else ""


def profiler(calls: set[tuple[str, str]]) -> Profiler:
    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and (callee := module_name(frame.f_code.co_filename)):
            calls.add((calling_module(frame), callee))

    return note


def traced_calls(client: Client, query: Mapping[str, str]) -> set[tuple[str, str]]:
    calls: set[tuple[str, str]] = set()
    sys.setprofile(profiler(calls))
    try:
        response = client.get(f"/plan/?{urlencode(query)}")
    finally:
        sys.setprofile(None)
    assert response.status_code == 200
    return calls


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({}, id="plain", marks=pytest.mark.sweep),
        pytest.param(RISK, id="risk", marks=pytest.mark.sweep),
        pytest.param(EVERYTHING, id="everything"),
    ],
)
def test_a_page_request_climbs_at_most_five_times(
    client: Client, graph: grimp.ImportGraph, asked: Mapping[str, str], db: None
) -> None:
    market("98.32")
    query = {**PLAN, **asked}
    client.get(f"/plan/?{urlencode({**query, 'horizon_months': '13'})}")  # imports and caches
    climbs = {
        (caller, callee)
        for caller, callee in traced_calls(client, query)
        if caller not in ("", callee) and graph.chain_exists(importer=callee, imported=caller)
    }
    assert len(climbs) <= MAX_CLIMBS, "\n".join(map(str, sorted(climbs)))


def test_the_smallest_page_crosses_at_most_120_files(client: Client, db: None) -> None:
    market("98.32")
    query = {**PLAN, **SMALLEST}
    client.get(f"/plan/?{urlencode({**query, 'horizon_months': '13'})}")
    files = {callee for _, callee in traced_calls(client, query)}
    assert len(files) <= MAX_FILES, "\n".join(sorted(files))
