"""Comparisons keep their figures: `kept_answers.json` holds, for each request, the sum of every
field of its answer over all rows, each row by its place. To record it anew, run this file: what
changed is its diff."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from planner.portfolio.portfolio import plan_portfolio
from tests.golden.answers import CASES, MARKET, RICH, SERVERS, answered
from tests.planner.comparison.compared import TODAY
from tests.planner.portfolio.portfolios import relay

FILE = Path(__file__).with_name("kept_answers.json")
DATA = {"storage_gib": 50_000}
PORTFOLIOS = {
    "projects in turn": relay(),
    "rich": RICH["portfolio"],
    "projects in turn, paid late, their data at rest": relay(2, 24)
    | {"projects": [one | {"data": DATA} for one in relay(2, 24)["projects"]]}
    | {"finance": {"payment_terms_days": 60, "discount_rate_per_year": 0.1}, "on_prem": SERVERS},
}
pytestmark = pytest.mark.xdist_group("golden")
_FIGURE = re.compile(r"-?\d+(\.\d+)?")


def figures(name: str) -> dict[str, float]:
    """Field → Σ of its figures, each times its place in the lists that it stands in.

    Less than 1e-9 is the rounding of one processor and not of another.
    """
    sums: dict[str, float] = {}
    if name in PORTFOLIOS:
        answer: Any = plan_portfolio(PORTFOLIOS[name], MARKET, today=TODAY)
    else:
        answer = answered(name)
    _add(answer.to_json(), "", 1.0, sums)
    return {name: float(f"{total:.8g}") for name, total in sorted(sums.items()) if round(total, 9)}


def _add(value: Any, name: str, weight: float, sums: dict[str, float]) -> None:
    if isinstance(value, dict):
        for key, part in value.items():
            _add(part, f"{name}.{key}" if name else key, weight, sums)
    elif isinstance(value, list):
        for place, part in enumerate(value, start=1):
            _add(part, name, weight * place, sums)
    elif isinstance(value, int | float) or (isinstance(value, str) and _FIGURE.fullmatch(value)):
        sums[name] = sums.get(name, 0.0) + weight * float(value)


@pytest.mark.parametrize("name", [*CASES, *PORTFOLIOS])
def test_answers_keep_their_figures(name: str) -> None:
    kept = json.loads(FILE.read_text(encoding="utf-8"))[name]
    assert figures(name) == pytest.approx(kept, rel=1e-6, abs=1e-6)


if __name__ == "__main__":
    again = {name: figures(name) for name in (*CASES, *PORTFOLIOS)}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(kept)}" for name, kept in again.items())
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
