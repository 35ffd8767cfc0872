"""A request's shape: what is refused, where, and in which words."""

from typing import Annotated, Literal

import pytest
from pydantic import Field, model_validator

from planner.contract.request.comparison import ComparisonRequest
from planner.contract.validation import Month, Number, RequestModel, Whole, parse
from pricing.common.invalid_input import InvalidInput


class Car(RequestModel):
    kind: Literal["car"]
    doors: Annotated[Whole, Field(ge=1, le=5)] = 4


class Boat(RequestModel):
    kind: Literal["boat"]
    length: Annotated[Number, Field(gt=0)]

    @model_validator(mode="after")
    def _short(self):
        if self.length > 100:
            raise InvalidInput("length", "101 is longer than the harbour")
        return self


class Trip(RequestModel):
    start: Month
    vehicle: Annotated[Car | Boat, Field(discriminator="kind")]
    stops: Annotated[tuple[Number, ...], Field(strict=False)] = ()
    paid: bool = False


def trip(**changes):
    return {"start": "2027-01", "vehicle": {"kind": "car"}, **changes}


def refusal(data, prefix=""):
    with pytest.raises(InvalidInput) as caught:
        parse(Trip, data, prefix)
    return caught.value


def test_a_good_request_is_read():
    read = parse(Trip, trip(stops=[1, 2.5], vehicle={"kind": "car", "doors": 3.0}))
    assert (read.start.isoformat(), read.vehicle.doors, read.stops) == ("2027-01-01", 3, (1, 2.5))


@pytest.mark.parametrize(
    ("data", "field", "words"),
    [
        ({"vehicle": {"kind": "car"}}, "start", "is required"),
        (trip(start="2027-13"), "start", "write it as YYYY-MM"),
        (trip(start=2027), "start", "2027 is not a month"),
        (trip(start="0000-01"), "start", "is before 1900-01"),
        (trip(strat=1), "strat", "did you mean start?"),
        (trip(xyz=1), "xyz", "allowed are paid, start, stops, vehicle"),
        (trip(vehicle={"kind": "boat", "lenght": 3, "length": 4}), "vehicle.lenght", "length?"),
        (trip(vehicle={"kind": "car", "zz": 3}), "vehicle.zz", "allowed are doors, kind"),
        (trip(vehicle={"kind": "plane"}), "vehicle.kind", "'plane' is not known; allowed are car"),
        (trip(vehicle={}), "vehicle.kind", "is required"),
        (trip(vehicle=3), "vehicle", "3 is not an object"),
        (trip(vehicle={"kind": "boat"}), "vehicle.length", "is required"),
        (trip(vehicle={"kind": "boat", "length": 0}), "vehicle.length", "must be more than 0"),
        (trip(vehicle={"kind": "boat", "length": 101}), "vehicle.length", "harbour"),
        (trip(vehicle={"kind": "car", "doors": 6}), "vehicle.doors", "6 is not allowed; must be"),
        (trip(vehicle={"kind": "car", "doors": 2.5}), "vehicle.doors", "is not a whole number"),
        (trip(vehicle={"kind": "car", "doors": True}), "vehicle.doors", "true is not a whole"),
        (trip(stops=[1, True]), "stops.1", "true is not a number"),
        (trip(stops=[1, "2"]), "stops.1", "'2' is not a number"),
        (trip(stops=[float("nan")]), "stops.0", "nan is not a finite number"),
        (trip(stops=[float("inf")]), "stops.0", "inf is not a finite number"),
        (trip(stops=[10**400]), "stops.0", "this large"),
        (trip(stops=3), "stops", "3 is not a list"),
        (trip(paid=1), "paid", "1 is not true or false"),
        ([], "", "a list is not an object"),
        (None, "", "null is not an object"),
    ],
)
def test_a_bad_value_is_refused_by_field(data, field, words):
    error = refusal(data)
    assert error.field == field
    assert words in error.message


def test_every_refusal_comes_together():
    error = refusal(trip(start="x", stops=["a", "b"]))
    assert [e.field for e in error.all()] == ["start", "stops.0", "stops.1"]


def test_the_prefix_stands_before_each_field():
    error = refusal(trip(start="x", paid=0), "trip")
    assert [e.field for e in error.all()] == ["trip.start", "trip.paid"]


@pytest.mark.parametrize(
    ("length", "written"),
    [("1B", "1000000000"), ("1.5 T", "1500000000000"), ("1e9", "1000000000"), ("1,000", "1000")],
)
def test_a_number_written_as_text_is_refused_with_how_to_write_it(length, written):
    with pytest.raises(InvalidInput) as refused:
        parse(Trip, trip(vehicle={"kind": "boat", "length": length}))
    assert refused.value.message == f"'{length}' is not a number; write {written}"


@pytest.mark.parametrize("length", ["many", "1,00", "7 boats", "1e400", "B"])
def test_what_means_no_number_is_refused_alone(length):
    with pytest.raises(InvalidInput) as refused:
        parse(Trip, trip(vehicle={"kind": "boat", "length": length}))
    assert "write" not in refused.value.message


def test_a_percentage_is_refused_with_how_to_write_it():
    hours = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 730}
    with pytest.raises(InvalidInput, match=r"tax_rate: '25%' is not a number; write 0\.25$"):
        parse(ComparisonRequest, {"workload": hours, "finance": {"tax_rate": "25%"}})
