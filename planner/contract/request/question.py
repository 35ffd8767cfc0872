"""A comparison asked in one line, such as `8 H100 for 12 months in Europe`. PURE.

    COUNT ACCELERATOR for N months [from YYYY-MM] [in PLACE [or PLACE]]

Years are 12 months; so many accelerators are at work in every hour of the plan. A place is a part
of the world, a country by its name or code, or a provider's region.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import resolve_all
from pricing.market.offers import HOURS_PER_MONTH
from pricing.market.place_names import AREAS, COUNTRY_CODES, COUNTRY_GROUPS, GEOGRAPHIES

FORM = "COUNT ACCELERATOR for N months [from YYYY-MM] [in PLACE]"
EXAMPLE = "8 H100 for 12 months in Europe"
FIELD = "question"
_CLAUSES = re.compile(r"\s+(?=(?:for|from|in)\s)", re.IGNORECASE)
_MONTHS = {"month": 1, "months": 1, "year": 12, "years": 12}


def read_question(text: str) -> dict[str, Any]:
    """The fields of the request that the line asks for. Raises `InvalidInput` naming the word that
    is not understood, and the form.

    >>> read_question("8 H100 for 1 year in Europe")["constraints"]
    {'geographies': ['europe']}
    >>> read_question("eight H100 for 1 year")
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: question: 'eight' is not a number of accelerators;
        write COUNT ACCELERATOR for N months [from YYYY-MM] [in PLACE], such as 8 H100 for 12
        months in Europe
    """
    head, *clauses = _CLAUSES.split(" ".join(text.split()))
    count, _, accelerator = head.partition(" ")
    if not re.fullmatch(r"[1-9]\d{0,5}", count):
        raise _refusal(count, "is not a number of accelerators")
    if not accelerator:
        raise _refusal(text, "names no accelerator")
    resolve_all(accelerator, FIELD)
    request: dict[str, Any] = {
        "name": " ".join(text.split()),
        "workload": {
            "kind": "accelerator_hours",
            "accelerator": accelerator,
            "hours_per_month": int(count) * HOURS_PER_MONTH,
            "peak_accelerators": int(count),
        },
    }
    words = [clause.partition(" ")[0].lower() for clause in clauses]
    for word, clause in zip(words, clauses, strict=True):
        if words.count(word) > 1:
            raise _refusal(word, "stands twice")
        request |= _READERS[word](clause.partition(" ")[2])
    if "for" not in words:
        raise _refusal(text, "does not say for how many months")
    return request


def _read_length(text: str) -> dict[str, Any]:
    match = re.fullmatch(r"(a|one|\d{1,3}) (\w+)", text.lower())
    if match is None or match[2] not in _MONTHS:
        raise _refusal(text, "is not a number of months")
    number = int(match[1]) if match[1].isdecimal() else 1
    return {"horizon_months": number * _MONTHS[match[2]]}


def _read_start(text: str) -> dict[str, Any]:
    if not re.fullmatch(r"\d{4}-\d{2}", text):
        raise _refusal(text, "is not a month such as 2027-01")
    return {"start": text}


def _read_places(text: str) -> dict[str, Any]:
    limits: dict[str, list[str]] = {}
    for place in re.split(r"\s*,\s*|\s+or\s+", text):
        kind, names = _find_place(place)
        limits.setdefault(kind, []).extend(names)
    return {"constraints": limits}


def _find_place(place: str) -> tuple[str, list[str]]:
    words = place.lower().removeprefix("the ")
    slug = words.replace(" ", "-")
    if slug in GEOGRAPHIES or slug in COUNTRY_GROUPS:
        return "geographies", [slug]
    if words in AREAS:
        return "geographies", list(AREAS[words])
    if words in COUNTRY_CODES:
        return "countries", [COUNTRY_CODES[words]]
    if words.upper() in COUNTRY_CODES.values():
        return "countries", [words.upper()]
    if re.fullmatch(r"[a-z][a-z-]*\d[\w-]*", words):
        return "regions", [words]
    raise _refusal(place, "is no part of the world, country or region that is known")


def _refusal(word: str, problem: str) -> InvalidInput:
    return InvalidInput(FIELD, f"{word[:60]!r} {problem}; write {FORM}, such as {EXAMPLE}")


_READERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "for": _read_length,
    "from": _read_start,
    "in": _read_places,
}
