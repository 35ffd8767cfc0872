"""The review of the pages names what is there: 45 rows, each held by a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
REVIEW = (ROOT / "docs/architecture/page-review.md").read_text(encoding="utf-8")
ROWS = {int(row[1]): row[0] for row in re.finditer(r"^\| (\d+) \|.*$", REVIEW, re.MULTILINE)}
_HELD_BY = re.compile(r"((?:`test_\w+`(?:, | and )?)+) in `(tests/[\w/]+\.py)`")


def named_tests(row: str) -> list[tuple[str, str]]:
    """(test, file) of each test that a row names."""
    return [
        (test, file)
        for tests, file in _HELD_BY.findall(row)
        for test in re.findall(r"`(test_\w+)`", tests)
    ]


def test_there_are_45_rows_in_order() -> None:
    assert list(ROWS) == list(range(1, 46))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("number", ROWS)
def test_each_row_says_what_became_of_it_and_is_held_by_a_test(number: int) -> None:
    row = ROWS[number]
    assert "Gone" in row or "Answered" in row
    found = named_tests(row)
    assert len(found) == row.count("`test_") > 0
    for test, file in found:
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), (test, file)


def test_every_test_named_below_the_table_exists() -> None:
    _, _, below = REVIEW.partition("## The first screen")
    for test, file in named_tests(below):
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), (test, file)
