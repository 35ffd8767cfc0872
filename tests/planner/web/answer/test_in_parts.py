"""The page of an answer is sent in two parts; whatever happens between them is told."""

import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from planner.comparison import compare_in_steps
from planner.web.plan.plan_page import REST
from pricing.common.invalid_input import InvalidInput
from tests.planner.web.asking import HOURS, WHOLE, get, text

STEPS = "planner.services.projects.comparisons.compare_in_steps"


def steps_then(error: Exception) -> Any:
    def steps(*args: Any, **options: Any) -> Iterator[Any]:
        yield next(compare_in_steps(*args, **options))
        raise error

    return steps


def parts(client: Any, **headers: str) -> list[bytes]:
    return list(client.get(f"{reverse('plan')}?{urlencode(HOURS | WHOLE)}", headers=headers))


def test_what_is_advised_is_sent_before_the_rest(
    client: Any, prices: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(STEPS, compare_in_steps)
    first, rest = (one.decode() for one in parts(client))
    assert 'class="to-do"' in first
    assert "<svg" in first
    assert 'class="answer-tabs' not in first
    assert 'id="numbers"' in rest
    assert rest.rstrip().endswith("</html>")
    assert REST not in first + rest


def test_each_part_can_be_read_when_it_comes(client: Any, prices: Any) -> None:
    read = zlib.decompressobj(wbits=31)
    first, *rest = parts(client, accept_encoding="gzip, br")
    assert b'class="to-do"' in read.decompress(first)
    assert b"</html>" in b"".join(map(read.decompress, rest))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ZeroDivisionError("private detail"), "The error is ours and has been logged under "),
        (InvalidInput("horizon_months", "takes too long"), "Horizon: takes too long"),
    ],
)
def test_what_fails_after_the_first_part_is_said_below_it(
    client: Any, prices: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    monkeypatch.setattr(STEPS, steps_then(error))
    page = text(get(client, "plan", HOURS | WHOLE))
    assert f"The rest of the answer could not be computed. {words}" in page
    assert "private detail" not in page
    assert 'class="answer-tabs' not in page
    assert page.rstrip().endswith("</html>")


def test_what_is_refused_before_the_first_part_has_its_status(client: Any, prices: Any) -> None:
    assert get(client, "plan", HOURS | {"start": "2019-01"}).status_code == 400
