"""In which order the market stands unless another is asked for."""

from __future__ import annotations

from decimal import Decimal

from pricing.publish.batch import OfferBatch
from pricing.publish.publication import publish
from tests.planner.costing.market_of import offer
from tests.planner.web.asking import get, text
from tests.planner.workspace import SEEN


def test_what_is_not_known_stands_last_in_either_direction(client, db):
    unknown = {"accelerator": "qualcomm-ai100", "instance_type": "dl2q.24xlarge"}
    rows = (offer("9.00", **unknown), offer("55.04"), offer("98.32", region="eu-west-1"))
    publish(OfferBatch("aws", rows, as_of=SEEN), force=True, today=SEEN)
    for ordering, first in (("usd_per_tflop_hour", "55.04"), ("-usd_per_tflop_hour", "98.32")):
        shown = get(client, "market", {"ordering": ordering}).context["found"].rows
        assert shown[0].usd_per_hour == float(first)
        assert [row.usd_per_tflop_hour is None for row in shown] == [False, False, True]


def test_cards_that_hold_a_model_in_training_stand_before_cheaper_ones(client, db):
    small = {"accelerator": "nvidia-l4", "instance_type": "g6.xlarge", "count": 1}
    rows = (offer("0.80", **small), offer("55.04"))
    publish(OfferBatch("aws", rows, as_of=SEEN), force=True, today=SEEN)
    assert Decimal("0.80") < Decimal("55.04") / 8
    page = text(get(client, "market"))
    assert page.index("p5.48xlarge") < page.index("g6.xlarge")
    by_price = text(get(client, "market", {"ordering": "usd_per_accelerator_hour"}))
    assert by_price.index("g6.xlarge") < by_price.index("p5.48xlarge")
