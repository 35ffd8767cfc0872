"""Clients made from the OpenAPI document are typed throughout: Python and TypeScript."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.xdist_group("document")
ROOT = Path(__file__).parents[3]
NODE = ROOT / "node_modules" / ".bin"
GENERATOR = Path(sys.executable).with_name("openapi-python-client")
PARTIAL = {
    "workload",
    "assumptions",
    "changes",
    "defaults",
    "given",
    "inherited",
    "before",
    "after",
}
"""Parts of a request, or of any record: what they hold is open on purpose."""
OPEN = {"payload", "result", "error", "answer"}
"""Their form depends on the kind of the event or the job, and on the day of a saved answer."""
GUIDE = (ROOT / "docs" / "guides" / "clients.md").read_text()
PLAN = GUIDE.partition("```ts\n")[2].partition("```")[0]
SCRIPT = GUIDE.partition("```python\n")[2].partition("```")[0]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("document") / "schema.json"
    call_command("spectacular", "--format", "openapi-json", "--file", path)
    return path


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
    names = {path[2] for path in untyped(schemas)}
    assert names == PARTIAL | OPEN


@pytest.mark.sweep
@pytest.mark.django_db
def test_a_python_client_passes_strict_type_checks(document: Path, tmp_path: Path) -> None:
    subprocess.run(
        [GENERATOR, "generate", "--path", document, "--output-path", tmp_path / "planner_client",
         "--meta", "none"],
        check=True, capture_output=True,
    )  # fmt: skip
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
