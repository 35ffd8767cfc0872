"""Reinforcement learning: answers written, judged and trained on."""

import pytest

from planner.sizing.estimate import estimate
from pricing.common.invalid_input import InvalidInput

WORK = {"kind": "training", "model": "Qwen3-8B", "tokens": 5e8, "stage": "fine_tuning"}


def answer(**rollouts):
    work = {**WORK, "rollouts": {"response_tokens": 1000, "per_step": 1024, **rollouts}}
    return estimate({"workload": work, "accelerator": "H100", "accelerators": 16}).answer


def test_the_parts_are_in_the_hours_and_said():
    found = answer()
    beside = found.rollouts
    assert beside.steps == pytest.approx(5e8 / (1256 * 1024))
    own = found.accelerator_hours.p50 - beside.writing_hours - beside.scoring_hours
    assert own > 0
    assert beside.scoring_hours == pytest.approx(own * 2 / 3, rel=0.1)
    assert "write answers" in found.method
    assert any("reinforcement" in warning for warning in found.warnings)


def test_longer_answers_fewer_at_once_and_plain_code_write_slower():
    usual = answer().rollouts.writing_hours
    assert answer(per_step=64).rollouts.writing_hours > usual
    assert answer(engine="plain").rollouts.writing_hours > usual
    assert answer(prompt_tokens=2000).rollouts.writing_hours < usual


def test_a_reference_and_a_critic_cost_passes():
    without = answer(has_reference=False).rollouts
    assert without.scoring_hours == pytest.approx(answer().rollouts.scoring_hours / 2)
    assert answer(critic_parameters=8.19e9).rollouts.critic_hours > 0 == without.critic_hours


def test_a_measured_rate_holds_its_rollouts_already():
    rollouts = {"response_tokens": 1000, "per_step": 1024}
    work = {**WORK, "rollouts": rollouts, "tokens_per_second_per_accelerator": 500.0}
    asked = {"workload": work, "accelerator": "H100", "accelerators": 16}
    assert estimate(asked).answer.rollouts is None


def test_answers_that_fit_nowhere_are_refused():
    work = {**WORK, "rollouts": {"response_tokens": 10_000_000, "per_step": 8}}
    with pytest.raises(InvalidInput) as refusal:
        estimate({"workload": work, "accelerator": "nvidia-l4", "accelerators": 16})
    assert refusal.value.field == "accelerator"


def test_trials_of_a_sweep_come_on_top():
    plain = {"workload": WORK, "accelerator": "H100", "accelerators": 8}
    swept = {**plain, "workload": {**WORK, "sweep": {"trials": 20, "share": 0.1}}}
    assert estimate(swept).hours == pytest.approx(3 * estimate(plain).hours)
