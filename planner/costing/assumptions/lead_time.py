"""How long servers take from order to service. PURE."""

from __future__ import annotations

from planner.costing.assumptions.assumptions import Assumptions

_OF_SERVERS, _OF_WORKSTATIONS = "lead_time_months", "workstation_lead_time_months"
LEAD_TIMES = (_OF_SERVERS, _OF_WORKSTATIONS)


def lead_months(assumptions: Assumptions, *, comes_from_stock: bool) -> int:
    """Months from order to service: workstations have their own, unless a request gives that of
    servers alone. Under edition 1 of the rules all servers have the same."""
    if not comes_from_stock or not assumptions.is_level:
        return int(assumptions[_OF_SERVERS])
    is_stated = assumptions.is_from_request
    follows = is_stated(_OF_SERVERS) and not is_stated(_OF_WORKSTATIONS)
    return int(assumptions[_OF_SERVERS if follows else _OF_WORKSTATIONS])
