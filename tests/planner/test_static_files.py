"""Pages in production, whether or not `collectstatic` was run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.template.loader import render_to_string
from django.test import Client, override_settings

from planner.backends import is_collected
from planner.web.common.front_end import CollectedFiles
from tests.planner.settings_of import environment_of

OPTIONS = settings.STORAGES["staticfiles"]["OPTIONS"]
ROOT = Path(settings.BASE_DIR)
ASK = """
import re, sys, django
django.setup()
from django.conf import settings
settings.STATIC_ROOT = sys.argv[1]
settings.STATIC_IS_COLLECTED, settings.WHITENOISE_USE_FINDERS = False, True
from django.template.loader import render_to_string
from django.test import Client
text = render_to_string("500.html")
client = Client(headers={"Host": "planner.example.com", "X-Forwarded-Proto": "https"})
for file in re.findall(r'(?:href|src)="(/static/[^"]+)"', text):
    answer = client.get(file)
    print(file, answer.status_code, len(b"".join(answer.streaming_content)))
"""


PRODUCTION = {"DEBUG": "0", "SECRET_KEY": "k" * 50, "ALLOWED_HOSTS": "planner.example.com"}


def test_pages_and_their_files_are_served_without_collectstatic(tmp_path: Path) -> None:
    without = {
        "STATIC_ROOT": tmp_path,
        "STATIC_IS_COLLECTED": False,
        "WHITENOISE_USE_FINDERS": True,
    }
    with environment_of(**PRODUCTION), override_settings(**without):
        client = Client(headers={"Host": "planner.example.com", "X-Forwarded-Proto": "https"})
        files = re.findall(r'(?:href|src)="(/static/[^"]+)"', render_to_string("500.html"))
        answers = {file: client.get(file) for file in files}
        sizes = {file: len(b"".join(answer.streaming_content)) for file, answer in answers.items()}
    assert {answer.status_code for answer in answers.values()} == {200}
    assert [file for file, size in sizes.items() if size < 100] == []
    assert {Path(file).name for file in files} >= {"planner.css", "tabler.min.css"}


@pytest.mark.sweep
def test_a_process_of_its_own_serves_them_too(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASK, str(tmp_path)],
        cwd=ROOT,
        env=os.environ | PRODUCTION | {"DJANGO_SETTINGS_MODULE": "planner.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [file for file, status, size in lines if status != "200" or int(size) < 100] == []
    assert {Path(file).name for file, *_ in lines} >= {"planner.css", "tabler.min.css"}


def test_files_are_collected_when_the_manifest_is_newer_than_each(tmp_path: Path) -> None:
    root, source = tmp_path / "root", tmp_path / "source"
    for folder in (root, source):
        folder.mkdir()
    file = source / "planner.css"
    file.write_text("a {}")
    os.utime(file, (1000, 1000))
    assert not is_collected(root, [source])
    manifest = root / "staticfiles.json"
    manifest.write_text("{}")
    os.utime(manifest, (2000, 2000))
    assert is_collected(root, [source])
    assert is_collected(root, [source, file, source / "missing.js"])
    os.utime(file, (3000, 3000))
    assert not is_collected(root, [source])
    shutil.rmtree(root)
    assert not is_collected(root, [source])


def test_the_page_of_a_server_error_names_only_files_that_exist() -> None:
    for page in ("500.html", "503.html"):
        names = re.findall(r"{% static '([^']+)' %}", (ROOT / "templates" / page).read_text())
        assert len(names) == 3


def test_collected_files_are_for_every_account_and_uploads_are_not(tmp_path: Path) -> None:
    """Whoever installs is root; the services have an account of their own."""
    storage = CollectedFiles(location=tmp_path, base_url="/static/", **OPTIONS)
    storage.save("planner.css", ContentFile(b"a {}"))
    assert (tmp_path / "planner.css").stat().st_mode & 0o777 == 0o644
    assert settings.FILE_UPLOAD_PERMISSIONS == 0o600
