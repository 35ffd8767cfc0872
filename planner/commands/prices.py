"""`prices`: which prices are known, how old they are, and the cheapest that meet some filters."""

from __future__ import annotations

import csv
import io
import json
from argparse import ArgumentParser

from planner.commands.command import NONE_LOADED, Command, LoadCatalog, Options
from pricing.common.invalid_input import InvalidInput
from pricing.market.offer_filters import ORDERINGS, search_offers
from pricing.market.offer_rows import offer_json

FILTERS = {
    "accelerator": "slug or usual name, for example H100-80GB-SXM",
    "provider": "for example aws",
    "region": "for example eu-central-1",
    "geography": "for example europe",
    "purchase_option": "for example on_demand",
    "instance_type": "for example p5.48xlarge",
}
"""Filters that may be given several times → what they take."""
SHOWN = 20
"""Offers that are printed unless asked otherwise."""


def _add_arguments(parser: ArgumentParser) -> None:
    for name, meaning in FILTERS.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            action="append",
            default=[],
            metavar="NAME",
            help=f"only these; repeatable; {meaning}",
        )
    parser.add_argument("--all", action="store_true", help="also what is sold no more")
    parser.add_argument(
        "--ordering", choices=ORDERINGS, default=ORDERINGS[0], help="default %(default)s"
    )
    parser.add_argument(
        "--limit", type=int, default=SHOWN, metavar="N", help="offers printed (default %(default)s)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the offers as the API gives them")
    form.add_argument("--csv", action="store_true", help="print the offers as CSV")


def _answer(options: Options, load_catalog: LoadCatalog) -> str:
    catalog = load_catalog()
    if not len(catalog.offers):
        raise InvalidInput("", f"{NONE_LOADED}.")
    rows, count = search_offers(
        catalog,
        {name: options[name] for name in FILTERS},
        limit=options["limit"],
        ordering=options["ordering"],
        sold_now=None if options["all"] else True,
    )
    revisions = {info.provider: info.revision for info in catalog.revisions}
    offers = [offer_json(catalog, row, revisions) for row in rows]
    if options["json"]:
        return json.dumps({"count": count, "results": offers}, indent=2, default=str)
    if options["csv"]:
        from planner.exports.csv_export import text_cell

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(offers[0] if offers else ())
        for offer in offers:
            writer.writerow(text_cell(v) if isinstance(v, str) else v for v in offer.values())
        return text.getvalue()
    from planner.commands.tables import price_tables

    return price_tables(catalog.revisions, offers, count)


PRICES = Command(
    help="List the providers whose prices are known and the cheapest offers that meet filters.",
    add_arguments=_add_arguments,
    answer=_answer,
)
