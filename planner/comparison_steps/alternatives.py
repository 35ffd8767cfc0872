"""What would be cheaper if a limit that nobody asked for were lifted. PURE.

Each rule of the request that was left to its default is lifted alone and the best plan of all
sources is solved again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from planner.comparison_steps.preparation import Preparation
from planner.comparison_steps.results import ANALYSIS_SHARE, SCENARIO_SHARE, ComparisonResults
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.verdict import Alternative
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.rules import ANY, PlanRules
from planner.costing.advice.decision import describe_parts, list_parts
from planner.costing.advice.payback import why_not_bought
from planner.costing.assumptions.payback_margin import PAYBACK_MARGIN
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import solve_scenario
from pricing.market.places import CLOUD_PARTITIONS, OTHER_CLOUDS, find_partition

MOST = 5
COUNT_ON_RESALE = "on_prem.count_on_resale"
WORTH_NAMING = Decimal("0.02")
"""Share of the net present cost from which a saving is worth a change of rules; 2026."""
ROUNDED = 1.0
"""How far a plan's cost may be from the sum of its lines, which are rounded to the cent."""
_ANY_OFFERS: Mapping[str, Any] = {
    "interruptible": False,
    "one_accelerator": False,
    "needs_payback": False,
    "term_end": "full",
}
"""Rules that do not say which offers may matter, at some value."""


@dataclass(frozen=True)
class Rail:
    """A rule in force that nobody asked for, and how a request lifts it."""

    field: str
    value: Any
    shown: str
    """The value in words."""
    why: str
    """Why it is off unless asked for."""

    def lift(self, request: ComparisonRequest) -> ComparisonRequest:
        """The request with this rule alone lifted."""
        section, _, name = self.field.rpartition(".")
        if not section:
            return request.model_copy(update={name: self.value})
        changed = getattr(request, section).model_copy(update={name: self.value})
        return request.model_copy(update={section: changed})


def find_alternatives(results: ComparisonResults) -> tuple[Alternative, ...]:
    """At most five, the largest saving first; none where it is not asked for.

    Each rule has its share of the work left: those that it is not enough for are left out.
    """
    advised = results.recommendation.scenario
    if advised is None or not results.request.cheaper_if:
        return ()
    plan = results.scenarios[advised]
    margin = results.payback_margin
    preparation = results.preparation
    providers = preparation.catalog.offers.provider.names
    rails = tuple(list_rails(results.request, preparation.rules, margin, providers))
    work = results.parts["alternatives"] = results.work.share(ANALYSIS_SHARE)
    alternatives: list[Alternative] = []
    for i, rail in enumerate(rails):
        part = work.share(1 / (len(rails) - i))
        if part.is_spent:
            part.leave_out("what would be cheaper")
            break
        with suppress(WorkSpentError):
            alternatives.extend(_try(rail, results, plan, part))
    needed = _without_needless(alternatives)
    return tuple(sorted(needed, key=lambda one: (-one.saving, one.field))[:MOST])


def _without_needless(alternatives: Sequence[Alternative]) -> list[Alternative]:
    """Without counting on the resale where a narrower margin gives the same plan."""
    plans = [one.plan for one in alternatives if one.field == PAYBACK_MARGIN]
    return [one for one in alternatives if one.field != COUNT_ON_RESALE or one.plan not in plans]


def _list_partition_rails(rules: PlanRules, providers: Collection[str]) -> Iterator[Rail]:
    if not set(CLOUD_PARTITIONS) <= set(rules.partitions):
        yield Rail(
            "constraints.partitions", CLOUD_PARTITIONS,
            "regions of China and of the US government too",
            "Regions in China or of the US government need accounts and contracts of their own.",
        )  # fmt: skip
    if _has_other_clouds(providers, rules):
        yield Rail(
            "constraints.partitions", (*rules.partitions, OTHER_CLOUDS), "other clouds too",
            "Smaller clouds need contracts of their own, and often rent no more than machines.",
        )  # fmt: skip


def _has_other_clouds(providers: Collection[str], rules: PlanRules) -> bool:
    """Whether the catalog has some that the rules leave out."""
    partitions = {find_partition(name, "") for name in providers}
    return OTHER_CLOUDS in partitions - set(rules.partitions)


def list_rails(
    request: ComparisonRequest, rules: PlanRules, margin: float, providers: Collection[str] = ()
) -> Iterator[Rail]:
    """Rules in force that the request leaves to their default and that may cost something.

    `margin` is the share of its price that a purchase must save before its resale, `providers`
    are those of the catalog.
    """
    limits, workload = request.constraints, request.workload
    if not rules.interruptible and workload.interruptible is None:
        yield Rail(
            "workload.interruptible", True, "the work may be interrupted",
            "A spot machine can be taken back at any time, and is often not to be had: the work "
            "must save its state and may wait.",
        )  # fmt: skip
    if rules.software != ANY and workload.software is None:
        yield Rail(
            "workload.software", ANY, "the code runs on any accelerator",
            "Code written for CUDA runs on NVIDIA alone; moving it takes engineers weeks.",
        )  # fmt: skip
    if limits.partitions is None:
        yield from _list_partition_rails(rules, providers)
    if rules.whole_nodes and limits.allow_partial_nodes is None:
        yield Rail(
            "constraints.allow_partial_nodes", True, "parts of machines",
            "Providers rent whole machines: it holds only if other work of yours fills the rest.",
        )  # fmt: skip
    if rules.joins_nodes and limits.allow_any_node is None:
        yield Rail(
            "constraints.allow_any_node", True, "jobs on machines of any size and network",
            "A job over machines without a fast network between them waits for it most of the "
            "time.",
        )  # fmt: skip
    if rules.one_accelerator:
        yield Rail(
            "constraints.allow_mixed_accelerators", True, "several kinds of accelerator at once",
            "One job runs on one kind of accelerator; work that is split needs tuning twice.",
        )  # fmt: skip
    yield from _rails_of_purchases(request, rules, margin)
    if request.term_end is None and rules.term_end != "prorate":
        yield Rail(
            "term_end", "prorate", "of a commitment only its share within the plan counts",
            "A commitment is owed to its end: it holds only if other work of yours takes over "
            "what is left of the term.",
        )  # fmt: skip
    if workload.accelerators_per_job is None and rules.accelerators_per_job > 1:
        yield Rail(
            "workload.accelerators_per_job", 1, "each accelerator is a job of its own",
            "The interconnect asked for joins the accelerators of one machine.",
        )  # fmt: skip


def _rails_of_purchases(
    request: ComparisonRequest, rules: PlanRules, margin: float
) -> Iterator[Rail]:
    """Those on what a purchase has to save before its resale."""
    if margin and request.on_prem.payback_margin is None:
        yield Rail(
            PAYBACK_MARGIN, 0, "a purchase that pays back only just",
            f"Before their resale the servers save less than {margin:.0%} of their price: a late "
            "delivery, work that ends early or rent that falls makes a loss of it.",
        )  # fmt: skip
    if rules.needs_payback:
        yield Rail(
            COUNT_ON_RESALE, True, "the resale value counts",
            "The servers pay back only with what they fetch at the end, which nobody promises.",
        )  # fmt: skip


def _try(
    rail: Rail, results: ComparisonResults, plan: Scenario, work: WorkMeter
) -> Iterator[Alternative]:
    """The plan with a rule lifted, if it saves anything worth naming."""
    lifted = ComparisonResults(_prepare(results.preparation, rail), work)
    least_saving = abs(plan.net_present_cost) * WORTH_NAMING
    other = _best_allowed(results, lifted, float(plan.net_present_cost - least_saving))
    if other is None:
        return
    saving = plan.net_present_cost - other.net_present_cost
    if saving <= least_saving:
        return
    parts = list_parts(
        other, lifted.inputs, results.preparation.name_place, results.request.currency
    )
    yield Alternative(
        field=rail.field,
        value=rail.value,
        change=rail.shown,
        plan=f"{describe_parts(parts)}.",
        total=other.total_cost,
        saving=saving,
        why=rail.why,
    )


def _best_allowed(
    results: ComparisonResults, lifted: ComparisonResults, ceiling: float
) -> Scenario | None:
    """The best plan of all sources; of those that buy nothing if its servers do not pay back. None
    where there is none, or where it is known to cost at least `ceiling`."""
    lifted.charge_preparation()
    work = lifted.work.share(SCENARIO_SHARE, stops=False)
    if lifted.inputs is results.inputs:
        best = results.scenarios[ScenarioKey.HYBRID]
    else:
        best = solve_scenario(lifted.inputs, ScenarioKey.HYBRID, work, ceiling + ROUNDED)
    if lifted.preparation.rules.needs_payback and best.feasible and best.buys:
        renting = solve_scenario(lifted.inputs, ScenarioKey.CLOUD_MIX, work)
        if why_not_bought(best, renting, lifted.payback_margin):
            best = renting
    return best if best.feasible else None


def _prepare(preparation: Preparation, rail: Rail) -> Preparation:
    """The same question with a rule lifted; what the rule does not touch is not worked out anew."""
    lifted = replace(preparation, request=rail.lift(preparation.request))
    known: Mapping[str, Any] = vars(preparation)
    # Coverage is for warnings, which an alternative does not show.
    names = ["units_per_usd", "laid_out", "custom", "coverage"]
    if lifted.calendar == preparation.calendar:  # which loans and leases follow
        names.append("all_servers")
    if replace(lifted.rules, **_ANY_OFFERS) == replace(preparation.rules, **_ANY_OFFERS):
        names.append("rentals")
    if rail.field in (PAYBACK_MARGIN, COUNT_ON_RESALE):  # which judge plans, and make none
        names.append("inputs")
    for name in names:
        if name in known:
            vars(lifted)[name] = known[name]
    if "inputs" not in vars(lifted):
        vars(lifted)["inputs"] = lifted.inputs.keep_from(preparation.inputs)
    return lifted
