"""A process that is treated badly: `python -m tests.pricing.publish.fault_worker MODE COUNT …`.

Works on the database of DATABASE_URL, which must be its own and is emptied after each mode, and
prints what it saw of each as JSON. Children are forked, so that one start of Django serves all.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from pricing import catalog  # noqa: E402
from pricing.models import OPEN, Price, RefreshRun, Revision  # noqa: E402
from pricing.publish import refresh  # noqa: E402
from pricing.storage import store  # noqa: E402
from tests.pricing.make import T4, offer  # noqa: E402
from tests.pricing.publish.fake_provider import FakeProvider  # noqa: E402

SIZE = 400
"""Offers of a version; each version has other prices, and a tenth of the machines comes or goes."""
WITH_ABSENT = (0, SIZE, SIZE + SIZE // 10)
"""Prices that are published: none, a version, a version with what it no longer lists."""


def version(number: int) -> list[Any]:
    base = offer("1", 1, provider="nimbus", accelerator=T4, as_of=None)
    first = (number % 2) * SIZE // 10
    return [
        replace(
            base,
            region=f"region-{n % 4}",
            instance_type=f"t4.{n}xlarge",
            price_per_hour=Decimal(1000 + number) / 1000,
        )
        for n in range(first, first + SIZE)
    ]


class Versioned(FakeProvider):
    """Gives a version, as slowly as it is told to."""

    def __init__(self, number: int, seconds: float = 0.0) -> None:
        super().__init__([lambda: time.sleep(seconds), *version(number)])

    def fetch(self, context: Any) -> Iterator[Any]:
        for item in super().fetch(context):
            yield replace(item, as_of=None)


def fork(work: Callable[[], int]) -> int:
    """Run `work` in a child of its own; its exit status is what `work` gives."""
    connection.close()
    pid = os.fork()
    if pid:
        return pid
    try:
        os._exit(work())
    except BaseException:
        os._exit(99)


def keep_publishing() -> int:
    while True:
        newest = store.latest("nimbus")
        refresh.refresh([Versioned(newest.number if newest else 0)])


def broken_revisions() -> list[str]:
    """What is wrong with what is published: nothing, if publishing is all or nothing."""
    wrong = []
    revisions = list(Revision.objects.order_by("number"))
    if [r.number for r in revisions] != list(range(1, len(revisions) + 1)):
        wrong.append("numbers have gaps")
    for revision in revisions[-3:]:
        offers = {
            o.id: o.price_per_hour for o in store.read_offers(revision) if o.absent_since is None
        }
        wanted = {o.id: o.price_per_hour for o in version(revision.number - 1)}
        if offers != wanted or not store.verify_revision(revision):
            wrong.append(f"{revision} is mixed or partial")
    newest = len(revisions)
    loose = Price.objects.filter(first_revision__gt=newest)
    if loose.exists() or Price.objects.filter(last_revision=OPEN).count() not in WITH_ABSENT:
        wrong.append("prices of no revision")
    return wrong


def kill_at_random(count: int) -> dict[str, Any]:
    """Kill a refresh `count` times, each at another moment, reading all the while."""
    wrong: list[str] = []
    reads = 0
    for n in range(count):
        child = fork(keep_publishing)
        end = time.monotonic() + random.Random(n).uniform(0.02, 0.4)
        try:
            while time.monotonic() < end:
                reads += 1
                offers = catalog.current().offers.offers
                if sum(o.absent_since is None for o in offers) not in (0, SIZE):
                    wrong.append("a reader saw a part")
                time.sleep(0.01)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        wrong += broken_revisions()
    (last,) = refresh.refresh([Versioned(Revision.objects.count())])
    outcomes = Counter(RefreshRun.objects.values_list("outcome", flat=True))
    return {"wrong": wrong, "reads": reads, "after": last.outcome, "outcomes": dict(outcomes)}


def race(count: int) -> dict[str, Any]:
    """`count` refreshes of one provider at the same moment."""
    start = time.time() + 0.5

    def run() -> int:
        time.sleep(max(0.0, start - time.time()))
        (result,) = refresh.refresh([Versioned(0, seconds=1.5)])
        return {"published": 10, "busy": 11}.get(result.outcome, 12)

    children = [fork(run) for _ in range(count)]
    codes = Counter(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    return {
        "published": codes[10],
        "busy": codes[11],
        "others": sum(codes.values()) - codes[10] - codes[11],
        "revisions": Revision.objects.count(),
        "wrong": broken_revisions(),
    }


def full_disk(_: int) -> dict[str, Any]:
    """A disk that fills up within the publication, and has room again afterwards."""
    refresh.refresh([Versioned(0)])
    fill_up()
    (full,) = refresh.refresh([Versioned(1)])
    seen = len(catalog.current().offers)
    wrong = broken_revisions()
    make_room()
    (after,) = refresh.refresh([Versioned(1)])
    return {
        "outcome": full.outcome,
        "message": full.message,
        "remedy": full.hint,
        "seen": seen,
        "wrong": wrong + broken_revisions(),
        "after": after.outcome,
    }


def fill_up() -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            pages = cursor.execute("PRAGMA page_count").fetchone()[0]
            cursor.execute(f"PRAGMA max_page_count = {pages + 2}")
            return
        cursor.execute(
            "CREATE FUNCTION no_room() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION "
            "'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$ "
            "LANGUAGE plpgsql; CREATE TRIGGER full_disk AFTER INSERT ON pricing_price "
            "EXECUTE FUNCTION no_room()"
        )


def make_room() -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA max_page_count = 1000000000")
            return
        cursor.execute("DROP TRIGGER full_disk ON pricing_price")


MODES = {"kill": kill_at_random, "race": race, "full": full_disk}


if __name__ == "__main__":
    call_command("migrate", "pricing", verbosity=0)
    seen = {}
    for mode, count in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        seen[mode] = MODES[mode](int(count))
        call_command("flush", interactive=False, reset_sequences=False, inhibit_post_migrate=True)
    print(json.dumps(seen))
