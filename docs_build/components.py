"""What the program is made of: locked packages with their licences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

from docs_build.markdown_table import format_table

ROOT = Path(__file__).parent.parent
_PIN = re.compile(r"^([\w.-]+)==([\w.!+-]+)(?: ; (.*?))? \\$", re.MULTILINE)
_SHORT = 60
"""Longer texts in a package's field are the licence itself, not its name."""
_NAMES = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd 3-clause or apache-2.0": "BSD-3-Clause OR Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "dual license": "Apache-2.0 OR BSD-3-Clause",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "new bsd": "BSD-3-Clause",
    "python software foundation license": "PSF-2.0",
    "psfl": "PSF-2.0",
    "see license in readme.md and license": "Bitstream-Vera",  # dejavu-fonts-ttf
}
"""What packages wrote before SPDX names → the SPDX name."""


@dataclass(frozen=True)
class Component:
    """One package that an installation holds."""

    kind: str
    """pypi or npm."""
    name: str
    version: str
    licence: str
    """SPDX expression; empty where the package is not installed here or names none."""


def list_components() -> list[Component]:
    """Those of a server, in order of kind and name; tools of development are none."""
    return sorted([*_read_python(), *_read_npm()], key=lambda one: (one.kind, one.name))


def read_locks() -> str:
    """The lock file of the server and that of each extra, which pin shared packages alike."""
    locks = [ROOT / "requirements.lock", *sorted((ROOT / "locks").glob("*.lock"))]
    return "\n".join(path.read_text() for path in locks)


def _read_python() -> Iterator[Component]:
    for name, version in dict(pin[:2] for pin in _PIN.findall(read_locks())).items():
        try:
            licence = find_licence(metadata(name))
        except PackageNotFoundError:
            licence = ""
        yield Component("pypi", name, version, licence)


def find_licence(fields: PackageMetadata) -> str:
    """The licence that a package states, by its SPDX name."""
    classifiers = [
        text.rpartition(" :: ")[2]
        for text in fields.get_all("Classifier", [])
        if text.startswith("License :: ") and text != "License :: OSI Approved"
    ]
    stated = [fields[name] for name in ("License-Expression", "License") if name in fields]
    for text in map(str, [*stated, *classifiers]):
        if text and len(text) <= _SHORT and "\n" not in text and text != "UNKNOWN":
            return _NAMES.get(text.lower(), text)
    return ""


def _read_npm() -> Iterator[Component]:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    for path, package in lock["packages"].items():
        if path and not package.get("dev"):
            name = path.rpartition("node_modules/")[2]
            licence = package.get("license", "")
            known = _NAMES.get(licence.lower(), licence)
            yield Component("npm", name, package["version"], known)


def render_licences() -> str:
    """The table of the reference page."""
    rows = (
        (one.name, one.version, one.licence or "installed on other systems only", one.kind)
        for one in list_components()
    )
    return format_table(("package", "version", "licence", "from"), rows)
