"""Sweeps over many machines: workers take comparisons from a broker that all of them reach.

A worker (`gpu-cost-planner worker --broker URL`) holds the prices in memory and needs neither
Django nor a database. What it is given names the version of the program and the digest of the
prices; a worker with others refuses, so that no row has figures of another market. What a worker
that dies had begun is given to another one.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator, Mapping
from typing import Any

from celery import Celery
from celery.exceptions import TimeoutError as NothingYet
from celery.result import ResultSet
from kombu.exceptions import KombuError, OperationalError

from gpu_cost_planner.sweeps.sweep import Fields, Market, Row, Variation
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

QUEUE = "gpu-cost-planner-sweeps"
TASK = "gpu_cost_planner.summarize"
LOOK_EVERY_S = 30.0
"""Without a row for so long, the workers are asked whether they are still there."""
PING_S = 2.0
GIVEN_AGAIN_S = 600
"""What a machine that vanished had begun is given to another after so long."""
_UNREACHABLE = (OperationalError, KombuError, ConnectionError, OSError)


def make_app(broker: str) -> Celery:
    """The Celery app of sweeps; `broker` is the address of Redis, RabbitMQ or the like, whose
    rows come back through it too."""
    backend = broker if broker.startswith(("redis", "rediss")) else "rpc://"
    if broker.startswith("memory:"):
        backend = "cache+memory://"
    app = Celery("gpu_cost_planner.sweeps", set_as_current=False)
    app.conf.update(
        broker_url=broker,
        result_backend=backend,
        task_default_queue=QUEUE,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        result_expires=GIVEN_AGAIN_S * 6,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "visibility_timeout": GIVEN_AGAIN_S,
            "socket_connect_timeout": 5,
            "max_retries": 1,
        },
        redis_socket_connect_timeout=5,
    )
    return app


def compare_on_workers(
    missing: Mapping[str, Variation], *, market: Market, broker: str
) -> Iterator[tuple[str, Row]]:
    """Key and row of each variation, as the workers have done them. Raises `InvalidInput` where
    the broker or its workers cannot be reached, or hold other prices."""
    if not missing:
        return
    app = make_app(broker)
    try:
        _look_for_workers(app)
        yield from _collect(app, missing, market)
    except _UNREACHABLE as trouble:
        message = (
            f"cannot be reached ({type(trouble).__name__}); check its address and that it runs"
        )
        raise InvalidInput("broker", message) from None
    finally:
        app.close()


def _look_for_workers(app: Celery) -> None:
    if not app.control.broadcast("ping", reply=True, timeout=PING_S, limit=1):
        raise InvalidInput(
            "broker",
            "no worker answers there; start some with `gpu-cost-planner worker --broker …`. "
            "What is in the journal is kept",
        )


def _collect(
    app: Celery, missing: Mapping[str, Variation], market: Market
) -> Iterator[tuple[str, Row]]:
    prices, today = market.describe({"start": "given"}), market.today.isoformat()
    pending = {
        app.send_task(TASK, (prices, today, one.request)).id: key for key, one in missing.items()
    }
    try:
        while pending:
            waiting = ResultSet([app.AsyncResult(one) for one in pending], app=app)
            try:
                for task, outcome in waiting.iter_native(timeout=LOOK_EVERY_S):
                    yield pending.pop(task), _read(outcome)
            except NothingYet:
                _look_for_workers(app)
    finally:
        if pending:  # Stopped: nobody needs to begin what is left.
            app.control.revoke([*pending])


def _read(outcome: Mapping[str, Any]) -> Row:
    """The row that a worker gives; its refusal is an error."""
    result = outcome["result"]
    if isinstance(result, BaseException):
        raise result
    if "holds" in result:
        raise InvalidInput(
            "broker",
            f"a worker holds other prices or another version ({result['holds']}); start the "
            "workers and the sweep with the same version and the same --server",
        )
    row: Row = result["row"]
    return row


def make_worker_app(broker: str, catalog: Catalog) -> Celery:
    """The app of a worker that compares at the prices of `catalog`."""
    app = make_app(broker)
    markets: dict[str, Market] = {}

    def summarize(prices: str, today: str, request: Fields) -> dict[str, Any]:
        market = markets.setdefault(today, Market(catalog, dt.date.fromisoformat(today)))
        held = market.describe({"start": "given"})
        return {"holds": held} if held != prices else {"row": market.summarize(request)}

    app.task(name=TASK, shared=False)(summarize)
    return app


def work(broker: str, catalog: Catalog, processes: int | None) -> None:
    """Take comparisons from a broker until stopped. Raises `InvalidInput` where it is away."""
    count = processes or os.cpu_count() or 1
    make_worker_app(broker, catalog).worker_main(
        ["worker", "--loglevel", "warning", "--concurrency", str(count), "-Q", QUEUE]
    )
