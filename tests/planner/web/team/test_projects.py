"""A project's page: what is kept, plan against actual."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from planner.models import Project, Role, SavedComparison
from planner.services.projects import projects
from tests.planner.web.team.texts import text

PAID = b"month,cost,hours\n2027-01,12000.50,300\n"
CHANGES = {"name": "Model A", "budget": "", "budget_period": "total", "watch_threshold": "5"}


@pytest.fixture
def project(work) -> Project:
    return work.project()


@pytest.fixture
def here(project) -> str:
    return f"/team/alpha/projects/{project.pk}/"


def send(browser, here, content: bytes, name: str = "paid.csv", **more):
    file = SimpleUploadedFile(name, content, "text/csv")
    return browser.post(f"{here}?form=upload", {"file": file}, **more)


def test_a_new_project_is_made_with_budget_and_watch(work, signed_in):
    values = {**CHANGES, "name": "New", "budget": "1,200,000", "watched": "on"}
    signed_in(Role.EDITOR).post("/team/alpha/projects/new/", values)
    made = Project.objects.get(name="New")
    assert (made.budget, made.watched, made.watch_threshold) == ("1200000", True, 0.05)


@pytest.mark.parametrize(
    ("typed", "amount"),
    [
        ("1.234,56", "1234.56"),
        ("50,5", "50.5"),
        ("300 000", "300000"),
        ("1.250.000", "1250000"),
        ("50000 USD", "50000"),
        ("", ""),
    ],
)
def test_a_budget_is_read_as_the_plan_form_reads_it(typed, amount, work, signed_in):
    values = {**CHANGES, "name": "New", "budget": typed}
    signed_in(Role.EDITOR).post("/team/alpha/projects/new/", values)
    assert Project.objects.get(name="New").budget == amount


@pytest.mark.parametrize("typed", ["50.000", "50.125"])
def test_a_budget_that_may_be_two_amounts_is_asked_about(typed, work, signed_in):
    answer = signed_in().post("/team/alpha/projects/new/", {**CHANGES, "budget": typed})
    assert answer.status_code == 400
    assert f"'{typed}' can be read in two ways" in text(answer)
    assert f'value="{typed}"' in text(answer)
    assert not Project.objects.exists()


def test_an_edit_of_what_changed_meanwhile_is_refused_and_kept(work, project, here, signed_in):
    projects.change_project(work.access(), project, {"name": "Theirs"})
    values = {**CHANGES, "name": "Mine", "version": project.version}
    answer = signed_in().post(f"{here}edit/", values)
    assert answer.status_code == 400
    assert "It has changed since you read it" in text(answer)
    assert 'value="Mine"' in text(answer)


def test_an_answer_of_the_project_is_saved(work, project, here, signed_in):
    values = {"name": "Kept", "note": "why"}
    answer = signed_in(Role.EDITOR).post(f"{here}?form=save", values)
    kept = SavedComparison.objects.get(name="Kept")
    assert answer["Location"] == f"/c/{kept.pk}/"
    assert kept.note == "why"


def test_a_wrong_row_is_named_on_the_page(project, here, signed_in):
    answer = send(signed_in(), here, b"month,cost\n2027-01,much\n")
    assert answer.status_code == 400
    assert "row 2 › cost" in text(answer)
    assert not project.uploads.exists()


def test_a_month_that_is_counted_already_is_said(here, signed_in):
    send(signed_in(), here, PAID)
    answer = send(signed_in(), here, PAID.replace(b"300", b"310"), follow=True)
    assert "January 2027 is counted in an earlier upload too" in text(answer)
