"""What an account may run, pulled from the providers for `constraints.quotas` of a comparison.

An adapter that can read quotas has a method `fetch_quotas(context)`. It gives rows

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
    """A provider that reports what an account may run."""

    def fetch_quotas(self, context: FetchContext) -> list[Quota]: ...


@dataclass(frozen=True)
class QuotaResult:
    """The quotas of one provider, or why there are none."""

    provider: str
    quotas: tuple[Quota, ...] = ()
    what: str = ""
    hint: str = ""

    @property
    def succeeded(self) -> bool:
        return not self.what


def pull_quotas(providers: Iterable[Provider], context: FetchContext) -> list[QuotaResult]:
    """The quotas of each provider; one that fails leaves the others as they are."""
    return [_pull_provider(provider, context) for provider in providers]


def _pull_provider(provider: Provider, context: FetchContext) -> QuotaResult:
    if not isinstance(provider, QuotaSource):
        return QuotaResult(
            provider.name,
            what="its adapter does not provide quotas",
            hint="Enter constraints.quotas by hand.",
        )
    try:
        return QuotaResult(provider.name, tuple(provider.fetch_quotas(context)))
    except ProviderUnavailable as error:
        return QuotaResult(provider.name, what=error.what, hint=error.hint)
