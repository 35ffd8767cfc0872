"""The rules in force on what a plan may choose from, as assumptions of the answer. PURE."""

from __future__ import annotations

from collections.abc import Iterator

from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.constraints import MIN_PROVIDER_SHARE
from planner.contract.request.rules import PlanRules
from planner.costing.assumptions.assumption import Assumption

_REASONS = {
    "constraints.partitions": "accounts of other partitions need contracts of their own",
    "workload.software": "CUDA, unless accelerators that run something else are named",
    "workload.interruptible": "consent to spot is for the team to give",
    "term_end": "a commitment is paid to its end; a plan for less than a year takes none beyond it",
    "constraints.allow_partial_nodes": "providers rent machines whole",
    "constraints.allow_any_node": "jobs over several machines need a network between them",
    "workload.accelerators_per_job": "what the sizing needs; 1 for given hours",
}
"""Field of each rule → why its default is what it is."""


def rule_assumptions(request: ComparisonRequest, rules: PlanRules) -> Iterator[Assumption]:
    """One row for each rule of a request, its default or what the request says instead.

    Under edition 1, which rules nothing out, only by which part of the work a provider counts.
    """
    share = request.constraints.min_provider_share
    if (request.constraints.min_providers or 1) > 1:
        reason = "assumption (2026): with less of the work a provider is one in name only"
        yield Assumption(
            "constraints.min_provider_share",
            share or MIN_PROVIDER_SHARE,
            "fraction",
            share is not None,
            reason if share is None else "request",
        )
    if request.rules == 1:
        return
    limits, workload = request.constraints, request.workload
    in_force: tuple[tuple[str, float | str, str, object], ...] = (
        ("constraints.partitions", ", ".join(rules.partitions), "partitions", limits.partitions),
        ("workload.software", rules.software, "software", workload.software),
        ("workload.interruptible", _flag(rules.interruptible), "", workload.interruptible),
        ("term_end", rules.term_end, "", request.term_end),
        (
            "constraints.allow_partial_nodes",
            _flag(not rules.whole_nodes),
            "",
            limits.allow_partial_nodes,
        ),
        (
            "constraints.allow_any_node",
            _flag(rules.any_node),
            "",
            limits.allow_any_node,
        ),
        (
            "workload.accelerators_per_job",
            rules.accelerators_per_job,
            "accelerators",
            workload.accelerators_per_job,
        ),
    )
    for field, value, unit, requested in in_force:
        source = _source(field) if requested is None else "request"
        yield Assumption(field, value, unit, requested is not None, source)


def _flag(is_set: bool) -> str:
    return "true" if is_set else "false"


def _source(field: str) -> str:
    return f"rules of a plan, edition 2: {_REASONS[field]}"
