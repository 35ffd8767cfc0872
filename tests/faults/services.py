"""PostgreSQL, Redis and the site's own processes, each started again when it ends, as systemd or a
container runtime would do it.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.attack.server import ROOT, free_port, postgres

LOG = ROOT / ".make/faults.log"
START_AGAIN_SECONDS = 1.0


class Service:
    """A process that is started again a second after it has ended."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str]) -> None:
        self.name, self._command, self._environment = name, command, environment
        self._is_over = threading.Event()
        self.process = self._start()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def _start(self) -> subprocess.Popen[bytes]:
        with LOG.open("ab") as log:
            return subprocess.Popen(
                self._command,
                cwd=ROOT,
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _keep(self) -> None:
        while not self._is_over.is_set():
            self.process.wait()
            if not self._is_over.wait(START_AGAIN_SECONDS):
                self.process = self._start()

    def family(self) -> list[int]:
        """The process, its children and theirs."""
        family = [self.process.pid]
        for pid in family:
            for file in Path(f"/proc/{pid}/task").glob("*/children"):
                with suppress(OSError):
                    family += map(int, file.read_text().split())
        return family

    def kill(self, pid: int = 0) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid or self.process.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Ends it with all that it started."""
        self._is_over.set()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


@contextmanager
def redis() -> Iterator[tuple[Service, str]]:
    """A Redis that forgets everything when it is killed."""
    program, port = shutil.which("redis-server"), free_port()
    if program is None:
        sys.exit("redis-server is not here; install the package redis-server.")
    folder = tempfile.mkdtemp(prefix="faults-redis-")
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    service = Service("redis", [program, *options], dict(os.environ))
    try:
        yield service, f"redis://127.0.0.1:{port}"
    finally:
        service.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def database() -> Iterator[str]:
    with postgres() as address:
        yield address


def restart_database(address: str) -> None:
    """Ends every connection at once, as a crash of the server does, and recovers."""
    port = address.rpartition(":")[2].partition("/")[0]
    for folder in Path(tempfile.gettempdir()).glob("attack-postgres-*/data"):
        lines = (folder / "postmaster.pid").read_text().splitlines()
        if lines[3] != port:
            continue
        program = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))[-1]
        owner = ("runuser", "-u", "postgres", "--") if os.geteuid() == 0 else ()
        subprocess.run(
            [*owner, str(program), "-D", str(folder), "-m", "immediate", "-w", "restart"],
            cwd=folder.parent,
            check=True,
            stdout=subprocess.DEVNULL,
        )


@contextmanager
def running_site(environment: dict[str, str]) -> Iterator[tuple[int, list[Service]]]:
    """The port of the web server, and all processes that may be killed: web and its processes, or
    with a broker workers and beat too."""
    port = free_port()
    web = [
        *(_program("gunicorn"), "planner.wsgi", "--bind", f"127.0.0.1:{port}", "--workers", "2"),
        *("--threads", "4", "--log-level", "warning"),
    ]
    celery = [_program("celery"), "-A", "planner.celery"]
    schedule = tempfile.mktemp(prefix="faults-beat-")
    commands = {"web": web}
    if environment.get("CELERY_BROKER_URL"):
        commands["worker"] = [*celery, "worker", "--concurrency", "2", "--loglevel", "WARNING"]
        commands["beat"] = [*celery, "beat", "--schedule", schedule, "--pidfile="]
    services = [Service(name, command, environment) for name, command in commands.items()]
    try:
        yield port, services
    finally:
        for service in services:
            service.stop()
        time.sleep(0.2)
        for path in Path(schedule).parent.glob(f"{Path(schedule).name}*"):
            path.unlink()
