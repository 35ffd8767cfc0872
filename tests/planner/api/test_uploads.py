"""Files come in as a stream, within limits, or not at all."""

import gc
import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from planner.models import ActualLine, ActualsUpload, Role
from tests.planner.workspace import Workspace, market

pytestmark = pytest.mark.django_db


@pytest.fixture
def address() -> str:
    market()
    work = Workspace("alpha")
    return f"/api/v1/projects/{work.project().pk}/actuals/"


@pytest.fixture
def client(address: str) -> APIClient:
    from django.contrib.auth import get_user_model

    client = APIClient()
    client.force_login(get_user_model().objects.get(username=f"{Role.EDITOR.value}-of-alpha"))
    return client


def send(client: APIClient, address: str, body: bytes, kind: str = "text/csv", **meta: Any) -> Any:
    return client.post(address, body, content_type=kind, **meta)


def test_a_file_is_read_and_named(client: APIClient, address: str) -> None:
    done = send(client, f"{address}?file_name=june.csv", b"month,cost\n2027-01,5\n")
    assert done.status_code == 201
    assert (done.json()["rows"], done.json()["file_name"]) == (1, "june.csv")
    assert client.get(address).json()["results"][0]["id"] == done.json()["id"]


def test_a_file_on_the_disk_goes_with_its_request(
    client: APIClient, address: str, settings: Any, tmp_path: Path
) -> None:
    settings.FILE_UPLOAD_TEMP_DIR, settings.FILE_UPLOAD_MAX_MEMORY_SIZE = tmp_path, 10
    gc.disable()
    try:
        send(client, address, b"month,cost\n2027-01,5\n").close()
        assert not list(tmp_path.iterdir())
    finally:
        gc.enable()


def test_a_mistake_names_its_row_and_column_and_keeps_nothing(
    client: APIClient, address: str
) -> None:
    done = send(client, address, b"month,cost\n2027-01,5\nJune,6\n")
    assert done.status_code == 400
    assert done.json()["errors"][0]["field"] == "row 3.month"
    assert not ActualsUpload.objects.exists()
    assert not ActualLine.objects.exists()


class Unread(io.RawIOBase):
    """A body that must not be touched."""

    def read(self, *_: object) -> bytes:
        raise AssertionError("the body was read")


def test_a_gigabyte_is_refused_before_a_byte_is_read(client: APIClient, address: str) -> None:
    meta = {"CONTENT_LENGTH": str(10**9), "wsgi.input": Unread()}
    refused = send(client, address, b"", **meta)
    assert refused.status_code == 413
    assert "64,000,000 bytes" in refused.json()["detail"]
    assert "in several files of whole months." in refused.json()["detail"]


def test_a_body_that_goes_on_beyond_what_it_said_is_cut_off(
    client: APIClient, address: str, settings
) -> None:
    settings.API_MAX_UPLOAD_BYTES = 30
    assert send(client, address, b"month,cost\n2027-01,5\n").status_code == 201
    body = b"month,cost\n" + b"2027-01,5\n" * 10
    assert send(client, address, body).status_code == 413


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04" + b"\x00" * 1000, "is a damaged zip archive"),
        (gzip.compress(b"month,cost\n" + b"0" * 5_000_000), "longer than"),
    ],
)
def test_a_bomb_is_refused(client: APIClient, address: str, content: bytes, message: str) -> None:
    done = send(client, address, content)
    assert done.status_code == 400
    assert message in done.content.decode()
