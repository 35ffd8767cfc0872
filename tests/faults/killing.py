"""Kills, restarts, and what is left of the jobs and deliveries that were asked for meanwhile."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.attack.server import ROOT
from tests.faults.clients import Client
from tests.faults.services import Service, restart_database

CLIENTS = 3
PAUSE_SECONDS = (0.5, 4.0)
"""Shortest and longest time between two kills."""
RECOVERY_SECONDS = 60.0
PREPARE = """
import django; django.setup()
import json, sys
from django.contrib.auth.models import User
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("load_catalog", verbosity=0)
from planner.models import Scope, access_of
from planner.services.teams import teams, tokens
from planner.services.webhooks import webhooks
user = User.objects.create_user("operator", password="quiet-visitor-7")
team = teams.create_team(access_of(user), "Faulty")
access = access_of(User.objects.get())
_, secret = tokens.create_token(
    access, team, name="t", scopes=[Scope.READ, Scope.WRITE], days=1, is_service=True)
hook = webhooks.add_endpoint(access, team, {"url": sys.argv[1], "events": []})
print(json.dumps({"team": team.slug, "token": secret, "webhook": str(hook.pk)}))
"""
READ = """
import django; django.setup()
import json
from planner.models import Job, WebhookDelivery
jobs = [[str(j.pk), j.state, j.attempts, j.result and len(j.result["results"]), str(j.error or "")]
        for j in Job.objects.all()]
deliveries = [[str(d.pk), d.state, d.attempts] for d in WebhookDelivery.objects.all()]
print(json.dumps({"jobs": jobs, "deliveries": deliveries}))
"""


def run_script(script: str, environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *arguments],
        cwd=ROOT,
        env=environment | {"DJANGO_SETTINGS_MODULE": "planner.settings"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.splitlines()[-1]


@dataclass
class Asked:
    """What the server said that it has taken."""

    jobs: list[str] = field(default_factory=list)
    deliveries: list[str] = field(default_factory=list)


@dataclass
class Faults:
    """How often what is to be killed or restarted."""

    kills: int
    cache_restarts: int
    database_restarts: int
    seed: int = 1

    def plan(self) -> list[str]:
        events = ["kill"] * self.kills + ["redis"] * self.cache_restarts
        events += ["database"] * self.database_restarts
        random.Random(self.seed).shuffle(events)
        return events


def ask(client: Client, webhook: str, until: threading.Event, asked: Asked) -> None:
    """Starts a job and sends an event, waits for the job, and so on until it is told to stop."""
    while not until.is_set():
        if job := client.start_job():
            asked.jobs.append(job)
        if delivery := client.send_test(webhook):
            asked.deliveries.append(delivery)
        while job and not until.wait(1.0) and client.is_open(job):
            pass


def strike(
    faults: Faults, services: list[Service], broker: Service, database: str
) -> Iterator[str]:
    """One fault after another, at random moments; says which."""
    chance = random.Random(faults.seed + 1)
    for event in faults.plan():
        time.sleep(chance.uniform(*PAUSE_SECONDS))
        if event == "kill":
            service = chance.choice(services)
            family = service.family()
            service.kill(chance.choice(family) if family else 0)
            yield service.name
        elif event == "redis":
            broker.kill()
            yield "redis"
        else:
            restart_database(database)
            yield "database"


def wait_until_done(environment: dict[str, str], seconds: float) -> tuple[dict[str, list], float]:
    """What is in the database once nothing waits any more, and how long that took."""
    began = time.monotonic()
    while True:
        state = json.loads(run_script(READ, environment))
        waiting = [row for row in state["jobs"] if row[1] in ("queued", "running")]
        waiting += [row for row in state["deliveries"] if row[1] == "pending"]
        passed = time.monotonic() - began
        if not waiting or passed > seconds:
            return state, passed
        time.sleep(1)


def problems(asked: Asked, state: dict[str, list], seen: Counter[str], items: int) -> list[str]:
    """What was lost, doubled or half-written."""
    jobs = {row[0]: row for row in state["jobs"]}
    lost = [pk for pk in asked.jobs if pk not in jobs]
    unasked = sorted(set(jobs) - set(asked.jobs))
    failed = [row for row in jobs.values() if row[1] != "succeeded"]
    partial = [pk for pk, row in jobs.items() if row[1] == "succeeded" and row[3] != items]
    delivered = {row[0] for row in state["deliveries"] if row[1] == "delivered"}
    checks = {
        "jobs lost": lost,
        "jobs that nobody asked for": unasked,
        "jobs not done": failed,
        "jobs half-written": partial,
        "deliveries lost": [pk for pk in asked.deliveries if pk not in delivered],
        "deliveries that reached nobody": [pk for pk in delivered if not seen[pk]],
    }
    return [f"{len(rows)} {name}: {rows[:5]}" for name, rows in checks.items() if rows]
