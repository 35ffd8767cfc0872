"""Raw pages kept by `--record` and given back by `--from`, one folder for each provider."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from pricing.common.invalid_input import InvalidInput
from pricing.ingest.provider import ProviderUnavailable

_ABOUT = "recorded.json"
"""Says when the pages were read: a replay must not look fresher than what it replays."""


def recorder(folder: Path, provider: str, read_at: dt.datetime) -> Callable[[str, bytes], None]:
    """What keeps a page of the provider under its name. A page is written whole or not at all."""
    home = folder / provider

    def record(name: str, page: bytes) -> None:
        try:
            path = _inside(home, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(path.name + ".part")
            beside.write_bytes(page)
            os.replace(beside, path)
        except OSError as error:
            raise ProviderUnavailable(
                provider,
                f"{name} cannot be kept in {folder} ({error.strerror})",
                "Make room or choose another folder for --record; nothing was published.",
            ) from None

    record(_ABOUT, json.dumps({"read_at": read_at.isoformat()}).encode())
    return record


def player(folder: Path, provider: str) -> Callable[[str], bytes | None]:
    """What gives a recorded page of the provider back, None for one that was not recorded."""
    home = _home(folder, provider)

    def replay(name: str) -> bytes | None:
        path = _inside(home, name)
        return path.read_bytes() if path.is_file() else None

    return replay


def recorded(folder: Path, names: Sequence[str], *, named: bool) -> list[str]:
    """Those of `names` whose pages `folder` holds; `InvalidInput` for one asked for by name
    that it does not hold, or when it holds none."""
    _there(folder)
    if named:
        for name in names:
            _home(folder, name)
    found = [name for name in names if (folder / name).is_dir()]
    if not found:
        raise InvalidInput("from", f"{folder} holds no pages of {', '.join(names)}")
    return found


def read_at(folder: Path, provider: str) -> dt.datetime:
    """When the pages were read; without a note of it, the day of the oldest file."""
    home = _home(folder, provider)
    about = home / _ABOUT
    if not about.is_file():
        oldest = min((p.stat().st_mtime for p in home.rglob("*") if p.is_file()), default=0.0)
        return dt.datetime.fromtimestamp(oldest, dt.UTC)
    try:
        return dt.datetime.fromisoformat(json.loads(about.read_text())["read_at"])
    except (ValueError, KeyError, TypeError):
        raise InvalidInput("from", f"{about} does not say when the pages were read") from None


def _there(folder: Path) -> None:
    if not folder.is_dir():
        raise InvalidInput("from", f"{folder} is not a folder; give one that --record filled")


def _home(folder: Path, provider: str) -> Path:
    _there(folder)
    home = folder / provider
    if not home.is_dir():
        raise InvalidInput("from", f"{folder} holds no pages of {provider}")
    return home


def _inside(home: Path, name: str) -> Path:
    """The file of a page; a name that leads out of the folder is a bug of the adapter."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute() or "\x00" in name:
        raise ValueError(f"{name!r} is not a name for a page")
    return home.joinpath(*parts)
