"""`gpu-cost-planner usage`: tables, JSON, refusals, a request, a folder."""

import json
import re
from pathlib import Path

import pytest

from gpu_cost_planner.command_line import main
from planner.commands.usage import USAGE
from planner.contract.request.comparison import read_request
from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import cur_row, table


@pytest.fixture
def bill(tmp_path):
    path = tmp_path / "bill.csv"
    rows = [
        cur_row(
            month,
            usage_amount="730",
            usage_start_date=f"2025-{month:02d}-01T00:00:00Z",
            usage_end_date=f"2025-{month + 1:02d}-01T00:00:00Z",
        )
        for month in range(1, 7)
    ]
    path.write_bytes(table(rows))
    return path


@pytest.fixture
def run(capsys):
    def answer(*arguments):
        assert main(["usage", *map(str, arguments)]) == 0
        return capsys.readouterr().out

    return answer


def test_the_tables_say_rows_use_and_demand(bill, run):
    text = run(bill, "--forecast", "2", "--start", "2025-07", "--by", "month,machine")
    assert "bill.csv: AWS Cost and Usage Report, 6 rows" in text
    assert re.search(r"use of accelerators.*│ +6 ", text)
    assert "5,840.00" in text
    assert "Demand of nvidia-h100-80gb-sxm by level and fading trend, from 6 months" in text


def test_the_demand_is_written_as_a_request(bill, run, tmp_path):
    run(bill, "--request", tmp_path / "plan.json", "--forecast", "3", "--start", "2025-07")
    request = read_request(json.loads((tmp_path / "plan.json").read_text()))
    assert request.horizon_months == 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "files: are missing"),
        (("nowhere.csv",), "file: nowhere.csv cannot be read: No such file"),
        (("BILL", "--by", "colour"), "by: 'colour' is unknown"),
        (("BILL", "--project-by", "colour"), "project_by: 'colour' is unknown"),
        (("BILL", "--map", "x"), "map: 'x' is not NAME=NAME"),
        (("BILL", "--accelerator", "T4"), "accelerator: 'T4' was not used; used were"),
    ],
)
def test_a_refusal_names_what_and_the_remedy(bill, arguments, problem, capsys):
    named = [str(bill) if one == "BILL" else one for one in arguments]
    assert main(["usage", *named]) == 2
    assert problem in capsys.readouterr().err


def options_of(*arguments):
    from argparse import ArgumentParser

    parser = ArgumentParser()
    USAGE.add_arguments(parser)
    return vars(parser.parse_args(arguments))


def test_an_output_that_cannot_be_written_is_said(bill, tmp_path):
    with pytest.raises(InvalidInput, match="cannot be written"):
        USAGE.answer(
            options_of("--forecast", "1")
            | {"files": [str(bill)], "request": str(tmp_path / "no" / "x.json")},
            lambda: None,
        )


def test_rows_that_are_not_understood_are_warned_of_and_refused_when_strict(bill, capsys, run):
    bill.write_bytes(table([cur_row(1, line_item_type="Riddle"), cur_row(2)]))
    assert main(["usage", str(bill), "--forecast", "0", "--json"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out)["warnings"][0].startswith("1 of 2 rows are not understood")
    text = run(bill, "--forecast", "0")
    assert re.search(r"all rows +│ +2 ", text)
    assert "1 × lineItem/LineItemType: 'Riddle' is unknown" in text
    assert main(["usage", str(bill), "--strict"]) == 2
    assert "files: hold rows that are not understood or doubtful: 1 of 2" in capsys.readouterr().err


def test_ladder_says_what_to_commit_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "use.csv"
    file.write_text("hour,units\n" + "".join(f"{hour},8\n" for hour in range(168 * 30)))
    prices = ("--on-demand", "4", "--committed", "2.4", "--held", "3:6")
    assert main(["ladder", str(file), *prices]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Commit 5 units now. Commit 3 again in month 7 if use is as expected.")
    assert main(["ladder", str(file), *prices, "--json"]) == 0
    ladder = json.loads(capsys.readouterr().out)
    assert ladder["sign_now"] == 5.0
    assert [row["committed"] for row in ladder["months"]] == [8.0] * 12


@pytest.mark.parametrize(
    ("content", "more", "refusal"),
    [
        ("1\n2\nmany\n", (), "line 3: 'many' is no number"),
        ("1\n2\n", (), "less than a week"),
        ("1\n" * 400, ("--held", "five"), "is not UNITS:MONTHS"),
    ],
)
def test_ladder_refuses_what_it_cannot_read(
    content: str,
    more: tuple[str, ...],
    refusal: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "use.csv"
    file.write_text(content)
    assert main(["ladder", str(file), "--on-demand", "4", "--committed", "2", *more]) == 2
    assert refusal in capsys.readouterr().err
