"""How figures look to a reader, written without the code that writes them."""

import datetime as dt
from decimal import Decimal
from math import floor
from typing import Any

PROVIDERS = {"aws": "AWS", "azure": "Azure", "gcp": "Google Cloud"}
TITLES = {"on_demand": "On demand", "cloud": "Cloud", "on_prem": "On-prem", "hybrid": "Hybrid"}
OPTIONS = {"capacity_block": "capacity block", "on_demand": "on demand"}


def exact(value: Any) -> Decimal:
    return Decimal(str(value))


def money(value: Any, currency: str) -> str:
    return f"{number(value)} {currency}"


def rate(value: Any, currency: str) -> str:
    price = exact(value)
    return f"{price:,.4f} {currency}" if abs(price) < 1 else f"{price:,.2f} {currency}"


def percent(value: Any, digits: int = 0) -> str:
    return f"{number(exact(value) * 100, digits)}%"


def unit_word(unit: str) -> str:
    """Machines are called nodes by the API alone."""
    return unit.replace("node-", "machine-").replace("futures", "simulated cases")


def add_up(exact: list[Any]) -> list[int]:
    """Rounded down, those that lose most then up until all add up to their rounded sum: of equals
    the largest."""
    whole = [floor(one) for one in exact]
    lost = sorted(range(len(exact)), key=lambda i: (whole[i] - exact[i], -exact[i]))
    for index in lost[: round(sum(exact)) - sum(whole)]:
        whole[index] += 1
    return whole


def number(value: Any, digits: int = 0) -> str:
    return f"{exact(value):z,.{digits}f}".replace("-", "−")


def plain(value: Any) -> str:
    """Without trailing zeros."""
    whole, dot, fraction = f"{exact(value):,f}".partition(".")
    fraction = fraction.rstrip("0")
    return whole + (dot + fraction if fraction else "")


def month(start: str, index: int) -> str:
    """The month `index` months after `start`, by counting."""
    year, first = map(int, start.split("-"))
    for _ in range(index):
        first += 1
        if first == 13:
            year, first = year + 1, 1
    return f"{year:04d}-{first:02d}"


NAMES = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def named_month(start: str, index: int) -> str:
    """As tables of pages name it: `March 2027`."""
    year, number = month(start, index).split("-")
    return f"{NAMES[int(number) - 1]} {year}"


def short_month(start: str, index: int) -> str:
    """As the axes of charts name it: `Mar 2027`."""
    name, year = named_month(start, index).split()
    return f"{name[:3]} {year}"


def first_day(start: str, index: int) -> dt.date:
    return dt.date.fromisoformat(f"{month(start, index)}-01")
