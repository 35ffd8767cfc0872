"""Sweeps over workers: the same rows as here, refusals where workers differ or are away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from celery import Celery
from celery.contrib.testing.worker import start_worker

from gpu_cost_planner import InvalidInput
from gpu_cost_planner.command_line import main
from gpu_cost_planner.sweeps import cluster
from pricing.market.snapshot import Catalog
from tests.gpu_cost_planner.test_sweep import plainly_swept, swept
from tests.planner.costing.market_of import CATALOG

MEMORY = "memory://"


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Celery:
    """Sweep and worker in one process: a broker in memory is known to its own app alone."""
    made = cluster.make_worker_app(MEMORY, CATALOG)
    monkeypatch.setattr(cluster, "make_app", lambda _broker: made)
    return made


@contextmanager
def working(app: Celery) -> Iterator[None]:
    with start_worker(app, perform_ping_check=False, pool="solo", queues=[cluster.QUEUE]):
        yield


@pytest.mark.sweep  # Waits for threads and timeouts.
def test_workers_give_the_same_rows(app: Celery, tmp_path: Path) -> None:
    with working(app):
        assert swept(tmp_path, processes=None, broker=MEMORY).equals(plainly_swept())
    # What is in the journal asks no worker again.
    assert swept(tmp_path, processes=None, broker=MEMORY).equals(plainly_swept())


@pytest.mark.sweep  # Waits for threads and timeouts.
def test_a_worker_with_other_prices_refuses(app: Celery) -> None:
    fewer = Catalog.of(CATALOG.offers.offers[:-1])
    with working(app), pytest.raises(InvalidInput, match="other prices or another version"):
        swept(processes=None, broker=MEMORY, catalog=fewer)


def test_without_a_worker_it_says_how_to_start_one(
    app: Celery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "PING_S", 0.05)
    with pytest.raises(InvalidInput, match="no worker answers there; start some"):
        swept(processes=None, broker=MEMORY)


@pytest.mark.sweep  # Waits for threads and timeouts.
def test_a_broker_that_is_away_is_named_without_its_password() -> None:
    with pytest.raises(InvalidInput, match="broker: cannot be reached") as refusal:
        swept(processes=None, broker="redis://:secret@127.0.0.1:1/0")
    assert "secret" not in str(refusal.value)


def test_processes_and_a_broker_do_not_go_together() -> None:
    with pytest.raises(InvalidInput, match="processes: goes without a broker"):
        swept(processes=2, broker=MEMORY)


def test_a_worker_needs_at_least_one_process(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["worker", "--broker", MEMORY, "--processes", "0"]) == 2
    assert "processes: 0 is not allowed; must be at least 1" in capsys.readouterr().err
