"""Published prices: `manage.py prices verify`, `export FILE` and `history FILE`."""

from __future__ import annotations

import datetime as dt
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from pricing.bundled.package import PACKAGE, write_wheel
from pricing.common.invalid_input import InvalidInput, check_known_day
from pricing.common.words import pluralize
from pricing.management.database_command import DatabaseCommand
from pricing.models import Revision
from pricing.publish.history import write_prices
from pricing.revisions import newest_revisions
from pricing.storage import store


class Command(DatabaseCommand):
    help = (
        "`verify` compares each price revision with the digest of its publication (exit status 0 "
        "all identical, 1 one or more differ); `export` writes the prices in force on a day to a "
        "Parquet file, `history` every price with the days from which and until which it held."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=("verify", "export", "history"), help="what to do")
        parser.add_argument("file", nargs="?", type=Path, help="Parquet file to write")
        parser.add_argument(
            "--provider", action="append", default=[], metavar="P", help="only this; repeatable"
        )
        parser.add_argument("--all", action="store_true", help="verify past revisions too")
        parser.add_argument(
            "--wheel", action="store_true", help=f"export to a folder, as the package {PACKAGE}"
        )
        parser.add_argument("--on", metavar="DAY", help="export as of it, 2026-10-31; else today")

    def handle(
        self, *_: Any, action: str, file: Path | None, provider: list[str], **options: Any
    ) -> None:
        try:
            if action == "verify":
                self._verify(provider, past=options["all"])
            elif file is None:
                raise InvalidInput("file", "is missing; name the Parquet file to write")
            else:
                day = _parse_day(options["on"]) if action == "export" else None
                if options["wheel"]:
                    file, count = write_wheel(file, provider)
                else:
                    count = write_prices(file, provider, day)
                self.stdout.write(f"{file}: {pluralize(count, 'price')}")
        except InvalidInput as error:
            raise CommandError(str(error), returncode=2) from None
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}") from None

    def _verify(self, providers: Sequence[str], *, past: bool) -> None:
        published = set(Revision.objects.order_by().values_list("provider", flat=True).distinct())
        if unknown := sorted(set(providers) - published):
            known = ", ".join(sorted(published)) or "none"
            problem = f"{unknown[0]!r} has no published prices; known are {known}"
            raise InvalidInput("provider", problem)
        revisions = Revision.objects.order_by("provider", "number") if past else newest_revisions()
        if providers:
            revisions = revisions.filter(provider__in=providers)
        damaged = 0
        for revision in revisions:
            is_whole = store.verify_revision(revision)
            damaged += not is_whole
            state = "identical to its publication" if is_whole else "DIFFERS from its publication"
            self.stdout.write(f"{revision}: {pluralize(revision.offer_count, 'offer')}, {state}")
        self.stdout.write(f"{pluralize(len(revisions), 'revision')} checked, {damaged} damaged")
        if damaged:
            self.stderr.write(
                "Restore the database from a backup, or publish anew with `manage.py "
                "refresh_prices`."
            )
            sys.exit(1)


def _parse_day(text: str | None) -> dt.date:
    today = timezone.now().date()
    try:
        day = dt.date.fromisoformat(text) if text else today
    except ValueError:
        raise InvalidInput("--on", f"{text!r:.40} is not a day such as 2026-10-31") from None
    check_known_day("--on", day, today)
    return day
