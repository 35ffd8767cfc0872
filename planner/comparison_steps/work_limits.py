"""What an answer says where the work that a question may take was over. PURE."""

from __future__ import annotations

from collections.abc import Iterator

from planner.comparison_steps.results import ComparisonResults
from planner.contract.labels import SCENARIO_TITLES
from planner.contract.request.comparison import ComparisonRequest
from planner.costing.optimizer.work import WorkMeter
from pricing.common.invalid_input import InvalidInput

DEFAULT_WORK_UNITS = 100_000_000
"""Units of work of a comparison whose caller sets no limit: some minutes."""
_MORE = "run it as a background job, or ask for fewer months, offers, servers or limits"
_FEWER = "ask for fewer months, offers, servers or limits"
"""Where memory is the reason, which a job has no more of."""
_LEFT_OUT = {
    "fewer_servers": "Whether fewer servers would pay back was not worked out",
    "explanation": "What limits cost and where the recommendation changes was not fully worked out",
    "robust_plan": "The plan that holds up across simulated outcomes is the best one found so far",
    "turning_points": "What would change the recommendation was not fully worked out",
    "alternatives": "What would be cheaper if a limit were lifted was not fully worked out",
    "budgets": "What budgets rule out was not worked out",
    "sensitivity": "What moves the total was not fully worked out",
    "default_effects": "How defaults move owning against renting was not fully worked out",
}


class TooMuchWork(InvalidInput):
    """A question that takes more work than is allowed where it was asked."""


class TooLarge(TooMuchWork):
    """A question that nobody may ask, in a job neither."""


def refuse_large(request: ComparisonRequest, *, is_too_large: bool) -> TooMuchWork:
    """The refusal of a question, naming what is large in it."""
    large = list(_large_parts(request))
    if is_too_large:
        what = f": it has {_enumerate(large)}" if large else ""
        return TooLarge(
            "",
            f"This comparison does not fit into the memory that one question may take{what}. "
            "Ask for fewer months, offers, servers or limits.",
        )
    if not large:
        return TooMuchWork(
            "",
            "This comparison takes more work than is left. Comparisons that are asked together "
            "share what is allowed; ask for fewer at once.",
        )
    return TooMuchWork(
        "",
        f"This comparison takes more work than is allowed here: it has {_enumerate(large)}. "
        "Ask for fewer months, offers, servers or limits.",
    )


def _large_parts(request: ComparisonRequest) -> Iterator[str]:
    """What is larger than in most questions."""
    own, risk = request.on_prem, request.risk
    counts = (
        (request.horizon_months, 36, "months"),
        (len(request.custom_offers), 20, "private offers"),
        (len(own.servers or ()), 8, "servers to consider"),
        (len(own.already_owned), 8, "kinds of servers already owned"),
        (len(request.constraints.quotas), 4, "quotas"),
        ((risk.samples or 0) if risk else 0, 20_000, "simulated outcomes"),
    )
    for count, usual, words in counts:
        if count > usual:
            yield f"{count:,} {words}"


def _enumerate(parts: list[str]) -> str:
    """
    >>> _enumerate(["120 months", "50 quotas", "20 servers"])
    '120 months, 50 quotas and 20 servers'
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def warn_left_out(results: ComparisonResults) -> Iterator[str]:
    """What the work that a question may take did not allow for; asked once all else is built."""
    search = results.parts.get("scenarios")
    if search is not None and search.left_out:
        yield from _warn_open_gaps(results, _room(search))
    risk, parameters = results.risk, results.risk_parameters
    if parameters is not None and (risk is None or risk.samples < parameters.samples):
        done = f"{risk.samples:,}" if risk else "None"
        room = _room(results.parts.get("risk"))
        yield f"{done} of {parameters.samples:,} outcomes were simulated: {room}."
    for name, words in _LEFT_OUT.items():
        part = results.parts.get(name)
        if part is not None and part.left_out:
            yield f"{words}: {_room(part)}."


def _room(part: WorkMeter | None) -> str:
    """What has room for what was left out."""
    return _FEWER if part is not None and part.is_too_large else _MORE


def _warn_open_gaps(results: ComparisonResults, room: str) -> Iterator[str]:
    for key, scenario in results.scenarios.items():
        if scenario.feasible and scenario.gap > _CLOSE:
            yield (
                f"{SCENARIO_TITLES[key]}: the search ended early; a plan that is up to "
                f"{scenario.gap:.1%} cheaper is not ruled out. {room[:1].upper()}{room[1:]}."
            )


_CLOSE = 0.01
"""Gap that a search is content with anyway."""
