"""Whom a request counts for, with proxies in front and without."""

from __future__ import annotations

from typing import Any

import pytest

from planner.services.work_budget import client_address

FORGED = {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "1.1.1.1, 198.51.100.7"}


@pytest.mark.parametrize(
    ("proxies", "address"), [(0, "10.0.0.1"), (1, "198.51.100.7"), (2, "1.1.1.1")]
)
def test_only_what_our_own_proxies_say_is_believed(
    settings: Any, proxies: int, address: str
) -> None:
    settings.NUM_PROXIES = proxies
    assert client_address(FORGED) == address


def test_a_customer_cannot_choose_among_addresses_of_their_network(settings: Any) -> None:
    first, second = (client_address({"REMOTE_ADDR": f"2001:db8:1:2::{n}"}) for n in ("1", "ffff"))
    assert first == second == "2001:db8:1:2::"
