"""Bring the published prices up to date: `manage.py refresh_prices [PROVIDER …]`."""

from __future__ import annotations

import json
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError

from pricing.common.invalid_input import InvalidInput
from pricing.discovery import get_providers
from pricing.freshness import freshness
from pricing.management.database_command import DatabaseCommand, add_provider_arguments
from pricing.publish import refresh
from pricing.publish.refresh import Listener, RefreshResult
from pricing.storage import reference

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells give it."""
PROGRESS_EVERY_S = 10.0
"""Lines on a provider's progress come no more often than this, s."""
EXIT_STATUS = {
    "interrupted": INTERRUPTED,
    "failed": 1,
    "quarantined": 3,
    "would_quarantine": 3,
    "busy": 4,
}
"""By outcome, the worst first; 0 without any of these."""


class Command(DatabaseCommand):
    help = (
        "Fetch today's prices, compare them with the published ones and publish all but the parts"
        " that wait for review."
        " Exit status: 0 all published, 1 one or more failed, 2 bad arguments, 3 parts of one or"
        " more quarantined for review and none failed, 4 one or more refreshed elsewhere and no"
        " worse, 130 interrupted."
    )
    requires_migrations_checks = True
    requires_system_checks = ()
    """They load every page and the whole API, which takes a third of a refresh's memory; `check`,
    `migrate` and the server run them."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_provider_arguments(parser)
        parser.add_argument(
            "--dry-run", action="store_true", help="check and report, write nothing"
        )
        parser.add_argument(
            "--force", action="store_true", help="publish what would be quarantined"
        )
        parser.add_argument(
            "--deadline", type=float, default=refresh.DEADLINE_S, metavar="S",
            help="longest time of the whole run in seconds (default %(default)g)",
        )  # fmt: skip
        parser.add_argument("--json", action="store_true", help="report as JSON")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            if not options["deadline"] > 0:
                raise InvalidInput(
                    "--deadline", f"{options['deadline']:g} is not more than 0 seconds"
                )
            providers = get_providers(options["provider"])
            if not providers:
                raise InvalidInput("provider", "pricing/providers holds no adapter")
            selected = reference.select_providers([p.name for p in providers], options["region"])
            refresh_options = refresh.RefreshOptions(
                regions=tuple(options["region"]),
                dry_run=options["dry_run"],
                force=options["force"],
                deadline_s=options["deadline"],
            )
            listener = Listener() if options["json"] else ProgressLines(self.stderr)
            wanted = [p for p in providers if p.name in selected]
            results = refresh.refresh(wanted, refresh_options, listener)
        except InvalidInput as error:
            raise CommandError(str(error), returncode=2) from None
        self._report(results, options["json"])
        outcomes = {result.outcome for result in results}
        if status := next((code for name, code in EXIT_STATUS.items() if name in outcomes), 0):
            sys.exit(status)

    def _report(self, results: Sequence[RefreshResult], as_json: bool) -> None:
        freshness_by_provider = {entry.provider: entry for entry in freshness()}
        if as_json:
            document = [refresh.to_dict(r, freshness_by_provider.get(r.provider)) for r in results]
            self.stdout.write(json.dumps({"providers": document}, indent=2, default=str))
            return
        for result in results:
            self.stdout.write(
                "\n".join(refresh.format_lines(result, freshness_by_provider.get(result.provider)))
            )


class ProgressLines(Listener):
    """A line when a provider begins, now and then while it goes on, and when it ends."""

    def __init__(self, out: Any) -> None:
        self._out = out
        self._last_line_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def started(self, provider: str) -> None:
        self._write_line(f"{provider}: started")

    def progress(self, provider: str, what: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self._last_line_at.setdefault(provider, now) >= PROGRESS_EVERY_S:
            self._last_line_at[provider] = now
            self._write_line(f"{provider}: {what} {done:,}{f' of {total:,}' if total else ''}")

    def finished(self, result: RefreshResult) -> None:
        self._write_line(f"{result.provider}: {result.outcome.replace('_', ' ')}")

    def _write_line(self, line: str) -> None:
        with self._lock:
            self._out.write(line)
