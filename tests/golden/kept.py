"""What is kept of an answer, a page or a refusal: a JSON file holds it by name, one name a line.
Where it changed on purpose, record it anew by running the test under RECORD=1: the file's diff is
what changed for readers."""

import json
import math
import os
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def assert_kept(file: str, name: str, now: Any) -> None:
    """Holds `now` against what the file keeps under this name."""
    now = json.loads(json.dumps(now))
    if os.environ.get("RECORD") == "1":
        _record(FOLDER / file, name, now)
        return
    differences = find_differences(now, _load(FOLDER / file).get(name))
    shown = "\n".join(differences[:10])
    assert not differences, f"{len(differences)} differences from {file}, {name}:\n{shown}"


def keep(file: str, source: object, now: Any) -> None:
    """Holds what was made of a source, named by its digest, against what the file keeps of it;
    nothing is kept yet of a new one. To forget sources that are no more, record into `{}`."""
    name = sha256(repr(source).encode()).hexdigest()[:16]
    if os.environ.get("RECORD") == "1" or name in _load(FOLDER / file):
        assert_kept(file, name, now)


def sum_logarithms(value: Any) -> float:
    """Σ of the logarithms of all figures, each times its place in the lists that it stands in: one
    number that none of them leaves as it is."""
    if isinstance(value, dict):
        return sum(map(sum_logarithms, value.values()))
    if isinstance(value, list):
        return sum(place * sum_logarithms(one) for place, one in enumerate(value, start=1))
    with suppress(TypeError, ValueError):
        return math.copysign(math.log1p(abs(float(value))), float(value))
    return 0.0


def find_differences(now: Any, kept: Any, where: str = "") -> list[str]:
    """Places that differ; numbers may differ by a millionth."""
    if isinstance(now, dict) and isinstance(kept, dict):
        names = [*now, *(name for name in kept if name not in now)]
        parts = [(f"{where}.{name}", now.get(name), kept.get(name)) for name in names]
    elif isinstance(now, list) and isinstance(kept, list) and len(now) == len(kept):
        parts = [(f"{where}.{i}", now[i], kept[i]) for i in range(len(now))]
    else:
        is_number = isinstance(now, float) or isinstance(kept, float)
        same = math.isclose(now, kept, rel_tol=1e-6, abs_tol=1e-6) if is_number else now == kept
        return [] if same else [f"{where}: {now!r}, kept is {kept!r}"]
    return [one for place, a, b in parts for one in find_differences(a, b, place)]


@cache
def _load(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8"))


def _record(file: Path, name: str, now: Any) -> None:
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    lines = (f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}"
             for k, v in sorted((kept | {name: now}).items()))  # fmt: skip
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
