"""What every test with a database needs."""

import datetime as dt
import gc
import os
import re
from collections import Counter
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from _pytest.doctest import DoctestModule
from xdist.scheduler import LoadGroupScheduling

gc.disable()  # Until everything is collected.
hypothesis.settings.register_profile(
    "tests", deadline=None, derandomize=os.environ.get("FUZZ") != "1", max_examples=40
)
hypothesis.settings.load_profile("tests")
"""Of properties that say nothing else: no clock, on a busy machine some took above 200 ms."""
ROOT = Path(__file__).parent.parent
_cases: Counter[str] = Counter()
"""Test → how many of its cases have been collected."""


class FileScheduling(LoadGroupScheduling):
    """A file's tests go to one process, which fills their caches and makes their module fixtures
    once; files that share a group go there together. The group is read from the file, since
    pytest 9.2 has no place left in which xdist 3.8 could write it."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid.split("::", 1)[0])


@cache
def group_of(file: str) -> str:
    """The group that a file names, else the file itself."""
    path = ROOT / file
    named = re.search(r'xdist_group\("(\w+)"\)', path.read_text()) if path.is_file() else None
    return named[1] if named else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    """In the place of `--dist loadgroup`, which hands out single tests."""
    return FileScheduling(config, log) if config.getoption("dist") == "loadgroup" else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[Any], list[Any]]:
    """Tests without an example are not searched for one."""
    collectors = yield
    if file_path.suffix != ".py" or b">>>" in file_path.read_bytes():
        return collectors
    return [one for one in collectors if not isinstance(one, DoctestModule)]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Of the cases of a test that is marked `one_in(n)` every n-th runs here, the first among them,
    the others in `make sweep`. Under FUZZ=1 none is left to the sweep."""
    names = {"db", "transactional_db", "live_server", "django_db_setup"}
    if item.get_closest_marker("django_db") or names & {*getattr(item, "fixturenames", ())}:
        item.add_marker("database")
    marker = item.get_closest_marker("one_in")
    if marker is None or item.get_closest_marker("sweep") or os.environ.get("FUZZ") == "1":
        return
    test = item.nodeid.partition("[")[0]
    _cases[test] += 1
    if (_cases[test] - 1) % marker.args[0]:
        item.add_marker(pytest.mark.sweep)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups, which take longest, are begun first: no process ends long after the others."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


@hypothesis.given(hypothesis.strategies.none())
def _first_property(_nothing: None) -> None:
    """The first property of a process walks the whole heap: run before there is much of it."""


def pytest_collection_finish() -> None:
    """What collecting made stays to the end: the garbage collector need not walk it again, which
    takes a tenth of the time of all tests."""
    gc.freeze()
    gc.set_threshold(1_000_000, 20, 50)
    gc.enable()
    _first_property()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """What the tests leave ends with the process: pytest would walk it five times before."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def early_clock() -> Iterator[None]:
    """Plans of tests begin in 2027: whenever the tests run, that is not over."""
    from planner import comparison

    read_clock = comparison.read_clock
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "read_clock", lambda: min(read_clock(), dt.date(2026, 12, 31)))
        yield


@pytest.fixture(scope="session")
def kept_database(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a migrated SQLite database is kept between runs; for this run alone where there is
    no cache."""
    from tests import migrated

    cache = getattr(pytestconfig, "cache", None)
    folder = Path(cache.mkdir("migrated")) if cache else tmp_path_factory.mktemp("migrated")
    return migrated.kept_database(folder)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, kept_database: Path
) -> Iterator[None]:
    """SQLite's test database begins as a copy of what an earlier run migrated."""
    from django.db import connection

    from tests import migrated

    name = connection.creation._get_test_db_name() if connection.vendor == "sqlite" else None
    held = migrated.copy_to(kept_database, name) if name else None
    yield
    if held:
        held.close()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any, kept_database: Path) -> None:
    """Passwords are hashed in no time, and a page that is sent in parts is read as a whole."""
    from django.conf import settings
    from django.http import StreamingHttpResponse

    def read_whole(response: StreamingHttpResponse) -> bytes:
        whole = b"".join(response.streaming_content)
        response.streaming_content = [whole]
        return whole

    StreamingHttpResponse.content = property(read_whole)
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

    with django_db_blocker.unblock():
        keep_migrated(kept_database)
        let_tests_empty_the_audit_log()


def keep_migrated(kept_database: Path) -> None:
    """What was migrated is kept for later runs, as it is before any test."""
    from django.db import connection

    from tests import migrated

    connection.ensure_connection()
    if connection.vendor == "sqlite" and not kept_database.exists():
        migrated.keep(connection.connection, kept_database)


def let_tests_empty_the_audit_log() -> None:
    """Tables are emptied after a test that commits, by DELETE in SQLite and by TRUNCATE in
    PostgreSQL, which the audit log refuses."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DROP TRIGGER audit_log_no_delete")
        else:
            cursor.execute("DROP TRIGGER audit_log_no_truncate ON planner_auditentry")


@pytest.fixture(autouse=True, scope="session")
def expected_market() -> Iterator[None]:
    """The clouds of the tests sell less than the real ones, which the bundled prices list: what
    a first refresh is held against is tested in `tests/pricing/bundled/test_bundled_catalog.py`."""
    from pricing.publish import batch

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "read_expected_offers", lambda _provider: [])
        yield
