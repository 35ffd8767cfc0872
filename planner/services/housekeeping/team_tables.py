"""Every table that holds a team's rows: what its export holds, and what its deletion removes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.apps import apps
from django.db import models

from planner.models import AuditEntry, Team
from planner.models.team import TeamOwned


@dataclass(frozen=True)
class TeamTable:
    """A model and the way from its rows to their team."""

    model: type[models.Model]
    lookup: str

    @property
    def name(self) -> str:
        return str(self.model._meta.model_name)

    def rows(self, team: Team) -> models.QuerySet[models.Model]:
        return self.model._default_manager.filter(**{self.lookup: team})


def list_tables() -> list[TeamTable]:
    """Tables whose rows name their team, and those whose rows belong to one of these."""
    every = [model for model in apps.get_models() if issubclass(model, TeamOwned)]
    owned = [TeamTable(model, "team") for model in every]
    return sorted([*owned, *_list_children(every)], key=lambda table: table.name)


def _list_children(owned: Sequence[type[models.Model]]) -> Iterator[TeamTable]:
    for model in apps.get_models():
        if issubclass(model, TeamOwned):
            continue
        for field in model._meta.concrete_fields:
            if field.is_relation and field.related_model in owned:
                yield TeamTable(model, f"{field.name}__team")


def outlives_its_team(table: TeamTable) -> bool:
    """The audit log is written once and never changed: it stays for the operator."""
    return table.model is AuditEntry
