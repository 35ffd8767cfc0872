"""One line for each project of a team: budget, plan, actuals, state, changed price lists."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from planner.models import Access, ActualLine, Alert, Project, SavedComparison, State, Team
from planner.services.alerts.alerts import budget_over_horizon, comparable_budget
from planner.services.projects.projects import project_currency
from planner.services.projects.reprice import PLAN_FIRST
from planner.services.projects.saved_comparisons import may_approve
from planner.services.teams.access import VIEW, require
from pricing import catalog as catalogs
from pricing.common.tables import group

_UNREAD = ("answer", "rows", "given")


@dataclass(frozen=True)
class PriceListChange:
    """A price list that has a later revision than the one an answer used."""

    provider: str
    used: int
    now: int


@dataclass(frozen=True)
class ProjectSummary:
    """One project in a line. Amounts of the plan are in the plan's currency."""

    project: Project
    currency: str
    """Of budget and actuals."""
    plan: SavedComparison | None
    budget: Decimal | None
    """For all months of the plan; for a total budget without a plan, the budget."""
    actual: Decimal | None
    """What was really paid so far; None before the first upload."""
    months_paid: int
    price_changes: tuple[PriceListChange, ...]
    alerts: int
    """Open ones."""
    submitted: tuple[SavedComparison, ...] = ()
    """Others than the plan that wait for approval, the latest first."""

    @property
    def planned(self) -> Decimal | None:
        """Total of the plan, in its own currency; None without a feasible one."""
        return self.plan.read_summary().total_cost if self.plan else None

    @property
    def is_over(self) -> bool:
        """Whether the plan is above the budget; unknown where their currencies differ."""
        if self.plan is None or self.budget is None or self.planned is None:
            return False
        return self.plan.read_summary().currency == self.currency and self.planned > self.budget


def current_revisions() -> dict[str, int]:
    return {r.provider: r.number for r in catalogs.revisions_in_force()}


def changes_since(
    saved: SavedComparison, current: Mapping[str, int]
) -> tuple[PriceListChange, ...]:
    """Price lists that an answer used and that were published anew since."""
    if not saved.read_summary().uses_catalog:
        return ()
    return tuple(
        PriceListChange(provider, used, current[provider])
        for provider, used in saved.revisions.items()
        if current.get(provider, used) != used
    )


def project_summaries(
    access: Access, team: Team, *, archived: bool = False
) -> list[ProjectSummary]:
    """The team's projects, the newest first, in a fixed number of queries."""
    require(access, team.pk, VIEW)
    projects = list(Project.objects.filter(team=team, archived=archived).select_related("team"))
    current = current_revisions()
    rows = SavedComparison.objects.filter(project__in=projects).defer(*_UNREAD)
    saved = group([(one.project_id, one) for one in rows.order_by(*PLAN_FIRST)])
    paid, months = _actuals(projects)
    open_alerts = Counter(
        Alert.objects.filter(project__in=projects, acknowledged_at=None).values_list(
            "project", flat=True
        )
    )
    return [
        ProjectSummary(
            project=project,
            currency=project_currency(project),
            plan=(plan := next(iter(saved.get(project.pk, [])), None)),
            submitted=tuple(s for s in saved.get(project.pk, [])[1:] if s.state == State.SUBMITTED),
            budget=_budget(project, plan),
            actual=paid.get(project.pk),
            months_paid=len(months[project.pk]),
            price_changes=changes_since(plan, current) if plan else (),
            alerts=open_alerts[project.pk],
        )
        for project in projects
    ]


def _budget(project: Project, plan: SavedComparison | None) -> Decimal | None:
    if plan is not None:
        return budget_over_horizon(project, plan)
    is_total = project.budget and project.budget_period == "total"
    return Decimal(project.budget) if is_total else None


def _actuals(projects: list[Project]) -> tuple[dict[UUID, Decimal], dict[UUID, set[str]]]:
    currencies = {project.pk: project_currency(project) for project in projects}
    lines = ActualLine.objects.filter(upload__project__in=projects)
    paid: dict[UUID, Decimal] = {}
    months: dict[UUID, set[str]] = defaultdict(set)
    fields = ("upload__project", "upload__currency", "month", "cost")
    for project, currency, month, cost in lines.order_by().values_list(*fields):
        if currency == currencies[project]:
            paid[project] = paid.get(project, Decimal(0)) + Decimal(cost)
            months[project].add(month)
    return paid, months


@dataclass(frozen=True)
class ToApprove:
    """A submitted plan that this person may approve."""

    saved: SavedComparison
    budget: Decimal | None
    """For all months of the plan; None without one, or in another currency than the plan's."""
    replaces: SavedComparison | None
    """The approved plan of the project, which approval would supersede."""

    @property
    def total(self) -> Decimal | None:
        return self.saved.read_summary().total_cost

    @property
    def is_over(self) -> bool:
        return self.budget is not None and self.total is not None and self.total > self.budget


@dataclass(frozen=True)
class Inbox:
    """What waits for one person in one team, the oldest first."""

    to_approve: tuple[ToApprove, ...]
    sent_back: tuple[SavedComparison, ...]
    """Their plans that somebody else made drafts again."""

    def __len__(self) -> int:
        return len(self.to_approve) + len(self.sent_back)


def read_inbox(access: Access, team: Team) -> Inbox:
    """Projects in the archive ask nobody for anything."""
    require(access, team.pk, VIEW)
    rows = SavedComparison.objects.filter(team=team, project__archived=False)
    rows = rows.defer(*_UNREAD).select_related("project", "project__team")
    sent_back = rows.filter(
        state=State.DRAFT, submitted_key=access.person, sent_back_at__isnull=False
    )
    approved = {one.project_id: one for one in rows.filter(state=State.APPROVED)}
    submitted = rows.filter(state=State.SUBMITTED).order_by("submitted_at", "pk")
    to_approve = []
    for one in submitted:
        if may_approve(access, one):
            budget = comparable_budget(one.project, one)
            to_approve.append(ToApprove(one, budget, approved.get(one.project_id)))
    return Inbox(
        tuple(to_approve),
        tuple(sent_back.exclude(sent_back_as=access.name).order_by("created_at", "pk")),
    )
