"""`gpu-cost-planner serve`: the pages and the API, set up and served on this machine."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from importlib.util import find_spec
from pathlib import Path

from planner.contract.typed_numbers import MOST_PORT, whole_number_from
from planner.places import BASE_DIR, DATA_DIR
from pricing.common.invalid_input import InvalidInput

HELP = "Serve the pages and the API on this machine (needs the extra server)."
NEEDED = ("templates", "static", "node_modules")
"""Folders that the pages are made from."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address (default %(default)s)")
    parser.add_argument(
        "--port",
        type=whole_number_from(1, MOST_PORT),
        default=8000,
        help="port (default %(default)s)",
    )


def run(options: Namespace) -> int:
    """Bring the database up to date, load the bundled prices, and serve until stopped."""
    check_installation(BASE_DIR)
    prepare()
    sys.stdout.flush()
    place = f"{options.host}:{options.port}"
    threads = ("--worker-class", "gthread", "--threads", "8", "--timeout", "120")
    command = [sys.executable, "-m", "gunicorn", "planner.wsgi", "--bind", place, *threads]
    os.execv(sys.executable, command)  # noqa: S606 - no shell


def check_installation(root: Path) -> None:
    """Raise `InvalidInput` where something that serving needs is not there."""
    if find_spec("django") is None or find_spec("gunicorn") is None:
        hint = "install it with pip install 'gpu-cost-planner[server]'"
        raise InvalidInput("serve", f"needs Django and gunicorn; {hint}")
    missing = [name for name in NEEDED if not (root / name).is_dir()]
    if missing:
        raise InvalidInput(
            "serve",
            f"needs {', '.join(missing)}, without which this was built; clone the repository and "
            "use `make run`, or build the wheel after `make .make/npm`",
        )


def prepare() -> None:
    """Migrate the database and load the bundled prices; a second call changes nothing."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    call_command("load_catalog")
