"""Quotas of the accounts, in the form that a comparison takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import call_command

from planner.contract.request.constraints import Constraints
from pricing.ingest.fetch import pull_quotas
from pricing.ingest.provider import ProviderUnavailable
from pricing.providers.aws import convert_quotas
from pricing.providers.aws import provider as aws
from tests.pricing.providers.aws_tools import context, hide_own_settings
from tests.pricing.publish.fake_provider import FakeProvider
from tests.pricing.servers.aws import FakeAws
from tests.pricing.servers.aws_market import small

pytestmark = pytest.mark.django_db
H100 = "nvidia-h100-80gb-sxm"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAws]:
    hide_own_settings(monkeypatch)
    with FakeAws(small()) as running:
        monkeypatch.setenv("AWS_ENDPOINT_URL", running.url)
        yield running


def told(server: FakeAws, *regions: str) -> dict[tuple[str, str], int]:
    rows = aws.fetch_quotas(context({"AWS_ENDPOINT_URL": server.url}, regions=regions))
    return {(row["region"], row["accelerator"]): row["max_accelerators"] for row in rows}


def run(*arguments: str) -> tuple[str, str, int]:
    out, err = StringIO(), StringIO()
    try:
        call_command("pull_quotas", *arguments, stdout=out, stderr=err)
    except SystemExit as end:
        return out.getvalue(), err.getvalue(), int(end.code or 0)
    return out.getvalue(), err.getvalue(), 0


def test_vcpus_are_turned_into_accelerators(server: FakeAws) -> None:
    limits = told(server, "us-west-2")
    assert limits["us-west-2", H100] == 24  # 384 vCPUs: 2 × p5.48xlarge = 16, 24 × p5.4xlarge
    assert limits["us-west-2", "nvidia-a100-40gb-sxm"] == 32
    assert limits["us-west-2", "nvidia-t4"] == 16
    assert ("us-west-2", "aws-trainium") not in limits


def test_a_limit_of_0_is_a_limit() -> None:
    rows = [{"QuotaName": "Running On-Demand P instances", "Value": 0.0}]
    assert {q["max_accelerators"] for q in convert_quotas("us-east-1", rows)} == {0}


def test_one_group_of_families_says_nothing_of_another() -> None:
    rows = [{"QuotaName": "Running On-Demand DL instances", "Value": 192.0}]
    assert {q["accelerator"] for q in convert_quotas("us-east-1", rows)} == {
        "intel-gaudi",
        "qualcomm-ai100",
    }


def test_no_permission_is_said_with_its_remedy(server: FakeAws) -> None:
    server.refuses.add("quotas")
    (answer,) = pull_quotas(
        [aws], context({"AWS_ENDPOINT_URL": server.url}, regions=("us-west-2",))
    )
    assert "AccessDenied" in answer.what
    assert answer.hint


def test_no_credentials_are_said_with_their_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_own_settings(monkeypatch)
    with pytest.raises(ProviderUnavailable, match="servicequotas:ListServiceQuotas"):
        aws.fetch_quotas(context({}))


def test_a_provider_without_quotas_leaves_the_others(server: FakeAws) -> None:
    one, other = pull_quotas(
        [FakeProvider(), aws], context({"AWS_ENDPOINT_URL": server.url}, regions=("us-west-2",))
    )
    assert one.what == "its adapter does not provide quotas"
    assert other.succeeded


def test_the_command_prints_what_a_comparison_takes(server: FakeAws) -> None:
    out, err, status = run("aws", "--json", "--accelerator", "H100", "--accelerator", "T4")
    assert (err, status) == ("", 0)
    quotas = Constraints.model_validate({"quotas": json.loads(out)}).quotas
    assert [(q.region, q.accelerator, q.max_accelerators) for q in quotas] == [
        ("eu-west-1", H100, 24),
        ("eu-west-1", "nvidia-t4", 16),
        ("us-west-2", H100, 24),
        ("us-west-2", "nvidia-t4", 16),
    ]


def test_too_many_for_one_comparison_is_said(server: FakeAws) -> None:
    server.market.regions |= {"us-east-1": "1", "ap-northeast-1": "1"}
    _, err, status = run("aws", "--json")
    assert "a comparison takes 50. Narrow them" in err
    assert status == 0


def test_the_command_prints_a_table(server: FakeAws) -> None:
    out, _, _ = run("aws", "--region", "us-west-2")
    assert f"aws us-west-2                {H100:<40} 24\n" in out
