"""Several reasons as one sentence. PURE."""

from __future__ import annotations

from collections.abc import Iterable

_QUESTION = "It is not known "


def join_reasons(reasons: Iterable[str]) -> str:
    """Reasons between semicolons, whether or not each is a sentence of its own.

    >>> join_reasons(["no spot offer fits", "It is not known whether AWS sells spot."])
    'no spot offer fits; it is not known whether AWS sells spot'
    """
    parts = [reason.rstrip(".") for reason in reasons]
    lowered = [p[0].lower() + p[1:] if p.startswith(_QUESTION) else p for p in parts[1:]]
    return "; ".join([*parts[:1], *lowered])
