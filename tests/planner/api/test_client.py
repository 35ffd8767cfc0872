"""Clients that public generators make from our document work as they are, typed throughout."""

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
from tests.planner.api.routes import PORTFOLIO
from tests.planner.workspace import REQUEST, Workspace, market

pytestmark = pytest.mark.xdist_group("document")
ROOT = Path(__file__).parents[3]
NODE = ROOT / "node_modules" / ".bin"
GUIDE = (ROOT / "docs" / "guides" / "clients.md").read_text()
PLAN = GUIDE.partition("```ts\n")[2].partition("```")[0]
SCRIPT = GUIDE.partition("```python\n")[2].partition("```")[0]
GENERATOR = Path(sys.executable).with_name("openapi-python-client")

PARTIAL = {"workload", "assumptions", "defaults", "given", "before", "after"}
"""Parts of a request, or of any record: what they hold is open on purpose."""
OPEN = {"result", "error", "Row", "values"}
"""Their form depends on the kind of the job, or on the table."""


USED = (
    *("/", "/me/", "/offers/", "/projects/", "/comparisons/", "/estimates/", "/portfolios/"),
    *("/saved-comparisons/", "/saved-comparisons/{id}/"),
)


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


def write(document: dict[str, Any], folder: Path) -> Path:
    path = folder / "schema.json"
    path.write_text(json.dumps(document, default=str))
    return path


def generate(document: Path, folder: Path) -> None:
    subprocess.run(
        [GENERATOR, "generate", "--path", document, "--output-path", folder / "planner_client",
         "--meta", "none"],
        check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture
def document(tmp_path: Path) -> Path:
    return write(make_document(), tmp_path)


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.sweep)], ids=["used", "whole"])
def generated(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """The freshly generated package, imported: of what is called here, or of the whole document."""
    whole = json.loads(json.dumps(make_document(), default=str))
    path = write(whole if request.param else only(USED, whole), tmp_path)
    generate(path, tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("planner_client")
    for name in [n for n in sys.modules if n.split(".")[0] == "planner_client"]:
        del sys.modules[name]
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.mark.django_db(transaction=True)
def test_ten_calls_give_what_the_document_says(generated: Any, live_server: Any) -> None:
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
    names = [row.name for row in call("resources.get_resources").results]
    assert "comparisons" in names
    assert call("me.get_me").teams
    assert [row.id for row in call("projects.list_projects").results] == [project.pk]
    assert call("projects.create_projects", body=models.CreateProjectsNewProject("B")).name == "B"
    sized = models.EstimateRequest.from_dict({"workload": REQUEST["workload"]})
    assert call("estimates.create_estimates", body=sized).accelerator_hours.p50 > 0
    joint = models.PortfolioRequest.from_dict(PORTFOLIO)
    assert call("portfolios.create_portfolios", body=joint).headline
    offers = call("offers.list_offers")
    assert offers.results[0].accelerator == "nvidia-h100-80gb-sxm"
    request = models.ComparisonRequest.from_dict(REQUEST)
    compared = call("comparisons.compare", body=request)
    assert compared.recommendation.scenario
    new = models.CreateSavedComparisonsNewSavedComparison.from_dict(
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
    script = SCRIPT.replace("https://planner.example", url).replace("gcp_…", token)
    names: dict[str, Any] = {}
    exec(script, names)
    assert names["answer"].verdict.sentence
    exec(script.replace("2027-01", "2027-13"), names)
    assert [error.field for error in names["answer"].errors] == ["start"]


def untyped(part: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Where any object may stand."""
    if isinstance(part, list):
        return [
            one for number, item in enumerate(part) for one in untyped(item, (*path, str(number)))
        ]
    if not isinstance(part, dict):
        return []
    is_open = part.get("type") in ("object", ["object", "null"])
    if (
        is_open
        and "properties" not in part
        and part.get("additionalProperties") in (None, True, {})
    ):
        return [path]
    return [one for name, item in part.items() for one in untyped(item, (*path, name))]


@pytest.mark.django_db
def test_an_object_is_open_only_where_it_must_be(document: Path) -> None:
    schemas = json.loads(document.read_text())["components"]["schemas"]
    names = {path[2] if len(path) > 2 else path[0] for path in untyped(schemas)}
    assert names == PARTIAL | OPEN


@pytest.mark.sweep
@pytest.mark.django_db
def test_a_python_client_passes_strict_type_checks(document: Path, tmp_path: Path) -> None:
    generate(document, tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "planner_client", "script.py"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert checked.stdout.startswith("Success"), checked.stdout[-2000:]


@pytest.mark.sweep
@pytest.mark.django_db
def test_a_typescript_client_compiles_in_strict_mode(document: Path, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    (tmp_path / "plan.ts").write_text(PLAN)
    run(tmp_path, NODE / "openapi-typescript", document, "-o", "planner.d.ts",
        "--default-non-nullable=false")  # fmt: skip
    options = ("--strict", "--noEmit", "--module", "esnext", "--target", "es2022",
               "--moduleResolution", "bundler")  # fmt: skip
    run(tmp_path, NODE / "tsc", *options, "plan.ts")
    (tmp_path / "plan.ts").write_text(PLAN.replace("hours_per_month", "hours_a_month"))
    with pytest.raises(AssertionError, match="hours_a_month"):
        run(tmp_path, NODE / "tsc", *options, "plan.ts")


def run(folder: Path, *command: str | Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
