"""What the sentences of a portfolio say of its figures."""

from decimal import Decimal

import pytest

from planner.portfolio.portfolio import plan_portfolio
from planner.portfolio.words import describe_plan
from pricing.bundled.catalog import bundled_catalog
from tests.planner.portfolio.portfolios import TODAY, relay


@pytest.fixture(scope="module")
def answer():
    request = relay(2, 24, shares="use", what_if=False)
    return plan_portfolio(request, bundled_catalog(), today=TODAY)


@pytest.mark.parametrize(
    ("saving", "words"),
    [
        ("0", "; planning together saves nothing here."),
        ("0.05", "; planning together costs the same as planning apart."),
        ("1132.58", "; planning together costs the same as planning apart."),
        ("1132.59", ", 1,133 USD (0.1%) less than 1,132,589 USD planned apart."),
        ("113258.90", ", 113,259 USD (10%) less than 1,132,589 USD planned apart."),
    ],
)
def test_a_saving_of_less_than_a_thousandth_is_none(answer, saving, words):
    amounts = {"saving": Decimal(saving), "apart": Decimal("1132589.00")}
    fraction = float(amounts["saving"] / amounts["apart"])
    close = answer.model_copy(update={**amounts, "saving_fraction": fraction})
    assert describe_plan(close, ["rent on demand"]).endswith(words)
