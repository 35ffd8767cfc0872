"""Where uploads wait: on disk, or in a bucket that speaks S3. Settings ask it."""

from __future__ import annotations

from importlib.util import find_spec

from django.core.exceptions import ImproperlyConfigured

FOLDER = "django.core.files.storage.FileSystemStorage"
BUCKET = "storages.backends.s3.S3Storage"


def choose_upload_storage(bucket: str, endpoint: str) -> dict[str, object]:
    """The entry of STORAGES; credentials are found as boto3 finds them."""
    if not bucket:
        return {"BACKEND": FOLDER}
    if find_spec("storages") is None:
        raise ImproperlyConfigured(
            "UPLOAD_BUCKET is set, but django-storages is not installed; install it with "
            "pip install 'gpu-cost-planner[s3]', or unset it to keep uploads in UPLOAD_DIR."
        )
    options = {
        "bucket_name": bucket,
        "endpoint_url": endpoint or None,
        "file_overwrite": False,
        "default_acl": None,
    }
    return {"BACKEND": BUCKET, "OPTIONS": options}
