"""Asking pages in tests."""

import html
import re
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

HOURS = {
    "workload.kind": "accelerator_hours",
    "workload.accelerator": "H100",
    "workload.hours_per_month": "4000",
    "workload.peak_accelerators": "8",
    "start": "2027-01",
    "horizon_months": "6",
    "sensitivity": "false",
    "cheaper_if": "false",
}
"""Without what takes most of an answer's time; `WHOLE` laid over it asks for that too."""
WHOLE = {"sensitivity": "true", "cheaper_if": "true"}
TRAINING = {
    "workload.kind": "training",
    "workload.parameters~bn": "7",
    "workload.tokens~bn": "20",
    "start": "2027-01",
    "horizon_months": "6",
}
SERVING = {
    "workload.kind": "serving",
    "workload.model": "Llama-3.1-8B",
    "workload.requests_per_second": "3",
    "workload.peak_requests_per_second": "20",
    "start": "2027-01",
    "horizon_months": "6",
}
IN_PLACE = {"HX-Request": "true", "HX-Target": "figures"}


def get(client: Any, name: str, values: dict[str, Any] | None = None, **more: Any) -> Any:
    return client.get(f"{reverse(name)}?{urlencode(values or {}, doseq=True)}", **more)


def text(response: Any) -> str:
    """The page with entities read and white space collapsed, as a browser shows it."""
    return re.sub(r"[ \n]+", " ", html.unescape(response.content.decode()))
