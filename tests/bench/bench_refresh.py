"""A refresh of markets as large as the real ones: time of AWS at 400 ms a call, peak memory.

AWS has 33 regions here (some 320 calls and 13,000 offers), Google's catalog 31,000 rows. Each
refresh runs in a process of its own on an empty database, twice: the second one reads what is in
force. The database is SQLite, or one of its own on the server of DATABASE_URL where that names a
PostgreSQL. Memory is VmHWM of Linux.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.bench.row import SHORT, Row

CALL_S = 0.4
MAX_AWS_S = 45.0
MAX_MB, MAX_BULK_MB = 300.0, 150.0
CHILD = """
import sys
from django.core.management import execute_from_command_line
try:
    execute_from_command_line(["manage.py", "refresh_prices", *sys.argv[1:], "--force"])
except SystemExit as ended:
    assert not ended.code, ended.code
status = open("/proc/self/status").read()
print("PEAK_KIB", int(status.partition("VmHWM:")[2].split()[0]))
"""


def bench() -> list[Row]:
    with _servers(CALL_S) as urls:
        _, aws_s = _refresh({"AWS_ENDPOINT_URL": urls["aws"]}, "aws", times=1)
    with _servers(0) as urls:
        whole, _ = _refresh(
            {
                "AWS_ENDPOINT_URL": urls["aws"],
                "AZURE_RETAIL_PRICES_URL": urls["azure"],
                "AZURE_RESOURCE_MANAGER_URL": urls["azure"],
                "AZURE_SUBSCRIPTION_ID": "00000000-1111-2222-3333-444444444444",
                "GCP_BILLING_URL": urls["gcp"],
                "GCP_COMPUTE_URL": urls["gcp"],
                "GCP_PROJECT": "research-1",
            },
            *("aws", "azure", "gcp"),
        )
        bulk, _ = _refresh({"AWS_PRICE_LIST_URL": urls["aws"]}, "aws")
    return [
        _row(f"refresh: AWS at {CALL_S * 1000:g} ms a call, start included", aws_s, MAX_AWS_S, "s"),
        _row("refresh: memory of three clouds", whole, MAX_MB, "MB"),
        _row("refresh: memory of the public files of AWS", bulk, MAX_BULK_MB, "MB"),
    ]


def _row(name: str, ours: float, most: float, unit: str) -> Row:
    return Row(name, ours, most, f"<= {most:g} {unit}", ours <= most, unit)


@contextmanager
def _servers(delay_s: float) -> Iterator[dict[str, str]]:
    command = [sys.executable, "-m", "tests.bench.site.refresh_servers", str(delay_s)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
        process.stdin.close()


def _refresh(
    settings: dict[str, str], *providers: str, times: int = 1 if SHORT else 2
) -> tuple[float, float]:
    """Peak memory, MB, and time, s, of the worst of `times` refreshes on one database."""
    own = ("AWS_", "AZURE_", "GCP_", "GOOGLE_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    env |= {"AWS_EC2_METADATA_DISABLED": "true", "DJANGO_SETTINGS_MODULE": "planner.settings"}
    env |= {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    with _database() as url:
        env |= settings | {"DATABASE_URL": url}
        subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], env=env, check=True)
        runs = [_run(env, providers) for _ in range(times)]
    return max(run[0] for run in runs), max(run[1] for run in runs)


@contextmanager
def _database() -> Iterator[str]:
    """The address of an empty database, which goes afterwards."""
    server_url = os.environ.get("DATABASE_URL", "")
    if not server_url.startswith("postgres"):
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            yield f"sqlite:///{folder}/prices.sqlite3"
        return
    import psycopg
    from psycopg import sql

    name = f"bench_refresh_{os.getpid()}"
    base = server_url.rpartition("/")[0]
    with psycopg.connect(f"{base}/postgres", autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield f"{base}/{name}"
        finally:
            drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
            server.execute(drop)


def _run(env: dict[str, str], providers: tuple[str, ...]) -> tuple[float, float]:
    began = time.perf_counter()
    command = [sys.executable, "-c", CHILD, *providers]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - began
    return int(done.stdout.rpartition("PEAK_KIB")[2]) * 1024 / 1e6, seconds
