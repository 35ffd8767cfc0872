"""A stated size of jobs that leaves part of every machine idle says what that costs."""

from __future__ import annotations

from typing import Any

import pytest

from planner.contract.answer.comparison import ComparisonAnswer
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer


def answered(job: int | None, **fields: Any) -> ComparisonAnswer:
    work = {
        "kind": "accelerator_hours",
        "accelerator": "nvidia-h100-80gb-sxm",
        "hours_per_month": 5000,
        "peak_accelerators": 16,
    }
    work |= {"accelerators_per_job": job} if job else {}
    plain: dict[str, Any] = {"horizon_months": 12, "on_prem": {"servers": []}, "cheaper_if": True}
    return compared(catalog(offer("50")), workload=work, **(plain | fields)).answer


def told(answer: ComparisonAnswer) -> list[str]:
    return [words for words in answer.warnings if "is wasted" in words]


@pytest.mark.parametrize(
    ("job", "fills", "words", "share"),
    [
        (3, 4, "2 jobs of 3 leave 2 of its 8 accelerators idle", "25%"),
        (5, 8, "1 job of 5 leaves 3 of its 8 accelerators idle", "38%"),
        (12, 16, "jobs of 12 leave 4 of the 16 accelerators of 2 machines idle", "25%"),
    ],
)
def test_what_stands_idle_is_told_with_what_filling_it_would_cost(
    job: int, fills: int, words: str, share: str
) -> None:
    answer = answered(job)
    (text,) = told(answer)
    assert words in text
    assert f"at least {share} of what it costs" in text
    for lifted in answer.cheaper_if:
        if lifted.field == "workload.accelerators_per_job":
            assert lifted.value == fills
            assert f"Jobs of {fills} would fill it: {lifted.total:,.0f} USD in all." in text
            assert lifted.total == answered(fills).recommended.require_total()  # type: ignore[union-attr]
            break
    else:
        assert f"Jobs of {fills} would fill machines of 8." in text


def test_without_what_would_be_cheaper_the_size_alone_is_named() -> None:
    (text,) = told(answered(3, cheaper_if=False))
    assert text.endswith("Jobs of 4 would fill machines of 8.")


@pytest.mark.parametrize("job", [None, 1, 2, 4, 8, 16])
def test_jobs_that_fill_their_machines_say_nothing(job: int | None) -> None:
    answer = answered(job)
    assert not told(answer)
    assert "workload.accelerators_per_job" not in [one.field for one in answer.cheaper_if]


@pytest.mark.parametrize("job", [1, 4, 16, 20, 24])
def test_jobs_that_do_not_hold_the_work_say_what_they_count_as(job: int) -> None:
    """Full fine-tuning of 70 billion parameters takes 20 accelerators of 80 GB."""
    work = {
        "kind": "training",
        "model": "Llama 3.1 70B",
        "tokens": 1e8,
        "stage": "fine_tuning",
        "accelerator": "nvidia-h100-80gb-sxm",
        "accelerators_per_job": job,
    }
    fields: dict[str, Any] = {"horizon_months": 12, "on_prem": {"servers": []}}
    answer = compared(catalog(offer("50")), workload=work, **fields).answer
    too_small = [words for words in answer.warnings if "are too small for this work" in words]
    assert bool(too_small) is (job < 20)
    for words in too_small:
        assert words.startswith(f"Jobs of {job} accelerator")
        assert words.endswith("on H100 SXM5 80 GB: each is counted as a job of 20.")
    if 1 < job < 20:
        assert "jobs of 20 leave 4 of the 24 accelerators of 3 machines" in told(answer)[0]
