"""What every test with a database needs."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Passwords are hashed in no time. SQLite's tables are emptied by DELETE after a test that
    commits, which the audit log refuses."""
    from django.conf import settings
    from django.db import connection

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DROP TRIGGER audit_log_no_delete")
