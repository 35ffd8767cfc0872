"""What the accounts may run, for `constraints.quotas`: `manage.py pull_quotas [PROVIDER …]`."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from pricing.common.invalid_input import InvalidInput
from pricing.discovery import get_providers
from pricing.ingest.fetch import QuotaResult, pull_quotas
from pricing.ingest.provider import FetchContext
from pricing.management.database_command import DatabaseCommand, add_provider_arguments
from pricing.market import accelerators
from pricing.storage import reference

DEADLINE_S = 600.0
"""Longest time of a run, s."""
MAX_QUOTAS = 50
"""Quotas that one comparison takes."""


class Command(DatabaseCommand):
    help = (
        "Ask the providers how many accelerators the configured accounts may run in each region."
        " --json prints the list that `constraints.quotas` of a comparison takes."
        " Exit status: 0 all providers answered, 1 one or more did not, 2 bad arguments."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_provider_arguments(parser)
        parser.add_argument(
            "--accelerator",
            action="append",
            default=[],
            metavar="A",
            help="only this accelerator, by slug or usual name; repeatable",
        )
        parser.add_argument("--json", action="store_true", help="print constraints.quotas as JSON")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            providers = get_providers(options["provider"])
            accelerators_wanted = [
                accelerators.resolve(name, "--accelerator") for name in options["accelerator"]
            ]
            selected = reference.select_providers([p.name for p in providers], options["region"])
        except InvalidInput as error:
            raise CommandError(str(error), returncode=2) from None
        context = FetchContext(
            settings=dict(os.environ),
            retrieved_at=timezone.now(),
            regions=tuple(options["region"]),
            deadline=time.monotonic() + DEADLINE_S,
        )
        results = pull_quotas([p for p in providers if p.name in selected], context)
        self._report(results, {one.slug for one in accelerators_wanted}, options["json"])
        if not all(one.succeeded for one in results):
            sys.exit(1)

    def _report(
        self, results: Sequence[QuotaResult], wanted_slugs: set[str], as_json: bool
    ) -> None:
        for result in results:
            if not result.succeeded:
                self.stderr.write(f"{result.provider}: {result.what}. {result.hint}")
        rows = [
            quota
            for result in results
            for quota in result.quotas
            if not wanted_slugs or quota["accelerator"] in wanted_slugs
        ]
        if as_json:
            if len(rows) > MAX_QUOTAS:
                self.stderr.write(
                    f"{len(rows)} quotas; a comparison takes {MAX_QUOTAS}. Narrow them with "
                    "--region and --accelerator."
                )
            self.stdout.write(json.dumps(rows, indent=2))
            return
        for row in rows:
            provider_and_region = f"{row['provider']} {row['region']}"
            self.stdout.write(
                f"{provider_and_region:<28} {row['accelerator']:<40} {row['max_accelerators']}"
            )
