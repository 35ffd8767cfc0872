"""Behind nginx as `deploy/nginx.conf` sets it up: what offers and comparisons of others take while
connections are held half-sent and unread, and beside a neighbour whose comparisons are long.

The floor is the same in the quiet phase of the same run. Without nginx there is no row.
"""

import json
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.attack.server import ROOT, free_port, site
from tests.bench.row import SHORT, Row

SECONDS, HELD = (8.0, 20) if SHORT else (40.0, 200)
"""Of each phase; connections half-sent, and as many unread."""
PAUSE_S = 0.03
"""Between two connections that are opened, at first and again when nginx has dropped them."""
OFFERS = "GET", "/api/v1/offers/?accelerator=nvidia-a100-80gb-sxm&page_size=20", ""
UNREAD = "GET", "/api/v1/offers/?accelerator=nvidia-h100-80gb-sxm&page_size=200", ""
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TLS.check_hostname, TLS.verify_mode = False, ssl.CERT_NONE
Call = tuple[str, str, str]


def comparison(hours: int, months: int = 12) -> Call:
    """One of its own, so that none is answered from what another one left."""
    workload = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": hours}
    body = {"workload": workload, "horizon_months": months, "cheaper_if": months > 12}
    return "POST", "/api/v1/comparisons/", json.dumps(body)


def bench() -> list[Row]:
    if shutil.which("nginx") is None:
        print("nginx is not here; install the package nginx.")
        return []
    with site() as where, proxy(where.port) as port:
        watch(port, 8.0)
        quiet = watch(port, SECONDS)
        with meanwhile(hold_open, port):
            time.sleep(2 * HELD * PAUSE_S)
            held = watch(port, SECONDS)
        with meanwhile(ask_long, port):
            beside = watch(port, SECONDS)
    phases = (
        (f"beside {2 * HELD} held connections", held, 1.5),
        ("beside a heavy neighbour", beside, 2.0),
    )
    return [
        Row(f"{kind}, p99 {name}", p99, floor, f"<= {most} ×", p99 <= most * floor)
        for name, found, most in phases
        for (kind, p99), floor in zip(found.items(), quiet.values(), strict=True)
    ]


@contextmanager
def proxy(upstream: int) -> Iterator[int]:
    """The port of nginx with the documented configuration, its names moved to loopback."""
    with tempfile.TemporaryDirectory() as folder:
        port, text = free_port(), (ROOT / "deploy/nginx.conf").read_text()
        for old, new in {
            "web:8000": f"127.0.0.1:{upstream}",
            "listen 80 ": f"listen 127.0.0.1:{free_port()} ",
            "listen 443 ": f"listen 127.0.0.1:{port} ",
            "/etc/planner/tls": folder,
            "/var/log/nginx": folder,
        }.items():
            text = text.replace(old, new)
        ours = f"user root; worker_processes auto; daemon off; pid {folder}/pid; error_log stderr;"
        text = f"{ours} events {{ worker_connections 768; }} http {{ {text} }}"
        Path(folder, "nginx.conf").write_text(text)
        key = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"]
        key += ["-keyout", f"{folder}/privkey.pem", "-out", f"{folder}/fullchain.pem"]
        subprocess.run(key, check=True, capture_output=True)
        server = subprocess.Popen(["nginx", "-p", folder, "-c", f"{folder}/nginx.conf"])
        try:
            time.sleep(1.0)
            yield port
        finally:
            server.terminate()
            server.wait(30)


def watch(port: int, seconds: float) -> dict[str, float]:
    """The p99, ms, of the offers and comparisons that one visitor each asks for."""
    taken: dict[str, list[float]] = {"offers": [], "comparisons": []}
    until = time.monotonic() + seconds

    def visit(kind: str, source: str, pause: float) -> None:
        while time.monotonic() < until:
            call = OFFERS if kind == "offers" else comparison(3000 + len(taken[kind]))
            began = time.perf_counter()
            ask(port, source, call)
            taken[kind].append((time.perf_counter() - began) * 1e3)
            time.sleep(pause)

    with meanwhile(lambda _port, _over: visit("offers", "127.0.0.2", 0.1), port):
        visit("comparisons", "127.0.0.3", 0.2)
    return {kind: sorted(each)[int(0.99 * len(each))] for kind, each in taken.items()}


@contextmanager
def meanwhile(work: Callable[[int, threading.Event], None], port: int) -> Iterator[None]:
    over = threading.Event()
    thread = threading.Thread(target=work, args=(port, over))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def hold_open(port: int, over: threading.Event) -> None:
    """Holds connections from ten addresses that sent half a head or body, or that read nothing."""
    sent = [whole(OFFERS)[:-20], whole(comparison(1))[:-20], whole(UNREAD), whole(UNREAD)] * (
        HELD // 2
    )
    held: dict[int, ssl.SSLSocket] = {}
    while not over.wait(PAUSE_S):
        for n, data in enumerate(sent):
            state = held[n].getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) if n in held else b""
            if state == b"\x01" or over.is_set():  # established
                continue
            over.wait(PAUSE_S)
            with suppress(OSError):
                held[n] = connect(port, f"127.0.1.{n % 10 + 1}")
                held[n].sendall(data)
    for each in held.values():
        each.close()


def ask_long(port: int, over: threading.Event) -> None:
    while not over.is_set():
        ask(port, "127.0.0.4", comparison(int(time.time()) % 9000 + 5000, 120))


def ask(port: int, source: str, call: Call) -> None:
    with connect(port, source) as connection:
        connection.sendall(whole(call))
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    if not answer.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"{call[1]} answered {answer[:300]!r}")


def connect(port: int, source: str) -> ssl.SSLSocket:
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.bind((source, 0))
    plain.settimeout(120)
    plain.connect(("127.0.0.1", port))
    return TLS.wrap_socket(plain)


def whole(call: Call) -> bytes:
    """The whole request, its body too."""
    verb, path, body = call
    lines = [f"{verb} {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join((*lines, "", body)).encode()
