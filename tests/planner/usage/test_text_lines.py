"""Lines are those of the standard reader, wherever a block of the file ends."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.usage import text_lines
from planner.usage.text_lines import Allowance, read_lines
from pricing.common.invalid_input import InvalidInput


def lines_of(content, encoding="utf-8", max_rows=10**6):
    return list(read_lines(io.BytesIO(content), encoding, Allowance(10**9, max_rows)))


@given(
    st.lists(st.sampled_from(["a", "ä", "€", "😀", "\r", "\n", "\r\n", "\u2028", "\x0b"])),
    st.integers(1, 9),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_lines_are_those_of_the_standard_reader(signs, block, encoding):
    content = "".join(signs).encode(encoding)
    expected = io.TextIOWrapper(io.BytesIO(content), encoding, newline="").readlines()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "_BLOCK", block)
        assert lines_of(content, encoding) == expected


@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize(
    ("bad", "problem"),
    [(b"\xff", "line 30001: is not UTF-8 text"), (b"\0", "line 30001: holds a NUL")],
)
def test_what_is_no_text_is_named_by_its_line(ends, bad, problem):
    content = (b"month,cost" + ends) * 30_000 + b"x" + bad + ends + b"y" + ends
    with pytest.raises(InvalidInput, match=problem):
        lines_of(content)


def test_a_line_too_long_is_named_and_not_held():
    endless = io.BufferedReader(_Endless())
    lines = read_lines(endless, "utf-8", Allowance(10**9, 10**6))
    assert next(lines) == "month\n"
    with pytest.raises(InvalidInput, match="line 2: is longer than 1,000,000 characters"):
        list(lines)
    assert endless.raw.given < 3 * text_lines.MAX_LINE


def test_more_lines_than_are_read_are_refused():
    assert len(lines_of(b"a\n" * 5, max_rows=5)) == 5
    with pytest.raises(InvalidInput, match="has more than 4 rows"):
        lines_of(b"a\n" * 5, max_rows=4)


class _Endless(io.RawIOBase):
    """A file that goes on for as long as it is read."""

    given = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        data = b"month\n" if not self.given else b"x" * len(buffer)
        self.given += len(data)
        buffer[: len(data)] = data
        return len(data)
