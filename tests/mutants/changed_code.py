"""A mutant takes the place of its module in the process, and no file is changed.

Most mutants change the body of a function: the function that is imported gets the changed body.
What else a module holds (constants, defaults, class bodies) is changed where it is imported.
"""

import importlib.util
import sys
from collections.abc import Iterator, Mapping
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from inspect import CO_OPTIMIZED
from types import CodeType, FunctionType

from tests.mutants.mutations import Mutant


class _Loader(SourceFileLoader):
    def __init__(self, name: str, mutant: Mutant) -> None:
        super().__init__(name, str(mutant.path.resolve()))
        self.mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.mutant.source, self.path, "exec")


class _Finder(MetaPathFinder):
    """Finds the mutant where its module is imported."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        if fullname != self.mutant.module:
            return None
        is_package = self.mutant.path.stem == "__init__"
        location = [str(self.mutant.path.resolve().parent)] if is_package else None
        return importlib.util.spec_from_file_location(
            fullname,
            self.mutant.path.resolve(),
            loader=_Loader(fullname, self.mutant),
            submodule_search_locations=location,
        )


def mutate_import(mutant: Mutant) -> None:
    """From now on the module of a mutant is imported as the mutant."""
    sys.meta_path.insert(0, _Finder(mutant))


def changes_bodies_alone(mutant: Mutant) -> bool:
    """Whether a mutant differs from its module in nothing but the bodies of functions."""
    original = compile(mutant.path.read_text(), "", "exec")
    return _outside_functions(original) == _outside_functions(compile(mutant.source, "", "exec"))


def _outside_functions(code: CodeType) -> list[object]:
    """Instructions and constants of a module and of its classes."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    plain = [(type(one), one) for one in code.co_consts if not isinstance(one, CodeType)]
    outside: list[object] = [code.co_code, plain, code.co_names]
    for one in inner:
        if not one.co_flags & CO_OPTIMIZED:
            outside += _outside_functions(one)
        elif one.co_name.startswith("<"):
            outside.append((one.co_code, one.co_consts))
    return outside


def changed_functions(mutant: Mutant) -> set[str]:
    """Qualified names of the functions whose bodies a mutant changes."""
    original = dict(_bodies(compile(mutant.path.read_text(), "", "exec")))
    changed = dict(_bodies(compile(mutant.source, "", "exec")))
    return {name for name, body in changed.items() if body != original.get(name)}


def mutate_functions(mutant: Mutant) -> None:
    """Gives the functions of an imported module the bodies of the mutant."""
    module = sys.modules[mutant.module]
    bodies = dict(_bodies(compile(mutant.source, str(mutant.path.resolve()), "exec")))
    for function in _functions(vars(module), module.__name__):
        if function.__qualname__ in bodies:
            function.__code__ = bodies[function.__qualname__]


def _bodies(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    """Qualified name → body of each function of a module or class."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_flags & CO_OPTIMIZED:
                yield one.co_qualname, one
            else:
                yield from _bodies(one)


def _functions(names: Mapping[str, object], module: str) -> Iterator[FunctionType]:
    for one in list(names.values()):
        if isinstance(one, type) and one.__module__ == module:
            yield from _functions(vars(one), module)
        for wrapped in (one, *(getattr(one, name, None) for name in _WRAPPED)):
            if isinstance(wrapped, FunctionType) and wrapped.__module__ == module:
                yield wrapped


_WRAPPED = ("__func__", "__wrapped__", "fget", "func")
"""Where methods, cached functions and properties keep what they wrap."""
