"""What a wheel holds for `gpu-cost-planner serve`: every file that the pages ask for."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.conf import settings

from planner.places import find_data_dir

ROOT = Path(settings.BASE_DIR)


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The build hook, without the builder, which is not installed here."""
    builder = ModuleType("hatchling.builders.hooks.plugin.interface")
    builder.BuildHookInterface = dict  # type: ignore[attr-defined]
    for name in ("", ".builders", ".builders.hooks", ".builders.hooks.plugin"):
        monkeypatch.setitem(sys.modules, f"hatchling{name}", ModuleType(f"hatchling{name}"))
    monkeypatch.setitem(sys.modules, builder.__name__, builder)
    return runpy.run_path(str(ROOT / "hatch_build.py"))


def test_every_front_end_file_of_the_pages_goes_along(build: dict[str, Any]) -> None:
    wanted = {
        (folder / file).relative_to(settings.NODE_MODULES).as_posix()
        for folder, files in settings.FRONT_END_FILES.values()
        for file in files
    }
    assert wanted <= set(build["FRONT_END"])
    assert [one for one in build["FRONT_END"] if not (settings.NODE_MODULES / one).is_file()] == []


def test_what_the_pages_are_made_from_goes_along(build: dict[str, Any]) -> None:
    assert [one for one in build["ALWAYS"] if not (ROOT / one).is_dir()] == []
    assert {"templates", "static"} <= set(build["ALWAYS"])


def test_an_installed_planner_writes_into_the_user_s_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/lee")
    kept = find_data_dir({}, is_installed=True)
    assert kept.as_posix() == "/home/lee/.local/share/gpu-cost-planner"
    assert find_data_dir({"XDG_DATA_HOME": "/data"}, is_installed=False) == ROOT


PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_every_package_says_that_it_is_typed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert [one for one in packages if not (ROOT / one / "py.typed").is_file()] == []


def test_every_dependency_has_a_lower_and_an_upper_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    named = [*project["dependencies"], *(one for names in extras for one in names)]
    assert [one for one in named if not re.search(r">=.+,<|~=", one)] == []


@pytest.mark.sweep
@pytest.mark.parametrize("page", ["README.md", "docs/guides/python.md"])
def test_the_python_of_a_page_passes_strict_type_checks(page: str, tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text("\n".join(PYTHON.findall((ROOT / page).read_text())))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "page.py"]
    checked = subprocess.run(
        [*command, "--follow-imports=silent"],
        cwd=tmp_path, env={"MYPYPATH": str(ROOT), **os.environ}, capture_output=True, text=True,
    )  # fmt: skip
    assert checked.stdout.startswith("Success"), checked.stdout[-2000:]


@pytest.mark.parametrize("file", ["planner.py", "pricing/__init__.py"])
def test_a_module_of_the_user_s_that_hides_ours_is_named(tmp_path: Path, file: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch()
    done = subprocess.run(
        [sys.executable, "-c", "import gpu_cost_planner"],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert f"Python finds {tmp_path / file}. Rename the other one" in done.stderr


def _import_copy(home: Path) -> str:
    """What the library says where only its first module and two empty packages are installed."""
    for name in ("gpu_cost_planner", "planner", "pricing"):
        (home / name).mkdir()
        (home / name / "__init__.py").touch()
    shutil.copy(ROOT / "gpu_cost_planner/__init__.py", home / "gpu_cost_planner")
    command = [sys.executable, "-S", "-c", "import gpu_cost_planner"]
    environment = {"PYTHONPATH": str(home)}
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True).stderr


def test_a_module_of_the_user_s_that_ours_hides_is_named(tmp_path: Path) -> None:
    (tmp_path / "pricing.py").touch()
    assert f"but {tmp_path / 'pricing'}.py stands beside it." in _import_copy(tmp_path)


def test_packages_that_pip_wrote_over_each_other_are_named(tmp_path: Path) -> None:
    for name in ("gpu_cost_planner-0.2.0", "mine-1"):
        (tmp_path / f"{name}.dist-info").mkdir()
        (tmp_path / f"{name}.dist-info/RECORD").write_text("pricing/__init__.py,sha256=x,9\n")
    found = _import_copy(tmp_path)
    assert "but gpu_cost_planner-0.2.0 and mine-1 hold one each, and pip wrote one over" in found
