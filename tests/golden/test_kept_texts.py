"""Answers keep their words in every form: `kept_texts.json` holds, for each request and form, the
texts that stand in it and are no figures. To record them anew, run this file by pytest
under RECORD=1: what changed is its diff."""

import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from planner.exports import FORMATS, Context
from tests.golden.answers import CASES, REQUESTS, answered
from tests.golden.page import render

FILE = Path(__file__).with_name("kept_texts.json")
DRAWN = (*REQUESTS, "rented and bought", "several clouds")
"""Whose words are also kept as page and files have them."""
pytestmark = pytest.mark.xdist_group("golden")
_FIGURE = re.compile(r"[-+\d.,:%$€T\s]*Z?")


def texts(name: str) -> dict[str, list[str]]:
    """Form → its texts, each once, in their order."""
    answer, context = answered(name), Context(name="Golden", request=CASES[name])
    forms = {"answer": _strings(answer.to_json())}
    if name in DRAWN:
        forms["page"] = render(name).itertext()
        forms["workbook"] = _cells(FORMATS["xlsx"].make(answer, context))
        for form in ("csv", "focus", "commitments") if answer.recommendation else ("csv",):
            forms[form] = iter(re.split(r"[,\r\n]+", FORMATS[form].make(answer, context).decode()))
    return {form: _words(every) for form, every in forms.items()}


def _words(every: Iterator[str]) -> list[str]:
    lines = (" ".join(text.split()) for text in every)
    return list(dict.fromkeys(text for text in lines if not _FIGURE.fullmatch(text)))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)
    elif isinstance(value, str):
        yield value


def _cells(content: bytes) -> Iterator[str]:
    for sheet in openpyxl.load_workbook(io.BytesIO(content)):
        yield sheet.title
        for row in sheet.iter_rows(values_only=True):
            yield from (cell for cell in row if isinstance(cell, str))


@pytest.mark.parametrize("name", CASES)
def test_answers_keep_their_words(name: str) -> None:
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    now = texts(name)
    if os.environ.get("RECORD") == "1":
        again = json.dumps(kept | {name: now}, indent=0, ensure_ascii=False)
        FILE.write_text(again + "\n", encoding="utf-8")
    else:
        assert now == kept[name]
