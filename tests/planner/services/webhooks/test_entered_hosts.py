"""Hosts that no webhook can reach are refused when they are entered; nothing is resolved."""

from __future__ import annotations

import pytest

from planner.services.webhooks.outbound import check_literal, check_url
from pricing.common.invalid_input import InvalidInput


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST.", "a.localhost", "localhost.localdomain", "0", "[::1]"]
)
def test_this_machine_is_refused_by_any_name_when_it_is_entered(host: str, settings) -> None:
    with pytest.raises(InvalidInput, match="give a host that the public internet reaches"):
        check_literal(check_url(f"https://{host}/"))
    settings.WEBHOOK_ALLOWED_NETWORKS = ["10.0.0.0/8"]
    with pytest.raises(InvalidInput, match="private, local or reserved"):
        check_literal(check_url(f"https://{host}/"))


@pytest.mark.parametrize("host", ["intranet", "hooks.corp.internal", "nas.local", "a.home.arpa"])
def test_a_name_of_a_network_of_its_own_is_refused_unless_one_is_open(host: str, settings) -> None:
    with pytest.raises(InvalidInput, match="only a network of its own knows; give a host"):
        check_literal(check_url(f"https://{host}/"))
    settings.WEBHOOK_ALLOWED_NETWORKS = ["10.0.0.0/8"]
    check_literal(check_url(f"https://{host}/"))
