"""`verify_saved`: computes saved comparisons again and compares them with what was saved."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from planner.models import SavedComparison
from planner.services.projects.saved_comparisons import replay
from pricing.common.arguments import whole_number_from
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "Computes saved comparisons again, at their own prices, rates and assumptions, and compares"
        " each with its saved answer, for instance after a restore or an upgrade."
        " Exit status: 0 all identical, 1 one or more differ."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--limit",
            type=whole_number_from(0),
            default=0,
            metavar="N",
            help="only the N newest; 0, all of them",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        rows = SavedComparison.objects.order_by("-created_at", "pk")
        keys = list(rows.values_list("pk", flat=True)[: options["limit"] or None])
        differing = [key for key in keys if not self._verify(key)]
        if differing:
            self.stderr.write(f"{len(differing)} of {len(keys)} saved comparisons differ.")
            sys.exit(1)
        self.stdout.write(f"{len(keys)} saved comparisons replayed, no difference")

    def _verify(self, key: Any) -> bool:
        saved = SavedComparison.objects.select_related("team", "project").get(pk=key)
        outcome = replay(saved)
        for difference in outcome.differences:
            self.stderr.write(f"{saved.name} ({key}): {difference.field}")
        return outcome.identical
