"""What every test with a database needs."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """SQLite's tables are emptied by DELETE after a test that commits; the audit log refuses it."""
    from django.db import connection

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DROP TRIGGER audit_log_no_delete")
