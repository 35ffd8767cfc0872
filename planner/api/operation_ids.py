"""Names of operations as a person would call them: `list_projects`, `approve_saved_comparison`."""

from __future__ import annotations

_VERBS = {"GET": "get", "POST": "create", "PATCH": "update", "DELETE": "delete"}
_NOUNS = {"actuals": "actuals_uploads", "audit-log": "audit_entries"}
"""Segments of a path that are not the plural of what they hold."""
_NAMES = {
    "POST comparisons": "compare",
    "POST comparisons/batch": "compare_batch",
    "POST comparisons/exports/{form}": "export_comparison",
    "POST estimates": "estimate",
    "POST calibrations": "calibrate",
    "POST invitations/accept": "accept_invitation",
    "POST refreshes": "start_refresh",
    "POST teams/{team}/webhooks/{id}/rotate-secret": "rotate_team_webhook_secret",
    "GET saved-comparisons/{id}/exports/{form}": "export_saved_comparison",
}


def make_operation_id(method: str, path: str, is_list: bool) -> str:
    """The name of what `method` does at `path`, below `/api/v1/`.

    >>> make_operation_id("GET", "projects/", True), make_operation_id("PATCH", "jobs/{id}/", False)
    ('list_projects', 'update_job')
    >>> make_operation_id("POST", "held-batches/{id}/release/", False)
    'release_held_batch'
    >>> make_operation_id("GET", "projects/{id}/variance/", False)
    'get_project_variance'
    >>> make_operation_id("GET", "teams/{team}/webhooks/{webhook}/deliveries/{id}/", False)
    'get_team_webhook_delivery'
    """
    path = path.strip("/")
    if name := _NAMES.get(f"{method} {path}"):
        return name
    parts = path.split("/")
    nouns = [_NOUNS.get(part, part).replace("-", "_") for part in parts if part[0] != "{"]
    *outer, last = nouns
    owner = "_".join(map(_singular, outer))
    if is_list:
        return "_".join(filter(None, ("list", owner, last)))
    is_of_one = parts[-1][0] != "{" and len(parts) > 1 and parts[-2][0] == "{"
    is_action = is_of_one and parts[-1] not in _NOUNS and not last.endswith("s")
    if is_action:
        words = (last, owner) if method == "POST" else (_VERBS[method], owner, last)
        return "_".join(words)
    return "_".join(filter(None, (_VERBS[method], owner, _singular(last))))


def _singular(noun: str) -> str:
    """
    >>> [_singular(noun) for noun in ("saved_comparisons", "deliveries", "held_batches", "me")]
    ['saved_comparison', 'delivery', 'held_batch', 'me']
    """
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    if noun.endswith("ches"):
        return noun[:-2]
    return noun.removesuffix("s")
