"""The outcome of one provider's refresh."""

from __future__ import annotations

from dataclasses import dataclass

from pricing.publish.publication import Publication


@dataclass(frozen=True)
class RefreshResult:
    """What came of one provider."""

    provider: str
    outcome: str
    """published, held, would_publish, would_hold, failed, busy or interrupted."""
    message: str = ""
    hint: str = ""
    publication: Publication | None = None
    unchanged: tuple[str, ...] = ()
    """Lists that were not fetched again because they have not changed."""

    @property
    def succeeded(self) -> bool:
        return self.outcome in ("published", "would_publish")
