"""A total outside its own range is said to be the one at what was stated, in every interface."""

from __future__ import annotations

import datetime as dt
import io

import pytest
from openpyxl import load_workbook

from planner.commands.tables import comparison_tables
from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports.rows import Context
from planner.exports.workbook import as_workbook
from planner.web.answer.answer_page import AnswerPage
from planner.web.answer.board_pack import PackFacts, board_pack
from tests.golden.answers import answered
from tests.planner.comparison.words.test_verdict import doubted
from tests.planner.web.paper import read_paper

SENTENCE = "at the hours and prices given (60,000 to 61,000 USD in 8 of 10 cases)"


@pytest.fixture(scope="module")
def outside() -> ComparisonAnswer:
    """An answer with the words of a plan of 55,000 USD."""
    verdict = doubted({"committed": 1.0}, {}, (60_000.0, 61_000.0))
    assert SENTENCE in verdict.sentence
    return answered("most scenarios infeasible").model_copy(update={"verdict": verdict})


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def test_the_page_says_it(outside: ComparisonAnswer) -> None:
    assert SENTENCE in AnswerPage(outside).money_sentence


def test_the_board_pack_says_it(outside: ComparisonAnswer) -> None:
    _, words = read_paper(board_pack(AnswerPage(outside), PackFacts(dt.date(2026, 11, 20))))
    assert SENTENCE in in_one_line(words)


def test_the_interface_of_programs_says_it(outside: ComparisonAnswer) -> None:
    assert SENTENCE in outside.to_json()["verdict"]["sentence"]


def test_the_command_says_it(outside: ComparisonAnswer) -> None:
    assert SENTENCE in in_one_line(comparison_tables(outside))


def test_the_workbook_says_it(outside: ComparisonAnswer) -> None:
    book = load_workbook(io.BytesIO(as_workbook(outside, Context())))
    cells = (str(cell.value) for row in book["Summary"].iter_rows() for cell in row)
    assert any(SENTENCE in text for text in cells)
