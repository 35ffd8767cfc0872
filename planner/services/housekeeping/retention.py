"""Teams and accounts that go, and rows that nobody needs after some time, a few at a time.

Prices, revisions, projects, saved comparisons, actuals, alerts and the audit log are data: they
stay until somebody deletes them.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import models, transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from planner.models import (
    Access,
    ApiToken,
    AuditEntry,
    DeliveryState,
    IdempotencyRecord,
    Invitation,
    Job,
    JobState,
    Membership,
    Role,
    Team,
    WebhookDelivery,
    access_of,
)
from planner.models.team import TeamOwned
from planner.services.jobs.jobs import Progress
from planner.services.teams.access import OWN, WrongStateError, record, require
from planner.services.teams.teams import remove_member
from pricing.models import QuarantinedPart, RefreshRun

logger = logging.getLogger(__name__)
AT_ONCE = 1_000
"""Rows deleted in one transaction, so that nobody waits for a lock."""
IDEMPOTENCY_RETENTION = dt.timedelta(hours=24)
SUPERSEDED_AFTER = dt.timedelta(days=1)
"""After that a batch that a newer one took the place of is of no use."""


def remove_expired() -> dict[str, int | None]:
    """Removes what is older than its retention, and says how much of each kind, None where that
    failed: each kind goes by itself, so that one that fails leaves the others to be done."""
    removed: dict[str, int | None] = {}
    for what, sweep in _sweeps(timezone.now()).items():
        try:
            removed[what] = sweep()
        except Exception:
            logger.exception("Housekeeping of %s failed.", what)
            removed[what] = None
    counts = {what: count for what, count in removed.items() if count}
    if counts:
        logger.info("Housekeeping removed %s.", counts, extra={"removed": counts})
    return removed


def _sweeps(now: dt.datetime) -> dict[str, Callable[[], int]]:
    """By kind what removes what goes. Of invitations those whose links work no more:
    they hold addresses, and the audit log has what came of them. Of refresh runs all but the last
    one, and the last that was published, of each provider. Of a part that can be published no
    more the content; what was decided stays on record."""
    over = Job.objects.exclude(state__in=(JobState.QUEUED, JobState.RUNNING))
    ended = WebhookDelivery.objects.exclude(state=DeliveryState.PENDING)
    closed = _before(now, settings.RETAIN_INVITATIONS_DAYS)
    runs = RefreshRun.objects.order_by()
    last = [
        rows.values("provider").annotate(last=Max("pk")).values("last")
        for rows in (runs, runs.filter(outcome=RefreshRun.Outcome.PUBLISHED))
    ]
    states = QuarantinedPart.State
    useless = Q(state=states.SUPERSEDED, created_at__lt=now - SUPERSEDED_AFTER) | Q(
        state__in=(states.RELEASED, states.REJECTED),
        created_at__lt=_before(now, settings.RETAIN_QUARANTINED_BATCHES_DAYS),
    )
    full = QuarantinedPart.objects.filter(useless).exclude(payload=b"")
    rows = {
        "jobs": over.filter(finished_at__lt=_before(now, settings.RETAIN_JOBS_DAYS)),
        "idempotency records": IdempotencyRecord.objects.filter(
            created_at__lt=now - IDEMPOTENCY_RETENTION
        ),
        "webhook deliveries": ended.filter(
            created_at__lt=_before(now, settings.RETAIN_DELIVERIES_DAYS)
        ),
        "invitations": Invitation.objects.filter(
            Q(accepted_at__lt=closed) | Q(revoked_at__lt=closed) | Q(expires_at__lt=closed)
        ),
        "sessions": Session.objects.filter(expire_date__lt=now),
        "refresh runs": runs.filter(started_at__lt=_before(now, settings.RETAIN_REFRESH_RUNS_DAYS))
        .exclude(pk__in=last[0])
        .exclude(pk__in=last[1]),
    }
    return {what: partial(_delete, expired) for what, expired in rows.items()} | {
        "contents of batches": lambda: full.update(payload=b"")
    }


def _delete(rows: QuerySet) -> int:  # type: ignore[type-arg]
    """Rows deleted; what is deleted along with them is not counted."""
    deleted = 0
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        rows.model._default_manager.filter(pk__in=keys).delete()
        deleted += len(keys)
    return deleted


def _before(now: dt.datetime, days: int) -> dt.datetime:
    return now - dt.timedelta(days=days)


def housekeeping_job(job: Job, progress: Progress) -> dict[str, Any]:
    return {"removed": remove_expired()}


# Teams and accounts -----------------------------------------------------------------------

DELETED_NAME = "Deleted team"


@transaction.atomic
def delete_team(access: Access, team: Team) -> None:
    """Removes everything of `team`; its slug is free again.

    The audit log is append-only and outlives it: the team's row stays, without name and settings,
    for the entries to belong to; the names of people stay where they approved something.
    """
    require(access, team.pk, OWN)
    current = Team.objects.select_for_update().get(pk=team.pk)
    if Job.objects.filter(team=current, state=JobState.RUNNING).exists():
        raise WrongStateError("A job of this team is running; cancel it or wait for its end.")
    rows = [model._default_manager.filter(team=current) for model in list_models()]
    counts = {one.model._meta.model_name: one.count() for one in rows}
    before = {"name": current.name, "slug": current.slug, "rows": counts}
    record(access, "team.deleted", current, before=before)
    for one in rows:
        one.delete()
    current.name, current.slug = DELETED_NAME, f"deleted-{current.pk}"
    current.price_adjustments, current.custom_offers, current.defaults = [], [], {}
    current.project_rules = []
    current.version += 1
    current.save()


def list_models() -> list[type[models.Model]]:
    """Whose rows go with their team, and with them all that hangs on these: not the audit log."""
    every = [one for one in apps.get_models() if issubclass(one, TeamOwned)]
    return [one for one in every if one is not AuditEntry]


def list_sole_member_teams(user: Any) -> list[Team]:
    """Teams whose only member is `user`: they go with the account."""
    others = Membership.objects.filter(team=OuterRef("team")).exclude(user=user)
    alone = Membership.objects.filter(~Exists(others), user=user)
    return [member.team for member in alone.select_related("team")]


@transaction.atomic
def delete_account(user: Any) -> None:
    """Removes a person's account, their tokens and memberships, and teams that are theirs alone.

    Raises `WrongStateError` where a team with other members would be left without an owner, or
    the server without an operator.
    """
    access = access_of(user)
    operators = get_user_model()._default_manager.filter(is_superuser=True, is_active=True)
    if user.is_superuser and not operators.exclude(pk=user.pk).exists():
        raise WrongStateError(
            "This is the only operator account; make another one with manage.py createsuperuser."
        )
    sole_member_team_ids = {team.pk for team in list_sole_member_teams(user)}
    for member in Membership.objects.filter(user=user).select_related("team"):
        if member.team_id in sole_member_team_ids:
            owner = Access(user.pk, access.name, {member.team_id: Role.OWNER}, access.scopes)
            delete_team(owner, member.team)
        else:
            try:
                remove_member(access, member)
            except WrongStateError:
                raise WrongStateError(
                    f"You are the only owner of the team {member.team.name}, which has other "
                    "members; make one of them owner first, or delete the team."
                ) from None
    ApiToken.objects.filter(user=user).delete()
    Job.objects.filter(team=None, created_by=user).delete()
    IdempotencyRecord.objects.filter(owner=access.key).delete()
    get_user_model()._default_manager.filter(pk=user.pk).delete()
