"""Published prices as a Python package of data, which servers without network can carry or pip
install: one Parquet file, as `manage.py prices export` writes it."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db.models import Max

from pricing.common.invalid_input import InvalidInput
from pricing.publish.history import write_prices
from pricing.revisions import newest_revisions

PACKAGE = "gpu-cost-planner-prices"
_MODULE = PACKAGE.replace("-", "_")
_FILE = "prices.parquet"


def find_prices(name: str) -> Path:
    """The Parquet file of this name, or that of the installed package where it is `PACKAGE`."""
    spec = find_spec(_MODULE) if name == PACKAGE else None
    path = Path(spec.origin).parent / _FILE if spec and spec.origin else Path(name)
    if not path.is_file():
        problem = f"{name} is neither a file nor installed: pip install --upgrade {PACKAGE}"
        raise InvalidInput("--latest", problem)
    return path


def write_wheel(folder: Path, providers: Sequence[str] = ()) -> tuple[Path, int]:
    """Write the prices in force to a wheel whose version is the day of the newest, 2026.11.25.

    Gives its path and the number of prices. Raises `InvalidInput` as `write_prices` does."""
    day = newest_revisions().aggregate(day=Max("as_of"))["day"]
    with TemporaryDirectory(prefix="prices-") as temporary:
        file = Path(temporary) / _FILE
        count = write_prices(file, providers, day)
        content = file.read_bytes()
    version = f"{day:%Y}.{day.month}.{day.day}"
    info = f"{_MODULE}-{version}.dist-info"
    about = f"Name: {PACKAGE}\nVersion: {version}\nSummary: Prices for gpu-cost-planner\n"
    kind = (
        "Wheel-Version: 1.0\nGenerator: prices export\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files = {
        f"{_MODULE}/__init__.py": b"",
        f"{_MODULE}/{_FILE}": content,
        f"{info}/METADATA": f"Metadata-Version: 2.1\n{about}".encode(),
        f"{info}/WHEEL": kind.encode(),
    }
    digests = {name: hashlib.sha256(data).digest() for name, data in files.items()}
    record = [
        f"{name},sha256={base64.urlsafe_b64encode(digest).decode().rstrip('=')},{len(files[name])}\n"
        for name, digest in digests.items()
    ]
    files[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()
    path = folder / f"{_MODULE}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
    return path, count
