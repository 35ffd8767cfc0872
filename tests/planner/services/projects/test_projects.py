"""What a project and its variants refuse, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from planner.services.projects import projects
from pricing.common.invalid_input import InvalidInput
from tests.planner.workspace import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def work() -> Workspace:
    return Workspace("alpha")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"assumptions": {"horizon_months": 200}}, "assumptions.horizon_months"),
        ({"assumptions": {"workload": {}}}, "assumptions.workload"),
        ({"assumptions": {"colour": 1}, "workload": {}}, "assumptions.colour"),
        ({"workload": {"kind": "magic"}}, "workload"),
        ({"budget": "-5"}, "budget"),
        ({"budget": "NaN"}, "budget"),
        ({"budget": "1e999999"}, "budget"),
        ({"budget": "a lot"}, "budget"),
    ],
)
def test_a_project_that_cannot_be_compared_is_refused(
    work: Workspace, values: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        work.project(**values)
    assert refusal.value.field.startswith(field)


def test_a_scenario_s_mistakes_are_named_as_its_own(work: Workspace) -> None:
    project = work.project()
    with pytest.raises(InvalidInput) as refusal:
        projects.create_variant(
            work.access(), project, {"name": "b", "changes": {"finance": {"tax_rate": 3}}}
        )
    assert refusal.value.field == "changes.finance.tax_rate"


def test_a_scenario_s_name_is_given_once_in_its_project(work: Workspace) -> None:
    project, access = work.project(), work.access()
    projects.create_variant(access, project, {"name": "b", "changes": {}})
    other = projects.create_variant(access, project, {"name": "c", "changes": {}})
    with pytest.raises(InvalidInput, match="taken"):
        projects.create_variant(access, project, {"name": "b", "changes": {}})
    with pytest.raises(InvalidInput, match="taken"):
        projects.change_variant(access, other, {"name": "b"})


def test_the_name_of_another_project_is_refused(work: Workspace) -> None:
    first = work.project(name="Vision", archived=True)
    for name in ("Vision", "vision", " VISION "):
        with pytest.raises(InvalidInput, match="'Vision' is the name of an archived project"):
            work.project(name=name)
    other = work.project(name="Speech")
    with pytest.raises(InvalidInput, match="name of another project") as refusal:
        projects.change_project(work.access(), first, {"name": "speech"})
    assert refusal.value.field == "name"
    first.refresh_from_db()
    assert projects.change_project(work.access(), first, {"name": "VISION"}).name == "VISION"
    assert other.name == "Speech"
    assert Workspace("beta").project(name="Speech").name == "Speech"
