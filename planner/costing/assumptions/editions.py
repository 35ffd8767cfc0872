"""Rules that changed a figure after answers had been saved with it: which edition counts. PURE.

Each is a row of the assumptions where it matters, so that an answer computed again keeps the
edition that it was computed with; one of before the row was there keeps edition 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.rules import resolve_rules

PRICE_PROCESS_EDITION = "risk.price_process_edition"
POOL_EDITION = "risk.pool_edition"
TREND_EDITION = "risk.trend_edition"
RUN_EDITION = "workload.run_edition"
HOURS_EDITION = "risk.hours_edition"
PAYBACK_EDITION = "finance.payback_edition"
PAYBACK_BY_MOMENT = 3
"""Edition from which a payback counts cash at its moment in the month."""
DELIVERY_EDITION = "on_prem.delivery_edition"
QUOTA_EDITION = "constraints.quota_edition"
LEASE_EDITION = "finance.lease_edition"
SUPPORT_EDITION = "finance.support_edition"
RESALE_EDITION = "on_prem.resale_edition"
IN_PLACE_EDITION = "on_prem.in_place_edition"
IN_PLACE_RULES = 6
"""Edition of the rules from which what servers in place fetch is counted in no plan, 2026."""
EDITIONS = (
    PRICE_PROCESS_EDITION,
    POOL_EDITION,
    TREND_EDITION,
    RUN_EDITION,
    HOURS_EDITION,
    PAYBACK_EDITION,
    DELIVERY_EDITION,
    QUOTA_EDITION,
    LEASE_EDITION,
    SUPPORT_EDITION,
    RESALE_EDITION,
    IN_PLACE_EDITION,
)


def editions_of(request: ComparisonRequest) -> Iterator[str]:
    """The editions that a request rests on; that of resale depends on its prices besides."""
    rules = resolve_rules(request)
    has_pools = bool(request.existing.credits or request.existing.minimum_spend)
    if rules.price_processes and rules.interruptible:
        yield PRICE_PROCESS_EDITION
    if rules.price_processes and has_pools:
        yield POOL_EDITION
    if rules.price_processes and request.finance.cloud_price_trend_per_year is not None:
        yield TREND_EDITION
    if rules.is_sized:
        yield RUN_EDITION
        yield HOURS_EDITION
    yield from _of_what_is_there(request)
    finance = request.finance
    if finance.payment_terms_days or finance.cash_timing != "month_start" or _has_loans(request):
        yield PAYBACK_EDITION
    if request.rules > 1 and finance.cloud_support_rate != 0:
        yield SUPPORT_EDITION
    if rules.price_processes and _has_certain_delay(request):
        yield DELIVERY_EDITION


def _of_what_is_there(request: ComparisonRequest) -> Iterator[str]:
    """Those of quotas and of servers in place or on lease."""
    if request.rules > 1 and request.constraints.quotas:
        yield QUOTA_EDITION
    if request.rules > 1 and request.existing.leased_servers:
        yield LEASE_EDITION
    if request.rules >= IN_PLACE_RULES and request.on_prem.already_owned:
        yield IN_PLACE_EDITION


def _has_loans(request: ComparisonRequest) -> bool:
    """Whether a server is paid for in instalments."""
    own = (server.financing for server in request.on_prem.servers or () if server.financing)
    return any(one.method != "purchase" for one in (request.on_prem.financing, *own))


def _has_certain_delay(request: ComparisonRequest) -> bool:
    """Whether a server comes late whatever happens."""
    own = (server.late_delivery for server in request.on_prem.servers or ())
    of_all = request.on_prem.late_delivery_probability == 1.0
    return of_all or any(one is not None and one.certain_months for one in own)
