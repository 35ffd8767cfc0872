"""What a replay leaves aside of an answer in the form of an earlier version. PURE."""

from __future__ import annotations

_AGE_FIELDS = frozenset({"age_days"})
"""Parts of an answer that say how old it is; everything else replays to the cent."""
_WORDING = frozenset(
    {"label", "because", "words", "sentence", "warnings", "why_not", "method", "notes"}
)
_NEW_IN_VERSION_10 = frozenset(
    {"within_horizon", "owed_after", "headline", "reasons", "budget", "cheaper_if", "change"}
    | {"relaxations", "internal_rate_of_return", "why_no_internal_rate", "idle_months"}
)
"""Before, tax saved on the first payments after a plan counted within it, the least budget that
would do could be that of a plan with costs of its own, an internal rate was missing where bills
and instalments fall on different days of a month, and no purchase named its months without work."""
_NEW_IN_VERSION_9 = _NEW_IN_VERSION_10 | {"reasons", "cheaper_if", "change", "default_effects"}
"""Before, the capital budgets of fiscal years did not stand among the budgets, and no reason or
alternative told what a budget keeps out; what was then the budget for purchases is called
the capital budget, and the effect of default staff is told by the server, not the accelerator."""
_NEW_IN_VERSION_8 = _NEW_IN_VERSION_9 | {"exception", "unknown_prices"}
_NEW_IN_VERSION_7 = _NEW_IN_VERSION_8 | frozenset(
    {"internal_rate_of_return", "why_no_internal_rate", "late_delivery"}
    | {"unit_price_p10", "unit_price_p90", "price_quotes"}
)
"""Before, internal rates stood there that meant nothing, as where money is saved before any is
spent."""
_NEW_IN_VERSION_6 = (
    _WORDING | _NEW_IN_VERSION_7 | {"headline", "reasons", "plan", "why_not_allowed", "relaxations"}
)
_NEW_IN_VERSION_5 = _NEW_IN_VERSION_6 | {"region_names", "price_source", "price_year"}
_NEW_IN_VERSION_4 = _NEW_IN_VERSION_5 | {"finance"}
_NEW_IN_VERSION_3 = (
    _WORDING
    | _NEW_IN_VERSION_4
    | {
        *("verdict", "cheaper_if", "coverage", "why_not_allowed", "relaxations"),
        *("total_p10", "total_p50", "total_p90", "price_model", "parts"),
    }
)
_NEW_SINCE = {
    9: _AGE_FIELDS | _WORDING | _NEW_IN_VERSION_10,
    8: _AGE_FIELDS | _WORDING | _NEW_IN_VERSION_9,
    7: _AGE_FIELDS | _WORDING | _NEW_IN_VERSION_8,
    6: _AGE_FIELDS | _WORDING | _NEW_IN_VERSION_7,
    5: _AGE_FIELDS | _NEW_IN_VERSION_6,
    4: _AGE_FIELDS | _NEW_IN_VERSION_5,
    3: _AGE_FIELDS | _NEW_IN_VERSION_4,
    2: _AGE_FIELDS | _NEW_IN_VERSION_3,
    1: _AGE_FIELDS
    | _NEW_IN_VERSION_3
    | {"purchases", "costs_by_source", "within_horizon", "owed_after"},
}
"""What a replay of an older answer leaves aside, by its version: its wording, which has changed
since, and what it did not say itself."""


def find_fields_left_out(version: int) -> frozenset[str]:
    """Fields in which a replay of an answer of this version is not held against it."""
    return _NEW_SINCE.get(version, _AGE_FIELDS)
