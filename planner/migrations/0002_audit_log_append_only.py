"""The audit log refuses change below the ORM as well.

A later migration that alters the table on SQLite makes it anew, without its triggers: it must run
`protect` again.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations

TABLE = "planner_auditentry"
REFUSAL = "The audit log is append-only."

ON_UPDATE_SQLITE, ON_DELETE_SQLITE = (
    f"CREATE TRIGGER audit_log_no_{event} BEFORE {event.upper()} ON {TABLE} "
    f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    for event in ("update", "delete")
)
_POSTGRESQL = (
    "CREATE FUNCTION refuse_audit_log_change() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$",
    f"CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON {TABLE} "
    "FOR EACH ROW EXECUTE FUNCTION refuse_audit_log_change()",
)
_UNDO = {
    "sqlite": ("DROP TRIGGER audit_log_no_update", "DROP TRIGGER audit_log_no_delete"),
    "postgresql": (
        f"DROP TRIGGER audit_log_append_only ON {TABLE}",
        "DROP FUNCTION refuse_audit_log_change()",
    ),
}


def protect(apps: Any, schema_editor: Any) -> None:
    by_vendor = {"sqlite": (ON_UPDATE_SQLITE, ON_DELETE_SQLITE), "postgresql": _POSTGRESQL}
    _run(schema_editor, by_vendor.get(schema_editor.connection.vendor, ()))


def unprotect(apps: Any, schema_editor: Any) -> None:
    _run(schema_editor, _UNDO.get(schema_editor.connection.vendor, ()))


def _run(schema_editor: Any, statements: tuple[str, ...]) -> None:
    with schema_editor.connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


class Migration(migrations.Migration):
    dependencies = (("planner", "0001_initial"),)
    operations = (migrations.RunPython(protect, unprotect),)
