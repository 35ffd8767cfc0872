"""A small folder of price lists in the form that `tools.bundle` reads."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.bundle.build import Bundle, build

_PRICE = (
    "provider,region,instance_type,operating_system,purchase_option,term_months,payment_option,"
    "usd_per_hour,upfront_usd,per,as_of,source"
)
COLUMNS: Mapping[str, str] = {
    "data/prices/aws.csv": _PRICE,
    "data/prices/azure.csv": _PRICE,
    "data/prices/gcp.csv": _PRICE,
    "data/prices/aws_spot_by_az.csv": (
        "provider,region,availability_zone_id,instance_type,price_model,usd_per_hour,"
        "on_demand_usd_per_hour,source,source_date"
    ),
    "data/prices/aws_prices_china_cny.csv": (
        "provider,region,instance_type,price_model,cny_per_hour,upfront_cny,source,source_date"
    ),
    "data/prices/aws_spot_advisor.csv": (
        "region,instance_type,savings_pct_vs_on_demand,interruption_freq,on_demand_usd_latest,"
        "ESTIMATED_spot_usd"
    ),
    "data/prices/gcp_hosts_n1.csv": (
        "region,instance_type,vcpus,memory_gib,purchase_option,term_months,usd_per_hour,as_of,"
        "source"
    ),
    "data/prices/gcp_tpu.csv": (
        "provider,region,tpu,usd_per_hour_on_demand,usd_per_hour_spot,basis,source,source_date"
    ),
    "data/prices/gcp_storage_egress.csv": "kind,name,region,key,usd,as_of,source",
    "data/specs/aws_instance_offerings.csv": "region,location_type,location,instance_type,source",
    "data/specs/gcp_machine_type_region_availability.csv": (
        "region,machine_type,listed_in_karpenter_2026-08-03"
    ),
    "data/specs/regions.csv": (
        "provider,region,name,country,state,city,latitude,longitude,renewable_claim,status,source"
    ),
    "data/specs/grid_carbon.csv": (
        "provider,region,location,g_co2e_per_kwh,carbon_free_share,year,source"
    ),
    "data/exchange_rates_monthly.csv": "month,country_or_area,units_per_usd,source",
    "data/history/aws_price_changes_us_east_1.csv": (
        "instance_type,first_seen_date,usd_per_hour,karpenter_commit"
    ),
    "data/history/azure_prices_history_radar.csv": (
        "snapshot_at,region,arm_sku_name_inferred,sku_name,price_model,retail_price_usd,"
        "savings_plan_1y_usd,sku_id,meter_id,product_name,meter_name,commit"
    ),
    "data/history/gcp_prices_history_monthly.csv": (
        "snapshot_date,region,machine_type,hour,hour_spot,month_1y,month_3y,commit"
    ),
}

REGIONS = {
    ("aws", "us-east-1"): ("N. Virginia", "US", "Ashburn"),
    ("aws", "cn-north-1"): ("Beijing", "CN", "Beijing"),
    ("azure", "westeurope"): ("West Europe", "NL", "Amsterdam"),
    ("azure", "eastus"): ("East US", "US", "Richmond"),
    ("gcp", "us-central1"): ("Iowa", "US", "Council Bluffs"),
    ("gcp", "africa-south1"): ("Johannesburg", "ZA", "Johannesburg"),
}


def price(
    provider: str,
    region: str,
    instance_type: str,
    usd_per_hour: str,
    option: str = "on_demand",
    **more: str,
) -> dict[str, str]:
    """A row of `aws.csv`, `azure.csv` or `gcp.csv`: Linux, dated, of the whole machine."""
    row = {
        "provider": provider,
        "region": region,
        "instance_type": instance_type,
        "operating_system": "linux",
        "purchase_option": option,
        "usd_per_hour": usd_per_hour,
        "per": "instance",
        "as_of": "2026-08-01",
        "source": "a list",
    }
    return {**row, **more}


class PriceLists:
    """Writes the lists; what a test does not add is there with its header alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: dict[str, list[Mapping[str, str]]] = {file: [] for file in COLUMNS}
        for (provider, region), (name, country, city) in REGIONS.items():
            place = {"provider": provider, "region": region, "name": name, "country": country}
            self.add("data/specs/regions.csv", {**place, "city": city, "status": "ACTIVE"})
        rate = {"month": "2026-06", "country_or_area": "China", "units_per_usd": "6.7758"}
        self.add("data/exchange_rates_monthly.csv", {**rate, "source": "a bank"})

    def add(self, file: str, *rows: Mapping[str, str]) -> PriceLists:
        self.rows[file] += rows
        return self

    def prices(self, *rows: Mapping[str, str]) -> PriceLists:
        """Add rows to the list of their provider."""
        for row in rows:
            self.add(f"data/prices/{row['provider']}.csv", row)
        return self

    def write(self) -> Path:
        for file, rows in self.rows.items():
            self._write(self.folder / file, COLUMNS[file].split(","), rows)
        return self.folder

    def _write(self, path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as lines:
            writer = csv.DictWriter(lines, columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def made(lists: PriceLists) -> Bundle:
    return build(lists.write())


def outcomes(bundle: Bundle, file: str) -> dict[str, int]:
    told = bundle.audit.report()[file]["outcomes"]
    assert isinstance(told, dict)
    return {name: found["count"] for name, found in told.items()}
