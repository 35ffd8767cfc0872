"""`compare`, `estimate` and `offers` of the library: the engine's answers, asked in any form."""

import csv
import datetime as dt
import io
import json
import re
import subprocess
import sys
import tomllib
from decimal import Decimal
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import pytest

import gpu_cost_planner
from gpu_cost_planner import InvalidInput, compare, estimate, offers
from planner.contract.request.comparison import ComparisonRequest
from planner.exports.frames import FRAMES
from pricing.market.accelerators import family
from tests.planner.costing.market_of import CATALOG
from tests.test_dependencies import normalise

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "tests" / "examples"
TODAY = dt.date(2026, 11, 20)
REQUEST = {
    "start": "2027-01",
    "horizon_months": 6,
    "workload": {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840},
}
QUICK = {"sensitivity": False, "cheaper_if": False}
FRESH = """
import sys, time
began = time.process_time()
import gpu_cost_planner
imported = time.process_time()
loaded = {name.partition(".")[0] for name in sys.modules}
assert not loaded & {"numpy", "pandas", "highspy", "pydantic", "django", "httpx"}, loaded
answer = gpu_cost_planner.compare({
    "start": "2027-01",
    "workload": {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840},
})
assert answer.recommendation.saving > 0
loaded = {name.partition(".")[0] for name in sys.modules}
foreign = {"pandas", "django", "httpx", "boto3", "google", "azure", "psycopg", "celery"}
assert not loaded & foreign, loaded & foreign
compared = time.process_time()
"""


PLAIN = """
import json
assert not loaded & {names!r}, loaded & {names!r}

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name in {names!r}:
            raise ModuleNotFoundError(f"{{name}} is not in a plain install")

sys.meta_path.insert(0, Refuse())
import gpu_cost_planner
from gpu_cost_planner.command_line import main

work = {{"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}}
request = {{"start": "2027-01", "horizon_months": 3, "workload": work}}
answer = gpu_cost_planner.compare(request)
names = ("scenarios", "lines", "capacity", "purchases", "break_even", "assumptions", "drivers")
for name in names:
    getattr(answer, name).to_csv()
print(answer, answer._repr_html_())
gpu_cost_planner.offers(limit=3).to_frame()
gpu_cost_planner.estimate({{"workload": work}})
gpu_cost_planner.sweep(request, {{"horizon_months": [1, 2]}}, processes=2)
for command in (["compare", {example!r}], ["compare", {example!r}, "--table", "lines"],
                ["compare", "8 H100 for 12 months in Europe"]):
    assert main(command) == 0, command
print(json.dumps([imported - began, compared - began]))
"""


def list_foreign_modules() -> set[str]:
    """Top-level modules that only the extras bring."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    own = {normalise(name) for name in project["dependencies"]}
    extras = {normalise(n) for names in project["optional-dependencies"].values() for n in names}
    return {
        module
        for module, distributions in packages_distributions().items()
        if extras & {normalise(name) for name in distributions} - own
    } - {"google", "azure", "mypy_django_plugin"}


@pytest.mark.sweep
def test_a_plain_install_is_enough_and_answers_soon_without_django_sdk_or_network() -> None:
    """One fresh process: what it loads by itself, then with what the extras bring refused."""
    names = list_foreign_modules()
    assert {"django", "xlsxwriter", "tenacity", "boto3", "celery", "markdown"} <= names
    source = FRESH + PLAIN.format(names=names, example=str(EXAMPLES / "finetune.toml"))
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    imported, compared = json.loads(done.stdout.splitlines()[-1])
    assert imported < 0.5
    assert compared < 4  # 2 s where the machine is quiet: see the bench


def test_every_public_name_has_an_example_that_runs() -> None:
    texts = {name: getattr(gpu_cost_planner, name).__doc__ for name in gpu_cost_planner.__all__}
    assert [name for name, text in texts.items() if ">>> " not in text] == []


def test_a_request_is_a_mapping_a_model_or_a_file(tmp_path: Path) -> None:
    request, path = REQUEST | QUICK, tmp_path / "request.json"
    path.write_text(json.dumps(request))
    expected = compare(request, today=TODAY).to_json()
    assert compare(path, today=TODAY).to_json() == expected
    assert compare(str(path), today=TODAY).to_json() == expected
    assert compare(ComparisonRequest.model_validate(request), today=TODAY).to_json() == expected


def test_numbers_and_arrays_of_numpy_are_numbers() -> None:
    hours = {**REQUEST["workload"], "hours_per_month": np.full(6, 5840)}  # type: ignore[dict-item]
    asked = {**REQUEST, **QUICK, "horizon_months": np.int64(6)}
    plain = compare({**REQUEST, **QUICK}, catalog=CATALOG, today=TODAY)
    ours = compare({**asked, "workload": hours}, catalog=CATALOG, today=TODAY)
    assert ours.verdict.sentence == plain.verdict.sentence


def test_a_table_is_written_with_exact_amounts() -> None:
    """To the cent with its zeros, which floats lose."""
    lines = compare({**REQUEST, **QUICK}, catalog=CATALOG, today=TODAY).lines
    written = [row["amount"] for row in csv.DictReader(io.StringIO(lines.to_csv()))]
    assert written == [f"{amount:.2f}" for amount in lines.to_frame(exact=True)["amount"]]


def test_a_refusal_names_every_field() -> None:
    with pytest.raises(InvalidInput) as caught:
        compare({"horizon_months": 200})
    assert [one.field for one in caught.value.all()] == ["horizon_months", "workload"]


def test_own_prices_stand_in_for_the_bundled_ones() -> None:
    known = CATALOG
    assert [one.provider for one in compare(REQUEST, catalog=known).answer.catalog] == [
        "aws",
        "azure",
    ]
    assert len(offers(catalog=known)) == len(CATALOG.offers)


def test_an_answer_is_shown_as_text_and_in_a_notebook() -> None:
    answer = compare({**REQUEST, "name": "A & B <b>"}, today=TODAY)
    assert str(answer).startswith("A & B <b>: 6 months from 2027-01")
    html = answer._repr_html_()
    assert "<table>" in html
    assert "On demand" in html
    assert repr(answer).startswith("<Comparison: ")


def test_names_in_a_notebook_are_text_not_markup() -> None:
    own = {"label": "<script>x</script>", "accelerator": "H100", "accelerator_count": 8}
    own |= {"purchase_option": "on_demand", "usd_per_hour": 1}
    answer = compare({**REQUEST, "use_catalog": False, "custom_offers": [own]}, today=TODAY)
    assert "<script>" not in answer._repr_html_()


def test_tables_are_frames_whose_lines_sum_to_the_totals() -> None:
    answer = compare(REQUEST, today=TODAY)
    totals = answer.lines.to_frame(exact=True).groupby("scenario", observed=True)["amount"].sum()
    assert totals.to_dict() == {s.key.value: s.total_cost for s in answer.answer.feasible}
    assert answer.lines.to_frame()["amount"].dtype == "float64"
    names = ("scenarios", "capacity", "purchases", "break_even", "assumptions", "drivers", "risk")
    for table in (getattr(answer, name) for name in (*names, "advice", "lines")):
        assert len(table) == len(table.to_frame())
        assert f"<table {table.name}:" in repr(table)
        assert "<table" in table._repr_html_()


def test_every_frame_of_an_answer_is_a_table_of_it() -> None:
    answer = compare(REQUEST | QUICK, catalog=CATALOG, today=TODAY)
    for name in FRAMES:
        table = getattr(answer, "advice" if name == "verdict" else name)
        assert list(table.to_frame().columns) == list(FRAMES[name](answer.answer).columns)


def test_an_estimate_has_its_ranking_as_a_frame() -> None:
    sized = estimate({"workload": {"kind": "training", "parameters": 7e9, "tokens": 1e11}})
    frame = sized.candidates.to_frame()
    assert frame["accelerator"].tolist() == [one.accelerator for one in sized.answer.candidates]
    assert "accelerator-hours" in str(sized)
    assert "accelerator-hours" in repr(sized)
    assert sized._repr_html_().startswith("<pre>")


def test_offers_are_the_cheapest_first_in_exact_money() -> None:
    listed = offers(accelerator=["H100-80GB-SXM"], provider="aws", purchase_option="on_demand")
    frame = listed.to_frame(exact=True)
    assert listed.count == len(listed) == len(frame) > 5
    assert frame["usd_per_accelerator_hour"].is_monotonic_increasing
    assert all(isinstance(price, Decimal) for price in frame["usd_per_hour"])
    assert frame["sold_now"].all()
    assert [offer.id for offer in listed] == frame["id"].tolist()
    assert set(listed.to_json()[0]) == set(frame.columns)
    assert listed.to_frame()["usd_per_hour"].dtype == "float64"
    assert listed.to_csv().startswith("id,provider")
    assert "<table" in listed._repr_html_()


def test_offers_are_limited_and_last_known_prices_are_asked_for() -> None:
    assert len(offers(limit=5)) == 5
    assert offers(limit=5).count == len(offers())
    assert len(offers(sold_now=None)) > len(offers())
    assert list(offers(accelerator="T4", provider="gcp", min_accelerators=10_000)) == []


@pytest.mark.parametrize(
    ("filters", "field"),
    [
        ({"provider": "azur"}, "provider"),
        ({"accelerator": "X9"}, "accelerator"),
        ({"region": ("us-east-99",)}, "region"),
        ({"ordering": "name"}, "ordering"),
        ({"limit": 0}, "limit"),
    ],
)
def test_a_filter_that_is_not_known_is_refused(filters: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        offers(**filters)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_a_filter_of_another_kind_is_named_with_what_to_write():
    """Some failed with a bare TypeError; nan and "yes" found nothing, without a word."""
    for filters, refusal in (
        ({"limit": "3"}, "limit: '3' is not a whole number; write 3"),
        ({"limit": 2.5}, "limit: 2.5 is not a whole number"),
        ({"limit": True}, "limit: true is not a whole number"),
        ({"min_accelerators": "8"}, "min_accelerators: '8' is not a number; write 8"),
        ({"min_accelerators": -3}, "min_accelerators: -3 is not allowed; must be at least 0"),
        ({"min_accelerator_memory_gib": float("inf")}, "inf is not a finite number"),
        ({"min_accelerators": 2e6}, "must be at most 1e+06"),
        ({"accelerator_count": float("nan")}, "accelerator_count: nan is not a finite number"),
        ({"sold_now": "yes"}, "sold_now: 'yes' is not true or false"),
        ({"provider": None}, "provider: null is not text"),
        ({"accelerator": ["H100", 4]}, "accelerator.1: 4 is not text"),
    ):
        with pytest.raises(InvalidInput, match=re.escape(refusal)):
            offers(**filters)
    few = offers(limit=np.int64(2), min_accelerators=np.float64(8), accelerator_count=Decimal(8))
    assert len(few) == 2


@pytest.mark.parametrize("name", ["A100", "A100 PCIe"])
def test_a_family_is_all_of_it_and_the_answer_says_so(name: str) -> None:
    members = {one.slug for one in family(name)}
    work = {"kind": "accelerator_hours", "accelerator": name, "hours_per_month": 5840}
    answer = compare({"start": "2027-01", "horizon_months": 12, "workload": work}).answer
    rates = {one.accelerator: one.relative_throughput for one in answer.demand.candidates}
    assert rates == dict.fromkeys(members, 1.0)
    assert answer.warnings[0].startswith(f"{name} is every one of ")
    sold = {offer.accelerator for offer in offers()}
    assert {offer.accelerator for offer in offers(accelerator=name)} == members & sold
