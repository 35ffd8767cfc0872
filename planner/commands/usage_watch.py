"""A folder of usage files, read again whenever it changes. No Django."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from planner.commands.command import Options
from planner.commands.usage import MAX_FILES, answer_paths, describe
from pricing.common.invalid_input import InvalidInput

MIN_INTERVAL_S, MAX_INTERVAL_S = 1, 86_400
State = dict[str, tuple[int, int]]


def watch(
    folder: str,
    options: Options,
    write: Callable[[str], object],
    rounds: int | None = None,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Reads all files of the folder as one sum when two looks in a row see the same new state, so
    that a file that is still being written is left alone. Goes on until it is interrupted."""
    interval_s = options["interval"]
    if not MIN_INTERVAL_S <= interval_s <= MAX_INTERVAL_S:
        allowed = f"allowed are {MIN_INTERVAL_S} to {MAX_INTERVAL_S} s"
        raise InvalidInput("interval", f"{interval_s} cannot be used; {allowed}")
    done: State = {}
    before: State | None = None
    while rounds is None or rounds > 0:
        state = look(folder)
        if state and state == before and state != done:
            done = state
            write(_read(sorted(state), options))
        before = state
        rounds = None if rounds is None else rounds - 1
        if rounds != 0:
            sleep(interval_s)


def look(folder: str) -> State:
    """Size and time of each file of the folder; hidden files and folders are passed over."""
    try:
        entries = [one for one in Path(folder).iterdir() if not one.name.startswith(".")]
        files = {str(one): one.stat() for one in entries if one.is_file()}
    except OSError as error:
        raise InvalidInput("watch", f"{folder} cannot be read: {error.strerror}") from error
    if len(files) > MAX_FILES:
        raise InvalidInput("watch", f"{folder} holds {len(files):,} files; at most {MAX_FILES:,}")
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in files.items()}


def _read(names: list[str], options: Options) -> str:
    """The sums of these files; a refusal is said, and the folder watched on."""
    try:
        answer = answer_paths(names, options)
        text = describe(answer, options["json"])
        if options["out"]:
            _replace(Path(options["out"]), describe(answer, as_json=True))
    except InvalidInput as refusal:
        return "\n".join(str(one) for one in refusal.all())
    return text


def _replace(path: Path, text: str) -> None:
    """Writes the whole file or leaves the old one."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise InvalidInput("out", f"{path} cannot be written: {error.strerror}") from error
