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
ON_INSERT_SQLITE = (
    f"CREATE TRIGGER audit_log_no_replace BEFORE INSERT ON {TABLE} "
    f"WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id) "
    f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
)
"""INSERT OR REPLACE takes a row away without a DELETE that a trigger would see."""
_POSTGRESQL = (
    "CREATE FUNCTION refuse_audit_log_change() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$",
    f"CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON {TABLE} "
    "FOR EACH ROW EXECUTE FUNCTION refuse_audit_log_change()",
)
_UNDO = {
    "sqlite": tuple(
        f"DROP TRIGGER audit_log_no_{event}" for event in ("update", "delete", "replace")
    ),
    "postgresql": (
        f"DROP TRIGGER audit_log_append_only ON {TABLE}",
        "DROP FUNCTION refuse_audit_log_change()",
    ),
}


def protect(apps: Any, schema_editor: Any) -> None:
    by_vendor = {"sqlite": (ON_UPDATE_SQLITE, ON_DELETE_SQLITE, ON_INSERT_SQLITE), "postgresql": _POSTGRESQL}
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
