"""What is shipped is known: every package with a licence."""

import re
from importlib.metadata import PackageMetadata
from pathlib import Path
from typing import cast

import pytest

from docs_build.components import Component, find_licence, list_components, read_locks

ROOT = Path(__file__).parents[1]
PERMISSIVE = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0"),
    *("Bitstream-Vera", "MIT-CMU", "PSF-2.0", "Zlib"),
}
COPYLEFT_OF_A_LIBRARY = {"LGPL-3.0-only": {"psycopg", "psycopg-binary"}, "MPL-2.0": {"certifi"}}
"""Licences that ask for something when a library itself is changed, which we do not do."""
ONLY_ELSEWHERE = {"async-timeout", "colorama", "httpx2-jsfetch", "pywin32", "tzdata"}
"""Locked for other systems or versions of Python, so that nothing here says their licence."""


@pytest.fixture(scope="module")
def components() -> list[Component]:
    return list_components()


def test_every_licence_is_one_that_we_may_ship(components: list[Component]) -> None:
    unknown = {
        one.name: one.licence
        for one in components
        for licence in re.split(r" AND | OR ", one.licence)
        if licence not in PERMISSIVE and one.name not in COPYLEFT_OF_A_LIBRARY.get(licence, ())
    }
    assert set(unknown) <= ONLY_ELSEWHERE, unknown


def test_every_locked_package_is_a_component(components: list[Component]) -> None:
    assert {one.name for one in components if one.kind == "pypi"} == set(
        re.findall(r"^([\w.-]+)==", read_locks(), re.MULTILINE)
    )
    names = {one.name for one in components if one.kind == "npm"}
    assert names >= {"@tabler/core", "htmx.org"}
    assert not {"eslint", "axe-core"} & names


def test_a_licence_is_its_spdx_name() -> None:
    class Fields(dict[str, str]):
        def get_all(self, name: str, _default: object) -> list[str]:
            return [text for key, text in self.items() if key == name]

    def licence(**fields: str) -> str:
        named = {name.replace("_", "-"): text for name, text in fields.items()}
        return find_licence(cast(PackageMetadata, Fields(named)))

    assert licence(License_Expression="MIT", License="other") == "MIT"
    assert licence(License="Apache License, Version 2.0") == "Apache-2.0"
    assert licence(License="x" * 900, Classifier="License :: OSI Approved :: MIT License") == "MIT"
    assert licence(License="UNKNOWN") == ""
