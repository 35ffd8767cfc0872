"""Estimates of every kind of work keep their figures: `kept_estimates.json` holds what each of many
requests gives, or how it is refused. To record it anew, run this file: what changed is its diff."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.sizing.estimate import Estimate, estimate
from pricing.common.invalid_input import InvalidInput

FILE = Path(__file__).with_name("kept_estimates.json")
CASES = json.loads(FILE.read_text(encoding="utf-8"))
RANKED = 2
"""Accelerators of the ranking that are kept."""


def figures(request: dict[str, Any]) -> dict[str, Any]:
    """What is kept of an estimate: every figure and word of it, and of the first of the ranking."""
    try:
        found: Estimate = estimate(request)
        answer = found.answer.model_dump(mode="json")
    except InvalidInput as refusal:
        return {"refused": f"{refusal.field}: {refusal.message}"}
    return rounded({**answer, "candidates": answer["candidates"][:RANKED]})


def rounded(value: Any) -> Any:
    """Values with six digits, without those that are not there."""
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items() if v is not None and v != [] and v != ""}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def assert_same(now: Any, kept: Any, where: str = "") -> None:
    if isinstance(kept, dict):
        assert now.keys() == kept.keys(), where
        for name, value in kept.items():
            assert_same(now[name], value, f"{where}.{name}")
    elif isinstance(kept, float):
        assert now == pytest.approx(kept, rel=1e-5), where
    elif isinstance(kept, list):
        assert len(now) == len(kept), where
        for i, value in enumerate(kept):
            assert_same(now[i], value, f"{where}.{i}")
    else:
        assert now == kept, where


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_estimates_keep_their_figures(case: dict[str, Any]) -> None:
    assert_same(figures(case["request"]), case["figures"])


if __name__ == "__main__":
    again = [{"request": c["request"], "figures": figures(c["request"])} for c in CASES]
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in again)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
