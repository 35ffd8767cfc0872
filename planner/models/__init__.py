"""What a team keeps. Everything that belongs to a team is read through `for_access`."""

from planner.models.access import ALL_SCOPES, ANONYMOUS, Access, Role, Scope
from planner.models.bookkeeping import AuditEntry, IdempotencyRecord, Job, JobState
from planner.models.portfolio import PORTFOLIO_DOCUMENTS, SavedPortfolio
from planner.models.project import (
    ActualLine,
    ActualsUpload,
    BudgetPeriod,
    Project,
    SavedComparison,
    State,
    Variant,
)
from planner.models.team import Invitation, Membership, ServerQuote, Team, TeamOwned, access_of
from planner.models.token import ApiToken
from planner.models.watch import (
    Alert,
    AlertKind,
    DeliveryState,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    watched_portfolios,
    watched_projects,
)

__all__ = [
    "ALL_SCOPES",
    "ANONYMOUS",
    "PORTFOLIO_DOCUMENTS",
    "Access",
    "ActualLine",
    "ActualsUpload",
    "Alert",
    "AlertKind",
    "ApiToken",
    "AuditEntry",
    "BudgetPeriod",
    "DeliveryState",
    "IdempotencyRecord",
    "Invitation",
    "Job",
    "JobState",
    "Membership",
    "Project",
    "Role",
    "SavedComparison",
    "SavedPortfolio",
    "Scope",
    "ServerQuote",
    "State",
    "Team",
    "TeamOwned",
    "Variant",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookEvent",
    "access_of",
    "watched_portfolios",
    "watched_projects",
]
