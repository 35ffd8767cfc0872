"""The plumbing of every REST view: errors, bodies, queries, pages, conditional requests."""

import json

import pytest
from django.http import Http404, QueryDict
from rest_framework import exceptions
from rest_framework.test import APIRequestFactory

from planner.api import media
from pricing.api import pages, rest
from pricing.common.invalid_input import InvalidInput


class _Parsed:
    def __init__(self, body: bytes, **meta: str) -> None:
        self.request = APIRequestFactory().post("/", body, content_type="application/json", **meta)
        self.body = body

    def value(self) -> object:
        import io

        context = {"request": self.request}
        return media.GuardedJSONParser().parse(io.BytesIO(self.body), None, context)


def _answer(exc: Exception) -> dict:
    response = rest.exception_handler(exc, {})
    assert response is not None
    assert response.content_type == "application/problem+json"
    assert response.data["status"] == response.status_code
    return response.data


def _query(text: str) -> object:
    class Request:
        query_params = QueryDict(text)

    return Request()


def test_refusals_of_the_core_name_every_field() -> None:
    refusal = InvalidInput("a", "too big", (InvalidInput("b.c", "missing"),))
    data = _answer(refusal)
    assert data["status"] == 400
    assert [(e["field"], e["message"]) for e in data["errors"]] == [
        ("a", "too big"),
        ("b.c", "missing"),
    ]


def test_every_missing_thing_answers_alike() -> None:
    assert _answer(Http404("a")) == _answer(exceptions.NotFound("other words"))


def test_a_bug_is_not_dressed_up() -> None:
    assert rest.exception_handler(RuntimeError("x"), {}) is None


def test_throttling_says_when_to_come_back() -> None:
    response = rest.exception_handler(exceptions.Throttled(7), {})
    assert response is not None
    assert response["Retry-After"] == "7"


def test_json_is_read() -> None:
    assert _Parsed(b'{"a": [1, {"b": null}]}').value() == {"a": [1, {"b": None}]}


@pytest.mark.parametrize(
    "body", [b"[" * 30 + b"]" * 30, b"[" * 100_000, b'{"a":' * 50 + b"1" + b"}" * 50]
)
def test_deep_json_is_refused(body: bytes) -> None:
    with pytest.raises((InvalidInput, exceptions.ParseError)):
        _Parsed(body).value()


@pytest.mark.parametrize("body", [b"{", b"NaN", b'{"a": Infinity}', b"\xff", b""])
def test_what_is_not_json_is_refused(body: bytes) -> None:
    with pytest.raises(exceptions.ParseError):
        _Parsed(body).value()


def test_what_could_be_read_two_ways_is_refused() -> None:
    with pytest.raises(exceptions.ParseError, match="twice"):
        _Parsed(b'{"a": 1, "a": 2}').value()


@pytest.mark.parametrize("text", ["9" * 5000, "1e999999", "-1e-999999"])
def test_a_number_that_nothing_holds_stays_text_for_its_field_to_refuse(text: str) -> None:
    assert _Parsed(f'{{"a": {text}}}'.encode()).value() == {"a": text}


@pytest.mark.parametrize("text", ["\x00", "\ud800"])
def test_text_that_no_database_holds_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="surrogate"):
        _Parsed(json.dumps({"a": {text: 1}}).encode()).value()


def test_a_large_body_is_refused_before_it_is_read(settings) -> None:
    settings.API_MAX_BODY_BYTES = 10
    with pytest.raises(media.Refusal, match="10 bytes"):
        _Parsed(b"[1,2,3,4,5,6,7]").value()
    with pytest.raises(media.Refusal):
        _Parsed(b"[]", CONTENT_LENGTH="1000000000").value()


def test_a_compressed_body_is_refused() -> None:
    with pytest.raises(exceptions.UnsupportedMediaType):
        _Parsed(b"[]", HTTP_CONTENT_ENCODING="gzip").value()


def test_query_reads_words_numbers_flags_and_dates() -> None:
    query = rest.Query(_query("p=a,b&p=c&n=3&f=true&d=2026-01-31"), "p", "n", "f", "d", "z")
    assert query.words("p") == ("a", "b", "c")
    assert query.whole("n", 1, 9) == 3
    assert query.flag("f") is True
    assert str(query.date("d")) == "2026-01-31"
    assert (query.text("z"), query.flag("z"), query.number("z", 0, 1), query.words("z")) == (
        None, None, None, (),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "reader"),
    [
        ("x=1", lambda q: None),
        ("n=nan", lambda q: q.number("n", 0, 9)),
        ("n=10", lambda q: q.number("n", 0, 9)),
        ("n=1.5", lambda q: q.whole("n", 0, 9)),
        ("n=1&n=2", lambda q: q.text("n")),
        ("n=", lambda q: q.words("n")),
        ("n=maybe", lambda q: q.flag("n")),
        ("n=2026-13-01", lambda q: q.date("n")),
        ("n=%00", lambda q: q.text("n")),
    ],
)
def test_query_refuses_by_name(text: str, reader) -> None:
    with pytest.raises(InvalidInput) as refusal:
        reader(rest.Query(_query(text), "n"))
    assert refusal.value.field in ("n", "x")


@pytest.mark.parametrize("size", ["0", "501", "x", "-1", "9999999", "٣"])
def test_page_sizes_outside_the_range_are_refused(size: str) -> None:
    with pytest.raises(InvalidInput, match="page_size"):
        pages.CursorPages().get_page_size(_query(f"page_size={size}"))


def test_a_cursor_of_another_is_refused() -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        pages.CursorPages().decode_cursor(_query("cursor=%FF%FFabc"))


def test_if_none_match_and_if_match() -> None:
    etag = rest.make_etag("offers", 3)
    factory = APIRequestFactory()
    assert etag != rest.make_etag("offers", 4)
    assert rest.is_not_modified(factory.get("/", HTTP_IF_NONE_MATCH=f'"x", {etag}'), etag)
    assert not rest.is_not_modified(factory.get("/"), etag)
    assert rest.matches_etag(etag, etag)
    assert not rest.matches_etag('"old"', etag)
