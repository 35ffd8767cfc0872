"""Processes of the site are killed at random moments, Redis and PostgreSQL restarted: no job, row
of a sweep or delivery is lost or there twice, and all is done within a minute of the last fault.
"""

import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.attack.cases import REQUEST
from tests.attack.server import ROOT
from tests.faults.services import LOG, Service, database, redis, restart_database, running_site
from tests.pricing.servers.azure import AzureServer
from tests.pricing.servers.base import Fault

LONG = os.environ.get("FAULTS") == "1"
KILLS, RESTARTS, ROWS = (60, 4, 5_000) if LONG else (10, 1, 200)
RECOVERY_SECONDS = 60.0
ROWS_PER_SECOND = 2.0
"""That two cores compare undisturbed while another test has a share of them."""
POLL_SECONDS = 10.0
"""Between two looks at the database: each starts a process, which the workers do without."""
"""Within which all is done, beside what the sweep takes undisturbed."""
HAS_SERVERS = shutil.which("redis-server") and any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
PREPARE = """
import django; django.setup()
import json, sys
from datetime import timedelta
from django.utils import timezone
from django.contrib.auth.models import User
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("load_catalog", verbosity=0)
from planner.models import Schedule, Scope, access_of
from planner.services.teams import teams
from planner.services.webhooks import webhooks
user = User.objects.create_user("operator", password="quiet-visitor-7")
team = teams.create_team(access_of(user), "Faulty")
access = access_of(User.objects.get())
_, secret = teams.create_token(
    access, team, name="t", scopes=[Scope.READ, Scope.WRITE], days=1, is_service=True)
hook = webhooks.add_endpoint(access, team, {"url": sys.argv[1], "events": []})
missed = timezone.now() - timedelta(hours=12)
Schedule.objects.create(name="price_refresh", started_at=missed)
print(json.dumps({"team": team.slug, "token": secret, "webhook": str(hook.pk)}))
"""
READ = """
import django; django.setup()
import json
from django.db.models import Count
from planner.models import Job, Project, SweepRow, WebhookDelivery
from pricing.models import RefreshRun
jobs = Job.objects.filter(parent=None)
runs = RefreshRun.objects.filter(provider="azure").exclude(outcome__in=["running", "interrupted"])
rows = SweepRow.objects
print(json.dumps({
    "jobs": [[str(j.pk), j.kind, j.state, j.attempts, str(j.error or "")] for j in jobs],
    "chunks": Job.objects.exclude(parent=None).count(),
    "rows": rows.count(), "refused": rows.filter(row=None).count(),
    "deliveries": [[str(d.pk), d.state] for d in WebhookDelivery.objects.all()],
    "projects": [p.name for p in Project.objects.all()],
    "runs": runs.count(),
}))
"""


def run_script(script: str, environment: dict[str, str], *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *arguments],
        cwd=ROOT,
        env=environment | {"DJANGO_SETTINGS_MODULE": "planner.settings"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


class Client:
    """Calls the API with a token, again and again with the same key until it has an answer; what
    the server said that it has taken is in `jobs`, `projects` and `deliveries`."""

    def __init__(self, port: int, token: str, team: str, webhook: str) -> None:
        self._port, self._token, self._team, self._webhook = port, token, team, webhook
        self.jobs: list[str] = []
        self.projects: list[str] = []
        self.deliveries: list[str] = []

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """None where nobody answered, or has no room; a refusal is a mistake here."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        plain = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        plain["X-Forwarded-Proto"] = "https"
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, f"/api/v1/{path}", data, plain | headers)
            response = connection.getresponse()
            text = response.read()
            if response.status in (400, 403, 404):
                raise AssertionError(text)
            return json.loads(text) if response.status < 300 else None
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()

    def post(self, path: str, body: Any) -> Any:
        headers = {"Idempotency-Key": str(uuid.uuid4()), "Prefer": "respond-async"}
        until = time.monotonic() + 120
        while time.monotonic() < until:
            if answer := self.call("POST", path, body, **headers):
                return answer
            time.sleep(0.5)
        raise AssertionError(f"Nobody took {path}.")

    def start_sweep(self) -> None:
        hours = [10 + n for n in range(ROWS)]
        quick = {"cheaper_if": False, "sensitivity": False, "decide_every_months": 0}
        body = {"request": REQUEST | quick, "variations": {"workload.hours_per_month": hours}}
        self.jobs.append(self.post("sweeps/", body | {"team": self._team})["id"])

    def ask(self, until: threading.Event) -> None:
        """Saves a project, sends an event, plans a portfolio as a job, and waits for that."""
        work = {"workload": REQUEST["workload"]}
        both = {"projects": [{"name": name, **work} for name in ("speech", "vision")]}
        while not until.is_set():
            name = uuid.uuid4().hex
            project = {"team": self._team, "name": name, "workload": REQUEST["workload"]}
            self.post("projects/", project)
            self.projects.append(name)
            job = self.post(f"portfolios/?team={self._team}", both)["id"]
            self.jobs.append(job)
            path = f"teams/{self._team}/webhooks/{self._webhook}/test/"
            if delivery := self.call("POST", path, {}):
                self.deliveries.append(delivery["id"])
            while not until.wait(1.0):
                row = self.call("GET", f"jobs/{job}/")
                if row and row["state"] not in ("queued", "running"):
                    break


@contextmanager
def receiver() -> Iterator[tuple[str, Counter[str]]]:
    """An address for webhooks, and how often each message reached it."""
    seen: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            seen[body["title"]] += 1
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"json://127.0.0.1:{server.server_address[1]}/", seen
    finally:
        server.shutdown()


def strike(services: list[Service], broker: Service, database: str) -> Iterator[str]:
    """One fault after another, at random moments; says which."""
    chance = random.Random(1)
    events = ["kill"] * KILLS + ["redis", "database"] * RESTARTS
    chance.shuffle(events)
    for event in events:
        time.sleep(chance.uniform(0.5, 4.0))
        if event == "kill":
            service = chance.choice(services)
            service.kill(chance.choice(service.family()))
        elif event == "redis":
            broker.kill()
        else:
            restart_database(database)
        yield service.name if event == "kill" else event


def is_done(state: dict[str, Any]) -> bool:
    waiting = [row for row in state["jobs"] if row[2] in ("queued", "running")]
    return not waiting and all(row[1] != "pending" for row in state["deliveries"])


@pytest.mark.xdist_group("servers")
@pytest.mark.sweep
@pytest.mark.faults
@pytest.mark.skipif(not HAS_SERVERS, reason="PostgreSQL or Redis is not installed")
@pytest.mark.parametrize("has_broker", [True, False])
def test_nothing_is_lost_or_doubled_whatever_is_killed(has_broker: bool) -> None:
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text("")
    with (
        database() as address,
        redis() as (broker, url),
        receiver() as (hook, seen),
        AzureServer() as azure,
    ):
        azure.faults.append(Fault(delay_s=0.3))
        environment = {
            **os.environ,
            **azure.settings,
            **dict.fromkeys(("AWS_PRICE_LIST_URL", "GCP_BILLING_URL"), "http://127.0.0.1:9"),
            "DATABASE_URL": address,
            "CELERY_BROKER_URL": f"{url}/0" if has_broker else "",
            "CACHE_URL": f"{url}/1",
            "DEBUG": "0",
            "SECRET_KEY": "faulty" * 10,
            "ALLOWED_HOSTS": "127.0.0.1",
            "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
            "LOG_LEVEL": "WARNING",
            "PRICE_REFRESH_SCHEDULE": "0 */6 * * *",
        }
        known = run_script(PREPARE, environment, hook)
        with running_site(environment) as (port, services):
            client = Client(port, known["token"], known["team"], known["webhook"])
            client.start_sweep()
            until = threading.Event()
            asking = threading.Thread(target=client.ask, args=(until,))
            asking.start()
            struck = Counter(strike(services, broker, address))
            until.set()
            asking.join()
            ended = time.monotonic()
            # What the sweep takes undisturbed, from what is left of it at the last fault.
            left = ROWS - run_script(READ, environment)["rows"]
            while not is_done(state := run_script(READ, environment)):
                assert time.monotonic() - ended < RECOVERY_SECONDS + left / ROWS_PER_SECOND, state
                time.sleep(POLL_SECONDS)
            passed = time.monotonic() - ended
    jobs = {row[0]: row for row in state["jobs"]}
    refreshes = [row for row in jobs.values() if row[1] == "price_refresh"]
    again = sum(row[3] > 1 for row in jobs.values())
    print(
        f"{dict(struck)}: {len(client.jobs)} jobs ({again} done again), refreshes {refreshes}, "
        f"{len(client.deliveries)} deliveries; {left} rows were left, "
        f"all done {passed:.0f} s after the last request"
    )
    asked = {pk for pk, row in jobs.items() if row[1] in ("sweep", "portfolio")}
    assert asked == set(client.jobs)
    assert {row[2] for row in jobs.values()} == {"succeeded"}, jobs
    assert (state["rows"], state["refused"], state["chunks"]) == (ROWS, 0, 0)
    assert sorted(state["projects"]) == sorted(client.projects)
    assert (len(refreshes), state["runs"]) == (1, 1)
    delivered = {pk for pk, what in state["deliveries"] if what == "delivered"}
    assert set(client.deliveries) <= delivered
    assert seen["A test for Faulty"] >= len(client.deliveries)
