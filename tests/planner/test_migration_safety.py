"""The version before goes on working on the database of the next: an upgrade stops nobody.

What a running older version could not live with comes in two steps (docs, Operations, Upgrade).
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader

BEFORE_THE_RULE = {"planner": "0005", "pricing": "0001"}
"""Last migration of the time when every upgrade stopped the server."""
TAKES_AWAY = (
    migrations.RemoveField,
    migrations.DeleteModel,
    migrations.RenameField,
    migrations.RenameModel,
    migrations.AlterField,
    migrations.AlterModelTable,
)
VERSIONS = re.findall(
    r"^## \[(\d[\d.]*)\]", (Path(settings.BASE_DIR) / "CHANGELOG.md").read_text(), re.MULTILINE
)


def list_migrations() -> list[Any]:
    loader = MigrationLoader(None)
    return [
        migration
        for (app, name), migration in sorted(loader.disk_migrations.items())
        if name[:4] > BEFORE_THE_RULE.get(app, "9999")
    ]


def changes_choices_alone(operation: Any, before: dict[str, Any]) -> bool:
    """Whether a field stays as it is in the database: choices are the program's alone. `before` has
    the fields of the model by name."""
    if not isinstance(operation, migrations.AlterField) or operation.name not in before:
        return False
    old, new = (one.deconstruct()[1:] for one in (before[operation.name], operation.field))
    plain = [(kind, arguments, {**named, "choices": ()}) for kind, arguments, named in (old, new)]
    return bool(plain[0] == plain[1])


def fields_before(migration: Any, operation: Any) -> dict[str, Any]:
    """Fields of the model of an operation as they were before its migration."""
    state = MigrationLoader(None).project_state((migration.app_label, migration.name), at_end=False)
    model = state.models.get((migration.app_label, getattr(operation, "model_name_lower", "")))
    return dict(model.fields) if model else {}


def find_breaks(operations: list[Any], unused_since: str = "") -> list[str]:
    """What the version before would stumble over."""
    breaks = []
    for operation in operations:
        if isinstance(operation, migrations.AddField):
            field = operation.field
            has_value = field.null or field.db_default is not models.NOT_PROVIDED
            if not (has_value or field.many_to_many):
                breaks.append(f"{operation.name}: give it null=True or db_default")
        elif isinstance(operation, migrations.AlterField) and operation.field.null:
            continue  # Whoever never writes NULL goes on as before.
        elif isinstance(operation, TAKES_AWAY) and unused_since not in VERSIONS:
            name = type(operation).__name__
            breaks.append(f"{name}: name the version that uses it no more in UNUSED_SINCE")
    return breaks


@pytest.mark.parametrize("migration", list_migrations(), ids=str)
def test_the_version_before_can_go_on(migration: Any) -> None:
    module = import_module(migration.__module__)
    operations = [
        one
        for one in migration.operations
        if not isinstance(one, migrations.AlterField)
        or not changes_choices_alone(one, fields_before(migration, one))
    ]
    assert find_breaks(operations, getattr(module, "UNUSED_SINCE", "")) == []


def test_another_choice_is_no_change_of_the_database() -> None:
    kinds = models.CharField(choices=[("a", "A")], max_length=9)
    more = models.CharField(choices=[("a", "A"), ("b", "B")], max_length=9)
    longer = models.CharField(choices=[("a", "A")], max_length=10)
    altered = migrations.AlterField("job", "kind", more)
    assert changes_choices_alone(altered, {"kind": kinds})
    assert not changes_choices_alone(altered, {"kind": longer})
    assert not changes_choices_alone(altered, {})


def test_what_breaks_is_told_from_what_does_not() -> None:
    text = models.CharField(max_length=9, default="")
    assert find_breaks([migrations.AddField("job", "new", text)]) == [
        "new: give it null=True or db_default"
    ]
    ready = models.CharField(max_length=9, default="", db_default="")
    assert find_breaks([migrations.AddField("job", "new", ready)]) == []
    gone = [migrations.RemoveField("job", "old")]
    assert len(find_breaks(gone)) == len(find_breaks(gone, "9.9.9")) == 1
    assert find_breaks(gone, VERSIONS[0]) == []
