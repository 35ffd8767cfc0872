"""Sizing against published runs and measured throughputs it has not seen."""

import os
import statistics

import pytest

from planner.sizing.estimate import estimate
from planner.sizing.evidence.sample_runs import benchmarks, measurements
from planner.sizing.evidence.training_runs import published_runs
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from tests.bench.reports import sizing as report

MOST_PAIRS = ("ssd", "waveglow", "bert-large-squad", "tacotron2")
WORKLOADS = None if os.environ.get("FUZZ") else MOST_PAIRS
"""All workloads in the long form; the four with the most pairs of accelerators always."""
FIELDS = ("parameters", "active_parameters", "tokens", "sequence_length", "layers", "hidden_size")


@pytest.mark.fuzz
def test_ratios_of_workloads_that_were_not_seen():
    errors = [error for _, _, error in report.ratio_errors(WORKLOADS)]
    assert len(errors) > 600
    assert statistics.fmean(abs(error) <= 0.2 for error in errors) >= 2 / 3


def request_of(run, **changes):
    work = {field: getattr(run, field) for field in FIELDS if getattr(run, field) is not None}
    work |= {"kind": "training", "precision": run.precision, **changes}
    asked = {"workload": work, "accelerator": run.accelerator}
    return asked | ({"accelerators": run.accelerators} if run.accelerators else {})


@pytest.mark.parametrize("run", published_runs("X"), ids=lambda run: run.run)
def test_hours_that_contradict_the_peak_are_refused(run):
    with pytest.raises(InvalidInput, match="of the dense peak") as caught:
        estimate(request_of(run, measured_accelerator_hours=run.accelerator_hours))
    assert caught.value.field == "workload.measured_accelerator_hours"


def test_every_row_has_a_source_and_a_year():
    assert all(run.source and 2015 <= run.year <= 2026 for run in published_runs("ABX"))
    assert all(m.source and 2018 <= m.year <= 2026 for m in measurements())


def test_every_accelerator_of_the_tables_is_known():
    slugs = {run.accelerator for run in published_runs("ABX")}
    slugs |= {m.accelerator for m in measurements()}
    assert all(get(slug) for slug in slugs)
    assert len(benchmarks()) > 50
