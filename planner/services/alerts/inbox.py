"""What waits for a person: plans to approve, and their own that were sent back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.db.models import QuerySet

from planner.models import Access, AuditEntry, SavedComparison, State, Team
from planner.services.alerts.budget_watch import budget_over_horizon
from planner.services.projects.projects import project_currency
from planner.services.projects.saved_comparisons import may_approve
from planner.services.teams.permissions import VIEW, require

_UNREAD = ("answer", "assumptions", "given", "inherited")
_SENT_BACK = f"saved_comparison.{State.DRAFT.value}"
"""In the audit log: a submitted plan became a draft again."""


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
class SentBack:
    """A plan of this person that somebody else made a draft again."""

    saved: SavedComparison
    entry: AuditEntry

    @property
    def sender(self) -> str:
        return self.entry.actor


@dataclass(frozen=True)
class Inbox:
    """What waits for one person in one team, the oldest first."""

    to_approve: tuple[ToApprove, ...]
    sent_back: tuple[SentBack, ...]

    def __len__(self) -> int:
        return len(self.to_approve) + len(self.sent_back)


def read_inbox(access: Access, team: Team) -> Inbox:
    """Projects in the archive ask nobody for anything."""
    require(access, team.pk, VIEW)
    rows = SavedComparison.objects.filter(team=team, project__archived=False)
    rows = rows.defer(*_UNREAD).select_related("project", "project__team", "variant")
    return Inbox(
        tuple(_list_to_approve(access, rows.exclude(state=State.DRAFT))),
        tuple(_list_sent_back(access, team, rows.filter(state=State.DRAFT))),
    )


def _list_to_approve(access: Access, rows: QuerySet[SavedComparison]) -> list[ToApprove]:
    approved = {one.project_id: one for one in rows.filter(state=State.APPROVED)}
    submitted = rows.filter(state=State.SUBMITTED).order_by("submitted_at", "pk")
    return [_to_approve(one, approved) for one in submitted if may_approve(access, one)]


def _to_approve(saved: SavedComparison, approved: Mapping[UUID, SavedComparison]) -> ToApprove:
    is_comparable = saved.read_summary().currency == project_currency(saved.project)
    budget = budget_over_horizon(saved.project, saved) if is_comparable else None
    return ToApprove(saved, budget, approved.get(saved.project_id))


def _list_sent_back(
    access: Access, team: Team, drafts: QuerySet[SavedComparison]
) -> list[SentBack]:
    """By what was sent back, which is little, and not by the drafts, of which a team may have
    thousands."""
    entries = AuditEntry.objects.filter(team=team, action=_SENT_BACK).order_by("at", "pk")
    last = {entry.object_id: entry for entry in entries}
    own = {pk: entry for pk, entry in last.items() if _is_for(access, entry)}
    rows = drafts.filter(pk__in=list(own)).order_by("created_at", "pk") if own else []
    return [SentBack(saved, own[str(saved.pk)]) for saved in rows]


def _is_for(access: Access, entry: AuditEntry) -> bool:
    """Whether this person had submitted it and did not take it back themselves."""
    before = entry.before
    is_author: bool = before.get("submitted_key") == access.person
    return is_author and entry.actor != before.get("submitted_as")
