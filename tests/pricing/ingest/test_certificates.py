"""A server whose certificate is refused is not asked again, whichever SDK asks."""

from __future__ import annotations

import datetime as dt
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pricing.ingest.downloads import Download
from pricing.ingest.http import ProviderHttpClient
from pricing.ingest.provider import FetchContext, ProviderUnavailable
from pricing.providers.aws import client as aws
from pricing.providers.azure import management as azure
from tests.pricing.servers.base import FakeServer, Reply, Request

NOW = dt.datetime(2026, 9, 10, 12, tzinfo=dt.UTC)


class Impostor(FakeServer):
    """Speaks TLS with a certificate that it signed itself."""

    def __init__(self, certificate: Path) -> None:
        super().__init__()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        self.url = self.url.replace("http:", "https:")

    def answer(self, request: Request) -> Reply:
        return Reply(b"{}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Impostor]:
    file = tmp_path_factory.mktemp("tls") / "own.pem"
    file.write_bytes(own_certificate())
    with Impostor(file) as running:
        yield running


def own_certificate() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return certificate.public_bytes(pem) + key.private_bytes(
        pem, form, serialization.NoEncryption()
    )


def by_page(http: ProviderHttpClient, url: str) -> None:
    http.get_json("a.json", url)


def by_download(http: ProviderHttpClient, url: str) -> None:
    Download(http, "a.json", url).__enter__()


def by_boto3(http: ProviderHttpClient, url: str) -> None:
    import boto3
    from botocore.config import Config

    client = boto3.client(
        "sts",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(retries={"total_max_attempts": 1}),
    )
    http.call("a.json", client.get_caller_identity, aws.make_error_translator("sts"))


def by_azure(http: ProviderHttpClient, url: str) -> None:
    from azure.core import PipelineClient
    from azure.core.rest import HttpRequest

    client: Any = PipelineClient(url)
    http.call("a.json", lambda: client.send_request(HttpRequest("GET", url)), azure.translate_error)


@pytest.mark.parametrize("ask", [by_page, by_download, by_boto3, by_azure])
def test_a_refused_certificate_fails_at_once(
    server: Impostor, ask: Callable[[ProviderHttpClient, str], None]
) -> None:
    slept: list[float] = []
    http = ProviderHttpClient("aws", FetchContext({}, NOW, extra={"sleep": slept.append}))
    with http, pytest.raises(ProviderUnavailable) as caught:
        ask(http, server.url)
    assert caught.value.what.startswith("a.json: the server's certificate is refused (self")
    assert "SSL_CERT_FILE" in caught.value.hint
    assert slept == []
