"""The audit log holds what concerns the whole server too, and refuses to be emptied at once."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

append_only = import_module("planner.migrations.0002_audit_log_append_only")
ON_TRUNCATE_POSTGRESQL = (
    f"CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON {append_only.TABLE} "
    "FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change()"
)


def protect(apps: Any, schema_editor: Any) -> None:
    """SQLite made the table anew, without its triggers; PostgreSQL gets one more."""
    if schema_editor.connection.vendor == "sqlite":
        append_only.protect(apps, schema_editor)
    elif schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(ON_TRUNCATE_POSTGRESQL)


def unprotect(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            f"DROP TRIGGER IF EXISTS audit_log_no_truncate ON {append_only.TABLE}"
        )


def protect_former_table(apps: Any, schema_editor: Any) -> None:
    """Undone on SQLite: the table of before, made anew as well."""
    if schema_editor.connection.vendor == "sqlite":
        append_only.protect(apps, schema_editor)


class Migration(migrations.Migration):
    dependencies = (("planner", "0006_webhook_secrets"),)
    operations = (
        migrations.RunPython(migrations.RunPython.noop, protect_former_table),
        migrations.AlterField(
            "auditentry",
            "team",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="planner.team",
            ),
        ),
        migrations.RunPython(protect, unprotect),
    )
