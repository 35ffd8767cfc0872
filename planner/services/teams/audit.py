"""The audit log's one writer, and the one way in which versioned rows are edited."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from typing import Any, TypeVar

from django.db import models, transaction

from planner.models import Access, AuditEntry, Role, Team
from planner.models.team import NAME_LENGTH, Versioned
from planner.services.teams.errors import StaleError

Row = TypeVar("Row", bound=Versioned)


def record(
    access: Access,
    action: str,
    row: models.Model,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Writes down that `access` did `action` to `row`, and what changed; what belongs to no team
    is for operators to read."""
    return AuditEntry.objects.create(
        team_id=row.pk if isinstance(row, Team) else getattr(row, "team_id", None),
        actor=(access.name or "system")[:NAME_LENGTH],
        action=action,
        object_type=row._meta.model_name or "",
        object_id=str(row.pk),
        object_name=str(row)[:NAME_LENGTH],
        before=_to_json(before or {}),
        after=_to_json(after or {}),
    )


@transaction.atomic
def edit(
    access: Access,
    row: Row,
    changes: Mapping[str, Any],
    *,
    seen_version: int | None = None,
    action: str = "",
) -> Row:
    """`row` with `changes`, saved and logged; nothing is written where nothing changed.

    `seen_version` is the version that the caller saw: another one now means `StaleError`.
    """
    model = type(row)
    current = model._default_manager.select_for_update().get(pk=row.pk)
    if seen_version is not None and current.version != seen_version:
        raise StaleError
    before = {name: getattr(current, name) for name in changes}
    changed = {name: value for name, value in changes.items() if before[name] != value}
    if not changed:
        return current
    for name, value in changed.items():
        setattr(current, name, value)
    current.version += 1
    current.save()
    record(
        access,
        action or f"{model._meta.model_name}.changed",
        current,
        before={name: before[name] for name in changed},
        after=changed,
    )
    return current


def _to_json(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _to_json_value(value) for name, value in values.items()}


def _to_json_value(value: Any) -> Any:
    if isinstance(value, models.Model):
        return str(value.pk)
    if isinstance(value, dt.date | dt.datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Role | uuid.UUID) else value
