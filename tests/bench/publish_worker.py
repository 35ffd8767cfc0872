"""Publishes into the empty database of DATABASE_URL and times it beside the bare floor.

Run by bench_publish, one process for each database: `python -m tests.bench.publish_worker N`.
Prints JSON: name → [seconds of checking, of storing, of the floor].
"""

import datetime as dt
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402

from pricing.market.offers import Offer, PurchaseOption  # noqa: E402
from pricing.models import Price  # noqa: E402
from pricing.publish import publication  # noqa: E402
from pricing.publish.batch import OfferBatch  # noqa: E402
from pricing.storage import bulk  # noqa: E402

DAY = dt.date(2026, 9, 1)
COLUMNS = (
    *("id", "provider", "region", "zone", "instance_type", "accelerator", "accelerator_count"),
    *("purchase_option", "term_months", "payment_option", "currency", "vcpus", "memory_gib"),
    *("network_gbps", "sku", "source", "price", "upfront", "sold_now", "as_of"),
)
ROUNDS = 5


def offers(provider: str, count: int, round_: int) -> tuple[Offer, ...]:
    """`count` offers of 200 regions; every price differs from round to round."""
    return tuple(
        Offer(
            provider=provider,
            region=f"region-{n % 200}",
            instance_type=f"m{n // 200}.8xlarge",
            accelerator="nvidia-h100-80gb-sxm",
            accelerator_count=Fraction(8),
            purchase_option=PurchaseOption.ON_DEMAND,
            price_per_hour=Decimal(10_000 + n % 977 + round_) / 1000,
            vcpus=192.0,
            memory_gib=2048.0,
            sku=f"SKU{n}",
            source="price list",
            as_of=DAY,
        )
        for n in range(count)
    )


def floor_rows(count: int, round_: int) -> list[tuple[object, ...]]:
    """The same content as ready-made tuples, whole numbers for money."""
    return [
        (o.id, o.provider, o.region, o.zone, o.instance_type, o.accelerator, 8,
         o.purchase_option.value, 0, "", o.currency, o.vcpus, o.memory_gib, None, o.sku, o.source,
         int(o.price_per_hour * 10**10), 0, True, "2026-09-01")
        for o in offers("floor", count, round_)
    ]  # fmt: skip


def make_floor() -> None:
    types = "text primary key" + ", {} text" * 5 + ", {} bigint, {} text, {} bigint, {} text"
    types += ", {} text" + ", {} double precision" * 3 + ", {} text, {} text, {} bigint, {} bigint"
    types += ", {} boolean, {} text"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE floor (id {types.format(*COLUMNS[1:])})")


def upsert(rows: list[tuple[object, ...]]) -> None:
    """The floor: SQLite `executemany`, PostgreSQL COPY, each with the upsert."""
    names = ", ".join(COLUMNS)
    changes = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])
    on_conflict = f"ON CONFLICT (id) DO UPDATE SET {changes}"
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            marks = ", ".join(["%s"] * len(COLUMNS))
            cursor.executemany(f"INSERT INTO floor ({names}) VALUES ({marks}) {on_conflict}", rows)
            return
        cursor.execute("CREATE TEMP TABLE incoming (LIKE floor) ON COMMIT DROP")
        with cursor.copy(f"COPY incoming ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        cursor.execute(f"INSERT INTO floor SELECT * FROM incoming {on_conflict}")


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def publish(provider: str, batch: tuple[Offer, ...]) -> tuple[float, float]:
    """(seconds of checking against what is in force, seconds of storing what passed)."""
    began = time.perf_counter()
    with bulk.pause_garbage_collection():
        attempt = publication._PublicationAttempt(
            OfferBatch(provider, batch, DAY), DAY, force=False, expected=lambda _provider: []
        )
        checked = time.perf_counter()
        done = attempt.run(dry_run=False)
    if done is None or done.outcome != "published":
        raise RuntimeError(f"not published: {done}")
    return checked - began, time.perf_counter() - checked


Timing = tuple[float, float, float]
"""Seconds of checking, of storing, of the floor."""


def first_time(count: int) -> list[Timing]:
    found = []
    for n in range(ROUNDS):
        batch, rows = offers(f"first-{n}", count, 0), floor_rows(count, 0)
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM floor")
        floor = seconds(lambda rows=rows: upsert(rows))
        found.append((*publish(f"first-{n}", batch), floor))
    return found


def every_price_changed(count: int) -> list[Timing]:
    publish("changed", offers("changed", count, 0))
    found = []
    for n in range(1, ROUNDS + 1):
        batch, rows = offers("changed", count, n), floor_rows(count, n)
        floor = seconds(lambda rows=rows: upsert(rows))
        found.append((*publish("changed", batch), floor))
    return found


def nothing_changed(count: int) -> list[int]:
    """Price rows that a repeat writes when only the retrieval date moved."""
    publish("same", offers("same", count, 0))
    before = Price.objects.count()
    earlier = DAY - dt.timedelta(days=1)
    publish("same", tuple(replace(o, as_of=earlier) for o in offers("same", count, 0)))
    return [Price.objects.count() - before]


def least(found: list[Timing]) -> list[float]:
    """The least of each: what else the machine does only ever adds to it."""
    return [min(column) for column in zip(*found, strict=True)]


if __name__ == "__main__":
    size = int(sys.argv[1])
    call_command("migrate", verbosity=0, skip_checks=True)
    make_floor()
    told = {
        "first": least(first_time(size)),
        "changed": least(every_price_changed(size)),
        "rows": nothing_changed(size),
    }
    print(json.dumps(told))
