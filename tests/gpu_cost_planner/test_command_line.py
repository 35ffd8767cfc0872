"""`gpu-cost-planner` prints what `manage.py` prints, without Django and database."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest
from django.core.management import call_command

from gpu_cost_planner import serve, server
from gpu_cost_planner.command_line import COMMANDS, build_parser, main
from pricing.bundled.catalog import bundled_catalog
from pricing.common.invalid_input import InvalidInput
from tests.planner.costing.market_of import CATALOG

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "tests" / "examples"
LENOVO = str(EXAMPLES / "lenovo.json")
ESTIMATE = {"workload": {"kind": "training", "parameters": 7e9, "tokens": 1e11}}
LOG = "index, utilization.gpu [%], memory.used [MiB]\n0, 97 %, 4000 MiB\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "estimate.json").write_text(json.dumps(ESTIMATE))
    (tmp_path / "log.csv").write_text(LOG)
    (tmp_path / "months.csv").write_text("month,accelerator_hours\n2026-01,100\n")
    return {
        "compare": LENOVO,
        "estimate": str(tmp_path / "estimate.json"),
        "calibrate": str(tmp_path / "log.csv"),
        "usage": str(tmp_path / "months.csv"),
    }


def by_manage(command: str, *arguments: str) -> str:
    out = io.StringIO()
    call_command(command, *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def same_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """`manage.py` reads the bundled prices too, without loading them into a database."""
    monkeypatch.setattr("pricing.catalog.current", lambda *_: bundled_catalog())


@pytest.mark.one_in(4)
@pytest.mark.usefixtures("same_prices")
@pytest.mark.django_db
@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize("command", ["compare", "estimate", "calibrate", "usage"])
def test_it_prints_what_manage_prints(
    command: str, form: tuple[str, ...], files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, files[command], *form]) == 0
    assert capsys.readouterr().out == by_manage(command, files[command], *form)


@pytest.mark.usefixtures("same_prices")
@pytest.mark.django_db
@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",), ("--all", "--limit", "3")])
def test_prices_are_printed_alike(
    form: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prices", "--accelerator", "H100-80GB-SXM", *form]) == 0
    printed = capsys.readouterr().out
    assert printed == by_manage("prices", "--accelerator", "H100-80GB-SXM", *form)
    assert "p5.48xlarge" in printed or "a3-highgpu" in printed


def test_prices_as_csv_have_the_fields_of_the_api(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "--provider", "gcp", "--csv", "--limit", "2"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["provider"] for row in rows] == ["gcp", "gcp"]
    assert "usd_per_accelerator_hour" in rows[0]


def test_a_table_is_printed_as_csv(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", LENOVO, "--table", "scenarios"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "/nowhere.json"], "file: /nowhere.json cannot be read"),
        (["estimate", "/nowhere.json"], "file: "),
        (["prices", "--provider", "azur"], "provider: 'azur'"),
        (["prices", "--limit", "0"], "limit: 0"),
        (["sweep", LENOVO, "--vary", "horizon_months"], "--vary: 'horizon_months'"),
        (["sweep", LENOVO, "--vary", "a=1", "--vary", "a=2"], "--vary: 'a' is given twice"),
        (["prices", "--server", "planner.example"], "catalog: 'planner.example' is no address"),
    ],
)
def test_a_refusal_names_the_field_and_the_status_is_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(words)


def test_prices_of_a_server_are_read_with_its_token(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[tuple[str, str]] = []

    def server_catalog(url: str, token: str) -> object:
        calls.append((url, token))
        return CATALOG

    monkeypatch.setattr(server, "server_catalog", server_catalog)
    monkeypatch.setenv("GPU_COST_PLANNER_TOKEN", "gcp_secret")
    assert main(["prices", "--server", "https://planner.example", "--json"]) == 0
    assert calls == [("https://planner.example", "gcp_secret")]
    assert json.loads(capsys.readouterr().out)["count"] == len(CATALOG.offers)


def test_a_sweep_is_printed_as_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["sweep", LENOVO, "--vary", "horizon_months=12,24", "--vary", "currency=USD"]
    assert main([*arguments, "--processes", "1", "--quiet"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["horizon_months"], row["currency"]) for row in rows] == [
        ("12", "USD"),
        ("24", "USD"),
    ]


def test_it_runs_as_a_module_and_ends_quietly_when_nobody_reads_on() -> None:
    done = subprocess.run(
        f"{sys.executable} -m gpu_cost_planner prices --limit 500 --csv | head -1",
        shell=True, capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert done.stdout.startswith("id,")
    assert done.stderr == ""


def test_help_says_what_every_command_and_argument_is() -> None:
    parser = build_parser()
    commands = next(a for a in parser._actions if hasattr(a, "choices") and a.choices).choices
    assert {*COMMANDS, "sweep", "serve"} <= set(commands)
    for name, command in commands.items():
        assert isinstance(command, ArgumentParser)
        assert [a.dest for a in command._actions if not a.help] == [], name


def test_serving_without_the_repository_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="needs templates, static, node_modules"):
        serve.check_installation(tmp_path)


def test_serving_without_django_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda _name: None)
    with pytest.raises(InvalidInput, match=r"gpu-cost-planner\[server\]"):
        serve.check_installation(ROOT)


def test_serve_prepares_the_database_then_becomes_the_web_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps: list[object] = []
    monkeypatch.setattr(serve, "check_installation", lambda root: steps.append(root))
    monkeypatch.setattr(serve, "prepare", lambda: steps.append("prepare"))
    monkeypatch.setattr(os, "execv", lambda program, command: steps.append(command))
    main_arguments = build_parser().parse_args(["serve", "--port", "9000"])
    main_arguments.run(main_arguments)
    assert steps[:2] == [serve.BASE_DIR, "prepare"]
    assert "127.0.0.1:9000" in steps[2]  # type: ignore[operator]
