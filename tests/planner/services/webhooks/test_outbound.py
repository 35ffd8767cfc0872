"""No message reaches inside our own network, whatever its address looks like."""

import contextlib
import ipaddress
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from planner.services.webhooks import webhooks
from planner.services.webhooks.webhooks import is_public, open_target, send
from pricing.common.invalid_input import InvalidInput

pytest.importorskip("apprise")

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


def lead_to(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Makes every name resolve to an address."""

    def resolve(host: Any, port: Any, *_: Any, flags: int = 0, **__: Any) -> list[Any]:
        if flags & socket.AI_NUMERICHOST:
            raise socket.gaierror
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


@pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1"])
@pytest.mark.parametrize("scheme", ["jsons", "mailtos"])
def test_a_name_at_an_inner_address_is_never_connected_to(
    monkeypatch: pytest.MonkeyPatch, scheme: str, address: str
) -> None:
    """Whatever it resolved to before: the connection itself is judged."""
    lead_to(monkeypatch, address)
    with pytest.raises(InvalidInput, match="private, local or reserved"):
        send(f"{scheme}://me:word@hooks.test?to=a@b.example", "Title", "Text")


def test_other_threads_are_not_judged() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        socket.create_connection(listener.getsockname()).close()


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        *(
            (f"jsons://{host}/", "private, local or reserved|no address")
            for host in (
                *("127.1", "2130706433", "0x7f000001", "0x7f.1", "127.0.0.1"),
                *("169.254.169.254", "2852039166"),
            )
        ),
        ("mailtos://me:word@example.com?smtp=10.0.0.1", "private, local or reserved"),
        ("json://hooks.test/", "not encrypted"),
        ("jsons://hooks.test/?verify=no", "certificates"),
        ("file:///etc/passwd", "no address that Apprise knows"),
        ("https://hooks.test/", "no address that Apprise knows"),
        ("slack://" + "T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ?template=/etc/passwd", "file"),
        ("fcm://project@key/?keyfile=/etc/passwd", "file"),
        ("mailtos://me:word@example.com?pgpkey=/etc/passwd", "file"),
        ("jsons://hooks.test/?x=1;template=/etc/passwd", "file"),
        ("jsons://hooks.test/?x=1%26template=/etc/passwd", "file"),
        ("jsons://hooks.test/?redirect=yes", "redirects"),
        ("mailtos://me:word@example.com?mode=insecure", "in the clear"),
        ("matrixs://me:word@hooks.test/#room", "not reached from a server"),
        ("embys://me:word@hooks.test", "not reached from a server"),
        ("syslog://", "not reached from a server"),
        ("mqtts://hooks.test/topic", "not reached from a server|no address"),
        ("jsons://h\u00f6oks.test/", "beyond ASCII"),
    ],
)
def test_an_address_that_is_never_sent_to_is_refused_when_it_is_entered(
    url: str, problem: str
) -> None:
    with pytest.raises(InvalidInput, match=problem) as refusal:
        open_target(url)
    assert "word@" not in str(refusal.value)


@pytest.mark.parametrize(
    ("url", "service"),
    [
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "Slack"),
        ("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "Slack"),
        ("discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js", "Discord"),
        ("mailtos://me:word@example.com", "E-Mail"),
        ("workflows://prod-1.logic.azure.com:443/643e69f83c8944/4KRKRNNo3JJbr", "Power Automate"),
        ("ntfys://ntfy.example.com/topic", "ntfy"),
    ],
)
def test_the_services_of_most_teams_are_known(url: str, service: str) -> None:
    assert open_target(url).service_name.startswith(service)


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
        ("json", [b"HTTP/1.1 200 OK\r\nX-Slow: ", *[b"a"] * 20]),
        ("jsons", [b"\x16\x03\x03\x40\x00", *[b"\x02"] * 20]),
        ("mailto", [b"220-", *[b"a"] * 20]),
    ],
)
def test_a_whole_answer_has_one_deadline(
    monkeypatch: pytest.MonkeyPatch, settings: Any, scheme: str, parts: list[bytes]
) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr(webhooks, "TIMEOUT_SECONDS", 0.2)
    begun = time.monotonic()
    for port in dripping(parts):
        with pytest.raises(OSError, match=r"gave no whole answer within 0\.2 s|did not take"):
            send(f"{scheme}://me:word@localhost:{port}/?to=a@b.example", "Title", "Text")
    assert time.monotonic() - begun < 2
