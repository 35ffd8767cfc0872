"""What the sentences of a portfolio say of its figures."""

from decimal import Decimal

import pytest

from planner.portfolio.words import describe_plan, describe_waiting, explain_share
from tests.planner.portfolio.portfolios import planned, relay


@pytest.fixture(scope="module")
def answer():
    return planned(relay(2, 24, shares="use", what_if=False))


@pytest.mark.parametrize(
    ("saving", "words"),
    [
        ("0", "; planning together saves nothing here."),
        ("0.05", "; planning together costs the same as planning apart."),
        ("1132.58", "; planning together costs the same as planning apart."),
        ("1132.59", ", 1,133 USD (0.1%) less than the 1,132,589 USD of planning apart."),
        ("113258.90", ", 113,259 USD (10%) less than the 1,132,589 USD of planning apart."),
        ("-0.05", "; planning together costs the same as planning apart."),
        ("-113258.90", ", 113,259 USD (10%) more than the 1,132,589 USD of planning apart, because "
         "shared budgets and quotas leave no room for what each would do on its own."),
    ],
)  # fmt: skip
def test_a_saving_of_less_than_a_thousandth_is_none(answer, saving, words):
    amounts = {"saving": Decimal(saving), "apart": Decimal("1132589.00")}
    fraction = float(amounts["saving"] / amounts["apart"])
    close = answer.model_copy(update={**amounts, "saving_fraction": fraction})
    text = describe_plan(close)
    assert text.endswith(words)
    assert ("; as stated and net present " in text) is words.startswith(", ")


def test_a_project_that_the_others_pay_reads_so(answer):
    one = answer.projects[0].model_copy(
        update={
            "share": Decimal("-67943.12"),
            "fraction": -0.281585,
            "alone": Decimal("77948.34"),
            "saving": Decimal("145891.46"),
        }
    )
    rest = answer.projects[1].model_copy(update={"fraction": 1.281585})
    changed = answer.model_copy(update={"projects": (one, rest), "shares_method": "shapley"})
    text = explain_share(changed, one)
    assert text.startswith(
        "The others pay it 67,943 USD for what it brings, -28.2% of the plan: 145,891 USD less "
        "than the 77,948 USD it would pay alone."
    )


@pytest.mark.parametrize(
    ("waiting", "cost", "words"),
    [
        (["A"], "500", "A waits: budgets and quotas leave no room after the projects that come "
         "first. Without those limits, serving all would cost 500.00 USD more."),
        ([], "-500", "Without budgets and quotas, serving all would cost 500.00 USD less."),
    ],
)  # fmt: skip
def test_what_serving_all_would_cost_is_told(waiting, cost, words):
    assert " ".join(describe_waiting(waiting, Decimal(cost), "USD")) == words
