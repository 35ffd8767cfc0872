from typing import Any

import pytest
from django.test import Client

from planner.models import Role


@pytest.fixture(autouse=True)
def _quick_settings(settings):
    """Jobs done at once."""
    settings.TASKS_INLINE = True


@pytest.fixture
def signed_in(work):
    """A browser of a member with this role."""

    def enter(role: Role = Role.OWNER, **user: Any) -> Client:
        browser = Client()
        person = work.users[role]
        for name, value in user.items():
            setattr(person, name, value)
            person.save()
        browser.force_login(person)
        return browser

    return enter
