"""Names of request fields and months inside sentences of the core, as pages write them. PURE."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from planner.contract.months import name_day, name_month

GROUP_TITLES = {
    "workload.runs": "Runs",
    "constraints.quotas": "Quotas",
    "on_prem.servers": "Servers to consider",
    "on_prem.already_owned": "Servers you already own",
    "existing.commitments": "Commitments already signed",
    "data.prices": "Prices of data",
    "custom_offers": "Private offers",
    "price_adjustments": "Contract discounts",
}
"""Groups of rows that sentences name, by the field of the request."""
_NO_BOX = {
    "chunked_loss": "a loss computed in chunks",
    "on_prem.g_co2e_per_kwh": "grams of CO2e per kWh through the API",
}
"""Fields that sentences name and the form does not have, in words."""
_PARTS = "constraints|data|existing|finance|on_prem|risk|workload"
_NAME = re.compile(
    rf"(?<![\w'\"“./])((?:{_PARTS})\.[a-z]\w*|[a-z]+(?:_[a-z0-9]+)+)"
    r"(?: \"(\w+)\")?(?![\w'\"”/]|\.\w)"
)
_MONTH = re.compile(r"(?<![\w.:/-])\d{4}-(?:0[1-9]|1[0-2])(?![\w/-]|:\S)")
"""A month as requests write it, which is no part of a day, a span or a name."""
_DAY = re.compile(r"(?<![\w.:/-])\d{4}-\d{2}-\d{2}(?![\w/-]|:\S)")
_Label = Callable[[str], str]
"""The form's label of a field, by its path or its last name; "" where it has none."""
_Choice = Callable[[str, str], str]
"""The form's words of a value of a field."""


def label_names(text: str, label: _Label, choice: _Choice) -> str:
    """A sentence with the label of every field that has one, and the words of what it is set to.

    >>> labels = {"peak_accelerators": "Peak", "on_prem.pue": "PUE", "term_end": "Ends"}
    >>> def tell(text):
    ...     return label_names(text, lambda name: labels.get(name, ""), lambda name, value: "all")
    >>> tell("a peak of 8 (peak_accelerators) ends it; see data.prices, prices.csv and my_log")
    'a peak of 8 (“Peak”) ends it; see “Prices of data”, prices.csv and my_log'
    >>> tell('Give it as on_prem.pue. It is counted with term_end "full".')
    'Give it as “PUE”. It is counted with “Ends” set to “all”.'
    """

    def in_words(field: re.Match[str]) -> str:
        name, value = field.groups()
        if name in _NO_BOX:
            return _NO_BOX[name]
        title = GROUP_TITLES.get(name) or label(name)
        if not title:
            return field[0]
        return f"“{title}” set to “{choice(name, value)}”" if value else f"“{title}”"

    return _NAME.sub(in_words, text)


def name_dates(text: str) -> str:
    """A sentence with its days and months in words.

    >>> name_dates("until 2029-12: 227 USD")
    'until December 2029: 227 USD'
    >>> name_dates("late from 2027-03 to 2027-05, priced on 2026-02-01")
    'late from March 2027 to May 2027, priced on 1 February 2026'
    >>> name_dates("run-2027-03-01 of 2027-02-30")
    'run-2027-03-01 of 2027-02-30'
    """
    return _MONTH.sub(lambda month: name_month(month[0]), _DAY.sub(_name_day, text))


def _name_day(written: re.Match[str]) -> str:
    try:
        return name_day(dt.date.fromisoformat(written[0]))
    except ValueError:
        return written[0]
