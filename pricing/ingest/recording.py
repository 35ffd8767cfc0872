"""Raw pages kept by `--record` and given back by `--from`, one folder for each provider."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from pricing.common.invalid_input import InvalidInput
from pricing.ingest.provider import RunStopped

_METADATA_FILE = "recorded.json"
"""Says when the pages were read: a replay must not look fresher than what it replays."""


def make_recorder(
    folder: Path, provider: str, recorded_at: dt.datetime
) -> Callable[[str, bytes], None]:
    """What keeps a page of the provider under its name. A page is written whole or not at all."""
    provider_folder = folder / provider

    def record(name: str, page: bytes) -> None:
        try:
            path = _page_path(provider_folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(path.name + ".part")
            temporary.write_bytes(page)
            os.replace(temporary, path)
        except OSError as error:
            raise RunStopped(
                provider,
                f"{name} cannot be kept in {folder} ({error.strerror})",
                "Free disk space or choose another folder for --record; nothing was published.",
            ) from None

    record(_METADATA_FILE, json.dumps({"read_at": recorded_at.isoformat()}).encode())
    return record


def make_replayer(folder: Path, provider: str) -> Callable[[str], bytes | None]:
    """What gives a recorded page of the provider back, None for one that was not recorded."""
    provider_folder = _provider_folder(folder, provider)

    def replay(name: str) -> bytes | None:
        path = _page_path(provider_folder, name)
        return path.read_bytes() if path.is_file() else None

    return replay


def find_recorded(folder: Path, names: Sequence[str], *, required: bool) -> list[str]:
    """Those of `names` whose pages `folder` holds; `InvalidInput` for one asked for by name
    that it does not hold, or when it holds none."""
    _check_folder(folder)
    if required:
        for name in names:
            _provider_folder(folder, name)
    recorded = [name for name in names if (folder / name).is_dir()]
    if not recorded:
        raise InvalidInput("from", f"{folder} has no recorded pages of {', '.join(names)}")
    return recorded


def read_recording_time(folder: Path, provider: str) -> dt.datetime:
    """When the pages were read; without a note of it, the day of the oldest file."""
    provider_folder = _provider_folder(folder, provider)
    metadata = provider_folder / _METADATA_FILE
    if not metadata.is_file():
        oldest = min(
            (p.stat().st_mtime for p in provider_folder.rglob("*") if p.is_file()), default=0.0
        )
        return dt.datetime.fromtimestamp(oldest, dt.UTC)
    try:
        return dt.datetime.fromisoformat(json.loads(metadata.read_text())["read_at"])
    except (ValueError, KeyError, TypeError):
        raise InvalidInput("from", f"{metadata} does not say when the pages were read") from None


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise InvalidInput("from", f"{folder} is not a folder; give one written by --record")


def _provider_folder(folder: Path, provider: str) -> Path:
    _check_folder(folder)
    provider_folder = folder / provider
    if not provider_folder.is_dir():
        raise InvalidInput("from", f"{folder} has no recorded pages of {provider}")
    return provider_folder


def _page_path(provider_folder: Path, name: str) -> Path:
    """The file of a page; a name that leads out of the folder is a bug of the adapter."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute() or "\x00" in name:
        raise ValueError(f"{name!r} is not a name for a page")
    return provider_folder.joinpath(*parts)
