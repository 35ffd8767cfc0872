"""`manage.py compare`: JSON or TOML in, a table or the JSON answer out, refusals by field."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

EXAMPLES = Path(__file__).parents[2] / "examples"
LENOVO = EXAMPLES / "lenovo.json"
pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("compare", *arguments, stdout=out)
    return out.getvalue()


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        call_command("compare", *arguments)
    assert caught.value.code == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err
    return said.err


def test_a_table_says_what_to_do_and_when_it_pays_back() -> None:
    text = run(str(LENOVO))
    assert "Buy 1 × ThinkSystem SR675 V3 in January 2027" in text
    assert "8,556" in text
    assert "on_prem *" in text


def test_json_is_the_whole_answer() -> None:
    answer = json.loads(run(str(LENOVO), "--json"))
    assert answer["break_even"][0]["hours"] == pytest.approx(8556.244, abs=0.01)
    assert len(answer["scenarios"]) == 6


def test_toml_is_read_too(tmp_path: Path) -> None:
    given = json.loads(LENOVO.read_text())
    offer, server = given["custom_offers"][0], given["on_prem"]["servers"][0]
    lines = ["use_catalog = false", "horizon_months = 12"]
    lines += ["[workload]"] + [f"{k} = {json.dumps(v)}" for k, v in given["workload"].items()]
    lines += ["[[custom_offers]]"] + [f"{k} = {json.dumps(v)}" for k, v in offer.items()]
    lines += ["[[on_prem.servers]]"] + [f"{k} = {json.dumps(v)}" for k, v in server.items()]
    path = tmp_path / "request.toml"
    path.write_text("\n".join(lines))
    assert json.loads(run(str(path), "--json"))["horizon_months"] == 12


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.TextIOWrapper(io.BytesIO(LENOVO.read_bytes()))
    monkeypatch.setattr("sys.stdin", text)
    assert "8,556" in run("-")


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
def test_a_refusal_names_the_field(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "request"
    path.write_text(text)
    assert words in refused(capsys, str(path))


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert "file: /nowhere.json cannot be read" in refused(capsys, "/nowhere.json")


def test_one_table_is_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(run(str(LENOVO), "--table", "purchases"))))
    bought = [row for row in rows if row["scenario"] == "on_prem"]
    assert [(row["month"], row["units"], row["kind"]) for row in bought] == [
        ("2027-01", "1.0", "server")
    ]


def test_a_database_without_tables_is_named_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_tables() -> None:
        raise OperationalError("no such table: pricing_revision")

    monkeypatch.setattr("pricing.catalog.current", no_tables)
    with pytest.raises(CommandError, match=r"manage\.py migrate"):
        call_command("compare", str(LENOVO))


@pytest.mark.parametrize("command", ["compare", "portfolio"])
def test_an_empty_database_is_named_with_its_remedy(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 730}
    request = {"workload": work} if command == "compare" else {
        "projects": [{"name": "A", "workload": work}]
    }  # fmt: skip
    path = tmp_path / "request.json"
    path.write_text(json.dumps(request))
    with pytest.raises(SystemExit) as caught:
        call_command(command, str(path))
    assert caught.value.code == 2
    assert "No prices are loaded yet. Run `manage.py load_catalog`" in capsys.readouterr().err


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_prices_of_an_empty_database_are_refused_with_the_remedy(
    capsys: pytest.CaptureFixture[str], form: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as caught:
        call_command("prices", *form)
    assert caught.value.code == 2
    told = capsys.readouterr()
    assert told.err == "No prices are loaded yet. Run `manage.py load_catalog`.\n"
    assert told.out == ""
