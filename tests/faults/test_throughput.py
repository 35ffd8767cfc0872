"""Two workers do nearly twice as much as one: nothing of a job waits for another's."""

from __future__ import annotations

import os
import time

import psycopg
import pytest

from tests.faults.killing import run_script
from tests.faults.services import LOG, Service, database, redis, worker_command
from tests.faults.test_killed_processes import HAS_SERVERS, LONG

JOBS = 40
LEAST_SPEED_UP = 1.7
QUEUE = """
import django; django.setup()
import sys
from django.contrib.auth.models import User
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("load_catalog", verbosity=0)
from planner.models import Team, access_of
from planner.services.jobs import jobs
from planner.services.teams import teams
from tests.attack.cases import REQUEST
if not Team.objects.exists():
    teams.create_team(access_of(User.objects.create_user("u", password="quiet-7")), "Team")
access, team = access_of(User.objects.get()), Team.objects.get()
items = [{"key": str(n), "request": REQUEST} for n in range(6)]
for _ in range(int(sys.argv[1])):
    jobs.start(access, "comparison_batch", {"items": items}, team)
print("queued")
"""
READ = """SELECT state, EXTRACT(EPOCH FROM finished_at)::float FROM planner_job
ORDER BY created_at DESC LIMIT %s"""
"""Asked over one connection: a process started each time would take a core of theirs."""


def jobs_per_second(environment: dict[str, str], workers: int) -> float:
    """From the first that is done, when every process has read the catalog, to the last."""
    run_script(QUEUE, environment, str(JOBS))
    services = [
        Service(f"worker {n}", worker_command(f"w{n}"), environment) for n in range(workers)
    ]
    try:
        with psycopg.connect(environment["DATABASE_URL"], autocommit=True) as connection:
            while True:
                rows = connection.execute(READ, [JOBS]).fetchall()
                if all(state == "succeeded" for state, _ in rows):
                    break
                assert not any(state == "failed" for state, _ in rows)
                time.sleep(1)
    finally:
        for service in services:
            service.stop()
    ended = sorted(moment for _, moment in rows)
    return (JOBS - workers) / (ended[-1] - ended[workers - 1])


@pytest.mark.xdist_group("servers")
@pytest.mark.sweep
@pytest.mark.faults
@pytest.mark.skipif(not LONG, reason="its ratio says something in the long form alone")
@pytest.mark.skipif(not HAS_SERVERS, reason="PostgreSQL or Redis is not installed")
def test_two_workers_do_nearly_twice_as_much_as_one() -> None:
    LOG.parent.mkdir(exist_ok=True)
    with database() as address, redis() as (_, url):
        environment = os.environ | {
            "DATABASE_URL": address,
            "CELERY_BROKER_URL": f"{url}/0",
            "DJANGO_SETTINGS_MODULE": "tests.served_settings",
        }
        one, two = (jobs_per_second(environment, workers) for workers in (1, 2))
    print(f"one worker {one:.2f} jobs/s, two {two:.2f} jobs/s: {two / one:.2f} times as many")
    assert two / one >= LEAST_SPEED_UP
