"""No number on a page without its currency or unit; what needs none is named in `bare_numbers`."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.golden.answers import REQUESTS
from tests.golden.page import parse, render
from tests.planner.costing.market_of import H100
from tests.planner.web.asking import HOURS, get
from tests.planner.web.units.bare_numbers import bare_numbers, main_of
from tests.properties import one_in

SIZED = {"workload.kind": "training", "workload.parameters~bn": "7", "workload.tokens~bn": "20"}
OPEN = {
    "start": {},
    "plan": SIZED | {"edit": "1"},
    "plan-accelerators": SIZED,
    "market": {},
    "market-changes": {},
    "market-offer": {"id": "aws:us-east-1:p5.48xlarge:on_demand"},
    "usage": {},
}
"""Pages with an example of what they are asked; the method's page holds formulas."""


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", REQUESTS)
def test_of_an_answer(name: str) -> None:
    assert bare_numbers(render(name)) == []


@pytest.mark.parametrize("name", one_in(3, list(OPEN)))
def test_of_an_open_page(client, prices, name: str) -> None:
    assert bare_numbers(main_of(get(client, name, OPEN[name]).content.decode())) == []


def test_of_the_whole_page_of_a_plan_and_of_an_accelerator(client, prices) -> None:
    assert bare_numbers(main_of(get(client, "plan", HOURS).content.decode())) == []
    page = client.get(reverse("market-accelerator", args=[H100]))
    assert bare_numbers(main_of(page.content.decode())) == []


@pytest.mark.parametrize(
    ("markup", "bare"),
    [
        ("<p>It costs 5,877 in all.</p>", ["5,877"]),
        ("<p>It costs 5,877 USD, from 885 to 31,156 USD, in March 2027.</p>", []),
        ("<table><thead><tr><th>What</th><th>Price, USD</th></tr></thead>"
         "<tbody><tr><th>a</th><td>12</td></tr></tbody></table>", []),
        ("<table><thead><tr><th>What</th><th>Price</th></tr></thead>"
         "<tbody><tr><th>a</th><td>12</td></tr></tbody></table>", ["12"]),
        ("<dl><div><dt>Peak</dt><dd>8</dd></div></dl>", ["8"]),
        ("<p>Buy 3 × DGX, 1 in July 2027 and 2 in May 2028</p>", []),
        ("<p>It takes 5 and then 7 in all.</p>", ["5", "7"]),
        ("<p>3 of 12 months on p5.48xlarge with RTX PRO 6000, 8 of 10 cases</p>", []),
    ],
)  # fmt: skip
def test_what_is_bare_is_found(markup: str, bare: list[str]) -> None:
    found = [one.partition("[")[2].partition("]")[0] for one in bare_numbers(parse(markup))]
    assert found == bare
