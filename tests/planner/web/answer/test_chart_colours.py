"""Colours of the charts: one for each kind of source, told apart in grey and on the page."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from django.conf import settings

from planner.contract.answer.common import Category

SCRIPT = (Path(settings.BASE_DIR) / "static/palette.js").read_text()
SOURCES = ("owned", "committed", "capacity_block", "on_demand", "spot")
SPENT = ("capex", "commitment", "upfront", "compute")
KINDS = tuple(one.value for one in Category)
"""Categories of cost in the order in which they are stacked."""
STACKS = (
    *((KINDS[i], KINDS[i + gap]) for gap in (1, 2) for i in range(len(KINDS) - gap)),
    *pairwise(("compute", "support", "staff")),
    *pairwise(("compute", "storage", "egress", "support")),
    *pairwise(("commitment", "support", "staff")),
    *pairwise(("compute", "capex", "install")),
)
"""Categories that stand beside each other, also where one is missing or in plans that only rent."""
LEAST_STEP = 6.0
"""CIE lightness by which two greys differ that stand beside each other."""


def lightness(colour: str) -> float:
    """CIE L* of `#rrggbb`, 0 to 100: the grey that it prints as."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    y = sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return float(116 * y ** (1 / 3) - 16)


def palette(theme: str) -> dict[str, str]:
    block = SCRIPT.partition(f"    {theme}: {{")[2].partition("},")[0]
    return dict(re.findall(r'(\w+): "(#[0-9a-f]{6})"', block))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("roles", [SOURCES, SPENT])
def test_no_two_of_one_chart_print_as_the_same_grey(theme: str, roles: tuple[str, ...]) -> None:
    greys = {role: lightness(palette(theme)[role]) for role in roles}
    for one, other in combinations(roles, 2):
        assert abs(greys[one] - greys[other]) >= LEAST_STEP, (one, other)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_categories_beside_each_other_print_as_different_greys(theme: str) -> None:
    colours = palette(theme)
    for one, other in STACKS:
        step = abs(lightness(colours[one]) - lightness(colours[other]))
        assert step >= LEAST_STEP, (one, other)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_category_is_told_from_the_page(theme: str) -> None:
    colours = palette(theme)
    page = lightness(colours["paper"])
    assert all(abs(lightness(colours[kind]) - page) > 30 for kind in KINDS)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_without_a_meaning_alternate_in_grey_and_differ_from_the_page(theme: str) -> None:
    block = SCRIPT.partition("const REST")[2].partition(f"{theme}: [")[2].partition("]")[0]
    rest = re.findall(r'"(#[0-9a-f]{6})"', block)
    assert len(rest) == 10
    for one, other in pairwise([*rest, rest[0]]):
        assert abs(lightness(one) - lightness(other)) >= LEAST_STEP, (one, other)
    page = lightness(palette(theme)["paper"])
    assert all(abs(lightness(one) - page) > 30 for one in rest)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_advised_line_has_a_colour_of_its_own(theme: str) -> None:
    colours = palette(theme)
    red, *_, blue = (int(colours["advised"][i : i + 2], 16) for i in (1, 3, 5))
    assert blue - red > 100
    assert colours["advised"] not in {colours[role] for role in (*SOURCES, *SPENT)}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_paid_planned_and_allowed_has_no_colour_of_a_source(theme: str) -> None:
    colours = palette(theme)
    of_money = ("paid", "advised", "next_best", "budget", "more", "less")
    assert not {colours[role] for role in of_money} & {colours[role] for role in SOURCES}
    for one, other in combinations(("paid", "advised", "next_best"), 2):
        assert colours[one] != colours[other]
    assert abs(lightness(colours["more"]) - lightness(colours["less"])) >= LEAST_STEP
