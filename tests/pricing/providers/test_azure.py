"""Azure over loopback: what is published equals what is sold, whatever surrounds it."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import pytest

from pricing.ingest.provider import SkippedRow
from pricing.providers.azure.management import MachineLookup, read_resource_sku
from tests.pricing.providers.azure_tools import fetched
from tests.pricing.providers.read_rows import offers, reasons
from tests.pricing.servers.azure import AzureServer
from tests.pricing.servers.azure_truth import OTHERS, VMS, Row, rows_of, truth

TRUE_ROWS = [one for vm in VMS for one in rows_of(vm)]
REASONS = {
    "windows": "Windows",
    "windows spot": "Windows",
    "win": "Windows",
    "dedicated host": "Dedicated Host",
    "cloud services": "Cloud Services",
    "fpga": "no accelerator of ours",
    "dev/test": "dev/test",
    "promo sku": "promotion",
    "promo product": "promotion",
    "expired meter": "expired",
    "ended": "expired",
    "older state": "older state of a price",
    "to come": "not yet in effect",
    "secondary meter": "not the primary meter",
    "volume tier": "price of a volume tier",
    "zero": "price is zero or missing",
    "no price": "price is zero or missing",
    "converted": "converted price, not in US dollars",
    "no machine name": "no machine name",
    "unit of a month": "unit is not an hour",
    "canary region": "not a public region",
    "staging region": "no product name, Windows cannot be told",
    "meter of another machine": "meter of another machine",
    "same twice": "same price from another meter",
    "unknown machine": "unknown machine",
    "fraction not published": "accelerator count not published",
    "unknown term": "reservation without a known term",
}


@pytest.fixture
def server() -> Iterator[AzureServer]:
    with AzureServer() as running:
        yield running


def test_the_offers_equal_what_is_sold(server: AzureServer) -> None:
    assert offers(fetched(server.settings)) == truth()


def test_a_subscription_adds_nothing_wrong(server: AzureServer) -> None:
    assert offers(fetched(server.settings_with_subscription)) == truth()


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("name", "odd"),
    [(name, odd) for name, odd in OTHERS if name in REASONS],
    ids=[name for name, _ in OTHERS if name in REASONS],
)
def test_trap_2_a_row_that_only_looks_like_a_price_is_left_out(name: str, odd: Row) -> None:
    server = AzureServer([*TRUE_ROWS, odd], page_size=1000)
    server.understands_contains = False  # the rows without a machine's name come as well
    with server:
        rows = fetched(server.settings)
    assert offers(rows) == truth()
    assert reasons(rows) == {REASONS[name]: 1}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "harm",
    [
        {"retailPrice": 0.0},
        {"retailPrice": -1},
        {"retailPrice": None},
        {"currencyCode": "EUR"},
        {"unitOfMeasure": "1/Month"},
    ],
)
def test_an_older_state_never_takes_the_place_of_one_without_an_amount(harm: Row) -> None:
    newest = next(one for one in TRUE_ROWS if one.get("savingsPlan"))
    older = newest | {"effectiveStartDate": "2023-01-01T00:00:00Z", "retailPrice": 6.5}
    rest = [one for one in TRUE_ROWS if one is not newest]
    with AzureServer([older, newest | harm, *rest]) as server:
        rows = offers(fetched(server.settings))
    gone = truth().keys() - rows.keys()
    assert rows == {key: one for key, one in truth().items() if key not in gone}
    assert {key.split(":")[3] for key in gone} == {"on_demand", "savings_plan"}


def test_savings_plans_of_an_older_state_end_with_it() -> None:
    newest = next(one for one in TRUE_ROWS if one.get("savingsPlan"))
    older = newest | {"effectiveStartDate": "2023-01-01T00:00:00Z", "retailPrice": 6.5}
    bare = {name: value for name, value in newest.items() if name != "savingsPlan"}
    with AzureServer([older, bare, *(one for one in TRUE_ROWS if one is not newest)]) as server:
        rows = offers(fetched(server.settings))
    gone = truth().keys() - rows.keys()
    assert rows == {key: one for key, one in truth().items() if key not in gone}
    assert {key.split(":")[3] for key in gone} == {"savings_plan"}


def test_two_meters_with_two_prices_are_no_price() -> None:
    pair = [odd for name, odd in OTHERS if name == "two meters"]
    with AzureServer(pair) as server:
        rows = fetched(server.settings)
    assert offers(rows) == {}
    assert reasons(rows) == {"several meters with different prices": 2}


def test_trap_2_a_reservation_is_the_whole_terms_price_counted_once(server: AzureServer) -> None:
    found = offers(fetched(server.settings))
    one = found["azure:westeurope:Standard_NC24ads_A100_v4:reserved:12m:all_upfront"]
    assert (one.price_per_hour, one.upfront) == (Decimal(0), Decimal("31234.0"))
    on_demand = found["azure:westeurope:Standard_NC24ads_A100_v4:on_demand"]
    assert one.effective_price_per_hour == Decimal("31234.0") / 8760
    assert one.effective_price_per_hour < on_demand.price_per_hour


def test_trap_7_a_converted_price_is_not_taken_for_the_local_one() -> None:
    converted = [{**one, "currencyCode": "EUR"} for one in TRUE_ROWS]
    with AzureServer(converted) as server:
        rows = fetched(server.settings)
    assert offers(rows) == {}
    assert set(reasons(rows)) == {"converted price, not in US dollars"}


def sku(name: str, gpus: str, places: tuple[str, ...] = ("westeurope",)) -> Row:
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "locations": list(places),
        "capabilities": [
            {"name": "GPUs", "value": gpus},
            {"name": "vCPUs", "value": "40"},
            {"name": "MemoryGB", "value": "320"},
        ],
    }


def machines(*rows: Row) -> MachineLookup:
    return MachineLookup([one for one in map(read_resource_sku, rows) if one is not None])


def test_a_machine_newer_than_our_table_is_known_from_resource_skus() -> None:
    machine = machines(sku("Standard_ND40isr_B300_v9", "8")).find("Standard_ND40isr_B300_v9")
    assert not isinstance(machine, SkippedRow)
    assert (machine.accelerator, machine.accelerator_count) == ("nvidia-b300", Fraction(8))
    assert (machine.vcpus, machine.memory_gib) == (40, 320)


def test_trap_4_the_count_of_a_new_fractional_machine_is_not_believed() -> None:
    found = machines(sku("Standard_NV9ads_A10_v6", "1")).find("Standard_NV9ads_A10_v6")
    assert isinstance(found, SkippedRow)
    assert found.reason in ("accelerator count not published", "unknown machine")


def test_a_name_that_may_mean_two_accelerators_is_reported() -> None:
    found = machines(sku("Standard_NC99ads_A100_v9", "1")).find("Standard_NC99ads_A100_v9")
    assert found == SkippedRow("unknown machine", "Standard_NC99ads_A100_v9")


def test_a_machine_is_not_sold_where_resource_skus_do_not_list_it() -> None:
    known = machines(sku("STANDARD_NC24ADS_A100_V4", "1", ("WestUS3",)))
    name = "Standard_NC24ads_A100_v4"
    assert [known.is_listed(name, one) for one in ("westus3", "westeurope")] == [True, False]


def test_a_restriction_of_the_subscription_takes_no_machine_off_the_market(
    server: AzureServer,
) -> None:
    assert all(one["restrictions"] for one in server.skus if one["name"] == "Standard_NC6")
    found = offers(fetched(server.settings_with_subscription))
    assert found["azure:westus3:Standard_NC24ads_A100_v4:on_demand"].sold_now
