"""A PostgreSQL of our own, and the site on it as it is run: gunicorn with two workers."""

import contextlib
import http.client
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORKERS = 2
LOG = ROOT / ".make/attack.log"
"""What the server says; a server error leaves its traceback there."""


@dataclass(frozen=True)
class Site:
    """Where the site is, who may enter it, and the ids of what it holds."""

    port: int
    session: str
    ids: dict[str, str]


@contextmanager
def site() -> Iterator[Site]:
    """The site with the bundled catalog, one person, one team and one project."""
    with postgres() as database:
        environment = os.environ | {
            "DATABASE_URL": database,
            "DEBUG": "0",
            "SECRET_KEY": "attacked" * 8,
            "ALLOWED_HOSTS": "127.0.0.1",
            "DJANGO_SETTINGS_MODULE": "tests.served_settings",
            "NUM_PROXIES": "1",
            "LOG_LEVEL": "ERROR",
        }
        known = _fill(environment)
        with _gunicorn(environment) as port:
            yield Site(port, known.pop("session"), known)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a fresh cluster; PostgreSQL refuses to be run by root."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    programs = str(folders[-1].parent) if folders else ""
    if not programs and not shutil.which("initdb"):
        sys.exit("PostgreSQL's initdb is not here; install the package postgresql.")
    is_root = os.geteuid() == 0
    owner = ("runuser", "-u", "postgres", "--") if is_root else ()
    folder = tempfile.mkdtemp(prefix="attack-postgres-")
    if is_root:
        os.chown(folder, pwd.getpwnam("postgres").pw_uid, -1)
    port = free_port()
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c fsync=off -k {folder}"

    def call(program: str, *arguments: str) -> None:
        command = [*owner, str(Path(programs, program)), "-D", f"{folder}/data", *arguments]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    try:
        call("initdb", "-U", "planner", "--auth=trust", "--encoding=UTF8")
        call("pg_ctl", "-w", "-l", f"{folder}/log", "-o", options, "start")
        try:
            yield f"postgres://planner@127.0.0.1:{port}/postgres"
        finally:
            call("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_FILL = """
import django; django.setup()
import json
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("load_catalog", verbosity=0)
from planner.models import access_of
from planner.services.projects import projects
from planner.services.teams import teams
user = User.objects.create_user("visitor", password="quiet-visitor-7")
team = teams.create_team(access_of(user), "Attacked")
access = access_of(User.objects.get())
from tests.attack.cases import REQUEST
project = projects.create_project(access, team, {
    "name": "Project", "workload": REQUEST["workload"], "assumptions": {"horizon_months": 12}})
session = SessionStore()
session[SESSION_KEY] = str(user.pk)
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session[HASH_SESSION_KEY] = user.get_session_auth_hash()
session.save()
print(json.dumps({"session": session.session_key, "team": team.slug,
                  "project": str(project.pk)}))
"""


def _fill(environment: dict[str, str]) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", _FILL],
        cwd=ROOT,
        env=environment | {"DJANGO_SETTINGS_MODULE": "planner.settings"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    known: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return known


@contextmanager
def _gunicorn(environment: dict[str, str]) -> Iterator[int]:
    port = free_port()
    command = [
        str(Path(sys.executable).with_name("gunicorn")),
        "tests.attack.site:application",
        *("--bind", f"127.0.0.1:{port}", "--workers", str(WORKERS), "--timeout", "120"),
        *("--threads", "8", "--log-level", "warning"),
    ]
    with LOG.open("w") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        wait_for(server, port)
        yield port
    finally:
        server.terminate()
        server.wait(30)


def wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and server.poll() is None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/api/v1/regions/")
            connection.getresponse().read()
            return
        time.sleep(0.1)
    raise RuntimeError("The server did not start.")
