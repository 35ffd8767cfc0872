"""All that a team keeps, as a ZIP of JSON lines: to take along, or to look at before deleting."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from typing import IO, Any

from django.contrib.auth import get_user_model
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils import timezone

from planner.models import Access, Team
from planner.services.housekeeping.team_tables import TeamTable, list_tables
from planner.services.teams.audit import record
from planner.services.teams.permissions import OWN, require

SECRET_FIELDS = frozenset({"digest", "secret"})
"""Hashes of secrets, and secrets; the hash of an uploaded file, of no use elsewhere, too."""
_AT_ONCE = 200
READ_ME = """All data of the team {name} ({slug}) as of {moment}.

One file for each kind of thing, one JSON object a line; a field that ends in _id names the row of
another file, people are named by their user names. Money is decimal text in the currency beside
it. Secrets and their hashes are left out. manifest.json counts the rows of each file.
"""


def export_team(access: Access, team: Team, file: IO[bytes]) -> dict[str, int]:
    """Writes everything of `team` to `file`; gives the rows of each kind."""
    require(access, team.pk, OWN)
    record(access, "team.exported", team)
    names = dict(get_user_model()._default_manager.values_list("pk", "username"))
    counts: dict[str, int] = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        counts["team"] = _write_lines(archive, "team", iter([_to_json(team, names)]))
        for table in list_tables():
            counts[table.name] = _write_lines(archive, table.name, _read_rows(table, team, names))
        moment = timezone.now().isoformat(timespec="seconds")
        text = READ_ME.format(name=team.name, slug=team.slug, moment=moment)
        archive.writestr("README.txt", text)
        archive.writestr("manifest.json", json.dumps(counts, indent=2))
    return counts


def _read_rows(table: TeamTable, team: Team, names: dict[Any, str]) -> Iterator[dict[str, Any]]:
    for row in table.rows(team).order_by("pk").iterator(_AT_ONCE):
        yield _to_json(row, names)


def _to_json(row: models.Model, names: dict[Any, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if field.name in SECRET_FIELDS:
            continue
        if field.is_relation and field.related_model is get_user_model():
            values[field.name] = names.get(value)
        else:
            values[field.attname] = value
    return values


def _write_lines(archive: zipfile.ZipFile, name: str, rows: Iterator[dict[str, Any]]) -> int:
    count = 0
    with archive.open(f"{name}.jsonl", "w", force_zip64=True) as lines:
        for row in rows:
            text = json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False)
            lines.write(text.encode() + b"\n")
            count += 1
    return count
