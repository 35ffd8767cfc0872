"""Files that describe work, as the fields of a request: what they say, and what has to be asked.
PURE."""

from __future__ import annotations

import tomllib

from planner.contract.typed_numbers import check_lines
from planner.usage.job_files import configs, kubernetes, slurm_script
from planner.usage.job_files.facts import JobFacts
from pricing.common.invalid_input import InvalidInput

MAX_CHARACTERS = 1_000_000
FORMS = (
    "scripts of Slurm, Kubernetes manifests, tasks of SkyPilot, configurations of axolotl, "
    "LLaMA-Factory, TRL, accelerate, torchtitan, NeMo, MaxText and GPT-NeoX"
)


def read_job_file(text: str, name: str = "") -> JobFacts:
    """What the file says; refused where it is none of the forms."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput("file", f"is larger than {MAX_CHARACTERS:,} characters")
    if "\0" in text:
        raise InvalidInput("file", "holds a NUL; it is not text")
    for _ in check_lines(text.splitlines(), "file"):
        pass
    if slurm_script.matches(text):
        return slurm_script.read(text)
    if name.endswith(".toml"):
        try:
            documents = [tomllib.loads(text)]
        except (ValueError, RecursionError) as error:
            raise InvalidInput("file", f"is not TOML: {str(error)[:120]}") from None
    else:
        documents = configs.read_documents(text)
    if kubernetes.matches(documents):
        return kubernetes.read(documents)
    first = documents[0] if documents else {}
    if configs.is_skypilot(first):
        return configs.read_skypilot(first)
    if configs.is_training(first):
        return configs.read_training(first)
    raise InvalidInput("file", f"is none of the forms that are read: {FORMS}")
