"""Ways in which an answer goes wrong for good, whatever it is an answer to.

What a way does to a body is told by its kind: JSON, JSON in gzip, or XML of EC2.
"""

import gzip
import json
import re
from collections.abc import Callable
from typing import Any

from tests.pricing.servers.azure import LINK_HOST
from tests.pricing.servers.base import Fault

LISTS = frozenset({"Items", "value", "skus", "items", "PriceList", "searchResults", "rates"})
"""Names of lists of rows, over all answers. `products` and `terms` of a price file hold a row by
its key."""
TABLES = frozenset({"products", "items"})
_TOKENS = {
    "NextPageLink": "Items", "nextLink": "value", "nextPageToken": "skus", "NextToken": "PriceList",
    "nextToken": "searchResults",
}  # fmt: skip
"""The field of the next page, by the name of the list beside it."""
_XML_ROWS = re.compile(rb"(?<=Set>).*(?=</\w+Set>)", re.DOTALL)
_ITEM = re.compile(rb"<item>.*?</item>", re.DOTALL)
_PRICES = (
    re.compile(rb'("(?:retailPrice|unitPrice|rate|USD|units)\\?": ?\\?"?)[\d.]+'),
    re.compile(rb"(<(?:spotPrice|upfrontFee)>)[\d.]+"),
)


def rewritten(change: Callable[[Any], Any]) -> Callable[[bytes], bytes]:
    """A change of the document, packed as it came; XML is left to `change` as bytes."""

    def rewrite(body: bytes) -> bytes:
        if body[:2] == b"\x1f\x8b":
            return gzip.compress(rewrite(gzip.decompress(body)), mtime=0)
        if body.lstrip()[:1] == b"<":
            changed = change(body)
            return changed if isinstance(changed, bytes) else body
        return json.dumps(change(json.loads(body))).encode()

    return rewrite


def thinned(keep: int) -> Callable[[Any], Any]:
    """Every `keep`-th row of each list, none for 0."""

    def rows(values: list[Any]) -> list[Any]:
        return values[::keep] if keep else []

    def change(node: Any) -> Any:
        if isinstance(node, bytes):
            return _XML_ROWS.sub(lambda m: b"".join(rows(_ITEM.findall(m[0]))), node)
        if isinstance(node, list):
            return [change(one) for one in node]
        if not isinstance(node, dict):
            return node
        changed = {name: change(value) for name, value in node.items()}
        for name, value in changed.items():
            if name in LISTS and isinstance(value, list):
                changed[name] = rows(value)
                if "Count" in changed:
                    changed["Count"] = len(changed[name])
            elif name in TABLES and isinstance(value, dict):
                changed[name] = {key: value[key] for key in rows(sorted(value))}
        return changed

    return change


def linked(link: Callable[[Any], str]) -> Callable[[Any], Any]:
    """The next page is always the same one."""

    def change(node: Any) -> Any:
        if isinstance(node, bytes):
            token = b"<nextToken>again</nextToken>"
            bare = re.sub(rb"<nextToken>.*?</nextToken>|<nextToken/>", b"", node)
            return re.sub(rb"(?=</\w+Response>\s*$)", token, bare)
        if isinstance(node, dict):
            for token, rows in _TOKENS.items():
                if rows in node:
                    return {**node, token: link(token)}
        return node

    return change


def replaced(pattern: re.Pattern[bytes], by: bytes) -> Callable[[bytes], bytes]:
    def rewrite(body: bytes) -> bytes:
        if body[:2] == b"\x1f\x8b":
            return gzip.compress(rewrite(gzip.decompress(body)), mtime=0)
        return pattern.sub(by, body)

    return rewrite


def priced(price: bytes) -> Callable[[bytes], bytes]:
    def rewrite(body: bytes) -> bytes:
        for pattern in _PRICES:
            body = replaced(pattern, rb"\g<1>" + price)(body)
        return body

    return rewrite


WAYS: dict[str, Callable[[], Fault]] = {
    "403": lambda: Fault.error(None, status=403),
    "404": lambda: Fault.error(None, status=404),
    "429 for good": lambda: Fault.burst(None, retry_after="1"),
    "500": lambda: Fault.error(None),
    "503": lambda: Fault.error(None, status=503),
    "time-out": lambda: Fault.time_out(0.5, times=None),
    "connection lost": lambda: Fault.lost(at=0.0),
    "empty list": lambda: Fault(rewrite=rewritten(thinned(0))),
    "halved list": lambda: Fault(rewrite=rewritten(thinned(2))),
    "torn JSON": lambda: Fault.truncated(keep=0.6),
    "another content type": lambda: Fault(headers={"Content-Type": "text/csv; charset=latin-1"}),
    "a web page": lambda: Fault(
        rewrite=lambda _body: b"<html><body>Sign in</body></html>",
        headers={"Content-Type": "text/html"},
    ),
    "redirect loop": lambda: Fault(status=302, headers={"Location": "/again"}, error_body=b""),
    "token expired half-way": lambda: Fault(
        after=1, status=401, error_body=b'{"__type": "ExpiredTokenException", "message": "no"}'
    ),
    "wrong currency": lambda: Fault(rewrite=replaced(re.compile(rb"\bUSD\b"), b"EUR")),
    "NaN prices": lambda: Fault(rewrite=priced(b"NaN")),
    "prices of 1e400": lambda: Fault(rewrite=priced(b"1e400")),
    "same next page": lambda: Fault(
        rewrite=rewritten(
            linked(lambda token: f"{LINK_HOST}/again" if "Link" in token else "again")
        )
    ),
    "pages in a circle": lambda: Fault(
        after=1,
        rewrite=rewritten(
            linked(lambda token: f"{LINK_HOST}/first" if "Link" in token else "page-0")
        ),
    ),
    "broken gzip": lambda: Fault(
        headers={"Content-Encoding": "gzip"}, rewrite=lambda body: b"\x1f\x8b\x08\x00" + body[9:]
    ),
    "slow drip": lambda: Fault(drip_s=0.1),
}
