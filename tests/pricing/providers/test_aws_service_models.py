"""boto3 is given the operations that are called, and each works as with the whole model."""

from __future__ import annotations

import re
from pathlib import Path

from botocore.loaders import create_loader
from botocore.model import ServiceModel

from pricing.providers import aws
from pricing.providers.aws.service_models import OPERATIONS, loader

FOLDER = Path(str(aws.__file__)).parent
CALLED = re.compile(r'"((?:get|describe|list)_[a-z_]+)"')


def test_every_operation_that_the_adapter_calls_is_there() -> None:
    called = {name for path in FOLDER.glob("*.py") for name in CALLED.findall(path.read_text())}
    known = {re.sub(r"(?<!^)(?=[A-Z])", "_", n).lower() for ns in OPERATIONS.values() for n in ns}
    assert called
    assert called <= known


def test_the_shapes_are_those_of_the_whole_model() -> None:
    for service, names in OPERATIONS.items():
        whole = ServiceModel(create_loader().load_service_model(service, "service-2"), service)
        small = ServiceModel(loader().load_service_model(service, "service-2"), service)
        assert tuple(small.operation_names) == names
        for name in names:
            ours, theirs = small.operation_model(name), whole.operation_model(name)
            assert ours.http == theirs.http
            assert ours.input_shape.members.keys() == theirs.input_shape.members.keys()
            assert _flatten(ours.output_shape) == _flatten(theirs.output_shape)


def _flatten(shape: object, depth: int = 0) -> object:
    """Names and types of all that an answer may hold."""
    members = getattr(shape, "members", None) or {}
    element = getattr(shape, "member", None)
    inner = {name: _flatten(one, depth + 1) for name, one in members.items()} if depth < 9 else {}
    return (shape.type_name, inner, _flatten(element, depth + 1) if element else None)  # type: ignore[attr-defined]
