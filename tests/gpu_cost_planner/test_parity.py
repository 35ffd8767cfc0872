"""One request, one answer: library, API, command and assistants agree to the cent.

`tests/pricing/bundled/test_catalog_without_database.py` holds the bundled catalog equal to that of
a database; here all of them are given that one.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from gpu_cost_planner import InvalidInput, compare
from gpu_cost_planner.assistants.tools import TOOLS
from gpu_cost_planner.command_line import main
from pricing.bundled.catalog import bundled_catalog
from pricing.common.problems import list_errors
from tests.gpu_cost_planner.requests import generated

REQUESTS = 200
SHORT = 2
COMPARE = next(tool for tool in TOOLS if tool.name == "compare")
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def same_prices(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr("pricing.catalog.current", lambda *_: bundled_catalog())
    # The library's work has no end, and a search that ends early may give another plan.
    work = settings.WORK_ANONYMOUS = 100 * settings.WORK_JOB
    monkeypatch.setattr("gpu_cost_planner.assistants.tools.WORK_UNITS", work)
    settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = 0


def by_library(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return compare(request).to_json()
    except InvalidInput as refusal:
        return {"errors": list_errors(refusal, request)}


def by_api(client: Client, request: dict[str, Any]) -> dict[str, Any]:
    response = client.post(
        "/api/v1/comparisons/?include=all", request, content_type="application/json"
    )
    answer: dict[str, Any] = response.json()
    return answer if response.status_code == 200 else {"errors": answer["errors"]}


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=() if n < SHORT else pytest.mark.sweep) for n in range(REQUESTS)]
)
def test_all_ways_in_give_equal_answers(
    seed: int, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = generated(seed)
    path = tmp_path / "request.json"
    path.write_text(json.dumps(request))
    here = json.loads(json.dumps(by_library(request)))
    assert by_api(client, request) == here
    status = main(["compare", str(path), "--json"])
    printed = capsys.readouterr()
    ours = printed.err if status else printed.out
    tool = COMPARE.call(request, bundled_catalog())
    if "errors" in here:
        assert [e["field"] for e in tool.data["errors"]] == [e["field"] for e in here["errors"]]
        assert all(error["message"] in ours for error in here["errors"])
    else:
        assert json.loads(ours) == here
        assert tool.data["verdict"] == here["verdict"]
        totals = [row["total_cost"] for row in tool.data["scenarios"]]
        assert totals == [row["total_cost"] for row in here["scenarios"]]


def test_a_line_is_one_request_in_library_command_and_assistant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = "8 H100 for 12 months from 2027-01 in Europe"
    here = compare(line).to_json()
    assert main(["compare", line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(here))
    tool = COMPARE.call({"question": line}, bundled_catalog())
    assert tool.data["verdict"] == here["verdict"]
    refused = "8 H100 for 12 moons"
    with pytest.raises(InvalidInput) as refusal:
        compare(refused)
    assert main(["compare", refused]) == 2
    assert str(refusal.value) in capsys.readouterr().err
    assert str(refusal.value) in COMPARE.call({"question": refused}, bundled_catalog()).text
