"""What boto3 needs to know of AWS's services, and no more.

A client has a method for each operation of its service, 750 for EC2, and a run has a client of
EC2 for each region: reading the few operations that are called, with the shapes that they refer
to, saves 60 MB and most of the time to make the clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

OPERATIONS = {
    "pricing": ("GetProducts",),
    "ec2": (
        "DescribeInstanceTypeOfferings",
        "DescribeInstanceTypes",
        "DescribeSpotPriceHistory",
        "DescribeCapacityBlockOfferings",
    ),
    "savingsplans": ("DescribeSavingsPlansOfferingRates",),
    "service-quotas": ("ListServiceQuotas",),
}
"""Operations that the adapter calls, by service; other services are read whole."""


@cache
def loader() -> Any:
    """The loader of botocore's data for every session: EC2's model alone takes a second to read."""
    from botocore.loaders import Loader, create_loader

    class UsedOperations(Loader):
        """Gives the models of `OPERATIONS` without what is not called."""

        def load_service_model(
            self, service_name: str, type_name: str, api_version: str | None = None
        ) -> Any:
            if type_name != "service-2" or service_name not in OPERATIONS:
                return super().load_service_model(service_name, type_name, api_version)
            if service_name not in models:
                whole = create_loader().load_service_model(service_name, type_name, api_version)
                models[service_name] = prune_model(whole, OPERATIONS[service_name])
            return models[service_name]

    models: dict[str, Any] = {}
    return UsedOperations()


def prune_model(model: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """`model` with these operations and the shapes that they refer to, directly or not.

    >>> shapes = {"In": {"type": "structure", "members": {"a": {"shape": "Text"}}},
    ...           "Text": {"type": "string"}, "Other": {"type": "string"}}
    >>> operations = {"Get": {"input": {"shape": "In"}}, "Put": {"input": {"shape": "Other"}}}
    >>> small = prune_model({"operations": operations, "shapes": shapes}, ("Get",))
    >>> sorted(small["operations"]), sorted(small["shapes"])
    (['Get'], ['In', 'Text'])
    """
    operations = {name: model["operations"][name] for name in names if name in model["operations"]}
    shapes: dict[str, Any] = {}
    waiting = list(_shape_names(operations))
    while waiting:
        name = waiting.pop()
        if name not in shapes:
            shapes[name] = model["shapes"][name]
            waiting += _shape_names(shapes[name])
    return {**model, "operations": operations, "shapes": shapes}


def _shape_names(value: Any) -> Iterator[str]:
    """Every name of a shape within `value`."""
    if isinstance(value, Mapping):
        if isinstance(value.get("shape"), str):
            yield value["shape"]
        for one in value.values():
            yield from _shape_names(one)
    elif isinstance(value, list):
        for one in value:
            yield from _shape_names(one)
