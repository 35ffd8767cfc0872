"""No webhook reaches inside our own network, whatever its address looks like."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.services.webhooks.outbound import (
    ForbiddenTargetError,
    UnresolvedError,
    check_literal,
    check_url,
    post,
)
from planner.services.webhooks.webhooks import outbound
from pricing.common.invalid_input import InvalidInput

INSIDE = (
    # Loopback and unspecified, in every spelling that a resolver takes.
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    # Private, shared and link-local.
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.1.1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "fc00::1",
    "fd12:3456::1",
    "::ffff:10.0.0.1",
    # Metadata services.
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "fd00:ec2::254",
    "::ffff:169.254.169.254",
    # Tunnels and translators that carry an inner address.
    "64:ff9b::169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2002:c0a8:101::1",
    "2001:0:1:2:3:4:5:6",
    "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
    "64:ff9b::a00:1",
    "::ffff:0:127.0.0.1",
    "::1.1.1.1",
    "2600::5efe:7f00:1",
    "2600::200:5efe:7f00:1",
    "2600::5efe:10.0.0.1",
    "2600::5efe:169.254.169.254",
    "fe80::5efe:1.1.1.1",
    # Reserved, multicast, documentation, broadcast.
    "192.0.0.1",
    "192.0.0.8",
    "192.0.0.9",
    "192.0.0.192",
    "192.0.0.255",
    "3fff::1",
    "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
    "5f00::1",
    "100::1",
    "4000::1",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.88.99.1",
    "ff02::1",
    "2001:db8::1",
)
SPELLINGS = ("localhost", "LOCALHOST.", "a.localhost", "localhost.localdomain",
             "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "127.0.0.1", "0", "[::1]",
             "[::ffff:127.0.0.1]", "169.254.169.254", "2852039166")  # fmt: skip


def nothing_is_sent(*_: object) -> None:
    raise AssertionError("a connection was tried")


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", nothing_is_sent)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("address", INSIDE)
def test_a_name_at_an_inner_address_is_never_connected_to(address: str, no_network) -> None:
    with pytest.raises(ForbiddenTargetError):
        post("https://hooks.test/a", b"{}", [], resolver=lambda host, port: [address])


@pytest.mark.one_in(5)
@pytest.mark.parametrize("address", INSIDE)
def test_one_inner_address_among_public_ones_is_enough(address: str, no_network) -> None:
    with pytest.raises(ForbiddenTargetError):
        post("https://hooks.test/", b"", [], resolver=lambda host, port: ["1.1.1.1", address])


@pytest.mark.parametrize("host", SPELLINGS)
def test_an_inner_address_is_refused_when_it_is_entered(host: str) -> None:
    with pytest.raises(InvalidInput, match="private, local or reserved"):
        check_literal(check_url(f"https://{host}/"))


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "93.184.216.34",
        "192.0.1.1",
        "223.255.255.255",
        "2606:4700::1111",
        "2001:4860:4860::8888",
        "3fff:1000::1",
        "2002:101:101::",
        "64:ff9b::1.1.1.1",
        "::ffff:1.1.1.1",
        "2600::5efe:1.1.1.1",
        "2600::1:5efe:7f00:1",
    ],
)
def test_public_addresses_pass(address: str) -> None:
    parts = urlsplit("https://hooks.test:8443/a")
    assert outbound.choose_public_address(parts, lambda host, port: [address]) == (address, 8443)


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.test/",
        "ftp://hooks.test/",
        "file:///etc/passwd",
        "gopher://hooks.test/",
        "https:///a",
        "https://user:word@hooks.test/",
        "https://hooks.test:0/",
        "https://hooks.test:99999/",
        "https://hooks.test/a b",
        "https://hooks.test/a\r\nHost: b",
        "https://[::1",
        "https://h\u00f6oks.example/",
        "hooks.test",
        "",
    ],
)
def test_a_url_of_another_form_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="url"):
        check_url(url)


def test_a_name_that_changes_its_mind_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection goes to the address that was judged, not to what the name says later."""
    answers = iter([["1.1.1.1"], ["127.0.0.1"]])
    reached: list[tuple[str, int]] = []

    def connect(address: tuple[str, int], timeout: float) -> None:
        reached.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(ConnectionRefusedError):
        post("https://hooks.test/", b"", [], resolver=lambda host, port: next(answers))
    assert reached == [("1.1.1.1", 443)]


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_what_python_calls_inner_is_never_public(address: outbound.Address) -> None:
    carries = isinstance(address, ipaddress.IPv6Address) and (
        address.ipv4_mapped or address.sixtofour
    )
    if not carries and not address.is_global:
        assert not outbound.is_public(address)


def test_a_name_without_an_address_may_have_one_later() -> None:
    with pytest.raises(UnresolvedError, match=r"hooks\.test has no address"):
        post("https://hooks.test/", b"", [], resolver=lambda host, port: [])


class _Receiver(BaseHTTPRequestHandler):
    seen: list[tuple[str, dict[str, str], bytes]] = []  # noqa: RUF012
    status = 200

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append((self.path, dict(self.headers), body))
        self.send_response(self.status)
        if self.status == 302:
            self.send_header("Location", "http://127.0.0.1:1/metadata")
        self.end_headers()
        self.wfile.write(b"x" * 200_000)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[int]:
    _Receiver.seen.clear()
    server = HTTPServer(("127.0.0.1", 0), _Receiver)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    _Receiver.status = 200


def dripping(parts: list[bytes], step: float) -> Iterator[int]:
    """A server that takes a connection and sends one of `parts` every `step` seconds."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            taken, _ = listener.accept()
            for part in parts:
                taken.sendall(part)
                time.sleep(step)

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


def sent_to(parts: list[bytes], scheme: str = "http", body: bytes = b"{}") -> outbound.Delivery:
    """What comes of such a server within half a second; two at most have passed then."""
    begun = time.monotonic()
    for port in dripping(parts, 0.1):
        url = f"{scheme}://hooks.test:{port}/"
        try:
            return post(url, body, [], resolver=lambda host, port: ["127.0.0.1"], timeout=0.5)
        finally:
            assert time.monotonic() - begun < 2
    raise AssertionError


@pytest.mark.parametrize(
    ("scheme", "parts"),
    [
        ("http", [b"HTTP/1.1 100 Continue\r\n\r\n"] * 40),
        ("http", [b"HTTP/1.1 200 OK\r\n", *[b"X-A: b\r\n"] * 40]),
        ("http", [b"HTTP/1.1 200 OK\r\nX-Slow: ", *[b"a"] * 40]),
        ("http", [b""] * 40),
        ("https", [b"\x16\x03\x03\x40\x00", *[b"\x02"] * 40]),
        ("https", [b""] * 40),
    ],
)
def test_a_whole_answer_has_one_deadline(scheme: str, parts: list[bytes], settings) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    with pytest.raises(TimeoutError, match=r"hooks\.test gave no whole answer within 0\.5 s"):
        sent_to(parts, scheme)


def test_an_operator_may_open_a_network(receiver: int, settings) -> None:
    url = f"http://hooks.test:{receiver}/a?b=c"
    with pytest.raises(InvalidInput, match="only https"):
        post(url, b"{}", [], resolver=lambda host, port: ["127.0.0.1"])
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    sent = post(url, b"{}", [("X-A", "b")], resolver=lambda host, port: ["127.0.0.1"])
    path, headers, body = _Receiver.seen[0]
    assert (sent.status, path, body) == (200, "/a?b=c", b"{}")
    assert headers["Host"] == f"hooks.test:{receiver}"
    assert headers["X-A"] == "b"


def test_plain_http_stays_within_the_opened_network(settings, no_network) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ["10.0.0.0/8"]
    with pytest.raises(ForbiddenTargetError, match="Plain http"):
        post("http://hooks.test/", b"", [], resolver=lambda host, port: ["1.1.1.1"])


def test_redirects_are_not_followed(receiver: int, settings) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    _Receiver.status = 302
    sent = post(f"http://hooks.test:{receiver}/", b"{}", [], resolver=lambda h, p: ["127.0.0.1"])
    assert sent.status == 302
    assert len(_Receiver.seen) == 1
