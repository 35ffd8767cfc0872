"""Secrets that are shown once. Only the hash is kept of those that callers bring."""

from __future__ import annotations

import hashlib
import secrets

TOKEN_PREFIX = "gcp_"  # noqa: S105
INVITATION_PREFIX = "inv_"
SIGNING_PREFIX = "whsec_"


def new_secret(prefix: str) -> str:
    """256 random bits behind a prefix that leak scanners can find."""
    return prefix + secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    """SHA-256: enough for 256 random bits, which no dictionary holds."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
