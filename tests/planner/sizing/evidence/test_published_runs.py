"""The tables of evidence: what they hold is known, and what a source states goes with its run."""

import statistics

import pytest

from planner.contract.request.workload import Training
from planner.sizing.estimate import estimate
from planner.sizing.evidence import read_rows
from planner.sizing.evidence.sample_runs import benchmarks
from planner.sizing.evidence.training_runs import published_runs
from planner.sizing.performance.levels import training_from_run
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from tests.bench.reports import sizing as report
from tests.bench.reports.as_stated import stated_steps

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


@pytest.mark.parametrize(
    "table", ["published_runs", "measured_throughput", "sample_runs", "serving_throughput"]
)
def test_every_row_has_a_source_a_year_and_a_known_accelerator(table):
    rows = read_rows(table)
    assert all(row["source"] and 2015 <= int(row["year"]) <= 2026 for row in rows)
    assert all(get(slug) for slug in {row["accelerator"] for row in rows})
    assert len(benchmarks()) > 50


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
