"""The adapter contract: what a file in `pricing/providers/` must offer to be a provider.

An adapter is found by looking into `pricing.providers`; nothing lists it. It fetches, parses
and yields; it never writes to the database, never imports another adapter, and imports its
SDK inside the function that uses it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pricing.market.clouds import Cloud
from pricing.market.offers import Offer


class ProviderUnavailable(Exception):  # noqa: N818 - it says what is, not who erred
    """The provider could not be read. What is published stays in force.

    `what` says what happened, `hint` what the operator can do. Neither holds a secret.
    """

    def __init__(self, provider: str, what: str, hint: str) -> None:
        super().__init__(f"{provider}: {what}. {hint}")
        self.provider = provider
        self.what = what
        self.hint = hint


class RunStopped(ProviderUnavailable):
    """Nothing more can be read in this run: never taken for the failure of one part."""


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row of the provider that became no offer, and why. Counted by reason, never lost."""

    reason: str
    """A short class of reasons, the same for all rows of its kind: 'unknown accelerator'."""
    detail: str = ""
    """What it was: the name not known, the SKU, the machine."""


@dataclass(frozen=True, slots=True)
class NotRead:
    """A part of the market that this fetch could not look at, such as spot without credentials.

    What is published of that part stays in force with its own, older dates; without this, an
    offer that a fetch does not give counts as gone. Empty tuples mean all of them.
    `pricing.ingest.fetch` makes one of a part that failed.
    """

    reason: str
    purchase_options: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    instance_types: tuple[str, ...] = ()
    availability_only: bool = False
    """The prices were read, and what of it is sold was not: an offer that is published as not
    sold stays so."""


@dataclass(frozen=True)
class FetchContext:
    """What a fetch may use. `settings` holds endpoints and credentials by environment name."""

    settings: Mapping[str, str]
    retrieved_at: dt.datetime
    regions: tuple[str, ...] = ()
    """Limit to these regions; empty means all."""
    known_regions: tuple[str, ...] = ()
    """Regions of which prices were published; they are read where the provider lists none."""
    progress: Callable[[str, int, int | None], None] = lambda _what, _done, _total: None
    """progress(what, done, total) for the progress bar."""
    deadline: float | None = None
    """`time.monotonic()` after which the whole run gives up."""
    server_time: Callable[[dt.datetime], None] = lambda _seen: None
    """Reports the time that the provider's `Date` header gives, to find a clock that is off."""
    extra: Mapping[str, object] = field(default_factory=dict)


class Provider(Cloud):
    """One cloud and how its prices are read; the facts that it declares are those of `Cloud`."""

    def fetch(self, context: FetchContext) -> Iterator[Offer | SkippedRow | NotRead]:
        """Every accelerator offering now, normalised; a `SkippedRow` for each row left out,
        a `NotRead` for each part that could not be read although the rest could.

        Raises `ProviderUnavailable`; any other exception is a bug and fails this provider only.
        """
        raise NotImplementedError

    def is_configured(self, settings: Mapping[str, str]) -> bool:
        return True
