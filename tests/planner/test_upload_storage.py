"""Uploads wait on disk or in a bucket; either way they are read once and gone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile

from planner import backends as upload_storage
from planner.backends import FOLDER, choose_upload_storage
from planner.models import Role
from planner.services.actuals.uploads import start_upload
from planner.services.housekeeping import retention
from tests.planner.workspace import Workspace, market
from tests.pricing.servers.base import FakeServer, Reply, Request

CSV = b"month,category,hours,cost\n2027-02,compute,10,20\n"


class FakeBucket(FakeServer):
    """As much of S3 as a storage asks for: put, head, get, delete and list."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, bytes] = {}
        self.changed_at = dt.datetime.now(dt.UTC)

    def answer(self, request: Request) -> Reply:
        key = request.path.removeprefix("/uploads").lstrip("/")
        if request.method == "PUT":
            self.objects[key] = request.body
            return Reply(headers={"ETag": '"1"'})
        if request.method == "DELETE":
            self.objects.pop(key, None)
            return Reply(status=204)
        if not key:
            return Reply(self._list(request.query.get("prefix", [""])[0]))
        if key not in self.objects:
            return Reply(b"<Error><Code>NoSuchKey</Code></Error>", 404)
        moment = self.changed_at.strftime("%a, %d %b %Y %H:%M:%S GMT")
        return Reply(self.objects[key], headers={"ETag": '"1"', "Last-Modified": moment})

    def _list(self, prefix: str) -> bytes:
        moment = self.changed_at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        rows = "".join(
            f"<Contents><Key>{key}</Key><LastModified>{moment}</LastModified><Size>1</Size>"
            "</Contents>"
            for key in self.objects
            if key.startswith(prefix)
        )
        return f"<ListBucketResult><Name>uploads</Name>{rows}</ListBucketResult>".encode()


@pytest.fixture
def bucket(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeBucket]:
    pytest.importorskip("storages")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_REQUEST_CHECKSUM_CALCULATION", "when_required")
    with FakeBucket() as server:
        default = choose_upload_storage("uploads", server.url)
        settings.STORAGES = {**settings.STORAGES, "default": default}
        yield server


@pytest.mark.django_db
def test_a_file_waits_in_the_bucket_until_it_is_read(bucket: FakeBucket, settings: Any) -> None:
    settings.JOBS_BACKEND = "celery"  # nothing is read but by the call below
    market()
    work = Workspace("alpha")
    project = work.project()
    from planner.services.jobs import background, jobs

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "submit", lambda *_: None)
        job = start_upload(work.access(Role.EDITOR), project, ContentFile(CSV, "paid.csv"))
    assert list(bucket.objects.values()) == [CSV]
    jobs.run(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.error) == ("succeeded", None)
    assert bucket.objects == {}


@pytest.mark.django_db
def test_a_file_that_nobody_reads_goes(bucket: FakeBucket) -> None:
    bucket.objects["actuals/left.csv"] = CSV
    assert not [one for one in retention.remove_expired() if one.what == "uploads" and one.count]
    bucket.changed_at -= dt.timedelta(days=3)
    assert retention.Removed("uploads", 1) in retention.remove_expired()
    assert bucket.objects == {}


def test_a_bucket_without_its_package_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_storage, "find_spec", lambda _name: None)
    with pytest.raises(ImproperlyConfigured, match=r"UPLOAD_BUCKET .*gpu-cost-planner\[s3\]"):
        choose_upload_storage("uploads", "")
    assert choose_upload_storage("", "") == {"BACKEND": FOLDER}
