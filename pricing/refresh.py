"""fetch → check → publish, all of a revision or none."""

from __future__ import annotations

from pricing.batch import Batch
from pricing.publication import Publication, publish, release

__all__ = ["Batch", "Publication", "publish", "release"]
