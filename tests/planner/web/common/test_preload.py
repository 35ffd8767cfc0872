"""A process answers with the version that it started with, whatever is put in its place."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.template import Engine

from planner.web.common.front_end import list_templates, load_pages


@pytest.mark.parametrize("loads", [False, True])
def test_no_page_is_read_from_disk_after_the_start(
    loads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine.get_default()
    for loader in engine.template_loaders:
        loader.reset()
    if loads:
        load_pages()
    read: list[Any] = []
    cached: Any = engine.template_loaders[0]
    for loader in cached.loaders:
        monkeypatch.setattr(type(loader), "get_contents", lambda _, origin: read.append(origin))
    names = list_templates(engine)
    assert {"400.html", "500.html", "web/answer/total.html"} <= set(names)
    try:
        for name in names:
            engine.get_template(name)
    except AttributeError:  # nothing was read
        assert not loads
    finally:
        for loader in engine.template_loaders:
            loader.reset()
    assert bool(read) is not loads


def test_each_web_process_loads_them_as_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr("planner.services.timer.start_timer", lambda: done.append("timer"))
    monkeypatch.setattr("planner.web.common.front_end.load_pages", lambda: done.append("pages"))
    monkeypatch.setattr("sys.setswitchinterval", lambda _: None)
    monkeypatch.setattr("gc.set_threshold", lambda *_: None)
    runpy.run_path(str(Path(settings.BASE_DIR) / "gunicorn.conf.py"))["post_worker_init"](None)
    assert done == ["pages", "timer"]
