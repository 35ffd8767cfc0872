"""The name of an address in what is kept of a request: its path may hold the secret of an
invitation or of a new password."""

from __future__ import annotations

import re

HIDDEN = "…"
_WORD = re.compile(r"[a-z]{1,20}([-.][a-z]{1,20}){0,3}")
"""What addresses are made of; a secret of random characters is no such word."""


def name_route(path: str) -> str:
    """The route that answers a path, "" where none does.

    >>> name_route("/join/inv_secret/")
    '/join/<str:secret>/'
    """
    # The settings import this package, before there are addresses.
    from django.urls import Resolver404, resolve

    try:
        return "/" + resolve(path).route
    except Resolver404:
        return ""


def hide_secrets(path: str) -> str:
    """A path that no route answers, with its words alone.

    >>> hide_secrets("/join/inv_secret/)"), hide_secrets("/wp/login.php")
    ('/join/…/…', '/wp/login.php')
    """
    parts = path.split("/")
    return "/".join(part if not part or _WORD.fullmatch(part) else HIDDEN for part in parts)
