"""Which project a row belongs to: by tag, account or user, under the team's names. PURE."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from planner.usage.tables import MAX_NAME_LENGTH
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput

DEFAULT_SOURCES = ("tag:project", "tag:team")
_KINDS = ("account", "user", "partition")
RULE_COUNT_LIMIT = 200
MAX_PATTERN = 200
_CACHED = 50_000


class ProjectRule(NamedTuple):
    """What matches belongs to a project: a tag, an account, a user or a partition."""

    by: str
    """`tag:NAME`, `account`, `user` or `partition`."""
    pattern: str
    """With `*` and `?`, in the capitals that the file uses."""
    project: str


class ProjectRules:
    """`rules` first, in their order; then `sources`, in the order in which they are tried.

    >>> rules = ProjectRules(("tag:team", "account"), [read_rule("tag:team:ml-*=Machine learning")])
    >>> rules.choose({"team": "ml-vision"}, "4711"), rules.choose({}, "4711")
    ('Machine learning', '4711')
    """

    def __init__(
        self, sources: Iterable[str] = DEFAULT_SOURCES, rules: Iterable[ProjectRule] = ()
    ) -> None:
        self.sources, self._rules = tuple(sources), tuple(rules)
        for source in self.sources:
            _check_source(source, "project_by")
        if len(self.sources) > RULE_COUNT_LIMIT:
            raise InvalidInput("project_by", f"has more than {RULE_COUNT_LIMIT} rules")
        if len(self._rules) > RULE_COUNT_LIMIT:
            raise InvalidInput("rule", f"has more than {RULE_COUNT_LIMIT} rules")
        named = (*(rule.by for rule in self._rules), *self.sources)
        self.tags = tuple(
            dict.fromkeys(one.removeprefix("tag:") for one in named if one.startswith("tag:"))
        )
        self._plain_tags = {tag: tag.lower() for tag in self.tags}
        self._cache: dict[tuple[object, ...], str] = {}

    def choose(
        self, tags: Mapping[str, str], account: str = "", user: str = "", partition: str = ""
    ) -> str:
        """The project; empty where no rule matches and no source says one."""
        key = (*(tags.get(tag, "") for tag in self.tags), account, user, partition)
        project = self._cache.get(key)
        if project is None:
            if len(self._cache) > _CACHED:
                self._cache.clear()
            values = {f"tag:{tag}": tags.get(tag, "") for tag in self.tags}
            values |= {"account": account, "user": user, "partition": partition}
            of_rules = (
                rule.project
                for rule in self._rules
                if (value := values[rule.by]) and fnmatchcase(value, rule.pattern)
            )
            of_sources = (values[source][:MAX_NAME_LENGTH] for source in self.sources)
            project = next(filter(None, (*of_rules, *of_sources)), "")
            self._cache[key] = project
        return project

    def pick(self, tags: Mapping[str, object]) -> dict[str, str]:
        """Of a row's tags those that the rules read, whatever their capitals and prefixes."""
        plain = {_plain_tag(key): value for key, value in tags.items()}
        return {
            tag: str(plain[name])[:MAX_NAME_LENGTH]
            for tag, name in self._plain_tags.items()
            if plain.get(name) not in (None, "")
        }


def _check_source(source: str, field: str) -> None:
    if source in _KINDS or (source.startswith("tag:") and source != "tag:"):
        return
    problem = f"{shorten(source)} is unknown; allowed are tag:NAME, account, user and partition"
    raise InvalidInput(field, problem)


def read_rule(text: str, field: str = "rule") -> ProjectRule:
    """A rule as it is typed: `SOURCE:PATTERN=PROJECT`.

    >>> read_rule("tag:team:ml-*=Machine learning")
    ProjectRule(by='tag:team', pattern='ml-*', project='Machine learning')
    >>> read_rule("partition:gpu=Vision").by
    'partition'
    """
    source, sign, project = text.strip().rpartition("=")
    if source.startswith("tag:"):
        tag, colon, pattern = source.removeprefix("tag:").partition(":")
        by = f"tag:{tag.strip()}"
    else:
        by, colon, pattern = source.partition(":")
    if not sign or not colon:
        problem = f"{shorten(text)} is no rule like tag:team:ml-*=Machine learning"
        raise InvalidInput(field, f"{problem} or account:4711=Vision")
    rule = ProjectRule(by.strip(), pattern.strip(), project.strip())
    _check_source(rule.by, field)
    for what, value, most in (
        ("pattern", rule.pattern, MAX_PATTERN),
        ("project", rule.project, MAX_NAME_LENGTH),
    ):
        if not value or len(value) > most:
            problem = f"its {what} {shorten(value)} has {len(value)} characters; allowed are 1 to"
            raise InvalidInput(field, f"{problem} {most}")
    return rule


def _plain_tag(key: str) -> str:
    """A tag's name without the prefix of its provider.

    >>> _plain_tag("user:Team"), _plain_tag("user_team"), _plain_tag("k8s.io/team")
    ('team', 'team', 'team')
    """
    return (
        key.rpartition(":")[2]
        .rpartition("/")[2]
        .lower()
        .removeprefix("label_")
        .removeprefix("user_")
    )


@lru_cache(maxsize=2_000)
def parse_tags(text: str) -> dict[str, object]:
    """Tags as JSON with or without its outer braces; none where they are not such.

    >>> parse_tags('"team": "llm"')
    {'team': 'llm'}
    """
    text = text.strip()
    if not text or len(text) > 20_000:
        return {}
    text = text if text.startswith(("{", "[")) else f"{{{text}}}"
    value = None
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            value = value or read(text)
    if isinstance(value, list):
        pairs = [one for one in value if isinstance(one, dict)]
        return {str(one.get("key", "")): one.get("value", "") for one in pairs}
    return value if isinstance(value, dict) else {}
