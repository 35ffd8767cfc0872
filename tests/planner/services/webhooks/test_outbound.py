"""No webhook reaches inside our own network, whatever its address looks like."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from planner.services.webhooks import outbound
from planner.services.webhooks.outbound import check_url, is_public, post
from pricing.common.invalid_input import InvalidInput

INSIDE = """
    127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 ::1 :: ::ffff:127.0.0.1 ::ffff:7f00:1 ::127.0.0.1
    10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 169.254.1.1 fe80::1 fec0::1 fc00::1
    fd12:3456::1 ::ffff:10.0.0.1 169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16
    fd00:ec2::254 ::ffff:169.254.169.254 64:ff9b::169.254.169.254 64:ff9b::7f00:1 64:ff9b:1::a00:1
    2002:7f00:1:: 2002:a9fe:a9fe::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:0:1:2:3:4:5:6
    ::ffff:0:127.0.0.1 ::1.1.1.1 2600::5efe:7f00:1 2600::200:5efe:7f00:1 fe80::5efe:1.1.1.1
    192.0.0.1 192.0.0.9 192.0.0.192 192.0.0.255 3fff::1 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff
    5f00::1 100::1 4000::1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1
    255.255.255.255 192.88.99.1 ff02::1 2001:db8::1
"""
OUTSIDE = """
    1.1.1.1 93.184.216.34 192.0.1.1 223.255.255.255 2606:4700::1111 2001:4860:4860::8888
    3fff:1000::1 2600::1:5efe:7f00:1
"""


def test_public_addresses_are_told_from_all_others() -> None:
    addresses = {text: ipaddress.ip_address(text) for text in (INSIDE + OUTSIDE).split()}
    assert [text for text, address in addresses.items() if is_public(address)] == (OUTSIDE.split())


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Makes every name resolve to some addresses; gives the list of what was asked."""

    def lead_to(*addresses: str) -> list[Any]:
        asked: list[Any] = []

        def resolve(host: bytes, port: Any, **options: Any) -> list[Any]:
            asked.append(host)
            if options["flags"]:
                raise socket.gaierror
            return [(0, 0, 0, "", (address, 0)) for address in addresses]

        monkeypatch.setattr(outbound.socket, "getaddrinfo", resolve)
        return asked

    return lead_to


@pytest.mark.parametrize("addresses", [["10.0.0.1"], ["1.1.1.1", "fe80::1%eth0"]])
def test_a_name_at_an_inner_address_is_never_connected_to(
    names: Any, monkeypatch: pytest.MonkeyPatch, addresses: list[str]
) -> None:
    names(*addresses)
    monkeypatch.setattr(outbound, "_exchange", None)
    with pytest.raises(InvalidInput, match=r"hooks\.test.* is at a private, local or reserved"):
        post("https://hooks.test/a", b"{}", {})


def test_the_connection_goes_to_the_address_that_was_judged(
    names: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that answers otherwise a moment later changes nothing: it is asked once."""
    asked, reached = names("1.1.1.1"), []

    async def connect(_backend: Any, host: str, port: int, **_: Any) -> None:
        reached.append((host, port))
        raise ConnectionRefusedError

    monkeypatch.setattr("httpcore._backends.auto.AutoBackend.connect_tcp", connect)
    with pytest.raises(ConnectionRefusedError):
        post("https://hooks.test:8443/", b"", {})
    assert reached == [("1.1.1.1", 8443)]
    assert asked == [b"hooks.test"] * 2  # as a number when it is read, as a name once


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        *(
            (f"https://{host}/", "private, local or reserved")
            for host in (
                *("127.1", "2130706433", "0x7f000001", "0x7f.1", "0", "[::1]"),
                *("[::ffff:127.0.0.1]", "169.254.169.254", "2852039166"),
            )
        ),
        ("http://hooks.test/", "only https"),
        ("file:///etc/passwd", "only https"),
        ("hooks.test", "only https"),
        ("https:///a", "names no host"),
        ("https://user:word@hooks.test/", "user name or password"),
        ("https://hooks.test:99999/", "port"),
        ("https://0177.0.0.1/", "not a URL"),
        ("https://hooks.test/a\r\nHost: b", "not a URL"),
        ("https://[::1", "not a URL"),
    ],
)
def test_a_url_that_is_never_sent_to_is_refused_when_it_is_entered(url: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        check_url(url)


class _Receiver(BaseHTTPRequestHandler):
    seen: list[tuple[str, str, bytes]] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append((self.path, self.headers["Host"], body))
        self.send_response(302)
        self.send_header("Location", "http://127.0.0.1:1/metadata")
        self.end_headers()
        self.wfile.write(b"x" * 200_000)

    def log_message(self, *_: object) -> None:
        pass


def test_an_operator_may_open_a_network_and_redirects_are_not_followed(
    names: Any, settings: Any
) -> None:
    names("127.0.0.1")
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    with HTTPServer(("127.0.0.1", 0), _Receiver) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        host = f"hooks.test:{server.server_port}"
        assert post(f"http://{host}/a?b=c", b"{}", {}) == 302
        server.shutdown()
    assert _Receiver.seen == [("/a?b=c", host, b"{}")]
    names("1.1.1.1")
    with pytest.raises(InvalidInput, match="plain http"):
        post("http://hooks.test/", b"", {})


def dripping(parts: list[bytes]) -> Iterator[int]:
    """A server that takes a connection and sends a part every tenth of a second."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            taken, _ = listener.accept()
            for part in parts:
                taken.sendall(part)
                time.sleep(0.1)

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


@pytest.mark.parametrize(
    ("scheme", "parts"),
    [
        ("http", [b"HTTP/1.1 100 Continue\r\n\r\n"] * 40),
        ("http", [b"HTTP/1.1 200 OK\r\nX-Slow: ", *[b"a"] * 40]),
        ("https", [b"\x16\x03\x03\x40\x00", *[b"\x02"] * 40]),
        ("https", [b""] * 40),
    ],
)
def test_a_whole_answer_has_one_deadline(
    names: Any, monkeypatch: pytest.MonkeyPatch, settings: Any, scheme: str, parts: list[bytes]
) -> None:
    names("127.0.0.1")
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr(outbound, "TIMEOUT_SECONDS", 0.5)
    begun = time.monotonic()
    for port in dripping(parts):
        with pytest.raises(TimeoutError, match=r"hooks\.test gave no whole answer within 0\.5 s"):
            post(f"{scheme}://hooks.test:{port}/", b"{}", {})
    assert time.monotonic() - begun < 2
