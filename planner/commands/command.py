"""What a command is, whoever runs it: `manage.py` at the database's prices, or
`gpu-cost-planner` at those that come with the program. No Django.

Both print what `answer` gives; a refusal is `field: message`, a line each, and exit status 2.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

T = TypeVar("T")
REFUSED = 2
"""Exit status of a request that cannot be used."""
LoadCatalog = Callable[[], Catalog]
Options = Mapping[str, Any]
"""Arguments by name."""


NONE_LOADED = "No prices are loaded yet. Run `manage.py load_catalog`"
NO_PRICES = f"{NONE_LOADED}; a request can also do without them, with custom_offers."


def answer_at_prices(
    does_without: bool, load_catalog: LoadCatalog, answer: Callable[[Catalog], T]
) -> T:
    """What `answer` gives. Of an empty catalog it is refused, after what else is wrong with the
    request, unless the request does without."""
    catalog = load_catalog()
    if len(catalog.offers) or does_without:
        return answer(catalog)
    lacking = InvalidInput("", NO_PRICES)
    try:
        answer(catalog)
    except InvalidInput as refusal:
        others = (*refusal.others, lacking)
        raise InvalidInput(refusal.field, refusal.message, others) from None
    raise lacking


class Warned(NamedTuple):
    """An answer, and what it warns of on the way of errors."""

    text: str
    warnings: Sequence[str]


@dataclass(frozen=True)
class Command:
    """A command: its arguments, and what it prints for them."""

    help: str
    add_arguments: Callable[[ArgumentParser], None]
    answer: Callable[[Options, LoadCatalog], str | Warned]
    """Raises `InvalidInput` for what cannot be used."""

    def run(
        self,
        options: Options,
        load_catalog: LoadCatalog,
        write: Callable[[str], object],
        write_error: Callable[[str], object],
    ) -> int:
        """Print the answer or the refusals, without line ends; gives the exit status."""
        try:
            text = self.answer(options, load_catalog)
        except InvalidInput as refusal:
            for one in refusal.all():
                write_error(str(one))
            return REFUSED
        warnings: Sequence[str] = ()
        if isinstance(text, Warned):
            text, warnings = text
        write(text)
        for warning in warnings:
            write_error(f"Warning: {warning}")
        return 0
