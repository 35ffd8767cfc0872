"""Check that published prices read back exactly: `manage.py verify_prices [PROVIDER …]`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from pricing.common.pluralize import pluralize
from pricing.management.database_command import DatabaseCommand
from pricing.models import Revision
from pricing.revisions import newest_revisions
from pricing.storage import store


class Command(DatabaseCommand):
    help = (
        "Read each provider's revision in force back from the database and compare it with the"
        " digest of its publication. --all checks every revision."
        " Exit status: 0 all identical, 1 one or more differ, 2 bad arguments."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("provider", nargs="*", help="which (all by default)")
        parser.add_argument("--all", action="store_true", help="past revisions too")

    def handle(self, *_: Any, **options: Any) -> None:
        providers = options["provider"]
        published = set(Revision.objects.order_by().values_list("provider", flat=True).distinct())
        for name in providers:
            if name not in published:
                known = ", ".join(sorted(published)) or "none"
                message = f"provider: {name!r} has no published prices; known are {known}"
                raise CommandError(message, returncode=2)
        past = Revision.objects.order_by("provider", "number")
        revisions = past if options["all"] else newest_revisions()
        if providers:
            revisions = revisions.filter(provider__in=providers)
        damaged = []
        for revision in revisions:
            if store.verify_revision(revision):
                state = "identical to its publication"
            else:
                state = "DIFFERS from its publication"
                damaged.append(revision)
            offers = pluralize(revision.offer_count, "offer")
            self.stdout.write(f"{revision}: {offers}, {state}")
        if damaged:
            checked = pluralize(len(revisions), "revision")
            self.stderr.write(
                f"{len(damaged)} of {checked} {'differs' if len(damaged) == 1 else 'differ'} from"
                " what was published. Restore the database from a backup, or publish anew with"
                " `manage.py refresh_prices`."
            )
            sys.exit(1)
        self.stdout.write(f"{pluralize(len(revisions), 'revision')} checked, no difference")
