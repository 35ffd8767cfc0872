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


@pytest.mark.parametrize(
    "host",
    [
        *("intranet", "hooks.corp.internal", "nas.local", "a.home.arpa", "ci.corp", "a.home"),
        "localhost6.localdomain6",
    ],
)
def test_a_name_of_a_network_of_its_own_is_refused_unless_one_is_open(host: str, settings) -> None:
    with pytest.raises(InvalidInput, match="only a network of its own knows; give a host"):
        check_literal(check_url(f"https://{host}/"))
    settings.WEBHOOK_ALLOWED_NETWORKS = ["10.0.0.0/8"]
    check_literal(check_url(f"https://{host}/"))


@pytest.mark.parametrize("host", ["a..example.com", "256.1.1.1", "1.2.3.4.5", "a" * 64 + ".com"])
def test_what_is_no_name_is_refused_also_where_a_network_is_open(host: str, settings) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ["10.0.0.0/8"]
    with pytest.raises(InvalidInput, match="is no name that a server can have; give a host"):
        check_literal(check_url(f"https://{host}/"))


@pytest.mark.parametrize(
    "host",
    [
        *("example.com.", "hooks.local.example.com", "lan.com", "mylan.de", "corp.example.com"),
        *("a_b.example.com", "xn--bcher-kva.de", "8.8.8.8", "[2606:4700::1111]"),
    ],
)
def test_a_public_host_is_taken(host: str) -> None:
    check_literal(check_url(f"https://{host}/"))
