"""Rows of JSON, each read as it comes. PURE."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pricing.common.bounded import MAX_DEPTH, check_nesting
from pricing.common.invalid_input import InvalidInput


def read_object(text: str, number: int) -> dict[str, Any]:
    """The object of one row, its numbers as the texts that write them."""
    if text.count("{") + text.count("[") > MAX_DEPTH:  # fewer brackets cannot nest deeper
        check_nesting(text)
    try:
        value = json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"row {number}", f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"row {number}", "is no JSON object")
    return value


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]')
"""A text or a bracket; a text of JSON holds no line end."""


def list_objects(lines: Iterator[str], max_characters: int) -> Iterator[dict[str, Any]]:
    """The objects of a JSON list over several lines, each read when its brackets match."""
    depth = size = number = 0
    gathered: list[str] = []
    for line in lines:
        start = 0
        for token in _TOKEN.finditer(line):
            if token[0] in "[{":
                depth += 1
                start = token.start() if depth == 2 else start
            elif token[0] in "]}":
                depth -= 1
                if depth == 1:
                    number += 1
                    text = "".join((*gathered, line[start : token.end()]))
                    yield read_object(text, number)
                    gathered, size = [], 0
        if depth >= 2:
            gathered.append(line[start:])
            size += len(line)
        if size > max_characters:
            raise InvalidInput(f"row {number + 1}", f"is longer than {max_characters:,} characters")
    if depth:
        raise InvalidInput("file", "is JSON that ends too early")
