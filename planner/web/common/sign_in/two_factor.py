"""The second factor of a sign-in, of which the company's own sign-in has one itself."""

from __future__ import annotations

from allauth.mfa.adapter import DefaultMFAAdapter


class TwoFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """The key as a picture where `qrcode` is installed, else as text and link alone."""

    def build_totp_svg(self, url: str) -> str:
        try:
            return str(super().build_totp_svg(url))
        except ImportError:
            return ""
