"""A saved comparison: frozen, moved from state to state, recalculated, exported."""

import re

import pytest
from django.urls import reverse

from planner.models import Role, SavedComparison, State
from planner.services.projects import projects
from tests.planner.web.paper import read_paper
from tests.planner.web.team.texts import text


@pytest.fixture
def kept(work) -> SavedComparison:
    return work.saved()


@pytest.fixture
def here(kept) -> str:
    return f"/c/{kept.pk}/"


def approval(kept: SavedComparison) -> str:
    return f"/team/alpha/comparisons/{kept.pk}/approve/"


def seen(page: str) -> str:
    """The words between the tags of a page."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def state_of(kept: SavedComparison) -> str:
    kept.refresh_from_db()
    return kept.state


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"budget": "1000000"}, "1,000,000 USD for all months: 826,020 USD left."),
        ({"budget": "100000"}, "100,000 USD for all months: 73,980 USD over."),
        (
            {"budget": "20000", "budget_period": "monthly"},
            "120,000 USD for all months: 53,980 USD over.",
        ),
    ],
)
def test_page_and_pack_show_what_is_left_of_the_budget_of_the_project(
    values, words, work, signed_in
):
    kept = work.saved(work.project(**values))
    browser = signed_in(Role.VIEWER)
    page = text(browser.get(f"/c/{kept.pk}/"))
    _, paper = read_paper(browser.get(f"/c/{kept.pk}/pack/").content)
    assert f"173,980 USD against a budget of {words}" in seen(page).replace("\u00a0", " ")
    assert f"173,980 USD against a budget of {words}" in " ".join(paper.split())


def test_a_reason_of_sending_back_is_text_and_nothing_else(work, kept, here, signed_in):
    version = projects.submit(work.access(Role.EDITOR), kept).version
    typed = {"reason": "<script>alert(1)</script>=1+1", "version": version}
    approver = signed_in(Role.APPROVER)
    stale = approver.post(f"{here}?form=back", typed | {"version": version - 1})
    approver.post(f"{here}?form=back", typed)
    pages = (stale, *(signed_in(Role.EDITOR).get(page) for page in (here, "/team/alpha/")))
    for page in pages:
        shown = page.content.decode()
        assert "&lt;script&gt;alert(1)&lt;/script&gt;=1+1" in shown
        assert "<script>alert(1)" not in shown


def test_who_submitted_is_not_offered_to_approve(work, kept, here, signed_in):
    """Two people take part in it; an owner is enough of both."""
    project = reverse("project", args=("alpha", kept.project_id))
    projects.submit(work.access(Role.APPROVER), kept)
    for page in (here, project):
        assert approval(kept) not in text(signed_in(Role.APPROVER).get(page))
        assert approval(kept) in text(signed_in(Role.OWNER).get(page))
    SavedComparison.objects.filter(pk=kept.pk).update(submitted_by=work.users[Role.OWNER])
    assert approval(kept) in text(signed_in(Role.OWNER).get(here))


def test_approving_over_the_budget_of_the_project_asks(work, signed_in):
    kept = work.saved(work.project(budget="100000"))
    version = projects.submit(work.access(), kept).version
    owner, here = signed_in(), f"/c/{kept.pk}/"
    assert "Approve it 73,980 USD over budget" in text(owner.get(here)).replace("\u00a0", " ")
    refused = text(owner.post(approval(kept), {"version": version}, follow=True))
    assert "Not approved: it is 73,980 USD over" in refused.replace("\u00a0", " ")
    assert state_of(kept) == State.SUBMITTED
    owner.post(approval(kept), {"version": version, "over_budget": "on"})
    assert state_of(kept) == State.APPROVED


def test_the_api_asks_too_until_the_body_confirms(work, signed_in):
    kept = work.saved(work.project(budget="100000"))
    projects.submit(work.access(), kept)
    owner, path = signed_in(), f"/api/v1/saved-comparisons/{kept.pk}/approve/"
    refused = owner.post(path, {}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (409, "over_budget")
    assert "73,980.24 USD over" in refused.json()["detail"]
    assert refused.json()["remedy"] == 'repeat with {"confirm": true} to approve it'
    assert owner.post(path, {"confirm": True}, content_type="application/json").status_code == 200
    assert state_of(kept) == State.APPROVED


def test_approving_within_the_budget_asks_nothing(work, signed_in):
    kept = work.saved(work.project(budget="1000000"))
    version = projects.submit(work.access(), kept).version
    assert "over_budget" not in text(signed_in().get(f"/c/{kept.pk}/"))
    signed_in().post(approval(kept), {"version": version})
    assert state_of(kept) == State.APPROVED


def test_approving_what_changed_meanwhile_is_refused(work, kept, here, signed_in):
    version = kept.version
    projects.submit(work.access(), kept)
    page = text(signed_in().post(approval(kept), {"version": version}, follow=True))
    assert "It has changed since you read it" in page
    assert state_of(kept) == State.SUBMITTED


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("form", "begins"), [("csv", b""), ("xlsx", b"PK"), ("json", b"{"), ("focus", b"")]
)
def test_it_is_exported_under_its_name(here, signed_in, form, begins):
    answer = signed_in(Role.VIEWER).get(f"{here}export/{form}/")
    assert answer.content.startswith(begins)
    assert 'filename="first-plan.' in answer["Content-Disposition"]
