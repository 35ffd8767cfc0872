"""A comparison asked in one line, such as `8 H100 for 12 months in Europe`. PURE.

    COUNT ACCELERATOR [on spot] for N months, weeks or days [from YYYY-MM] [in PLACE [or PLACE]]
    [at PROVIDER]

Years are 12 months; so many accelerators are at work in every hour of the plan, or of its first
days where the line names days or weeks. A place is a part of the world, a country by its name or
code, a city, or a provider's region.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import resolve_all
from pricing.market.clouds import Cloud, all_clouds
from pricing.market.offers import HOURS_PER_MONTH, PurchaseOption
from pricing.market.place_names import (
    AREAS,
    COUNTRY_CODES,
    COUNTRY_GROUPS,
    GEOGRAPHIES,
    regions_by_city,
)

FORM = (
    "COUNT ACCELERATOR [on spot] for N months, weeks or days [from YYYY-MM] [in PLACE] "
    "[at PROVIDER]"
)
EXAMPLE = "8 H100 for 12 months in Europe"
FIELD = "question"
_CLAUSES = re.compile(r"\s+(?=(?:for|from|starting|in|on|at)\s)", re.IGNORECASE)
_COUNT = re.compile(r"([1-9]\d{0,2}(?:,\d{3}){1,2}|[1-9]\d{0,5}|[a-z]+)(?: ?[x×] ?| )(.+)", re.I)
_WORDS = (
    *("a", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_NUMBERS: Mapping[str, float] = {
    **{word: number for number, word in enumerate(_WORDS, start=1)},
    **{"half a": 0.5, "an": 1, "one": 1},
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_DAYS = {"day": 1, "week": 7}
_MONTH_NAMES = [name.lower() for name in calendar.month_abbr]
"""Of January the second."""
_DGX = re.compile(r"[DH]GX\b ?(?P<of>(?:A100|H100|H200|B200|B300)\b.*)?", re.IGNORECASE)
_DGX_ACCELERATORS = 8
"""Of a DGX or HGX of each of these (NVIDIA's data sheets, 2020-2025)."""
Fields = dict[str, Any]


def read_question(text: str) -> Fields:
    """The fields of the request that the line asks for. Raises `InvalidInput` naming the word that
    is not understood, and the form.

    >>> read_question("eight H100s for a year in Europe")["constraints"]
    {'geographies': ['europe']}
    >>> read_question("some H100 for 1 year")
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: question: 'some' is not a number of accelerators;
        write COUNT ACCELERATOR [on spot] for N months, weeks or days [from YYYY-MM] [in PLACE]
        [at PROVIDER], such as 8 H100 for 12 months in Europe
    """
    line = " ".join(text.split())
    head, *clauses = _CLAUSES.split(re.sub(r"(?<! on) spot(?= |$)", " on spot", line))
    count, accelerator = _read_machines(head)
    request: Fields = {
        "name": line,
        "workload": {
            "kind": "accelerator_hours",
            "accelerator": accelerator,
            "hours_per_month": count * HOURS_PER_MONTH,
            "peak_accelerators": count,
        },
    }
    words = [clause.partition(" ")[0].lower() for clause in clauses]
    for word, clause in zip(words, clauses, strict=True):
        if words.count(word) > 1:
            raise _refusal(word, "stands twice")
        _READERS[word](request, clause.partition(" ")[2])
    if "for" not in words:
        raise _refusal(text, "does not say for how many months")
    return request


def _read_machines(head: str) -> tuple[int, str]:
    match = _COUNT.fullmatch(head)
    count, accelerator = match.groups() if match else (head.partition(" ")[0], "")
    digits = count.replace(",", "")
    number = int(digits) if digits.isdecimal() else int(_NUMBERS.get(count.lower(), 0))
    if not number:
        raise _refusal(count, "is not a number of accelerators")
    if machine := _DGX.match(accelerator):
        number, accelerator = number * _DGX_ACCELERATORS, machine["of"]
    if not accelerator:
        raise _refusal(head, "does not say which accelerators, and how many")
    return number, _singular(accelerator)


def _singular(accelerator: str) -> str:
    try:
        resolve_all(accelerator, FIELD)
    except InvalidInput as refusal:
        try:
            resolve_all(accelerator.removesuffix("s"), FIELD)
        except InvalidInput:
            raise refusal from None
        return accelerator.removesuffix("s")
    return accelerator


def _read_length(request: Fields, text: str) -> None:
    match = re.fullmatch(r"(?:the next )?(half a|[a-z]+|\d{1,3}(?:\.5)?) ([a-z]+?)s?", text.lower())
    word, unit = match.groups() if match else ("", "")
    number = float(word) if word[:1].isdecimal() else _NUMBERS.get(word, 0)
    days, months = number * _DAYS.get(unit, 0), number * _MONTHS.get(unit, 0)
    if days:
        work, hours = request["workload"], days * 24
        months = math.ceil(days / 31)  # of the longest month
        each = [min(hours - m * HOURS_PER_MONTH, HOURS_PER_MONTH) for m in range(months)]
        by_month = [int(work["peak_accelerators"] * one) for one in each]
        work["hours_per_month"] = by_month if months > 1 else by_month[0]
    if not months or months % 1:
        raise _refusal(text, "is not a number of months, weeks or days")
    request["horizon_months"] = int(months)


def _read_start(request: Fields, text: str) -> None:
    name, _, year = text.lower().partition(" ")
    if name[:3] in _MONTH_NAMES[1:] and re.fullmatch(r"\d{4}", year):
        text = f"{year}-{_MONTH_NAMES.index(name[:3]):02}"
    if not re.fullmatch(r"\d{4}-\d{2}", text):
        raise _refusal(text, "is not a month such as 2027-01 or January 2027")
    request["start"] = text


def _read_places(request: Fields, text: str) -> None:
    words = re.split(r"\s*,\s*|\s+(?:or|and)\s+", text.rstrip(","))
    places = [_find_place(place) for place in words]
    kinds = {kind for kind, _ in places}
    if len(kinds) > 1:
        raise _refusal(text, "mixes parts of the world, countries and regions; name one kind alone")
    names = [name for _, names in places for name in names]
    request.setdefault("constraints", {})[kinds.pop()] = names


def _find_place(place: str) -> tuple[str, list[str]]:
    words = place.lower().removeprefix("the ")
    slug = words.replace(" ", "-")
    if words in COUNTRY_CODES:
        return "countries", [COUNTRY_CODES[words]]
    if words.upper() in COUNTRY_CODES.values():
        return "countries", [words.upper()]
    if slug in GEOGRAPHIES or slug in COUNTRY_GROUPS:
        return "geographies", [slug]
    if words in AREAS:
        return "geographies", list(AREAS[words])
    if words in regions_by_city():
        return "regions", list(regions_by_city()[words])
    if re.fullmatch(r"[a-z][a-z-]*\d[\w-]*", words):
        return "regions", [words]
    raise _refusal(place, "is no part of the world, country, city or region that is known")


def _read_way(request: Fields, text: str) -> None:
    """`on spot`, `on demand`, or a provider by its name."""
    constraints = request.setdefault("constraints", {})
    words = text.lower()
    if words == "spot":
        request["workload"]["interruptible"] = True
        constraints["purchase_options"] = [PurchaseOption.SPOT.value]
    elif words == "demand":
        constraints["purchase_options"] = [PurchaseOption.ON_DEMAND.value]
    else:
        names = {title.lower(): slug for slug, cloud in all_clouds().items()
                 for title in (slug, *_titles(cloud))}  # fmt: skip
        if words not in names:
            known = sorted({_titles(cloud)[0] for cloud in all_clouds().values()}, key=str.lower)
            raise _refusal(text, f"is no provider that is known: {', '.join(known)}")
        constraints["providers"] = [names[words]]


def _titles(cloud: Cloud) -> tuple[str, ...]:
    """What people call a cloud: by the whole title or the first word of it, as `Google`."""
    return cloud.short_title or cloud.title, cloud.title, cloud.title.split()[0]


def _refusal(word: str, problem: str) -> InvalidInput:
    return InvalidInput(FIELD, f"{word[:60]!r} {problem}; write {FORM}, such as {EXAMPLE}")


_READERS: Mapping[str, Callable[[Fields, str], None]] = {
    "for": _read_length,
    "from": _read_start,
    "starting": _read_start,
    "in": _read_places,
    "on": _read_way,
    "at": _read_way,
}
