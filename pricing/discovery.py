"""Providers are found by looking into `pricing.providers`; no list names them."""

from __future__ import annotations

import importlib
import logging
import os
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

import pricing.providers
from pricing.common.invalid_input import InvalidInput
from pricing.ingest.provider import FetchContext, Provider, ProviderUnavailable

log = logging.getLogger(__name__)


class BrokenProvider:
    """An adapter that cannot even be imported: it fails alone, and says why."""

    def __init__(self, name: str, error: Exception) -> None:
        self.name = self.title = name
        self._error = f"{type(error).__name__}: {error}"

    def fetch(self, context: FetchContext) -> Iterator[NoReturn]:
        raise ProviderUnavailable(
            self.name, f"its adapter cannot be loaded ({self._error})", "Fix or remove the file."
        )


def all_providers() -> dict[str, Provider]:
    """name → provider, in order of name. A module without `provider` is not one."""
    providers: dict[str, Provider] = {}
    for module in pkgutil.iter_modules(pricing.providers.__path__):
        provider = _load_adapter(module.name)
        if provider is None:
            continue
        if provider.name in providers:
            raise RuntimeError(f"two files in pricing/providers are named {provider.name!r}")
        providers[provider.name] = provider
    return dict(sorted(providers.items()))


def default_providers(settings: Mapping[str, str] | None = None) -> dict[str, Provider]:
    """Those that are read where none is named: with `REFRESH_OTHER_CLOUDS` also the other clouds,
    of those with a key the ones whose key is set."""
    values = os.environ if settings is None else settings
    reads_others = values.get("REFRESH_OTHER_CLOUDS", "").strip() in ("1", "true", "yes", "on")
    return {
        name: provider
        for name, provider in all_providers().items()
        if is_read_by_default(provider)
        or (reads_others and getattr(provider, "is_configured", lambda _: True)(values))
    }


def is_read_by_default(provider: Provider) -> bool:
    """Whether a refresh reads it without being told to."""
    return bool(getattr(provider, "by_default", True))


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


def provider_title(name: str) -> str:
    """What people call a provider; its name where its adapter is gone."""
    known = all_providers().get(name)
    return known.title if known else name


def _load_adapter(name: str) -> Provider | None:
    try:
        module = importlib.import_module(f"pricing.providers.{name}")
    except Exception as error:
        log.exception("pricing/providers/%s cannot be loaded", name)
        return BrokenProvider(name, error)
    provider: Provider | None = getattr(module, "provider", None)
    return provider
