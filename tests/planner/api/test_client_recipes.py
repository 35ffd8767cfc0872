"""The recipes of the guide on clients do what it says of them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.test import Client

from tests.planner.workspace import market

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "guides" / "clients.md").read_text()
STAND_IN = """
globalThis.PropertiesService = {
  getScriptProperties: () => ({ getProperty: () => "gcp_example" }),
};
globalThis.UrlFetchApp = {
  fetch: (url, options) => {
    sent = { url, ...options };
    return { getContentText: () => ANSWER, getResponseCode: () => STATUS };
  },
};
let sent;
%s
let shown;
try { shown = GPU_COST("H100", 5840, "2027-01", 12); } catch (error) { shown = error.message; }
console.log(JSON.stringify({ sent, shown }));
"""


def fences(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def in_a_sheet(answer: bytes, status: int):
    """What the script of the sheet sends, and the cells or the error that it shows."""
    node = shutil.which("node") or str(ROOT / ".venv" / "bin" / "node")
    script = STAND_IN % fences("javascript")[0]
    script = f"const ANSWER = {json.dumps(answer.decode())}, STATUS = {status};" + script
    done = subprocess.run([node, "-"], input=script, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.sweep
@pytest.mark.django_db
def test_a_sheet_shows_the_totals_of_the_answer_and_the_errors_of_a_refusal() -> None:
    market()
    sent = in_a_sheet(b"{}", 200)["sent"]
    assert sent["url"] == "https://planner.example/api/v1/comparisons/"
    assert sent["headers"] == {"Authorization": "Bearer gcp_example"}
    response = Client().post(
        "/api/v1/comparisons/", sent["payload"], content_type=sent["contentType"]
    )
    answer = response.json()
    answer["scenarios"][-1]["total_cost"] = None
    head, *rows = in_a_sheet(json.dumps(answer).encode(), response.status_code)["shown"]
    assert head[0] == "scenario"
    assert [row[0] for row in rows] == [one["key"] for one in answer["scenarios"]]
    for row, scenario in zip(rows, answer["scenarios"], strict=True):
        total = scenario["total_cost"]
        assert row[1] == ("" if total is None else pytest.approx(float(total)))
        assert row[4] == answer["currency"]
    advice = {row[0]: row[5] for row in rows}
    assert advice[answer["recommendation"]["scenario"]] == "advised"
    assert advice["spot"].startswith("not advised: The request does not say")
    refused = Client().post("/api/v1/comparisons/", "{}", content_type="application/json")
    shown = in_a_sheet(refused.content, refused.status_code)["shown"]
    assert shown.startswith("workload: is required")
    stranger = Client().get("/api/v1/comparisons/", headers={"Authorization": "Bearer gcp_wrong"})
    shown = in_a_sheet(stranger.content, stranger.status_code)["shown"]
    assert shown.startswith("request: ")


@pytest.mark.django_db
def test_a_workbook_asks_for_columns_that_the_answer_has() -> None:
    market()
    sent = {"start": "2027-01", "workload": {"kind": "accelerator_hours", "accelerator": "H100",
                                             "hours_per_month": 730}}  # fmt: skip
    answer = Client().post("/api/v1/comparisons/", sent, content_type="application/json").json()
    query = fences("text")[0]
    columns = re.search(r"Answer\[scenarios\],\s*\{([^}]*)\}", query)
    assert columns
    names = re.findall(r'"(\w+)"', columns[1])
    assert {"total_cost", "allowed", "why_not_allowed"} < set(names)
    for scenario in answer["scenarios"]:
        assert set(names) <= set(scenario)
    assert "Answer[recommendation][scenario]" in query
    assert answer["recommendation"]["scenario"] in [one["key"] for one in answer["scenarios"]]
