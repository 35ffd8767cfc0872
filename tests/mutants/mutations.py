"""The mutants of a module: its source with one thing changed."""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

OPERATORS = (
    "AddNot",
    "NumberReplacer",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ZeroIterationForLoop",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_USub",
    "ReplaceUnaryOperator_Delete_Invert",
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_Div",
    "ReplaceBinaryOperator_Div_Mul",
    "ReplaceBinaryOperator_FloorDiv_Mul",
    "ReplaceBinaryOperator_Pow_Mul",
    "ReplaceBinaryOperator_BitAnd_BitOr",
    "ReplaceComparisonOperator_Eq_NotEq",
    "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceComparisonOperator_Lt_LtE",
    "ReplaceComparisonOperator_Lt_GtE",
    "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_LtE_Gt",
    "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_Gt_LtE",
    "ReplaceComparisonOperator_GtE_Gt",
    "ReplaceComparisonOperator_GtE_Lt",
    "ReplaceComparisonOperator_Is_IsNot",
    "ReplaceComparisonOperator_IsNot_Is",
)
"""Operators whose mutants still run: of `a + b` becomes `a - b`, never `a << b`, which every test
that reaches it would notice."""

EQUIVALENT = (
    # Immutability and the size of caches change no figure.
    re.compile(r"@dataclass\(|lru_cache\(|setflags\(|^_DIFFERENT_TEXTS\b|MOST_CELLS_HELD\b"),
    # Samples that are costed at once: speed and memory alone.
    re.compile(r"^CHUNK\b|\+ CHUNK|, CHUNK"),
    # What pairs up has one length by construction.
    re.compile(r"strict=True"),
    # What the type checker is told, true of every caller.
    re.compile(r"^\s*assert "),
    # Width, freezing and print format of a sheet's columns; indentation of JSON.
    re.compile(r"\bColumn\(|set_column\(|freeze_panes\(|add_format\(|\badd\(\{|indent="),
    re.compile(r'^\s*\(?"[A-Z][A-Za-z ]*", \d+, '),
    # Options of the writer that only matter to cells written without saying what they are.
    re.compile(r'^\s*"(in_memory|nan_inf_to_errors|strings_to_(numbers|urls|formulas))":'),
    # The first month of a calendar of which only lengths are read.
    re.compile(r"^_ANY_DAY\b"),
)
"""Lines whose mutants no reader of a figure could tell from the original."""


@dataclass(frozen=True)
class Mutant:
    """One change to one module."""

    path: Path
    operator: str
    occurrence: int
    line: int

    @cached_property
    def source(self) -> str:
        """The whole module, changed; empty where the change makes no module."""
        code = self.path.read_text()
        if not self.operator:
            return code
        changed = mutate_code(code, get_operator(f"core/{self.operator}")(), self.occurrence) or ""
        try:
            compile(changed, "", "exec")
        except SyntaxError:
            return ""
        return changed

    @property
    def module(self) -> str:
        """Name by which the module is imported."""
        return ".".join(self.path.with_suffix("").parts).removesuffix(".__init__")

    def diff(self) -> str:
        """What is changed, as a unified diff without context."""
        lines = difflib.unified_diff(
            self.path.read_text().splitlines(), self.source.splitlines(), n=0, lineterm=""
        )
        return "\n".join(f"    {line}" for line in lines if not line.startswith(("---", "+++")))


def find_mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module but those of lines that are excluded. A bare `*` among arguments
    multiplies nothing: arguments after it are passed by name, whatever stands for it."""
    code = path.read_text()
    lines, nodes = code.splitlines(), list(ast_nodes(get_ast(code)))
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        starts = [at[0] for node in nodes for at in operator.mutation_positions(node)]
        for occurrence, (line, column) in enumerate(starts):
            text = lines[line - 1]
            is_marker = text[column:].startswith("*,")
            if not is_marker and not any(rule.search(text) for rule in EQUIVALENT):
                yield Mutant(path, name, occurrence, line)
