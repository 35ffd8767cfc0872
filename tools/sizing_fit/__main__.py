"""`python -m tools.sizing_fit`: fit sizing anew."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from planner.sizing.evidence import FITTED, fitted
from planner.sizing.evidence.benchmarks import measurements
from planner.sizing.performance.neighbours import TABLE
from tools.sizing_fit import rollouts, samples, teams, throughput
from tools.sizing_fit.evidence import framework_rates, published_runs, sample_runs

_USUAL_NAMES = {
    "deepseek-v3": "DeepSeek-V3",
    "glam-64b-64e": "GLaM 64B/64E",
    "llama3.1-405B": "Llama 3.1 405B",
    "palm-540B": "PaLM 540B",
}
"""What people call the largest of the published runs (their papers, 2021-2024)."""


def main() -> None:
    """Fit and write, in the order in which fits rest on one another."""
    write(fit_rates())
    fitted.cache_clear()
    write(fitted() | fit_runs())
    rows = [asdict(run) for run in teams.near_runs()]
    with TABLE.open("w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def write(fits: dict[str, Any]) -> None:
    FITTED.write_text(json.dumps(fits, indent=1) + "\n", encoding="utf-8")


def fit_rates() -> dict[str, Any]:
    """Fits to measured rates and power."""
    return {
        "throughput": asdict(throughput.fit_index(measurements())),
        "cluster_slope": throughput.cluster_slope(),
        "scaling_exponent": throughput.scaling_exponent(),
        "power_share": throughput.power_shares(),
        "bounds": {
            "dense": bounds(is_mixture=False),
            "mixture": bounds(is_mixture=True),
            "samples": sample_bounds(),
        },
    }


def fit_runs() -> dict[str, Any]:
    """Fits to published runs, which rest on those to rates."""
    return {
        "teams": asdict(teams.team_fit()),
        "rollouts": asdict(rollouts.fit_rollouts()),
        "samples": samples.fit_samples(),
    }


def bounds(is_mixture: bool) -> dict[str, Any]:
    """Smallest and largest model, largest cluster and longest sequence of the published runs of
    models of the same kind, the longest sequence of measured steps too."""
    runs = published_runs()
    lengths = [run.sequence_length or 0 for run in runs]
    lengths += [rate.training.sequence_length or 0 for rate in framework_rates()]
    alike = [r for r in runs if bool(r.active_parameters) == is_mixture and r.parameters]
    kind = "mixture of experts" if is_mixture else "dense model"
    sizes = [run.parameters or 0.0 for run in alike]
    return {
        "parameters": (min(sizes), max(sizes)),
        "sequence_length": max(lengths),
        "largest_model": largest(
            ((run.parameters, run.run) for run in alike), f"training of a {kind}"
        ),
        "largest_cluster": largest(((run.accelerators, run.run) for run in runs), "training"),
    }


def sample_bounds() -> dict[str, Any]:
    """The largest model, the most accelerators and the fewest FLOPs of a sample of the published
    runs on samples."""
    runs, kind = sample_runs(), "run on samples"
    least, name = min((run.forward_flops / 1e9, run.run) for run in runs if run.forward_flops)
    return {
        "largest_model": largest(((run.parameters, run.run) for run in runs), kind),
        "largest_cluster": largest(((run.accelerators, run.run) for run in runs), kind),
        "least_gflops": least,
        "least_gflops_run": name,
    }


def largest(figures: Iterable[tuple[float | None, str]], kind: str) -> dict[str, Any]:
    """The largest of the figures that are known, each with its run; at least one has to be."""
    amount, run = max((amount, run) for amount, run in figures if amount)
    return {"amount": amount, "run": _USUAL_NAMES.get(run, run), "kind": kind}


if __name__ == "__main__":
    main()
