"""`python -m docs_build.sbom`: the bill of materials, as CycloneDX 1.6 in JSON."""

from __future__ import annotations

import json
import re
import tomllib
import uuid
from typing import Any

from docs_build.components import ROOT, Component, list_components

_NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
"""For URLs, RFC 9562."""
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def build_document() -> dict[str, Any]:
    """The same for the same locks: its serial number is made from what it lists."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    components = list_components()
    hashes = read_hashes()
    identity = "\n".join([project["version"], *(one.url for one in components)])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, identity)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": project["name"],
                "name": project["name"],
                "version": project["version"],
                "licenses": [{"expression": project["license"]}],
            }
        },
        "components": [_describe(one, hashes.get(one.name, [])) for one in components],
    }


def _describe(one: Component, hashes: list[str]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": "library",
        "bom-ref": one.url,
        "name": one.name,
        "version": one.version,
        "purl": one.url,
    }
    if one.licence:
        described["licenses"] = [{"expression": one.licence}]
    if len(hashes) == 1:
        described["hashes"] = [{"alg": "SHA-256", "content": hashes[0]}]
    return described


def read_hashes() -> dict[str, list[str]]:
    """Package → hashes of its files; only one of several files is installed."""
    blocks = re.split(r"^(?=[\w.-]+==)", (ROOT / "requirements.lock").read_text(), flags=re.M)
    return {block.partition("==")[0]: _HASH.findall(block) for block in blocks}


if __name__ == "__main__":
    print(json.dumps(build_document(), indent=2))
