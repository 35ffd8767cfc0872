"""Sizing against published runs and measured throughputs; prints the tables it is judged by."""

import statistics

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import EstimateRequest, estimate
from tests.bench.reports import must_hold, teams
from tests.bench.reports import sizing as report
from tests.bench.row import Row, processor_ms

REQUEST = {
    "workload": {
        "kind": "training",
        "parameters": 70e9,
        "tokens": 2e12,
        "runs": [{"start": "2027-03", "deadline": "2027-05"}],
    },
    "accelerator": "nvidia-h100-80gb-sxm",
}


def bench() -> list[Row]:
    """Accuracy in per cent against plain 6 N D at 35 % MFU; times against one validation."""
    ratios = [error for _, _, error in report.ratio_errors()]
    close = statistics.fmean(abs(e) <= 0.2 for e in ratios)
    kinds = teams.by_kind(teams.held_out())
    _print_kinds(kinds)
    ours_now = teams.by_kind(teams.held_out_as_stated())["pre-training"]
    promises = must_hold.lines()
    _print_promises(promises)
    return [
        _row("held-out ratios: within 20 %", close, 2 / 3, ">= 66.7 %", close >= 2 / 3),
        _row(
            "held-out runs as stated: median |error|",
            ours_now.median,
            0.41,
            "<= 18 %",
            ours_now.median <= 0.18,
        ),
        _row(
            "held-out runs as stated: within 50 %",
            ours_now.within_half,
            0.65,
            ">= 90 %",
            ours_now.within_half >= 0.9,
        ),
        _row(
            "held-out runs as stated: in p10-p90",
            ours_now.covered,
            0.8,
            "76-86 %",
            0.76 <= ours_now.covered <= 0.86,
        ),
        *_times(),
    ]


def _print_kinds(kinds: dict[str, teams.Figures]) -> None:
    print("each team predicted by the others: runs, teams, median |error|, within 50 %, in")
    for name, found in kinds.items():
        print(
            f"  {name:<22}{found.runs:>4}{found.teams:>4}{found.median:>8.1%}"
            f"{found.within_half:>6.0%}{found.covered:>6.0%}"
        )
    print()


def _print_promises(promises: list[must_hold.Line]) -> None:
    print("what has to hold, as measured now:")
    for line in promises:
        mark = "      " if line.is_held is None else "held  " if line.is_held else "MISSED"
        print(f"  {mark} {line.name:<88}{line.figure:>20}  {line.asked}")
    judged = [line.is_held for line in promises if line.is_held is not None]
    print(f"  {sum(judged)} of {len(judged)} held\n")


def _times() -> list[Row]:
    workload = REQUEST["workload"]
    floor = processor_ms(lambda: parse(Training, workload), 25)
    one = processor_ms(lambda: estimate(REQUEST), 25)
    ranked = processor_ms(lambda: estimate(REQUEST).candidates, 25)
    asked = parse(EstimateRequest, REQUEST)
    whole = processor_ms(lambda: estimate(asked).answer.to_json(), 25)
    return [
        Row("one estimate", one, floor, "< 1 ms", one < 1),
        Row("one estimate and the ranking", ranked, floor, "< 30 ms", ranked < 30),
        Row("the whole answer as a dict", whole, floor, "< 35 ms", whole < 35),
    ]


def _row(name: str, ours: float, floor: float, hold: str, ok: bool) -> Row:
    return Row(name, 100 * ours, 100 * floor, hold, ok, unit="%")
