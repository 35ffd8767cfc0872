"""Portfolios on the command line, from Python and in the guide."""

import csv
import io
import json
import re
import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

from gpu_cost_planner import InvalidInput, plan_portfolio
from gpu_cost_planner.command_line import main
from planner.contract.request.portfolio import leave_out, read_portfolio
from planner.exports.portfolio_exports import PORTFOLIO_TABLES
from planner.portfolio.portfolio import plan_portfolio as answer_request
from pricing.bundled.catalog import bundled_catalog
from tests.planner.portfolio.portfolios import TODAY, burst, project, relay

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "tests" / "examples" / "portfolio.toml"
GUIDE = ROOT / "docs" / "guides" / "portfolio.md"


@pytest.fixture(scope="module")
def together():
    return plan_portfolio(relay(3, 24, what_if=False), today=TODAY)


def run(capsys, *arguments):
    status = main(["portfolio", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_the_command_prints_what_to_do_and_why_each_pays(capsys):
    status, out, _ = run(capsys, str(EXAMPLE))
    assert status == 0
    assert "for 2 × p5.4xlarge (1 × H100) in AWS N. Virginia in May 2027: 143,818 USD." in out
    assert "speech: It pays" in out
    assert "0.00% cheaper" not in out


def test_a_project_left_out_is_not_planned(capsys):
    _, out, _ = run(capsys, str(EXAMPLE), "--without", "speech", "--json")
    answer = json.loads(out)
    assert [one["name"] for one in answer["projects"]] == ["forecasts", "vision"]


def test_a_name_that_no_project_has_is_refused_with_the_nearest(capsys):
    status, _, err = run(capsys, str(EXAMPLE), "--without", "spech")
    assert status == 2
    assert err.startswith("without: 'spech' is no project of this portfolio; did you mean speech?")


def test_leaving_all_out_is_refused():
    request = read_portfolio(relay(2, 12))
    with pytest.raises(InvalidInput, match="leaves no project"):
        leave_out(request, ["project 0", "project 1"])


def test_a_table_is_csv_whose_amounts_sum_to_the_total(capsys, tmp_path):
    path = tmp_path / "request.json"
    path.write_text(json.dumps(relay(3, 24, shares="use", what_if=False)))
    _, out, _ = run(capsys, str(path), "--table", "lines")
    lines = list(csv.DictReader(io.StringIO(out)))
    answer = answer_request(json.loads(path.read_text()), bundled_catalog())
    assert sum(Decimal(line["amount"]) for line in lines) == answer.total_cost


@pytest.mark.parametrize("table", PORTFOLIO_TABLES)
def test_every_table_is_a_frame_and_a_csv(together, table):
    frame = getattr(together, table).to_frame()
    text = getattr(together, table).to_csv()
    assert len(frame) == len(getattr(together, table)) > 0
    assert text.splitlines()[0].split(",")[0] == frame.columns[0]


def test_money_of_a_frame_is_exact(together):
    frame = together.projects.to_frame(exact=True)
    assert frame["share"].sum() == together.answer.net_present_cost
    assert together.projects.to_frame()["share"].dtype == "float64"


def test_text_that_would_run_as_a_formula_is_marked():
    request = relay(1, 12)
    request["projects"] = [project("=1+1", burst(12, 4, 3))]
    together = plan_portfolio(request, today=TODAY)
    assert "'=1+1" in together.projects.to_csv()


def test_the_request_of_the_guide_is_accepted():
    block = re.search(r"```toml\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1]
    assert len(read_portfolio(tomllib.loads(block)).projects) == 2
