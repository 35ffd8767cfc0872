"""The files of an installation agree with the program and with each other."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client

from planner.environment import Environment
from tests.rehearsal.documents import read_blocks, split_by_network
from tests.rehearsal.image import CONTAINERFILE, IGNORED, read_instructions

ROOT = Path(settings.BASE_DIR)
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return loaded


def test_every_variable_that_is_set_is_a_setting(compose: dict[str, Any]) -> None:
    example = (DEPLOY / "planner.env.example").read_text()
    names = set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE))
    names |= compose["services"]["web"]["environment"].keys()
    for unit in UNITS:
        names |= set(re.findall(r"^Environment=([A-Z_]+)=", unit.read_text(), re.MULTILINE))
    assert names - Environment.model_fields.keys() == set()
    assert {"SECRETS_DIR", "ALLOWED_HOSTS", "DEBUG"} <= names


def test_the_image_runs_without_rights_and_checks_its_health() -> None:
    steps = read_instructions(CONTAINERFILE.read_text())
    last = steps[max(n for n, (name, _) in enumerate(steps) if name == "FROM") :]
    found = dict(last)
    assert found["USER"] == "planner"
    assert "deploy/healthcheck.py" in found["HEALTHCHECK"]
    assert "deploy/install --slim $EXTRAS" in dict(steps[: len(steps) - len(last)])["RUN"]
    assert not [text for name, text in last if name == "RUN" and "pip" in text]


def test_the_image_holds_what_is_listed_and_all_of_it_exists() -> None:
    lines = IGNORED.read_text().splitlines()
    assert lines[0] == "**"
    wanted = [line[1:] for line in lines if line.startswith("!")]
    assert [name for name in wanted if not (ROOT / name).exists()] == []
    assert not {"tests", ".git", ".env"} & set(wanted)


def test_services_of_the_compose_file_are_closed_in(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert services.keys() == {"db", "redis", "setup", "web", "worker", "beat", "proxy"}
    for name in ("setup", "web", "worker", "beat"):
        service = services[name]
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert set(service["secrets"]) <= compose["secrets"].keys(), name
    published = {name for name, service in services.items() if "ports" in service}
    assert published == {"proxy"}


def test_units_run_as_an_account_that_may_write_nothing_but_its_state() -> None:
    for unit in UNITS:
        text = unit.read_text()
        for line in ("User=planner", "ProtectSystem=strict", "NoNewPrivileges=true"):
            assert f"\n{line}\n" in text, unit.name
        (program,) = re.findall(r"^ExecStart=(\S+)", text, re.MULTILINE)
        assert Path(program).name in {"gunicorn", "celery", "python", "copy-backups"}, unit.name


def test_the_proxy_lets_through_what_the_program_takes() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    megabytes = int(re.search(r"client_max_body_size (\d+)m", text)[1])  # type: ignore[index]
    assert megabytes * 1_000_000 >= settings.API_MAX_UPLOAD_BYTES
    assert "large_client_header_buffers 4 16k" in text
    for header in ("X-Forwarded-Proto https", "X-Forwarded-For $remote_addr", "X-Request-Id"):
        assert f"proxy_set_header {header}" in text


def test_the_documents_name_each_step_of_an_installation() -> None:
    downloads, local = split_by_network(read_blocks("On a machine"))
    assert len(downloads) == 2
    text = "\n".join(local)
    for step in ("make-secrets", "planner.env", "manage migrate", "load_catalog", "createsuperuser",
                 "refresh_prices", "systemctl enable --now", "nginx -t", "/readyz"):  # fmt: skip
        assert step in text, step


@pytest.mark.parametrize(("mode", "modes"), [("", (0o700, 0o444)), ("0440", (0o755, 0o440))])
def test_secrets_are_closed_to_other_accounts(tmp_path: Path, mode: str, modes: Any) -> None:
    """By their folder, or by their own modes where services of another account read them."""
    folder = tmp_path / "secrets"
    command = [str(DEPLOY / "make-secrets"), str(folder)]
    for _ in range(2):
        subprocess.run(command, env=os.environ | {"SECRETS_MODE": mode}, check=True)
    assert folder.stat().st_mode & 0o777 == modes[0]
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {modes[1]}


@pytest.mark.django_db
def test_a_new_key_signs_nobody_out_while_the_former_one_is_named(settings: Any) -> None:
    person = get_user_model().objects.create_user("ada", password="quiet-ada-7")
    settings.SECRET_KEY = "former" * 10
    browser = Client()
    browser.force_login(person)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new" * 20, ["former" * 10]
    assert browser.get("/account/").status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert browser.get("/account/").status_code == 200, "the session goes on under the new key"
    settings.SECRET_KEY = "another" * 9
    assert browser.get("/account/").status_code == 302


def test_the_timer_logs_as_the_settings_say() -> None:
    """Celery would otherwise log in a form of its own, and its timer without any level."""
    done = subprocess.run(
        [sys.executable, "-c", "import planner.celery as c; c.app.log.setup(); "
         "import logging; logging.getLogger('celery.beat').info('Starting')"],
        cwd=ROOT,
        env=os.environ | {"LOG_FORMAT": "json", "DEBUG": "1"},
        capture_output=True,
        text=True,
        check=True,
    )  # fmt: skip
    line = json.loads(done.stderr.splitlines()[-1])
    assert (line["logger"], line["message"]) == ("celery.beat", "Starting")
