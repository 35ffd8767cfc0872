"""Typed readers of environment variables. A value that cannot be read stops the start."""

from __future__ import annotations

import os
from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


class Environment:
    """Reads `variables` (the process's own by default)."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        self.variables = os.environ if variables is None else variables

    def text(self, name: str, default: str = "") -> str:
        return self.variables.get(name, default).strip()

    def flag(self, name: str, default: bool = False) -> bool:
        if name not in self.variables:
            return default
        value = self.text(name).lower()
        if value in _TRUE:
            return True
        if value in _FALSE:
            return False
        raise ImproperlyConfigured(f"{name}={value!r} is not a yes or no; use 1 or 0.")

    def number(self, name: str, default: int) -> int:
        value = self.text(name)
        if not value:
            return default
        try:
            return int(value)
        except ValueError:
            raise ImproperlyConfigured(f"{name}={value!r} is not a whole number.") from None

    def words(self, name: str, default: str = "") -> list[str]:
        """A list separated by commas."""
        return [word.strip() for word in self.text(name, default).split(",") if word.strip()]
