"""Providers are found by looking into `pricing.providers`; no list names them."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Iterator
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


def get_providers(names: list[str] | tuple[str, ...]) -> list[Provider]:
    """The providers of these names, all of them without any; `InvalidInput` for an unknown one."""
    known = all_providers()
    for name in names:
        if name not in known:
            allowed = ", ".join(known) or "none"
            raise InvalidInput("provider", f"{name!r} is unknown; known providers are {allowed}")
    return [known[name] for name in dict.fromkeys(names)] if names else list(known.values())


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
