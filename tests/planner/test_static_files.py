"""Pages in production, whether or not `collectstatic` was run."""

import os
import re
import shutil
from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile
from django.template.loader import render_to_string
from django.test import Client, override_settings

from planner.backends import is_collected
from planner.web.common.front_end import CollectedFiles
from tests.planner.settings_of import environment_of

OPTIONS = settings.STORAGES["staticfiles"]["OPTIONS"]


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


def test_collected_files_are_for_every_account(tmp_path: Path) -> None:
    """Whoever installs is root; the services have an account of their own."""
    storage = CollectedFiles(location=tmp_path, base_url="/static/", **OPTIONS)
    storage.save("planner.css", ContentFile(b"a {}"))
    assert (tmp_path / "planner.css").stat().st_mode & 0o777 == 0o644
