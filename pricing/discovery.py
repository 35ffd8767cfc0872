"""Providers are found by looking into `pricing.providers`; no list names them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from pricing.common.invalid_input import InvalidInput
from pricing.ingest.provider import FetchContext, Provider, ProviderUnavailable
from pricing.market.clouds import all_clouds


class BrokenProvider(Provider):
    """An adapter that cannot even be imported: it fails alone, and says why."""

    def __init__(self, name: str, fault: str) -> None:
        self.name = self.title = name
        self.fault = fault

    def fetch(self, context: FetchContext) -> Iterator[NoReturn]:
        what = f"its adapter cannot be loaded ({self.fault})"
        raise ProviderUnavailable(self.name, what, "Fix or remove the file.")


def all_providers() -> dict[str, Provider]:
    """name → provider, in order of name. A module without `provider` is not one."""
    return {
        name: cloud if isinstance(cloud, Provider) else BrokenProvider(name, cloud.fault)
        for name, cloud in sorted(all_clouds().items())
        if isinstance(cloud, Provider) or cloud.fault
    }


def default_providers(settings: Mapping[str, str] | None = None) -> dict[str, Provider]:
    """Those that are read where none is named: with `REFRESH_OTHER_CLOUDS` also the other clouds,
    of those with a key the ones whose key is set."""
    values = os.environ if settings is None else settings
    reads_others = values.get("REFRESH_OTHER_CLOUDS", "").strip() in ("1", "true", "yes", "on")
    return {
        name: provider
        for name, provider in all_providers().items()
        if provider.by_default or (reads_others and provider.is_configured(values))
    }


def get_providers(names: Sequence[str]) -> list[Provider]:
    """The providers of these names, those of a refresh by default without any; `InvalidInput` for
    an unknown one."""
    known = all_providers()
    if not names:
        return list(default_providers().values())
    for name in names:
        if name not in known:
            allowed = ", ".join(known) or "none"
            raise InvalidInput("provider", f"{name!r} is unknown; known providers are {allowed}")
    return [known[name] for name in dict.fromkeys(names)]
