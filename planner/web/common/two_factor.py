"""How a second factor is asked for; not imported where the company's own sign-in asks for it."""

from __future__ import annotations

from allauth.mfa.adapter import DefaultMFAAdapter

from planner.web.common.adapters import REFUSALS


class TwoFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """The key as a picture where `qrcode` is installed, else as text and link alone."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": REFUSALS["incorrect_code"]
    }

    def build_totp_svg(self, url: str) -> str:
        try:
            return str(super().build_totp_svg(url))
        except ImportError:
            return ""
