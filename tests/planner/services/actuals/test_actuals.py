"""What was really used and paid, kept and held against the plan."""

import csv
import datetime as dt
import io
from decimal import Decimal

import pytest

from planner.exports import FORMATS, Context
from planner.models import ActualLine, AuditEntry, Project, Role
from planner.services.actuals import actuals
from planner.services.actuals.actuals import Course
from planner.services.projects import projects
from planner.services.teams.access import WrongStateError
from pricing.common.invalid_input import InvalidInput
from tests.planner.workspace import PLAIN, SEEN, Workspace, market

pytestmark = pytest.mark.usefixtures("months_over")


@pytest.fixture
def project(work: Workspace) -> Project:
    row = work.project(
        assumptions={
            **PLAIN,
            "constraints": {"purchase_options": ["on_demand"]},
            "on_prem": {"servers": []},
            "finance": {"cloud_support_rate": 0, "cloud_staff_fte_per_accelerator": 0},
        }
    )
    projects.approve(work.access(), projects.submit(work.access(), work.saved(row)))
    return row


def upload(work: Workspace, project: Project, text: str) -> object:
    access = work.access(Role.EDITOR)
    return actuals.load_actuals(access, project, io.BytesIO(text.encode()), "a.csv")


def billed(*rows: str) -> str:
    """FOCUS rows of use in January: quantity, unit, machine, cost."""
    head = "ChargePeriodStart,BillingCurrency,ChargeCategory,ConsumedQuantity,ConsumedUnit,"
    told = "".join(f"2027-01-01T00:00:00Z,USD,Usage,{row}\n" for row in rows)
    return f"{head}x_InstanceType,BilledCost\n{told}"


def test_a_dearer_hour_and_more_hours_are_told_apart(work: Workspace, project: Project) -> None:
    """Planned 500 h of 8 accelerators at 55.04; 600 at 60 were paid: 100 more, 4.96 more each."""
    upload(work, project, "month,cost,hours\n2027-01,36000,4800\n")
    told = actuals.variance(project).as_dict()
    assert told["months"][0]["month"] == "2027-01"
    total = told["total"]
    assert total["planned"] == "27520.00"
    assert total["difference"] == "8480.00"
    assert total["causes"] == {
        "price": "2976.00",
        "usage": "5504.00",
        "unplanned": "0.00",
        "other": "0.00",
    }


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "text",
    [
        "month,cost,hours\n2027-01,27520,4000\n",
        "month,cost,accelerator_hours\n2027-01,27520,4000\n",
        "month,cost,instance_hours,instance_type\n2027-01,27520,500,p5.48xlarge\n",
        billed("500,Hours,P5.48xlarge,27520"),
    ],
)
def test_what_went_as_planned_differs_by_no_cause(
    work: Workspace, project: Project, text: str
) -> None:
    upload(work, project, text)
    told = actuals.variance(project).as_dict()
    assert (told["total"]["planned_hours"], told["total"]["actual_hours"]) == (4000.0, 4000.0)
    assert set(told["total"]["causes"].values()) == {"0.00"}
    assert told["warnings"] == []


def test_hours_of_unknown_accelerators_are_said_and_not_split(
    work: Workspace, project: Project
) -> None:
    upload(work, project, billed("500,Hours,p5.48xlarge,20000", "9,Hours,m7i.large,8000"))
    told = actuals.variance(project).as_dict()
    assert told["total"]["causes"]["other"] == "480.00"
    assert told["total"]["actual_hours"] == 4000.0
    assert (
        "January 2027, compute: the accelerators of m7i.large are not known" in told["warnings"][0]
    )


def test_causes_sum_to_the_difference(work: Workspace, project: Project) -> None:
    upload(
        work,
        project,
        "month,cost,hours,category\n2027-01,1,3,compute\n2027-02,9.99,0,compute\n"
        "2027-02,77.01,0,storage\n2027-09,5,1,compute\n",
    )
    told = actuals.variance(project).as_dict()
    for row in (*told["months"], *told["categories"], told["total"]):
        parts = sum(Decimal(value) for value in row["causes"].values())
        assert parts == Decimal(row["difference"])
    assert told["total"]["causes"]["unplanned"] == "82.01"


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "again",
    [
        "month,cost,region\r\n2027-01,5,x\r\n2027-02,6,x\r\n",
        "\ufeffmonth,cost,region\n2027-01,5,x\n2027-02,6,x\n",
        "region,cost,month\nx,6.00,2027-02\n\n,,\nx,5.0,2027-01\n",
        'month,cost,region,hours\n"2027-01","5","x",0\n2027-02,6,x,\n',
    ],
)
def test_the_same_rows_in_another_form_are_the_same_file(
    work: Workspace, project: Project, again: str
) -> None:
    upload(work, project, "month,cost,region\n2027-01,5,x\n2027-02,6,x\n")
    with pytest.raises(
        WrongStateError, match=r"as a\.csv, 2 rows, on \d+ \w+ 20\d\d\. Remove that upload"
    ):
        upload(work, project, again)
    assert upload(work, project, again.replace("6", "7"))


def test_months_that_an_earlier_upload_counts_too_are_said(
    work: Workspace, project: Project
) -> None:
    first = upload(work, project, "month,cost\n2027-01,5\n2027-02,5\n2027-03,5\n")
    assert actuals.overlaps(first) == []
    second = upload(work, project, "month,cost\n2027-02,6\n2027-03,6\n2027-04,6\n")
    (told,) = actuals.overlaps(second)
    assert told.startswith(
        "February 2027 to March 2027 are counted in an earlier upload too: a.csv, 3 rows"
    )
    assert f"DELETE /api/v1/projects/{project.pk}/actuals/{first.pk}/" in told
    actuals.delete_upload(work.access(), first)
    assert actuals.overlaps(second) == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("provider", "count"), [("azure", 0), ("aws", 1), ("", 1)])
def test_files_of_other_providers_may_hold_the_same_month(
    work: Workspace, project: Project, provider: str, count: int
) -> None:
    upload(work, project, "month,cost,provider\n2027-01,5,aws\n")
    again = upload(work, project, f"month,cost,provider\n2027-01,6,{provider}\n")
    assert len(actuals.overlaps(again)) == count


def test_a_removed_file_takes_its_lines_along(work: Workspace, project: Project) -> None:
    row = upload(work, project, "month,cost\n2027-01,5.25\n2027-02,-1\n")
    actuals.delete_upload(work.access(), row)
    assert not ActualLine.objects.exists()
    entry = AuditEntry.objects.get(action="actuals.removed")
    assert entry.before == {"rows": 2, "cost": "4.25", "currency": "USD"}


def test_our_own_forecast_is_no_bill(work: Workspace, project: Project) -> None:
    text = (
        FORMATS["focus"]
        .make(project.saved_comparisons.get().read_plan(), Context(name="x"))
        .decode()
    )
    with pytest.raises(InvalidInput, match="calls rows a forecast"):
        upload(work, project, text)


def test_a_bill_of_what_was_forecast_differs_by_nothing(work: Workspace, project: Project) -> None:
    plan = project.saved_comparisons.get()
    text = FORMATS["focus"].make(plan.read_plan(), Context(name="x")).decode()
    head, *rows = csv.reader(io.StringIO(text))
    at = head.index("x_IsForecast")
    file = io.StringIO()
    csv.writer(file).writerows([head, *([*row[:at], "false", *row[at + 1 :]] for row in rows)])
    upload(work, project, file.getvalue())
    told = actuals.variance(project).as_dict()
    assert told["total"]["planned"] == plan.summary["total_cost"]
    assert told["total"]["difference"] == "0.00"
    assert told["total"]["actual_hours"] == told["total"]["planned_hours"] == 24_000.0


def test_an_estimate_at_completion_carries_the_observed_use_on(
    work: Workspace, project: Project
) -> None:
    """Planned 4,000 hours for 27,520 a month: 4,800 used in the first, 4,000 in the second."""
    upload(work, project, "month,cost,hours\n2027-01,36000,4800\n")
    one = actuals.estimate_completion(project)
    assert one.low < one.estimate_at_completion < one.high
    upload(work, project, "month,cost,hours\n2027-02,24000,4000\n")
    done = actuals.estimate_completion(project)
    assert done.actual == 60000
    assert done.remaining_at_current_prices == done.remaining_plan == 4 * 27520
    assert done.prices_as_of == SEEN
    assert done.estimate_at_completion == pytest.approx(
        60000 + done.remaining_plan * Decimal("1.1")
    )
    assert 60000 < done.low < done.estimate_at_completion < done.high
    assert done.planned_total == done.remaining_plan + 2 * 27520
    assert done.hours_ratio == 1.1
    paid = Decimal(60000) / Decimal(2 * 27520)
    assert done.hours_ratio * done.price_ratio == pytest.approx(float(paid), abs=1e-5)


def test_what_is_left_of_a_plan_is_at_the_prices_of_today(
    work: Workspace, project: Project
) -> None:
    upload(work, project, "month,cost,hours\n2027-01,30000,4800\n")
    later = SEEN + dt.timedelta(days=1)
    market("68.80", later)
    done = actuals.estimate_completion(project)
    assert done.remaining_plan == 5 * 27520
    assert done.remaining_at_current_prices == 5 * 27520 * Decimal("1.25")
    assert (done.prices_as_of, done.offers_not_sold) == (later, 0)
    assert done.estimate_at_completion == pytest.approx(
        30000 + 5 * 27520 * Decimal("1.25") * Decimal("1.2")
    )


def test_where_no_hours_are_known_the_cost_so_far_is_carried_on(
    work: Workspace, project: Project
) -> None:
    upload(work, project, "month,cost\n2027-01,36000\n2027-02,24000\n")
    done = actuals.estimate_completion(project)
    assert done.hours_ratio is None
    assert done.estimate_at_completion == pytest.approx(180_000)


def test_what_does_not_follow_use_stays_as_planned(work: Workspace) -> None:
    """A commitment costs what it costs, however much of it is used and whatever it costs today."""
    row = work.project(
        assumptions={
            **PLAIN,
            "constraints": {"purchase_options": ["reserved"]},
            "on_prem": {"servers": []},
            "finance": {"cloud_support_rate": 0, "cloud_staff_fte_per_accelerator": 0},
        }
    )
    work.saved(row)
    market("110.08", SEEN + dt.timedelta(days=1))
    table = actuals.variance(row)
    course = Course(table, table.answer)
    assert all((one.hourly, one.fixed) == (0, one.planned) for one in course.months.values())
    assert course.prices_as_of is None


def test_without_a_plan_in_the_months_paid_nothing_is_estimated(
    work: Workspace, project: Project
) -> None:
    assert actuals.estimate_completion(project) is None
    upload(work, project, "month,cost\n2020-01,30000\n")
    done = actuals.estimate_completion(project)
    assert done.estimate_at_completion is None
    assert "nothing was planned" in done.why_not


def test_a_file_counts_once_in_a_project_and_again_in_another(work: Workspace) -> None:
    text = "month,cost,hours\n2027-01,36000,4800\n"
    first, second = work.project(), work.project()
    upload(work, first, text)
    with pytest.raises(WrongStateError, match="was uploaded to the project before"):
        upload(work, first, text)
    upload(work, second, text)
    assert second.uploads.count() == 1
