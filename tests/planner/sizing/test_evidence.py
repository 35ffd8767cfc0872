"""Every number that sizing stands on says what it is, where it is from and of which year, and what
sources state goes with their runs."""

import ast
import csv
import itertools
import re
import statistics
from pathlib import Path

import pytest

import planner.sizing
from planner.contract.request.workload import Training
from planner.sizing.estimate import estimate
from planner.sizing.evidence.benchmarks import benchmarks
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from tests.bench.reports import sizing as report
from tests.bench.reports.as_stated import stated_steps
from tools.sizing_fit.evidence import published_runs
from tools.sizing_fit.teams import training_from_run

PACKAGE = Path(planner.sizing.__file__).parent
YEAR = re.compile(r"\b(19|20)\d\d\b")
TABLES = sorted(PACKAGE.rglob("*.csv"))


def numbers(module):
    """(name, its docstring) of every constant of a module that holds a number."""
    body = ast.parse(module.read_text(encoding="utf-8")).body
    for statement, following in itertools.zip_longest(body, body[1:]):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, NUMERIC):
            names = [n.id for n in ast.walk(statement.targets[0]) if isinstance(n, ast.Name)]
            if names[0].lstrip("_").isupper() and holds_number(statement.value):
                yield ", ".join(names), docstring(following)


NUMERIC = (ast.Constant, ast.Tuple, ast.Dict, ast.BinOp, ast.UnaryOp)


def holds_number(value):
    constants = (n.value for n in ast.walk(value) if isinstance(n, ast.Constant))
    return any(isinstance(c, int | float) and not isinstance(c, bool) for c in constants)


def docstring(statement):
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return str(statement.value.value) if is_text else ""


def test_each_constant_names_its_source_and_year():
    texts = [one for module in PACKAGE.rglob("*.py") for one in numbers(module)]
    assert len(texts) > 50
    assert [name for name, text in texts if not YEAR.search(text)] == []


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_each_row_of_a_table_has_a_source_and_a_year(table):
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert rows
    assert all(row["source"].strip() and YEAR.fullmatch(row["year"]) for row in rows)


RUNS = {run.run: run for run in published_runs()}
FIELDS = ("parameters", "active_parameters", "tokens", "sequence_length", "layers", "hidden_size")


def test_ratios_of_workloads_that_were_not_seen():
    errors = [error for _, _, error in report.ratio_errors(("ssd", "waveglow", "tacotron2"))]
    assert len(errors) > 300
    assert statistics.fmean(abs(error) <= 0.2 for error in errors) >= 2 / 3


@pytest.mark.parametrize("run", published_runs("X"), ids=lambda run: run.run)
def test_hours_that_contradict_the_peak_are_refused(run):
    work = {field: getattr(run, field) for field in FIELDS if getattr(run, field) is not None}
    work |= {"kind": "training", "measured_accelerator_hours": run.accelerator_hours}
    with pytest.raises(InvalidInput, match="of the dense peak") as caught:
        estimate({"workload": work, "accelerator": run.accelerator})
    assert caught.value.field == "workload.measured_accelerator_hours"


def test_every_benchmark_is_of_a_known_accelerator():
    assert len(benchmarks()) > 50
    assert all(get(row.accelerator) for rows in benchmarks().values() for row in rows)


def test_a_stated_step_is_a_request_whose_batch_holds_its_micro_batches():
    for name in stated_steps().keys() & RUNS.keys():
        step, run = stated_steps()[name], RUNS[name]
        plain = training_from_run(run).model_dump(exclude_none=True)
        training = Training.model_validate({**plain, **step})
        if training.global_batch_tokens and training.sequence_length:
            micro = (training.micro_batch_size or 1) * training.sequence_length
            assert training.global_batch_tokens % micro == 0, name
        if run.sequence_length:
            assert step.get("sequence_length") in (None, run.sequence_length), name
