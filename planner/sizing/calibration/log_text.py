"""A log's bytes as text, in the encodings that people send. PURE."""

from __future__ import annotations

from pricing.common.invalid_input import InvalidInput

MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))
"""First bytes of a text → its encoding; PowerShell redirects into UTF-16 (Microsoft, about_Output
streams, 2024)."""


def decode_log(raw: bytes, field: str = "file") -> str:
    """The text of a log; refuses, on `field`, what is neither UTF-8 nor UTF-16.

    >>> decode_log("index".encode("utf-16"))
    'index'
    """
    encoding = next((name for mark, name in MARKS if raw.startswith(mark)), "")
    if not encoding and raw[1:2] == b"\x00":
        encoding = "utf-16-le"
    try:
        return raw.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(
            field, "is neither UTF-8 nor UTF-16 text; send the log that nvidia-smi wrote"
        ) from None
