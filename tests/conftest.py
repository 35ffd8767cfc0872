"""What every test with a database needs."""

from __future__ import annotations

import gc
from typing import Any

import pytest

gc.disable()  # Until everything is collected.


def pytest_collection_finish() -> None:
    """What collecting made stays to the end: the garbage collector need not walk it again, which
    takes a tenth of the time of all tests."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Passwords are hashed in no time; all tests are one visitor, who asks for very much."""
    from django.conf import settings

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    for name in ("PAGES_ANONYMOUS", "PAGES", "WORK_ANONYMOUS", "WORK_SIGNED_IN"):
        setattr(settings, f"{name}_PER_MINUTE", 0)

    with django_db_blocker.unblock():
        let_tests_empty_the_audit_log()


def let_tests_empty_the_audit_log() -> None:
    """Tables are emptied after a test that commits, by DELETE in SQLite and by TRUNCATE in
    PostgreSQL, which the audit log refuses."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DROP TRIGGER audit_log_no_delete")
        else:
            cursor.execute("DROP TRIGGER audit_log_no_truncate ON planner_auditentry")


@pytest.fixture(autouse=True)
def expected_market(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clouds of the tests sell less than the real ones, which the bundled prices list: what
    a first refresh is held against is tested in `tests/pricing/publish/test_first_refresh.py`."""
    from pricing.publish import expected_market

    monkeypatch.setattr(expected_market, "read_expected_offers", lambda _provider: [])
