"""Small files of usage of our own making, with the traps of real ones."""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from planner.usage.formats import ReadOptions
from planner.usage.ledger import Ledger
from planner.usage.reading import read_files
from planner.usage.summary import Usage
from tests.golden.kept import keep


def table(rows: Iterable[Mapping[str, Any]], separator: str = ",") -> bytes:
    """Rows as CSV under all the columns that any of them names."""
    rows = list(rows)
    header = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, header, delimiter=separator, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def read(*contents: bytes, **options: Any) -> Usage:
    """The usage in these files, of which every figure is kept."""
    files = [(f"file {number}", io.BytesIO(one)) for number, one in enumerate(contents, 1)]
    usage = Usage(*read_files(files, ReadOptions(**options)))
    is_packed = any(one.startswith((b"PK", b"\x1f\x8b")) for one in contents)  # at a time of day
    if usage.ledger.rows < 500 and not is_packed:
        keep("kept_usage.json", (contents, sorted(options.items())), usage.as_dict())
    return usage


def hours_by(ledger: Ledger, name: str) -> dict[str, float]:
    """Accelerator-hours by one part of the key."""
    hours: dict[str, float] = defaultdict(float)
    for key, sums in ledger.uses.items():
        hours[getattr(key, name)] += sums.accelerator_hours
    return {key: round(value, 6) for key, value in hours.items()}


def reasons(usage: Usage) -> dict[str, int]:
    return {reason.value: count for reason, count in usage.ledger.reasons.items()}


def unused_hours(usage: Usage) -> dict[tuple[str, str, str], float]:
    """Hours that stood idle by month, machine and reason, where rows state hours."""
    return {key: sums.hours for key, sums in usage.ledger.unused.items() if sums.hours}


CUR = {
    "identity/LineItemId": "",
    "identity/TimeInterval": "2025-05-06T00:00:00Z/2025-05-06T01:00:00Z",
    "lineItem/LineItemType": "Usage",
    "lineItem/UsageStartDate": "2025-05-06T00:00:00Z",
    "lineItem/UsageEndDate": "2025-05-06T01:00:00Z",
    "lineItem/ProductCode": "AmazonEC2",
    "lineItem/UsageType": "BoxUsage:p5.48xlarge",
    "lineItem/UsageAmount": "1",
    "lineItem/CurrencyCode": "USD",
    "lineItem/UnblendedCost": "60.00",
    "lineItem/UsageAccountId": "100200300400",
    "bill/BillType": "Anniversary",
    "pricing/unit": "Hrs",
    "product/region": "",
    "product/gpu": "",
    "reservation/EffectiveCost": "",
    "reservation/EndTime": "",
    "reservation/ReservationARN": "",
    "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod": "",
    "reservation/UnusedRecurringFee": "",
    "savingsPlan/EndTime": "",
    "savingsPlan/SavingsPlanARN": "",
    "savingsPlan/SavingsPlanEffectiveCost": "",
    "savingsPlan/TotalCommitmentToDate": "",
    "savingsPlan/UsedCommitment": "",
    "resourceTags/user:team": "",
}


def cur_row(number: int, **changes: Any) -> dict[str, Any]:
    """A row of a Cost and Usage Report; `usage_type="…"` sets lineItem/UsageType."""
    names = {
        name.partition("/")[2].partition(":")[2] or name.partition("/")[2]: name for name in CUR
    }
    row = CUR | {"identity/LineItemId": f"line{number}"}
    for name, value in changes.items():
        words = name.split("_")
        camel = "".join(word.capitalize() for word in words)
        key = names.get(camel) or names.get(name) or names[f"{words[0]}{camel[len(words[0]) :]}"]
        row[key] = value
    return row


FOCUS = {
    "BilledCost": "10",
    "EffectiveCost": "10",
    "ListCost": "10",
    "BillingCurrency": "USD",
    "ChargeCategory": "Usage",
    "ChargeClass": "",
    "ChargeDescription": "",
    "ChargePeriodStart": "2025-05-06T00:00:00Z",
    "ChargePeriodEnd": "2025-05-06T01:00:00Z",
    "CommitmentDiscountId": "",
    "CommitmentDiscountStatus": "",
    "CommitmentDiscountType": "",
    "ConsumedQuantity": "1",
    "ConsumedUnit": "Hours",
    "PricingCategory": "Standard",
    "ProviderName": "AWS",
    "RegionId": "eu-west-1",
    "ServiceName": "Amazon Elastic Compute Cloud",
    "SkuPriceDetails": "",
    "SubAccountId": "100200300400",
    "Tags": "",
    "x_UsageType": "",
}


def focus_row(**changes: Any) -> dict[str, Any]:
    unknown = set(changes) - set(FOCUS)
    return FOCUS | changes | dict.fromkeys(unknown - changes.keys(), "")


AZURE = {
    "Date": "05/06/2025",
    "MeterCategory": "Virtual Machines",
    "MeterSubCategory": "NCads A100 v4 Series",
    "MeterName": "NC24ads A100 v4",
    "UnitOfMeasure": "1 Hour",
    "Quantity": "24",
    "EffectivePrice": "4",
    "CostInBillingCurrency": "96",
    "BillingCurrencyCode": "EUR",
    "ChargeType": "Usage",
    "PricingModel": "OnDemand",
    "AdditionalInfo": '{"ServiceType":"Standard_NC24ads_A100_v4","VCPUs":24}',
    "ResourceLocation": "Sweden Central",
    "SubscriptionId": "sub-1",
    "Tags": '"team": "vision"',
    "ReservationId": "",
}


def azure_row(**changes: Any) -> dict[str, Any]:
    return AZURE | changes


def gcp_row(**changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "service": {"description": "Compute Engine"},
        "sku": {"description": "Nvidia H100 80GB GPU running in Netherlands"},
        "usage_start_time": "2025-05-06 00:00:00 UTC",
        "usage_end_time": "2025-05-06 01:00:00 UTC",
        "project": {"id": "proj-a", "labels": []},
        "labels": [{"key": "team", "value": "llm"}],
        "system_labels": [{"key": "compute.googleapis.com/machine_spec", "value": "a3-highgpu-8g"}],
        "location": {"region": "europe-west4"},
        "cost": 80.0,
        "currency": "USD",
        "usage": {"amount": 28800, "unit": "seconds"},
        "credits": [],
        "invoice": {"month": "202505"},
        "cost_type": "regular",
    }
    return row | changes


SACCT = {
    "JobID": "1",
    "JobIDRaw": "1",
    "User": "ann",
    "Account": "lab",
    "Partition": "gpu",
    "State": "COMPLETED",
    "Submit": "2025-05-06T07:00:00",
    "Start": "2025-05-06T08:00:00",
    "End": "2025-05-06T10:00:00",
    "ElapsedRaw": "7200",
    "AllocTRES": "billing=8,cpu=8,gres/gpu:h100=4,gres/gpu=4,node=1",
}


def sacct(*rows: Mapping[str, str], header: bool = True) -> bytes:
    """A log of sacct; each row states what is other than in `SACCT`."""
    lines = ["|".join(SACCT)] if header else []
    lines += ["|".join((SACCT | row).values()) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def savings_plan() -> bytes:
    """An hour of a savings plan of FOCUS that covers a machine of eight accelerators."""
    plan = {"CommitmentDiscountId": "plan-1", "CommitmentDiscountType": "Savings Plan"}
    fee = {"ChargeCategory": "Purchase", "ChargeFrequency": "Recurring", "BilledCost": "14"}
    used = {"CommitmentDiscountStatus": "Used", "x_UsageType": "BoxUsage:p4d.24xlarge"}
    return table([focus_row(**plan, **fee), focus_row(**plan, **used)])
