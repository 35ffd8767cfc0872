"""Requests with extreme numbers and texts in every field that pages and API know."""

import copy
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from tests.attack.cases import FORM, JSON, MULTIPART, PLAN, REQUEST, Call, upload

NUMBERS = (
    *("0", "-0", "-1", "0.1", "1e-12", "1e-13", "1e-300", "5e-324", "1e-400", "1e12", "1e15"),
    *("1e30", "1e300", "1e308", "1e309", "-1e308", "1e999", "1e999999", "1e-999999", "1e999999999"),
    *("9" * 20, "9" * 40, "9" * 41, "9" * 400, "9" * 4301, "0." + "0" * 500 + "1", "1_000", "0x10"),
    *(
        "2147483648",
        "9223372036854775808",
        "NaN",
        "Infinity",
        "-inf",
        "²",
        "١٢",
        "１２",
        "1,5",
        "5 %",
    ),
    *(
        "+1",
        "1e",
        ".",
        "1.",
        ".5",
        "--1",
        "1e+5",
        "00012",
        "1 000",
        "100 " * 500,
        "60",
        "120",
        "8",
        "100000",
        "2000",
    ),
)
TEXTS = (
    *("", " ", "\0", "a\0b", "\ud7ff", "\ufffe", "\u202e", "\u2028", "e\u0301" * 100, "🧮" * 50),
    *("x" * 201, "x" * 5000, "'; drop table", "<script>", "{{ 1 }}", "../../etc/passwd", "%00"),
    *("=1+1", "null", "true", "[]", "{}", "none", "default", "aws", "EUR", "ZZZ", "2027-01"),
    *("0000-00", "9999-12", "2027-13", "٢٠٢٧-٠١", "\r\n", "H100", "owned", "." * 300, "[" * 300),
)
TRAINING = {
    "workload.kind": "training",
    "workload.parameters~bn": "7",
    "workload.tokens~bn": "20",
    "horizon_months": "36",
    "risk.samples": "2000",
}
PAGES = (
    *("/plan/", "/plan/", "/plan/live/", "/plan/accelerators/", "/market/"),
    *("/market/offer/",),
    *("/market/changes/", "/", "/method/", "/save/", "/team/"),
)
LISTS = (
    *("offers", "price-history", "accelerators", "revisions", "freshness", "coverage", "regions"),
    *("exchange-rates", "servers", "projects", "saved-comparisons", "jobs", "alerts"),
)
FILTERS = (
    *("accelerator", "provider", "region", "geography", "purchase_option", "min_accelerators"),
    *("accelerator_count", "min_accelerator_memory_gib", "as_of", "ordering", "page_size"),
    *("cursor", "sold_now", "page", "id", "team", "q", "compare", "a", "b", "instance_type"),
)


class Generator:
    """The same requests for the same seed."""

    def __init__(self, seed: int, ids: Mapping[str, str]) -> None:
        from planner.web.common.fields import FIELD_TYPES

        self._random, self._ids = random.Random(seed), ids
        self._paths = sorted(path for path in FIELD_TYPES if "**" not in path)

    def calls(self, count: int) -> Iterator[Call]:
        kinds: tuple[Callable[[], Call], ...] = (
            *(self._plan, self._plan, self._page, self._list, self._comparison, self._comparison),
            *(
                self._estimate,
                self._project,
                self._team_thing,
                self._actuals,
                self._log,
                self._form,
                self._raw,
            ),
        )
        for number in range(count):
            call = self._random.choice(kinds)()
            yield Call(
                f"{number} {call.name}",
                *(call.path, call.body, call.content_type, call.method),
                signed_in=self._random.random() < 0.5,
            )

    def _text(self) -> str:
        return self._random.choice(NUMBERS if self._random.random() < 0.7 else TEXTS)

    def _value(self) -> Any:
        text = self._text()
        odd = (None, True, [], {}, [1] * 200, 10**300, 1e300, 1e-300, -1, 0, 2**63)
        return self._random.choice((text, text, text, self._random.choice(odd)))

    def _field(self) -> str:
        path = self._random.choice(self._paths)
        return path.replace("*", self._random.choice(("0", "0", "1", "²", "999999", "9" * 30)))

    def _plan(self) -> Call:
        values = dict(self._random.choice((PLAN, TRAINING)))
        for _ in range(self._random.randint(1, 3)):
            unit = self._random.choice(("", "", "~pct", "~bn", "~²"))
            values[self._field() + unit] = self._text()[:5000]
        path = self._random.choice(PAGES[:4])
        return self._address(path, values)

    def _page(self) -> Call:
        names = self._random.sample(FILTERS, self._random.randint(1, 3))
        return self._address(self._random.choice(PAGES[4:]), {n: self._text() for n in names})

    def _list(self) -> Call:
        names = self._random.sample(FILTERS, self._random.randint(1, 2))
        path = f"/api/v1/{self._random.choice(LISTS)}/"
        return self._address(path, {n: self._text() for n in names})

    def _address(self, path: str, values: Mapping[str, str]) -> Call:
        address = f"{path}?{urlencode(values, errors='replace')}"
        return Call(f"GET {address[:60]}", address[:8000])

    def _request(self) -> dict[str, Any]:
        request = copy.deepcopy(REQUEST)
        for _ in range(self._random.randint(1, 3)):
            here: Any = request
            *groups, last = self._field().split(".")
            for group in groups:
                below = here.get(group) if isinstance(here, dict) else None
                here = here.setdefault(group, {}) if not isinstance(below, dict) else below
                if not isinstance(here, dict):
                    break
            else:
                here[last] = self._value()
        return request

    def _comparison(self) -> Call:
        return self._post("/api/v1/comparisons/", self._request())

    def _estimate(self) -> Call:
        return self._post("/api/v1/estimates/", {"workload": self._request()["workload"]})

    def _project(self) -> Call:
        names = ("budget", "name", "description", "budget_period", "watch_threshold", "workload")
        body = {self._random.choice(names): self._value(), "version": self._value()}
        body = {k: v for k, v in body.items() if k != "version" or self._random.random() < 0.2}
        return self._post(f"/api/v1/projects/{self._ids['project']}/", body, "PATCH")

    def _team_thing(self) -> Call:
        path, names = self._random.choice((
            ("webhooks", ("url", "description", "events", "active")),
            ("tokens", ("name", "scopes", "days", "kind", "role")),
            ("invitations", ("role", "email", "days")),
            ("servers", ("slug", "label", "server", "supplier", "quoted_on")),
        ))  # fmt: skip
        body = {name: self._value() for name in names if self._random.random() < 0.8}
        if "url" in body:
            host = self._text().strip() or "h\u00f6st"
            body |= {"url": f"https://{host[:600]}.example/", "events": ["project.price_moved"]}
        call = self._post(f"/api/v1/teams/{self._ids['team']}/{path}/", body)
        return replace(call, headers={"Idempotency-Key": self._header(), "Prefer": self._header()})

    def _header(self) -> str:
        """A value that HTTP can carry."""
        text = self._text().encode("latin-1", "ignore").decode("latin-1")
        return re.sub(r"[\0\r\n]", "", text)[:300]

    def _post(self, path: str, body: Any, method: str = "POST") -> Call:
        return Call(f"{method} {path}", path, json.dumps(body).encode(), JSON, method)

    def _actuals(self) -> Call:
        cells = [
            f"{self._cell('2027-01')},{self._cell('1.5')},{self._cell('2')}" for _ in range(20)
        ]
        body = "\n".join(["month,cost,hours", *cells]).encode(errors="replace")
        return Call(
            "actuals", f"/api/v1/projects/{self._ids['project']}/actuals/", body, "text/csv"
        )

    def _cell(self, usual: str) -> str:
        return usual if self._random.random() < 0.8 else self._text().replace(",", "")

    def _log(self) -> Call:
        lines = [f"{self._cell('0')}, {self._cell('97 %')}, {self._cell('40960 MiB')}" * 1
                 for _ in range(50)]  # fmt: skip
        text = "\n".join(["index, utilization.gpu [%], memory.used [MiB]", *lines])
        return Call("log", "/usage/", upload("log", text.encode(errors="replace")), MULTIPART)

    def _form(self) -> Call:
        team = f"/team/{self._ids['team']}"
        path, names = self._random.choice((
            (f"{team}/projects/{self._ids['project']}/edit/",
             ("name", "budget", "watch_threshold", "version", "description")),
            (f"{team}/settings/?form=team", ("name", "currency", "version")),
            (f"{team}/prices/?form=rates", ("finance.discount_rate~pct", "version",
                                          "custom_offers.0.price_per_hour", "custom_offers.².x")),
            (f"{team}/prices/?form=quote", ("label", "unit_price", "max_units", "power_kw")),
            (f"{team}/settings/?form=tokens", ("name", "days")),
            ("/teams/new/", ("name", "currency")),
            (f"{team}/settings/?form=members", ("role", "email", "days")),
            ("/accounts/login/", ("login", "password")),
            ("/theme/", ("theme", "next")),
        ))  # fmt: skip
        values = {name: self._text() for name in names}
        return Call(f"form {path[:40]}", path, urlencode(values, errors="replace").encode(), FORM)

    def _raw(self) -> Call:
        number = self._random.choice(NUMBERS)
        text = self._random.choice((
            f'{{"horizon_months": {number}}}', f'{{"workload": {{"kind": {number}}}}}',
            "[" * self._random.choice((20, 26, 5000)), f'{{"a": "{number}', number,
            '{"workload": "\\ud800"}', "\0", "{" * 50, f'{{"{number}": 1, "{number}": 2}}',
        ))  # fmt: skip
        path = "/api/v1/comparisons/"
        return Call(f"raw {text[:30]}", path, text.encode(errors="replace"))
