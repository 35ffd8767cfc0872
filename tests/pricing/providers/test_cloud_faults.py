"""Faults at random against a price list: a region gives the truth whole, or nothing, said why.

Optional parts, which may fail alone, are in `tests.pricing.isolation`.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

import pytest

from pricing.ingest.provider import ProviderUnavailable
from pricing.providers.azure import provider as azure
from tests.pricing.isolation.after_publication import kept_after
from tests.pricing.providers import azure_tools, gcp_tools
from tests.pricing.servers import azure_truth
from tests.pricing.servers.azure import AzureServer
from tests.pricing.servers.base import Fault
from tests.pricing.servers.gcp import GcpServer

SEEDS = range(150 if os.environ.get("FAULTS") == "1" else 2)

MAKERS: tuple[Callable[..., Fault], ...] = (
    lambda times, after, _cut: Fault.burst(times, after=after),
    lambda times, after, _cut: Fault.error(times, after=after),
    lambda times, after, _cut: Fault.error(times, status=503, after=after),
    lambda times, after, cut: Fault.truncated(times, keep=cut, after=after),
    lambda times, after, cut: Fault.lost(times, at=cut, after=after),
    lambda times, after, _cut: Fault(times=times, after=after, rewrite=lambda _body: b""),
    lambda times, after, _cut: Fault(times=times, after=after, rewrite=lambda _body: b"<html>"),
)


def some_faults(seed: int) -> list[Fault]:
    chance = random.Random(seed)
    return [
        chance.choice(MAKERS)(chance.randint(1, 7), chance.randint(0, 12), chance.random())
        for _ in range(chance.randint(1, 4))
    ]


def outcome(settings: dict[str, str]) -> set[str] | None:
    """What keeps its row of yesterday, or None where the run gave up as it should."""
    try:
        rows = azure.fetch(azure_tools.context(settings))
        return kept_after(rows, azure_truth.truth(), azure_tools.bare)[0]
    except ProviderUnavailable as error:
        assert error.hint  # noqa: PT017 - either outcome is right
        return None


@pytest.mark.faults
@pytest.mark.parametrize("seed", SEEDS)
def test_azure_under_faults_gives_each_region_whole_or_leaves_it(seed: int) -> None:
    with AzureServer() as server:
        server.faults.extend(some_faults(seed))
        kept = outcome(server.settings)
    by_region = {key.split(":")[1] for key in kept or ()}
    assert kept is None or kept == {
        key for key in azure_truth.truth() if key.split(":")[1] in by_region
    }


def test_the_runs_deadline_ends_the_waiting() -> None:
    with GcpServer() as server:
        server.faults.append(Fault.burst(None, retry_after="60"))
        deadline = time.monotonic() + 5
        with pytest.raises(
            ProviderUnavailable, match=r"429.*would come after the run's time limit"
        ):
            gcp_tools.fetched(server.settings, deadline=deadline)
