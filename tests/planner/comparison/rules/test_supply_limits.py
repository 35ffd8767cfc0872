"""Limits on providers, terms and room: the guide's example; each limit named when in the way."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.request.comparison import read_request
from pricing.bundled.catalog import bundled_catalog
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import CATALOG, TODAY, request_of

PAGE = (Path(settings.BASE_DIR) / "docs" / "guides" / "limits.md").read_text()
REQUEST: dict[str, Any] = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
REQUEST |= {"sensitivity": False, "cheaper_if": False, "risk": {"samples": 100}}


def answer(constraints: dict[str, Any] | None = None, **fields: Any) -> ComparisonAnswer:
    request = REQUEST | fields | ({} if constraints is None else {"constraints": constraints})
    return compare(request, Catalog.of([]), today=TODAY)


def says(amount: object) -> bool:
    return f"{amount:,.0f} USD" in PAGE


def sentences(of: ComparisonAnswer, key: str) -> list[str]:
    return [one.sentence for one in of.by_key[key].relaxations]


def in_service(of: ComparisonAnswer, key: str, source: str) -> float:
    rows = [row for row in of.by_key[key].capacity if row.source.startswith(source)]
    return max((row.accelerators for row in rows), default=0.0)


def test_the_worked_example() -> None:
    assert says(answer({}).by_key["on_demand"].total_cost)
    assert says(answer().by_key["on_demand"].total_cost)
    assert says(answer({"min_providers": 2}).by_key["on_demand"].total_cost)


def test_power_leaves_room_for_one_box() -> None:
    limited = answer({"power_kw": 12})
    (sentence,) = sentences(limited, "on_prem")
    assert sentence in PAGE
    assert in_service(limited, "hybrid", "server:Box") == 8


def test_height_counts_as_power_does() -> None:
    limited = answer({"rack_units": 15})
    assert "at least 16 rack units instead of 15 rack units" in sentences(limited, "on_prem")[0]
    assert in_service(limited, "hybrid", "server:Box") == 8


def test_a_site_is_named_with_what_it_lacks() -> None:
    sites = [{"site": "Bonn", "power_kw": 12}, {"site": "Ulm", "rack_units": 9}]
    both = answer({"sites": sites})
    for site in ("Bonn", "Ulm"):
        assert in_service(both, "on_prem", f"server:Box at {site}") == 8
    tight = [{"site": "Bonn", "power_kw": 12}, {"site": "Ulm", "rack_units": 7}]
    needed = sentences(answer({"sites": tight}), "on_prem")
    assert "It takes a power limit for own servers at Bonn of at least 20 kW instead of 12 kW." in (
        needed
    )
    assert any("at Ulm of at least 8 rack units" in sentence for sentence in needed)


def test_servers_in_place_take_room() -> None:
    owned = {"server": "Box", "units": 1, "bought": "2026-06", "site": "Bonn"}
    fields = {"on_prem": REQUEST["on_prem"] | {"already_owned": [owned]}}
    limited = answer({"sites": [{"site": "Bonn", "power_kw": 19}]}, **fields)
    assert in_service(limited, "hybrid", "server:Box") == 0
    assert in_service(limited, "hybrid", "owned:Box") == 8


def test_a_provider_too_few_is_named() -> None:
    limited = answer({"min_providers": 3})
    assert sentences(limited, "on_demand") == ["It takes a minimum of 2 providers instead of 3."]
    assert limited.by_key["hybrid"].feasible  # own servers are the third


def test_a_least_number_that_no_request_may_have_is_not_asked_for() -> None:
    """Servers that come in April and what is rented until then work in no month side by side, and
    neither in every month."""
    request = {"start": "2027-01", "horizon_months": 12, "cheaper_if": False,
               "workload": {"kind": "accelerator_hours", "accelerator": "H100",
                            "hours_per_month": 5840},
               "constraints": {"min_providers": 2, "providers": ["aws"]}}  # fmt: skip
    limited = compare(request, bundled_catalog(), today=TODAY)
    (needed,) = limited.by_key["on_prem"].relaxations
    assert needed.required_value == 1
    assert needed.sentence == "It takes a minimum of 1 provider instead of 2."


def test_a_share_too_small_is_named() -> None:
    assert sentences(answer({"max_provider_share": 0.3}), "on_demand") == [
        "It takes a largest share of one provider of at least 50 % instead of 30 %."
    ]


def test_the_longest_term() -> None:
    years = {"label": "Three years", "provider": "north", "accelerator": "H100",
             "accelerator_count": 8, "purchase_option": "reserved", "usd_per_hour": 5,
             "term_months": 36}  # fmt: skip
    offers = [*REQUEST["custom_offers"], years]
    free = answer({}, custom_offers=offers, term_end="prorate")
    assert "reserved" in {line.purchase_option for line in free.by_key["committed"].lines}
    limited = answer({"max_term_months": 12}, custom_offers=offers, term_end="prorate")
    assert "reserved" not in {line.purchase_option for line in limited.by_key["committed"].lines}
    assert "Three years left out: the longest term that may be signed is 12 months." in (
        limited.warnings
    )


def test_catalog_terms_are_named_in_what_excludes_them() -> None:
    request = request_of(4000, constraints={"max_term_months": 1})
    committed = compare(request, CATALOG, today=TODAY).by_key["committed"]
    terms = [line for line in committed.lines if line.category in ("commitment", "upfront")]
    assert not terms


@pytest.mark.parametrize(
    ("constraints", "field"),
    [
        ({"min_provider_share": 0.2}, "constraints.min_provider_share"),
        ({"min_providers": 4, "min_provider_share": 0.3}, "constraints.min_provider_share"),
        ({"sites": [{"site": "A"}, {"site": "A"}]}, "constraints.sites.1.site"),
        ({"max_provider_share": 0}, "constraints.max_provider_share"),
        ({"max_term_months": 0}, "constraints.max_term_months"),
        ({"power_kw": -1}, "constraints.power_kw"),
    ],
)
def test_what_makes_no_sense_is_refused(constraints: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_request(REQUEST | {"constraints": constraints})
    assert field in str(refused.value)


def test_what_a_limit_on_room_needs_to_know_is_asked_for() -> None:
    box = {k: v for k, v in REQUEST["on_prem"]["servers"][0].items() if k != "rack_units"}
    with pytest.raises(InvalidInput, match=r"on_prem\.servers\.0\.rack_units"):
        answer({"rack_units": 40}, on_prem={"servers": [box]})
    sites = [{"site": "Bonn", "power_kw": 12}, {"site": "Ulm", "power_kw": 12}]
    with pytest.raises(InvalidInput, match=r"on_prem\.servers\.0\.site"):
        answer({"sites": sites}, on_prem={"servers": [box | {"max_units": 1}]})
    owned = {"server": "Box", "units": 1, "bought": "2026-06"}
    with pytest.raises(InvalidInput, match=r"on_prem\.already_owned\.0\.site"):
        answer({"sites": sites}, on_prem={"servers": [box], "already_owned": [owned]})
