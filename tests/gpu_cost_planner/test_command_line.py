"""`gpu-cost-planner`: tables, refusals, prices of a server, help, serving."""

import csv
import io
import json
import os
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest

from gpu_cost_planner import serve, server
from gpu_cost_planner.command_line import COMMANDS, build_parser, main
from pricing.common.invalid_input import InvalidInput
from tests.planner.costing.market_of import CATALOG

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "tests" / "examples"
LENOVO = str(EXAMPLES / "lenovo.json")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "/nowhere.json"], "file: /nowhere.json cannot be read"),
        (["estimate", "/nowhere.json"], "file: "),
        (["sweep", LENOVO, "--vary", "horizon_months"], "--vary: 'horizon_months'"),
        (["sweep", LENOVO, "--vary", "a=1", "--vary", "a=2"], "--vary: 'a' is given twice"),
        (["compare", LENOVO, "--server", "planner.example"], "catalog: 'planner.example' is no"),
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
    assert main(["compare", LENOVO, "--server", "https://planner.example", "--json"]) == 0
    assert calls == [("https://planner.example", "gcp_secret")]
    assert json.loads(capsys.readouterr().out)["recommendation"]["scenario"]


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
        f"{sys.executable} -m gpu_cost_planner compare {LENOVO} --table lines | head -1",
        shell=True, capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert done.stdout.startswith("scenario,")
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
