from __future__ import annotations

from io import StringIO

from django.core.management.base import OutputWrapper

from pricing.management import progress
from pricing.publish.refresh_result import RefreshResult


def test_without_a_terminal_each_provider_has_a_line_when_it_begins_and_ends():
    out = StringIO()
    with progress.watch(quiet=False, plain=OutputWrapper(out)) as listener:
        listener.started("aws")
        listener.progress("aws", "pages", 1, 10)
        listener.finished(RefreshResult("aws", "would_publish"))
    assert out.getvalue() == "aws: started\naws: would publish\n"


def test_a_long_fetch_says_now_and_then_how_far_it_is(monkeypatch):
    out, clock = StringIO(), iter((0.0, 5.0, 11.0, 12.0))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    listener = progress.PlainLines(OutputWrapper(out))
    for done in (1, 500, 1500, 1600):
        listener.progress("aws", "rows", done, None)
    assert out.getvalue() == "aws: rows 1,500\n"


def test_a_terminal_shows_a_bar_for_each_provider(monkeypatch):
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress.watch(quiet=False, plain=None) as listener:
        for name in ("aws", "gcp"):
            listener.started(name)
        listener.progress("aws", "pages", 3, 10)
        listener.finished(RefreshResult("aws", "published"))
        listener.finished(RefreshResult("other", "busy"))
    assert "aws" in terminal.getvalue()
    assert "published" in terminal.getvalue()


def test_json_output_stays_alone(capsys):
    with progress.watch(quiet=True, plain=None) as listener:
        listener.started("aws")
        listener.progress("aws", "pages", 1, 10)
        listener.finished(RefreshResult("aws", "published"))
    assert capsys.readouterr() == ("", "")
