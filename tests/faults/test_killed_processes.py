"""Web, workers and beat are killed at random moments, Redis and PostgreSQL restarted: no job is
lost or done twice, nothing is half-written, and all is done within a minute of the last fault.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.clients import ITEMS, Client, receiver
from tests.faults.killing import (
    CLIENTS,
    PREPARE,
    RECOVERY_SECONDS,
    Asked,
    Faults,
    ask,
    problems,
    run_script,
    strike,
    wait_until_done,
)
from tests.faults.services import LOG, database, redis, running_site

LONG = os.environ.get("FAULTS") == "1"
FAULTS = Faults(100, 10, 5) if LONG else Faults(10, 1, 1)
HAS_SERVERS = shutil.which("redis-server") and any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


@pytest.mark.xdist_group("servers")
@pytest.mark.sweep
@pytest.mark.faults
@pytest.mark.skipif(not HAS_SERVERS, reason="PostgreSQL or Redis is not installed")
def test_nothing_is_lost_or_doubled_whatever_is_killed() -> None:
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text("")
    with database() as address, redis() as (broker, url), receiver() as (hook, seen):
        environment = os.environ | {
            "DATABASE_URL": address,
            "CELERY_BROKER_URL": f"{url}/0",
            "CACHE_URL": f"{url}/1",
            "DEBUG": "0",
            "SECRET_KEY": "faulty" * 10,
            "ALLOWED_HOSTS": "127.0.0.1",
            "DJANGO_SETTINGS_MODULE": "tests.served_settings",
            "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
            "LOG_LEVEL": "WARNING",
        }
        known = json.loads(run_script(PREPARE, environment, hook))
        with running_site(environment) as (port, services):
            asked, until = Asked(), threading.Event()
            clients = [
                threading.Thread(
                    target=ask,
                    args=(Client(port, known["token"], known["team"]), known["webhook"]),
                    kwargs={"until": until, "asked": asked},
                )
                for _ in range(CLIENTS)
            ]
            for client in clients:
                client.start()
            while not asked.jobs:
                time.sleep(0.5)
            struck = Counter(strike(FAULTS, services, broker, address))
            until.set()
            for client in clients:
                client.join()
            state, seconds = wait_until_done(environment, RECOVERY_SECONDS * 4)
    again = sum(row[2] > 1 for row in state["jobs"])
    twice = sum(count > 1 for count in seen.values())
    print(
        f"{dict(struck)}: {len(asked.jobs)} jobs ({again} done again), "
        f"{len(asked.deliveries)} deliveries ({twice} sent more than once), "
        f"all done {seconds:.0f} s after the last request"
    )
    assert problems(asked, state, seen, ITEMS) == []
    assert seconds <= RECOVERY_SECONDS
