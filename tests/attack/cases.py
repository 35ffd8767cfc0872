"""Requests: those that once hurt, and the ordinary ones that others send meanwhile."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

REQUEST: dict[str, Any] = {
    "workload": {
        "kind": "accelerator_hours",
        "accelerator": "nvidia-h100-80gb-sxm",
        "hours_per_month": 1000,
    },
    "horizon_months": 12,
}
PLAN = {
    "workload.kind": "accelerator_hours",
    "workload.accelerator": "nvidia-h100-80gb-sxm",
    "workload.hours_per_month": "1000",
    "horizon_months": "12",
}
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
BOUNDARY = "attack-boundary"


@dataclass(frozen=True)
class Call:
    """One request, by whom it may be sent, and the status that is expected of it, if one is."""

    name: str
    path: str
    body: bytes | None = None
    content_type: str = JSON
    method: str = ""
    signed_in: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int | None = None

    @property
    def verb(self) -> str:
        return self.method or ("GET" if self.body is None else "POST")


def page(path: str, **values: str) -> str:
    return f"{path}?{urlencode(values)}" if values else path


def plan(path: str = "/plan/", **values: str) -> str:
    return page(path, **PLAN | values)


def upload(name: str, content: bytes, file_name: str = "a.csv", **values: str) -> bytes:
    """A form with one file."""
    texts = "".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'
        for k, v in values.items()
    )
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="{file_name}"'
    return f"{texts}{head}\r\n\r\n".encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
ORDINARY = (
    Call("offers", "/api/v1/offers/?accelerator=nvidia-a100-80gb-sxm&page_size=20"),
    Call("plan", plan()),
    Call("market", "/market/?accelerator=nvidia-h100-80gb-sxm"),
)
"""What somebody else asks for meanwhile."""


def known_cases(ids: Mapping[str, str]) -> Iterator[Call]:
    """Every request that once froze a worker, filled its memory or ended in a 500."""
    yield from _addresses()
    yield from _bodies(ids)
    yield from _files(ids)
    yield from _texts(ids)
    yield from _webhooks(ids)


def _addresses() -> Iterator[Call]:
    for name, value in (
        ("workload.hours_per_month", "1e999999"),
        ("workload.hours_per_month~bn", "1e-300000000"),
        ("workload.hours_per_month", "9" * 5000),
        ("horizon_months", "1e9999999"),
        ("horizon_months", "-1e-9999999"),
        ("constraints.total_budget", "1e-300000000"),
        ("workload." + "." * 3000, "1"),
        ("servers" + ".0" * 1500, "1"),
        ("servers.²", "1"),
        ("custom_offers.².label", "1"),
        ("servers.².name", "1"),
        ("servers.٣.name", "1"),
        ("servers." + "9" * 5000 + ".name", "x"),
        ("workload.hours_per_month", "1e400 " * 200),
    ):
        for path in ("/plan/", "/plan/live/", "/plan/accelerators/"):
            yield Call(f"{path} {name[:20]}={value[:12]}", plan(path, **{name: value}))
    yield Call("rows", plan(**{"rows.servers": "²"}), status=200)
    yield Call("market number", "/market/?min_accelerators=1e999999", status=400)
    yield Call("market page", "/market/?page=1e999999")
    nested = base64.urlsafe_b64encode(b"[" * 5000).decode()
    yield Call("nested cursor", page("/api/v1/offers/", cursor=nested), status=400)
    for text in ("p=%00", "p=abc", "p=9999999999999999999", "o=" + "9" * 500, "r=1&p=1e999999"):
        cursor = base64.b64encode(text.encode()).decode()
        yield Call(
            f"cursor {text[:8]}", page("/api/v1/projects/", cursor=cursor), None, signed_in=True
        )
    yield Call("revision", f"/api/v1/revisions/aws/{'9' * 30}/")
    yield Call("audit page", "/team/attacked/settings/?page=" + "9" * 5000, signed_in=True)


def _bodies(ids: Mapping[str, str]) -> Iterator[Call]:
    project = f"/api/v1/projects/{ids['project']}/"
    many = {f"f{i}": 1 for i in range(60_000)}
    for name, path, body, method in (
        ("budget", project, {"budget": "1e-300000000"}, "PATCH"),
        ("unknown fields of a project", project, many, "PATCH"),
        ("unknown fields of a request", "/api/v1/comparisons/", REQUEST | many, "POST"),
        ("a long name", "/api/v1/comparisons/", REQUEST | {"x" * 500_000: 1}, "POST"),
        ("many hours", "/api/v1/comparisons/", _hours([0.5] * 100_000), "POST"),
        ("hours as text", "/api/v1/comparisons/", _hours("1e-300000000"), "POST"),
        ("many servers", "/api/v1/comparisons/", REQUEST | {"servers": [{}] * 60_000}, "POST"),
    ):
        data = json.dumps(body).encode()
        yield Call(name, path, data, method=method, signed_in=True, status=400)
    for name, text in (
        ("digits", b'{"horizon_months": %s}' % (b"9" * 900_000)),
        ("exponent", b'{"horizon_months": 1e999999999}'),
        ("nesting", b"[" * 900_000),
        ("quotes", b'"' + b'\\"' * 450_000),
        ("NUL", b'{"name": "\\u0000"}'),
        ("half a pair", b'{"name": "\\ud800"}'),
    ):
        yield Call(f"JSON {name}", "/api/v1/comparisons/", text, status=400)


def _webhooks(ids: Mapping[str, str]) -> Iterator[Call]:
    """One of these once stopped the deliveries of every team."""
    path = f"/api/v1/teams/{ids['team']}/webhooks/"
    for url, status in (
        ("https://h\u00f6oks.example/pl\u00e4ne", 400),
        ("https://\u00f6..example/", 400),
        ("https://[::1", 400),
        ("https://hooks.example/" + "\u00f6" * 300, 400),
        ("https://\u0660.\u0661.\u0662.\u0663/", 400),
        ("https://" + "\u00f6" * 480 + "/", 400),
    ):
        body = {"url": url, "events": ["project.price_moved"]}
        yield Call(
            f"webhook {url[:20]}", path, json.dumps(body).encode(), signed_in=True, status=status
        )


def _hours(value: Any) -> dict[str, Any]:
    return REQUEST | {"workload": REQUEST["workload"] | {"hours_per_month": value}}


def _files(ids: Mapping[str, str]) -> Iterator[Call]:
    for name, content in (
        ("one line of cells", b"a," * 10_000_000),
        ("one line of digits", b"9" * 20_000_000),
        ("one GPU a line", b"index,utilization.gpu [%]\n" + b"".join(
            b"%d,5\n" % i for i in range(500_000))),
        ("spaces", b"utilization.gpu [%]\n" + (b"1" + b" " * 9_000 + b"x\n") * 2_000),
        ("a long number", b"utilization.gpu [%]\n" + b"9" * 9_000 + b"\n"),
    ):  # fmt: skip
        yield Call(f"log of {name}", "/usage/", upload("log", content), MULTIPART, status=400)
    merges = "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 60))
    for name, content in (
        ("lines.tf", b" \n" * 400_000),
        ("comments.tf", b"/* " * 30_000),
        ("merges.yaml", f"a0: &a0 {{k: 1}}\n{merges}".encode()),
        ("parts.yaml", b"x:\n" + b"- {a: 1}\n" * 100_000),
    ):
        yield Call(f"job file {name}", "/usage/", upload("file", content, name), MULTIPART)
    actuals = f"/api/v1/projects/{ids['project']}/actuals/"
    for name, rows in (
        ("1e-999990", b"2027-01,1e-999990\n" * 5000),
        ("1e999999", b"2027-01,1e999999\n" * 5000),
        ("long", b"2027-01," + b"9" * 90_000 + b"\n"),
        ("NUL", b"2027-01,\0\n"),
    ):
        content = b"month,cost\n" + rows
        yield Call(f"actuals {name}", actuals, content, "text/csv", signed_in=True, status=400)
    page_of_project = f"/team/{ids['team']}/projects/{ids['project']}/?form=upload"
    rows = b"month,cost\n2027-01,1.5\n"
    body = upload("file", rows, "n" * 3000 + ".csv")
    yield Call("a long file name", page_of_project, body, MULTIPART, signed_in=True)


def _texts(ids: Mapping[str, str]) -> Iterator[Call]:
    for path in ("/market/offer/?id=%00", "/team/?team=%00", "/market/?provider=%00", "/%00/",
                 f"/team/{ids['team']}/settings/?page=%00", "/api/v1/offers/?region=%00",
                 "/plan/?name=%00", "/join/%00/"):  # fmt: skip
        yield Call(f"NUL in {path[:24]}", path, signed_in=True, status=400)
    yield Call("NUL in a cookie", "/", headers={"Cookie": 'sessionid="\\000abcdefghijk"'})
    yield Call("a version", f"/team/{ids['team']}/prices/?form=rates", b"version=%C2%B2", FORM,
               signed_in=True)  # fmt: skip
    yield Call("odd key", "/api/v1/projects/", b"{}", signed_in=True,
               headers={"Idempotency-Key": "\xff" * 300})  # fmt: skip
