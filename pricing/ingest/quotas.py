"""What an account may run, pulled from the providers for `constraints.quotas` of a comparison.

An adapter that can tell has a method `fetch_quotas(context)`. It gives rows

    {"provider": "aws", "region": "us-east-1", "accelerator": "nvidia-h100-80gb-sxm",
     "max_accelerators": 16}

of the whole limit, what runs already not taken off. It raises `ProviderUnavailable` where there
is no account to ask or the account may not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pricing.ingest.provider import FetchContext, Provider, ProviderUnavailable

Quota = dict[str, Any]


@runtime_checkable
class QuotaSource(Protocol):
    """A provider that tells what an account may run."""

    def fetch_quotas(self, context: FetchContext) -> list[Quota]: ...


@dataclass(frozen=True)
class Pulled:
    """What one provider told, or why it did not."""

    provider: str
    quotas: tuple[Quota, ...] = ()
    what: str = ""
    remedy: str = ""

    @property
    def is_good(self) -> bool:
        return not self.what


def pull(providers: Iterable[Provider], context: FetchContext) -> list[Pulled]:
    """The quotas of each provider; one that fails leaves the others as they are."""
    return [_pull(provider, context) for provider in providers]


def _pull(provider: Provider, context: FetchContext) -> Pulled:
    if not isinstance(provider, QuotaSource):
        return Pulled(
            provider.name,
            what="its adapter tells no quotas",
            remedy="Give constraints.quotas by hand.",
        )
    try:
        return Pulled(provider.name, tuple(provider.fetch_quotas(context)))
    except ProviderUnavailable as error:
        return Pulled(provider.name, what=error.what, remedy=error.remedy)
