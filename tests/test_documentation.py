"""What has to be documented: every setting, command, target and field; what links lead to."""

import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from django.conf import settings

from docs_build.commands_reference import read_arguments, read_commands
from docs_build.hook import stack_tables
from docs_build.models_reference import read_fields
from docs_build.reference import ANSWERS, REQUESTS, read_make_variables, read_targets, render_pages
from docs_build.settings_reference import render_settings
from gpu_cost_planner.command_line import build_parser, read_parsers
from planner.contract.request.comparison import read_request
from planner.contract.validation import parse
from planner.environment import Environment
from planner.sizing.estimate import EstimateRequest
from planner.web.team.sentences import TABS

ROOT = Path(settings.BASE_DIR)
PAGES = sorted((ROOT / "docs").rglob("*.md"))
IN_THE_REPOSITORY = sorted(ROOT.glob("*.md"))
MOST_README_LINES = 100
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
REPOSITORY_PATH = re.compile(r"`((?:docs|planner|pricing|gpu_cost_planner|tests)/[\w./-]+)`")
TOML = re.compile(r"^ *```toml\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
FIELD_NAME = re.compile(r"(?<!\$)`([a-z]+(?:_[a-z0-9]+)+)`")
TEST_NAME = re.compile(r"`(test_\w+)`")
TAB = re.compile(r"\*?\*?Team → ([A-Z][a-z]+(?: and [a-z]+| [a-z]+)?)(?=\*\*|;| →)")
READ_BY_A_PROVIDER = re.compile(
    r'(?:settings\.get\(|endpoint\((?:[a-z_]+, )?|^    (?:key_)?setting = )"([A-Z_]+)"',
    re.MULTILINE,
)


pytestmark = pytest.mark.xdist_group("document")  # One process makes the API's document once.


@pytest.fixture(scope="module")
def pages():
    return render_pages()


@pytest.fixture(scope="module")
def written():
    return "\n".join(path.read_text() for path in [*PAGES, *IN_THE_REPOSITORY])


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= MOST_README_LINES


def test_the_page_of_the_settings_is_that_of_the_code():
    page = (ROOT / "docs/operations/settings.md").read_text()
    assert page.endswith(f"\n\n{render_settings()}\n"), (
        "Replace its table by what `python -m docs_build.settings_reference` prints."
    )
    assert len(Environment.model_fields) <= 30


def test_every_variable_that_a_provider_reads_is_on_a_page(written):
    source = "\n".join(path.read_text() for path in (ROOT / "pricing").rglob("*.py"))
    names = set(READ_BY_A_PROVIDER.findall(source))
    assert {"GCP_PROJECT", "AZURE_SUBSCRIPTION_ID", "AWS_PRICE_LIST_URL"} <= names
    assert [name for name in names if f"`{name}`" not in written] == []


def test_every_command_and_argument_says_what_it_is(pages):
    page = pages["reference/commands.md"]
    commands = read_commands()
    assert len(commands) <= 10
    assert not commands.keys() & read_parsers(build_parser()).keys()
    assert all(f"`{name}" in (ROOT / "README.md").read_text() for name in commands)
    for name, command in commands.items():
        assert f"## {name}\n" in page
        assert command.help, name
        arguments = read_arguments(name, command)
        assert [a.dest for a in arguments if not a.help] == [], name


def test_every_command_of_the_command_line_is_described(pages):
    commands = read_parsers(build_parser())
    assert {"sweep", "mcp", "serve"} <= commands.keys()
    for name in commands:
        assert f"## gpu-cost-planner {name}\n" in pages["reference/commands.md"]


def test_every_make_target_says_what_it_does(pages):
    targets = read_targets()
    assert {"run", "test", "check", "docs"} <= targets.keys()
    assert [target for target, meaning in targets.items() if not meaning] == []
    assert all(f"`{name}`" in pages["reference/make.md"] for name in read_make_variables())


@pytest.mark.parametrize(("models", "mode"), [(REQUESTS, "validation"), (ANSWERS, "serialization")])
def test_every_field_of_the_contract_is_described(models, mode):
    fields = [row for rows in read_fields(models, mode).values() for row in rows]
    assert [f"{row.model}.{row.name}" for row in fields if not row.meaning.strip()] == []


def test_links_of_the_repository_s_own_pages_lead_somewhere():
    for path in IN_THE_REPOSITORY:
        targets = [link for link in LINK.findall(path.read_text()) if "://" not in link]
        assert [link for link in targets if not (ROOT / link).exists()] == [], path.name


def test_links_between_pages_lead_to_a_page():
    """The strict build passed over one with an anchor. Pages of the reference are made by it."""
    for page in PAGES:
        targets = [link for link in LINK.findall(page.read_text()) if link.endswith(".md")]
        missing = [
            link
            for link in targets
            if "://" not in link and "reference/" not in link and not (page.parent / link).exists()
        ]
        assert missing == [], page


def test_requests_that_a_page_shows_are_accepted():
    shown = [
        (path.stem, tomllib.loads(textwrap.dedent(block)))
        for path in PAGES
        for block in TOML.findall(path.read_text())
    ]
    whole = [(page, request) for page, request in shown if "workload" in request]
    assert len(whole) >= 4
    for page, request in whole:
        if page == "estimate":
            parse(EstimateRequest, request)
        else:
            read_request(request)


def test_files_and_tests_that_a_page_names_exist(written):
    files = set(REPOSITORY_PATH.findall(written))
    assert len(files) > 50
    assert sorted(file for file in files if not (ROOT / file).exists()) == []
    source = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    names = set(TEST_NAME.findall(written))
    assert sorted(name for name in names if f"def {name}(" not in source) == []


def test_names_that_a_page_uses_are_names_of_the_program(written):
    files = [
        path
        for app in ("planner", "pricing", "gpu_cost_planner", "tests")
        for path in (ROOT / app).rglob("*.py")
    ]
    tables = [path for app in ("planner", "pricing") for path in (ROOT / app).rglob("*.csv")]
    known = set(re.findall(r"\w+", "\n".join(path.read_text() for path in [*files, *tables])))
    names = set(FIELD_NAME.findall(written))
    assert len(names) > 60
    assert sorted(names - known) == []


@pytest.mark.sweep
def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "planner.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    html = "\n".join(path.read_text() for path in tmp_path.rglob("*.html"))
    assert re.findall(r"<(?:script|img|link|iframe)[^>]*(?:src|href)=\"https?://[^\"]*", html) == []


def test_tables_of_the_documentation_name_their_columns_in_every_cell() -> None:
    page = stack_tables(
        "<p>So:</p><table><thead><tr><th>field</th><th><code>type</code></th><th>unit</th></tr>"
        "</thead><tbody><tr><td>start</td><td>month</td><td></td></tr></tbody></table>"
    )
    assert '<table class="stacked">' in page
    assert '<th scope="row" class="fw-normal">start</th><td data-head="type">month</td>' in page
    assert '<td data-head="unit"></td>' in page


def test_a_tab_of_the_team_that_a_page_names_is_there(written: str) -> None:
    named = TAB.findall(written)
    assert len(named) >= 4
    assert set(named) <= {title for _, title, _ in TABS}
    assert "Settings → " not in written.replace("Project Settings → ", "")
