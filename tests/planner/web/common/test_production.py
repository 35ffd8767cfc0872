"""What a server on the open network must do: secure headers, complete and compressible files."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client

from tests.planner.settings_of import environment_of

PRODUCTION = {
    "DEBUG": "0",
    "SECRET_KEY": "".join(chr(33 + i % 90) for i in range(80)),
    "ALLOWED_HOSTS": "planner.example",
}


@pytest.fixture(scope="module")
def headers():
    """Headers of an answer under the settings of production, after `check --deploy`."""
    with environment_of(**PRODUCTION):
        call_command("check", deploy=True, fail_level="WARNING")
        answer = Client().get("/theme/", secure=True, headers={"host": "planner.example"})
    return dict(answer.headers)


def test_browsers_are_told_to_come_by_https_alone(headers):
    assert headers["Strict-Transport-Security"] == "max-age=31536000"


def test_the_content_policy_allows_nothing_inline_and_nobody_else(headers):
    policy = headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy


def _named_files() -> set[str]:
    found = set()
    for path in (settings.BASE_DIR / "templates").rglob("*.html"):
        found |= set(re.findall(r"{% static '([^']+)' %}", path.read_text()))
    return found


def test_every_file_that_a_template_names_is_found():
    named = _named_files()
    assert "npm/tabler/css/tabler.min.css" in named
    assert [name for name in named if finders.find(name) is None] == []


def test_the_files_are_collected_under_names_of_their_content(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    settings.STATICFILES_FINDERS = [
        "django.contrib.staticfiles.finders.FileSystemFinder",
        "planner.web.common.front_end.FrontEndFinder",
    ]
    manifest = "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": manifest}}
    finders.get_finder.cache_clear()
    call_command("collectstatic", interactive=False, verbosity=0)
    finders.get_finder.cache_clear()
    names = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    assert _named_files() <= set(names)
    assert all((Path(tmp_path) / name).is_file() for name in names.values())
