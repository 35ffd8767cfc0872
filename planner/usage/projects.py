"""Which project a row belongs to: by tag, account or user, under the team's names. PURE."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache

from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput

DEFAULT_SOURCES = ("tag:project", "tag:team")
_KINDS = ("account", "user")
MAX_RULES = 200
_CACHED = 50_000


class ProjectRules:
    """`sources` in the order in which they are tried; `names` rename what they say.

    >>> rules = ProjectRules(("tag:team", "account"), {"ml-*": "Machine learning"})
    >>> rules.choose({"team": "ml-vision"}, "4711"), rules.choose({}, "4711")
    ('Machine learning', '4711')
    """

    def __init__(
        self, sources: Iterable[str] = DEFAULT_SOURCES, names: Mapping[str, str] | None = None
    ) -> None:
        self.sources = tuple(sources)
        for source in self.sources:
            if source not in _KINDS and not source.startswith("tag:"):
                problem = f"{shorten(source)} is unknown; allowed are tag:NAME, account and user"
                raise InvalidInput("project_by", problem)
        self._names = dict(names or {})
        if len(self._names) > MAX_RULES or len(self.sources) > MAX_RULES:
            raise InvalidInput("project_by", f"has more than {MAX_RULES} rules")
        self.tags = tuple(
            source.removeprefix("tag:") for source in self.sources if source.startswith("tag:")
        )
        self._plain_tags = {tag: tag.lower() for tag in self.tags}
        self._cache: dict[tuple[object, ...], str] = {}

    def choose(self, tags: Mapping[str, str], account: str = "", user: str = "") -> str:
        """The project; empty where no source says one."""
        key = (*(tags.get(tag, "") for tag in self.tags), account, user)
        project = self._cache.get(key)
        if project is None:
            if len(self._cache) > _CACHED:
                self._cache.clear()
            project = self._cache[key] = self._rename(self._first(tags, account, user))
        return project

    def _first(self, tags: Mapping[str, str], account: str, user: str) -> str:
        values = {"account": account, "user": user}
        for source in self.sources:
            value = values.get(source) or tags.get(source.removeprefix("tag:"), "")
            if value:
                return value[:120]
        return ""

    def _rename(self, project: str) -> str:
        for pattern, name in self._names.items():
            if project and fnmatchcase(project, pattern):
                return name
        return project

    def pick(self, tags: Mapping[str, object]) -> dict[str, str]:
        """Of a row's tags those that the rules read, whatever their capitals and prefixes."""
        plain = {_plain_tag(key): value for key, value in tags.items()}
        return {
            tag: str(plain[name])[:120]
            for tag, name in self._plain_tags.items()
            if plain.get(name) not in (None, "")
        }


def _plain_tag(key: str) -> str:
    """A tag's name without the prefix of its provider.

    >>> _plain_tag("user:Team"), _plain_tag("user_team"), _plain_tag("k8s.io/team")
    ('team', 'team', 'team')
    """
    return key.rpartition(":")[2].rpartition("/")[2].lower().removeprefix("user_")


@lru_cache(maxsize=20_000)
def parse_tags(text: str) -> dict[str, object]:
    """Tags as JSON with or without its outer braces; none where they are not such.

    >>> parse_tags('"team": "llm"')
    {'team': 'llm'}
    """
    text = text.strip()
    if not text or len(text) > 20_000:
        return {}
    try:
        value = json.loads(text if text.startswith(("{", "[")) else f"{{{text}}}")
    except (ValueError, RecursionError):
        return {}
    if isinstance(value, list):
        pairs = [one for one in value if isinstance(one, dict)]
        return {str(one.get("key", "")): one.get("value", "") for one in pairs}
    return value if isinstance(value, dict) else {}
