"""`gpu-cost-planner compare`: JSON or TOML in, a table or the whole answer out, refusals."""

import csv
import io
import json
from pathlib import Path

import pytest

from gpu_cost_planner import server
from gpu_cost_planner.command_line import main
from tests.planner.costing.market_of import catalog

EXAMPLES = Path(__file__).parents[1] / "examples"
LENOVO = EXAMPLES / "lenovo.json"
Capture = pytest.CaptureFixture[str]


def run(capsys: Capture, *arguments: str) -> str:
    assert main(["compare", *arguments]) == 0
    return capsys.readouterr().out


def refused(capsys: Capture, *arguments: str) -> str:
    assert main(["compare", *arguments]) == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err
    return said.err


def test_a_table_says_what_to_do(capsys: Capture) -> None:
    text = run(capsys, str(LENOVO))
    assert "Buy 1 × ThinkSystem SR675 V3 in January 2027" in text
    assert "on_prem *" in text


def test_standard_input_is_read(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.TextIOWrapper(io.BytesIO(LENOVO.read_bytes()))
    monkeypatch.setattr("sys.stdin", text)
    assert "on_prem *" in run(capsys, "-")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"horizon_months": 200}', "horizon_months: 200 is not allowed; must be at most 120"),
        ('{"horizon_months": 200}', "workload: is required"),
        ('{"workload": {"kind": "accelerator_hours", "accelerator": "H1000",'
         ' "hours_per_month": 5}}', "workload.accelerator: 'H1000' is not a known accelerator"),
        ('{"horizon_months": NaN}', "file: "),
        ("{", "is not JSON"),
        ("a = ", "is not TOML"),
        ("[1, 2]", "holds no object"),
        ("", "workload: is required"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_field(capsys: Capture, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / ("request.toml" if text.startswith("{") else "request")
    path.write_text(text)
    assert words in refused(capsys, str(path))


def test_one_table_is_csv(capsys: Capture) -> None:
    rows = list(csv.DictReader(io.StringIO(run(capsys, str(LENOVO), "--table", "purchases"))))
    bought = [row for row in rows if row["scenario"] == "on_prem"]
    assert [(row["month"], row["units"], row["kind"]) for row in bought] == [
        ("2027-01", "1.0", "server")
    ]


def test_offers_of_its_own_do_without_prices(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(server, "server_catalog", lambda *_: catalog())
    work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 730}
    own = {"label": "Nimbus", "provider": "nimbus", "accelerator": "H100", "accelerator_count": 8,
           "purchase_option": "on_demand", "usd_per_hour": 10}  # fmt: skip
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"workload": work, "custom_offers": [own]}))
    assert "Nimbus" in run(capsys, str(path), "--server", "https://planner.example")


@pytest.mark.parametrize("command", ["compare", "portfolio"])
def test_a_server_without_prices_is_named_with_its_remedy(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    monkeypatch.setattr(server, "server_catalog", lambda *_: catalog())
    work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 730}
    request = {
        "compare": {"workload": work},
        "portfolio": {"projects": [{"name": "A", "workload": work}]},
    }
    path = tmp_path / "request.json"
    path.write_text(json.dumps(request[command]))
    assert main([command, str(path), "--server", "https://planner.example"]) == 2
    assert "No prices are loaded on this server yet." in capsys.readouterr().err
