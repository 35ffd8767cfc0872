"""`verify_saved`: computes saved comparisons again and compares them with what was saved."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from django.core.management.base import CommandParser

from planner.models import SavedComparison, SavedPortfolio
from planner.services.portfolio.portfolios import replay_portfolio
from planner.services.projects.saved_comparisons import replay
from pricing.common.arguments import whole_number_from
from pricing.common.pluralize import pluralize
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "Computes saved comparisons and portfolios again, at their own prices, rates and"
        " assumptions, and compares each with its saved answer, for instance after a restore or an"
        " upgrade."
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
        is_same = self._verify("saved portfolio", SavedPortfolio, _replay_portfolio, options)
        is_same &= self._verify("saved comparison", SavedComparison, _replay_comparison, options)
        if not is_same:
            sys.exit(1)

    def _verify(
        self,
        noun: str,
        model: type[SavedComparison] | type[SavedPortfolio],
        replay_one: Callable[[Any], Iterable[str]],
        options: dict[str, Any],
    ) -> bool:
        """Whether all of a kind say the same again; nothing is said where there are no portfolios,
        which few teams have."""
        rows: Any = model.objects.order_by("-created_at", "pk")
        keys = list(rows.values_list("pk", flat=True)[: options["limit"] or None])
        differing = 0
        for key in keys:
            saved = rows.select_related("team").get(pk=key)
            fields = list(replay_one(saved))
            differing += bool(fields)
            for field in fields:
                self.stderr.write(f"{saved.name} ({key}): {field}")
        if differing:
            self.stderr.write(f"{differing} of {len(keys)} {noun}s differ.")
        elif keys or model is SavedComparison:
            self.stdout.write(f"{pluralize(len(keys), noun)} replayed, no difference")
        return not differing


def _replay_comparison(saved: SavedComparison) -> Iterable[str]:
    """Fields that say something else."""
    outcome = replay(saved)
    fields = [one.field for one in outcome.differences]
    return fields if outcome.identical or fields else ["answer"]


def _replay_portfolio(saved: SavedPortfolio) -> Iterable[str]:
    return [one.field for one in replay_portfolio(saved)[1]]
