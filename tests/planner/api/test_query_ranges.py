"""The document gives the range of every number that an address takes, and takes empty text."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from planner.api.views.documents import document
from pricing.api.schema import MAX_ACCELERATORS, MAX_MEMORY_GIB

RANGES = {
    "accelerator_count": (0, MAX_ACCELERATORS),
    "forecast_months": (0, 120),
    "min_accelerator_memory_gib": (0, MAX_MEMORY_GIB),
    "min_accelerators": (0, MAX_ACCELERATORS),
    "page_size": (1, 500),
}


def test_every_number_of_an_address_has_its_range() -> None:
    """A client that checks its requests could not refuse what the server refuses."""
    told = {
        parameter["name"]: (parameter["schema"].get("minimum"), parameter["schema"].get("maximum"))
        for path in document()["paths"].values()
        for operation in path.values()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query" and parameter["schema"]["type"] in ("number", "integer")
    }
    assert told == RANGES


@pytest.mark.django_db
def test_what_lies_outside_is_refused(client) -> None:
    for name, (_, most) in RANGES.items():
        if name != "forecast_months":
            answer = client.get("/api/v1/offers/", {name: most + 1})
            assert answer.status_code == 400, name
            assert [error["field"] for error in answer.json()["errors"]] == [name]
    answer = client.post("/api/v1/usage/?forecast_months=121", b"x", content_type="text/csv")
    assert answer.status_code == 400


def test_an_empty_address_of_mail_is_in_the_document_for_any_validator() -> None:
    """Of two forms exactly one had to hold, and where formats are not looked at both did."""
    email = document()["components"]["schemas"]["Invitation"]["properties"]["email"]
    for checker in (None, Draft202012Validator.FORMAT_CHECKER):
        validator = Draft202012Validator(email, format_checker=checker)
        assert validator.is_valid("")
        assert validator.is_valid("ada@example.com")
        assert not validator.is_valid("x" * 255)
