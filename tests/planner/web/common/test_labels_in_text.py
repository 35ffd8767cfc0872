"""Sentences of the core on pages: fields as the form labels them, accelerators by name."""

import pytest

from planner.web.common.fields import with_labels
from tests.planner.web.asking import HOURS, get

ENDS = "“Commitments that outlast the plan” set to"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("a peak of 8 (peak_accelerators) ends it", "a peak of 8 (“Peak accelerators”) ends it"),
        ("give a shorter on_prem.lead_time_months", "give a shorter “Lead time”"),
        ("your price as on_prem.electricity_per_kwh.", "your price as “Electricity”."),
        ('(counted with term_end "full").', f"(counted with {ENDS} “Every payment counts”)."),
        ("a kWh: on_prem.g_co2e_per_kwh.", "a kWh: “Carbon of the electricity”."),
        ("sequence_length, chunked_loss or", "“Sequence length”, “Chunked loss” or"),
        ("read as nvidia-h100-80gb-sxm;", "read as H100 SXM5 80 GB;"),
        ("see nvidia-smi, my_log and prices.csv", "see nvidia-smi, my_log and prices.csv"),
        ("late from 2027-03 to 2027-05.", "late from March 2027 to May 2027."),
        ("priced on 2026-02-01, by v2026-02", "priced on 1 February 2026, by v2026-02"),
        ("Eurostat nrg_pc_205, on_prem/pue", "Eurostat nrg_pc_205, on_prem/pue"),
    ],
)
def test_fields_are_told_as_the_form_labels_them(said: str, shown: str) -> None:
    assert with_labels(said) == shown


def test_a_page_names_no_field_in_its_warnings(client, prices) -> None:
    part = {"workload.hours_per_month": "100", "workload.peak_accelerators": "5"}
    page = get(client, "plan", HOURS | part)
    warnings = " ".join(page.context["page"].warnings)
    assert any("peak_accelerators" in one for one in page.context["page"].answer.warnings)
    assert "(“Peak accelerators”)" in warnings
    assert "(peak_accelerators)" not in warnings
