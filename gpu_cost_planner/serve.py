"""`gpu-cost-planner serve`: the pages and the API, set up and served on this machine."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from importlib.util import find_spec
from pathlib import Path

from pricing.common.invalid_input import InvalidInput

HELP = "Serve the pages and the API on this machine (needs the repository and the extra server)."
ROOT = Path(__file__).resolve().parent.parent
NEEDED = ("templates", "static", "node_modules")
"""Folders of the repository that the pages are made from."""


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("--host", default="127.0.0.1", help="address (default %(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port (default %(default)s)")


def run(options: Namespace) -> int:
    """Bring the database up to date, load the bundled prices, and serve until stopped."""
    check_installation(ROOT)
    prepare()
    sys.stdout.flush()
    os.execv(sys.executable, build_command(options.host, options.port))  # noqa: S606 - no shell


def check_installation(root: Path) -> None:
    """Raise `InvalidInput` where something that serving needs is not there."""
    if find_spec("django") is None or find_spec("gunicorn") is None:
        hint = "install it with pip install 'gpu-cost-planner[server]'"
        raise InvalidInput("serve", f"needs Django and gunicorn; {hint}")
    missing = [name for name in NEEDED if not (root / name).is_dir()]
    if missing:
        raise InvalidInput(
            "serve",
            f"needs the folders {', '.join(missing)} of the repository, which a wheel does not "
            "hold; clone it and use `make run`",
        )


def prepare() -> None:
    """Migrate the database and load the bundled prices; a second call changes nothing."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    call_command("load_catalog")


def build_command(host: str, port: int) -> list[str]:
    """The web server's command line."""
    place = f"{host}:{port}"
    threads = ("--worker-class", "gthread", "--threads", "8", "--timeout", "120")
    return [sys.executable, "-m", "gunicorn", "planner.wsgi", "--bind", place, *threads]
