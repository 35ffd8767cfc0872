"""Connections to providers: certificates, proxies, no redirects."""

from __future__ import annotations

import logging
import os
import ssl
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx


def make_client(timeout: httpx.Timeout, *, is_direct: bool) -> httpx.Client:
    """A pool of connections; `is_direct`: past a company's proxy, as to loopback."""
    import httpx

    return httpx.Client(
        timeout=timeout,
        verify=_certificates(os.environ.get("SSL_CERT_FILE"), trust_env=not is_direct),
        trust_env=not is_direct,
        follow_redirects=False,
    )


@cache
def _certificates(_file: str | None, *, trust_env: bool) -> ssl.SSLContext:
    """What servers' certificates are held against: read once for each file that the setting of
    the system names, since reading it takes longer than a call on loopback."""
    import httpx

    return httpx.create_ssl_context(trust_env=trust_env)


def silence_sdk_loggers() -> None:
    """The SDKs write addresses (INFO) and signed headers (DEBUG): keep both quiet."""
    for name in ("httpx", "httpcore", "botocore", "boto3", "urllib3", "azure", "google.auth"):
        logger = logging.getLogger(name)
        logger.setLevel(max(logging.WARNING, logger.level))
