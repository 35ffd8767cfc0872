"""What sources state of a step is of a run that is there, in fields that a request has."""

import pytest

from planner.contract.request.workload import Training
from planner.sizing.evidence.training_runs import published_runs
from planner.sizing.performance.levels import training_from_run
from tests.bench.reports.stated_steps import PRETRAINING_STEPS

RUNS = {run.run: run for run in published_runs()}


@pytest.mark.parametrize("name", PRETRAINING_STEPS)
def test_a_stated_step_is_a_request_whose_batch_holds_its_micro_batches(name):
    plain = training_from_run(RUNS[name]).model_dump(exclude_none=True)
    training = Training.model_validate({**plain, **PRETRAINING_STEPS[name]})
    if training.global_batch_tokens and training.sequence_length:
        micro = (training.micro_batch_size or 1) * training.sequence_length
        assert training.global_batch_tokens % micro == 0


@pytest.mark.parametrize("name", [n for n in PRETRAINING_STEPS if RUNS[n].sequence_length])
def test_a_stated_step_leaves_the_sequences_of_the_table(name):
    stated = PRETRAINING_STEPS[name].get("sequence_length")
    assert stated in (None, RUNS[name].sequence_length)
