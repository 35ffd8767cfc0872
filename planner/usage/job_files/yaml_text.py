"""YAML of bounded size: documents, and texts and counts in them. PURE."""

from __future__ import annotations

from typing import Any

import yaml

from pricing.common.invalid_input import InvalidInput

MAX_ALIASES = 200
MAX_DOCUMENTS = 200
MAX_EVENTS = 100_000
"""Most beginnings, ends and values: a job file has some hundreds, and Python reads as many as these
in 2 s."""
MAX_MERGED = 20_000
"""Most entries that objects take over from others with `<<`. Each may double those of the one
before it, so thirty lines would fill the memory."""
_FASTEST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The reader in C, ten times as fast, where PyYAML comes with it."""


class _Loader(_FASTEST):  # type: ignore[misc]
    """Values of plain types, with bounded merges."""

    merged = 0

    def flatten_mapping(self, node: Any) -> None:
        before = len(node.value)
        super().flatten_mapping(node)
        self.merged += max(0, len(node.value) - before)
        if self.merged > MAX_MERGED:
            raise InvalidInput("file", f"is YAML that merges more than {MAX_MERGED:,} entries")


def read_documents(text: str) -> list[dict[str, Any]]:
    """The documents that are objects; refused where the text is no YAML or a bomb of aliases."""
    try:
        aliases = depth = 0
        for count, event in enumerate(yaml.parse(text, _FASTEST), 1):
            aliases += isinstance(event, yaml.AliasEvent)
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if aliases > MAX_ALIASES or depth > 60:
                raise InvalidInput("file", "is YAML of too many aliases or levels")
            if count > MAX_EVENTS:
                raise InvalidInput("file", f"is YAML of more than {MAX_EVENTS:,} parts")
        documents = list(yaml.load_all(text, _Loader))
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        if isinstance(error, InvalidInput):
            raise
        first = str(error).splitlines()[0] if str(error) else "damaged"
        raise InvalidInput("file", f"is not YAML: {first[:120]}") from None
    return [one for one in documents[:MAX_DOCUMENTS] if isinstance(one, dict)]


def inner(value: Any, *names: str) -> dict[str, Any]:
    """An object within objects; an empty one where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def items(value: Any, *names: str) -> list[dict[str, Any]]:
    """Objects of a list within objects."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def count_of(value: Any) -> float | None:
    """A count that is a number or writes one; None for a template such as `$NODES`.

    >>> count_of("8"), count_of(2), count_of("$GPUS"), count_of(True), count_of(0.5)
    (8.0, 2.0, None, None, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if 0 <= value < 1e7 and value == int(value) else None
    text = str(value).strip()
    return float(text) if text.isdecimal() and len(text) < 8 else None


def word_of(value: Any) -> str:
    """A text; empty for anything else."""
    return value.strip()[:200] if isinstance(value, str) else ""
