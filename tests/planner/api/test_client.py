"""A client that a public generator makes from our document works as it is."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner.api.views.documents import document as make_document
from planner.models import Scope
from tests.planner.workspace import REQUEST, Workspace, market

pytestmark = pytest.mark.xdist_group("document")
GUIDE = (Path(__file__).parents[3] / "docs" / "guides" / "clients.md").read_text()
GENERATOR = Path(sys.executable).with_name("openapi-python-client")


USED = ("/offers/", "/comparisons/", "/saved-comparisons/", "/saved-comparisons/{id}/")


def only(used: tuple[str, ...], whole: dict[str, Any]) -> dict[str, Any]:
    """The document of these paths, with the components that they lead to."""
    paths = {path: whole["paths"][f"/api/v1{path}"] for path in used}
    names: set[str] = set()
    ahead = references(paths)
    while ahead:
        names |= ahead
        schemas = whole["components"]["schemas"]
        ahead = set().union(*(references(schemas[name]) for name in ahead)) - names
    schemas = {name: whole["components"]["schemas"][name] for name in sorted(names)}
    return whole | {
        "paths": {f"/api/v1{path}": found for path, found in paths.items()},
        "components": whole["components"] | {"schemas": schemas},
    }


def references(part: Any) -> set[str]:
    return set(re.findall(r"#/components/schemas/([\w.]+)", json.dumps(part)))


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.sweep)], ids=["used", "whole"])
def generated(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """The freshly generated package, imported: of what is called here, or of the whole document."""
    document = tmp_path / "schema.json"
    whole = json.loads(json.dumps(make_document(), default=str))
    document.write_text(json.dumps(whole if request.param else only(USED, whole)))
    subprocess.run(
        [GENERATOR, "generate", "--path", document, "--output-path", tmp_path / "planner_client",
         "--meta", "none"],
        check=True, capture_output=True,
    )  # fmt: skip
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("planner_client")
    for name in [n for n in sys.modules if n.split(".")[0] == "planner_client"]:
        del sys.modules[name]
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.mark.django_db(transaction=True)
def test_it_lists_offers_posts_a_comparison_and_reads_it_back(
    generated: Any, live_server: Any
) -> None:
    market()
    work = Workspace("alpha")
    project = work.project()
    client = generated.AuthenticatedClient(
        base_url=live_server.url, token=work.token(Scope.READ, Scope.WRITE)
    )

    def call(path: str, **values: Any) -> Any:
        operation = importlib.import_module(f"planner_client.api.{path}")
        answer = operation.sync_detailed(client=client, **values)
        assert answer.status_code < 300, answer.content
        return answer.parsed

    models = importlib.import_module("planner_client.models")
    offers = call("offers.list_offers")
    assert offers.results[0].accelerator == "nvidia-h100-80gb-sxm"
    request = models.ComparisonRequest.from_dict(REQUEST)
    compared = call("comparisons.compare", body=request)
    assert compared.recommendation.scenario
    new = models.NewSavedComparison.from_dict(
        {"project": str(project.pk), "name": "By client", "request": REQUEST}
    )
    kept = call("saved_comparisons.create_saved_comparisons", body=new)
    again = call("saved_comparisons.get_saved_comparisons", id=kept.id)
    assert again.summary.total_cost == kept.summary.total_cost
    scenario = next(s for s in compared.scenarios if s.key == compared.recommendation.scenario)
    assert scenario.total_cost == again.summary.total_cost
    run_the_guide(live_server.url, work.token(Scope.READ))


def run_the_guide(url: str, token: str) -> None:
    """The script of the guide, with this server and this token; it called an operation that had
    another name by then."""
    script = GUIDE.partition("```python\n")[2].partition("```")[0]
    script = script.replace("https://planner.example", url).replace("gcp_…", token)
    names: dict[str, Any] = {}
    exec(script, names)
    assert names["answer"].verdict.sentence
    exec(script.replace("2027-01", "2027-13"), names)
    assert [error.field for error in names["answer"].errors] == ["start"]
