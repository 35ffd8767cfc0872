import datetime as dt
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
import time_machine
from django.db import OperationalError
from django.utils import timezone

from pricing.ingest.provider import ProviderUnavailable, SkippedRow
from pricing.models import RefreshRun
from pricing.publish import refresh
from pricing.publish.refresh import RefreshOptions
from pricing.storage import store
from tests.pricing.publish.fake_provider import FakeProvider, some_offers

pytestmark = pytest.mark.django_db


def one(provider: FakeProvider, **options):
    (result,) = refresh.refresh([provider], RefreshOptions(**options))
    return result


def published(name: str = "nimbus"):
    revision = store.latest(name)
    return {} if revision is None else {o.id: o for o in store.read_offers(revision)}


def test_what_a_provider_gives_is_published_as_of_today():
    result = one(FakeProvider())
    assert result.outcome == "published"
    assert len(published()) == 12
    assert store.latest("nimbus").as_of == timezone.now().date()
    assert store.latest("nimbus").origin == "live"


def test_each_run_is_recorded():
    one(FakeProvider([*some_offers(), SkippedRow("unknown accelerator", "X9")]))
    run = RefreshRun.objects.get()
    assert (run.outcome, run.offer_count, run.skipped_count) == ("published", 12, 1)
    assert run.revision.number == 1
    assert run.finished_at is not None


def test_providers_run_side_by_side():
    barrier = threading.Barrier(2, timeout=10)
    one_, other = (FakeProvider([barrier.wait, *some_offers(n)], name=n) for n in ("one", "two"))
    results = refresh.refresh([one_, other])
    assert {r.provider: r.outcome for r in results} == {"one": "published", "two": "published"}


def test_trap_10_one_provider_failing_leaves_the_others_and_its_own_last_prices():
    broken = ProviderUnavailable("one", "the server answered 500", "Try later.")
    refresh.refresh([FakeProvider(name="one"), FakeProvider(name="two")])
    before = published("one")
    results = refresh.refresh(
        [FakeProvider([*some_offers("one")[:3], broken], name="one"), FakeProvider(name="two")]
    )
    assert {r.provider: r.outcome for r in results} == {"one": "failed", "two": "published"}
    assert published("one") == before
    assert store.latest("two").number == 2


def test_a_defect_in_an_adapter_fails_that_provider_only():
    results = refresh.refresh(
        [FakeProvider([KeyError("price")], name="one"), FakeProvider(name="two")]
    )
    by_name = {r.provider: r for r in results}
    assert by_name["one"].outcome == "failed"
    assert "a defect in the adapter (KeyError: 'price')" in by_name["one"].message
    assert by_name["two"].outcome == "published"


def test_a_secret_in_an_error_is_not_repeated(monkeypatch, caplog):
    monkeypatch.setenv("NIMBUS_API_KEY", "hunter2hunter2")
    result = one(FakeProvider([RuntimeError("GET /?key=hunter2hunter2 failed")]))
    assert "hunter2" not in result.message + caplog.text
    assert "hunter2" not in RefreshRun.objects.get().message


def test_the_deadline_ends_a_run_that_hangs():
    release = threading.Event()
    started = time.monotonic()
    result = one(FakeProvider([lambda: release.wait(30)]), deadline_s=0.3)
    release.set()
    assert (result.outcome, time.monotonic() - started < 5) == ("failed", True)
    assert "deadline of 0.3 s passed" in result.message


def test_ctrl_c_leaves_the_last_revision_in_place():
    one(FakeProvider())
    release = threading.Event()

    class Stop(refresh.Listener):
        def started(self, provider):
            raise KeyboardInterrupt

    (result,) = refresh.refresh([FakeProvider([lambda: release.wait(30)])], None, Stop())
    release.set()
    assert result.outcome == "interrupted"
    assert store.latest("nimbus").number == 1


def test_a_run_that_was_killed_is_noted_by_the_next():
    RefreshRun.objects.create(provider="nimbus")
    one(FakeProvider())
    last, killed = RefreshRun.objects.all()
    assert (killed.outcome, last.outcome) == ("interrupted", "published")
    assert killed.message == "the process ended before the refresh did"


@pytest.fixture
def before():
    one(FakeProvider())
    return published()


def test_a_full_disk_changes_nothing_and_says_what_to_do(before, monkeypatch):
    def full(*_):
        raise OperationalError("database or disk is full")

    monkeypatch.setattr("pricing.storage.bulk.insert", full)
    dearer = [replace(o, price_per_hour=o.price_per_hour + 1) for o in some_offers()]
    result = one(FakeProvider(dearer))
    assert (result.outcome, published()) == ("failed", before)
    assert "the disk is full" in result.message
    assert result.hint == "Free disk space and refresh again."


@pytest.fixture
def at_noon() -> Iterator[None]:
    """Two hours before and after it the day is the same, and what was published is over."""
    noon = (timezone.now() + dt.timedelta(days=1)).replace(hour=12, minute=0)
    with time_machine.travel(noon, tick=False):
        yield


@pytest.mark.parametrize("hours", [-2, 2])
def test_a_clock_two_hours_off_is_told_and_never_makes_prices_fresher(before, hours, at_noon):
    result = one(FakeProvider(server_ahead=dt.timedelta(hours=hours)))
    assert result.outcome == "published"
    (warning,) = result.publication.warnings
    assert "our clock is 2 h 0 min" in warning
    now = timezone.now()
    assert store.latest("nimbus").as_of <= min(now, now + dt.timedelta(hours=hours)).date()


def test_a_clock_days_off_stops_the_refresh(before):
    result = one(FakeProvider(server_ahead=dt.timedelta(days=3)))
    assert (result.outcome, published()) == ("failed", before)
    assert "our clock is 72 h 0 min behind" in result.message
    assert "Set the clock" in result.hint
