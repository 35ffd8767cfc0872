"""`make attack`: hostile requests against the site as it is run, with others visiting meanwhile.

Sends every known case and `--count` generated requests, half of them signed in, and fails on any
answer from 500 up, on a request above 20 s of processor time or 500 MB of growth, and where
the p99 of ordinary visitors rises above three times what it is when all is quiet.
"""

import argparse
import http.client
import itertools
import os
import queue
import statistics
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace

import django

from tests.attack.cases import ORDINARY, Call, known_cases
from tests.attack.generate import Generator
from tests.attack.server import LOG, Site, site

LONG, SHORT = 20_000, 300
MOST_CPU_SECONDS, MOST_GROWTH_MB, MOST_P99_RATIO = 20.0, 500.0, 3.0
ATTACKERS = 2
CSRF = "c" * 32


@dataclass(frozen=True)
class Answer:
    call: Call
    status: int
    seconds: float
    cpu_seconds: float = 0.0
    growth_mb: float = 0.0
    size: int = 0

    def problems(self) -> list[str]:
        found = []
        if self.status >= 500 or self.status == 0:
            found.append(f"status {self.status}")
        if self.call.status not in (None, self.status):
            found.append(f"status {self.status}, not {self.call.status}")
        if self.cpu_seconds > MOST_CPU_SECONDS:
            found.append(f"{self.cpu_seconds:.1f} s of processor time")
        if self.growth_mb > MOST_GROWTH_MB:
            found.append(f"{self.growth_mb:,.0f} MB of growth")
        return found


@dataclass
class Visits:
    """How long ordinary requests took, and which were not answered as they should be."""

    milliseconds: list[float] = field(default_factory=list)
    failures: int = 0

    def p99(self) -> float:
        return statistics.quantiles(self.milliseconds, n=100)[98]


def send(where: Site, call: Call) -> Answer:
    """Status 0 where the connection broke or nothing came in two minutes."""
    headers = {"Content-Type": call.content_type} if call.body is not None else {}
    cookie = f"csrftoken={CSRF}"
    if call.signed_in:
        cookie += f"; sessionid={where.session}"
    headers |= {"Cookie": cookie, "X-CSRFToken": CSRF} | dict(call.headers)
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", where.port, timeout=120)
    try:
        connection.request(call.verb, call.path, call.body, headers)
        response = connection.getresponse()
        size = len(response.read())
    except (OSError, http.client.HTTPException):
        return Answer(call, 0, time.perf_counter() - began)
    finally:
        connection.close()
    cpu, growth = (float(response.getheader(n) or 0) for n in ("X-Cpu-Seconds", "X-Growth-Mb"))
    return Answer(call, response.status, time.perf_counter() - began, cpu, growth, size)


def visit(where: Site, until: threading.Event, visits: Visits) -> None:
    """An ordinary visitor from elsewhere, who asks for something ten times a second at most."""
    for call in itertools.cycle(ORDINARY):
        if until.wait(0.1):
            return
        answer = send(where, replace(call, headers={"X-Forwarded-For": "203.0.113.7"}))
        visits.milliseconds.append(answer.seconds * 1e3)
        visits.failures += answer.status != 200


def quiet(where: Site, seconds: float) -> Visits:
    visits, until = Visits(), threading.Event()
    visitor = threading.Thread(target=visit, args=(where, until, visits))
    visitor.start()
    time.sleep(seconds)
    until.set()
    visitor.join()
    return visits


def attack(where: Site, calls: list[Call]) -> tuple[list[Answer], Visits]:
    """Every call, by two attackers at once, while one visitor goes on asking."""
    waiting: queue.SimpleQueue[Call] = queue.SimpleQueue()
    for call in calls:
        waiting.put(call)
    answers: list[Answer] = []
    visits, until = Visits(), threading.Event()

    def work() -> None:
        while True:
            try:
                call = waiting.get_nowait()
            except queue.Empty:
                return
            answers.append(send(where, call))

    visitor = threading.Thread(target=visit, args=(where, until, visits))
    attackers = [threading.Thread(target=work) for _ in range(ATTACKERS)]
    for thread in (visitor, *attackers):
        thread.start()
    for thread in attackers:
        thread.join()
    until.set()
    visitor.join()
    return answers, visits


def report(answers: list[Answer], before: Visits, during: Visits) -> bool:
    """Prints what was measured; whether everything held."""
    bad = [answer for answer in answers if answer.problems()]
    for answer in bad[:40]:
        print(f"MISS {answer.call.verb} {answer.call.name[:80]}: {'; '.join(answer.problems())}")
    if bad:
        print(f"What the server said is in {LOG}.")
    statuses = Counter(answer.status for answer in answers)
    print(f"{len(answers):,} requests, statuses {dict(sorted(statuses.items()))}")
    for name, unit in (("cpu_seconds", "s"), ("growth_mb", "MB"), ("size", "bytes")):
        worst = max(answers, key=lambda answer: float(getattr(answer, name)))
        print(f"worst {name}: {getattr(worst, name):,} {unit} ({worst.call.name[:70]})")
    ratio = during.p99() / before.p99()
    print(
        f"ordinary visitor: p99 {before.p99():,.0f} ms quiet ({len(before.milliseconds)}), "
        f"{during.p99():,.0f} ms under attack ({len(during.milliseconds)}), ratio {ratio:.2f}, "
        f"{during.failures} failed"
    )
    return not bad and not during.failures and ratio <= MOST_P99_RATIO


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help=f"{SHORT} requests, p99 not judged")
    parser.add_argument("--count", type=int, default=int(os.environ.get("ATTACKS", "0")))
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    count = wanted.count or (SHORT if wanted.short else LONG)
    with site() as where:
        quiet(where, 4)  # both workers have read the catalog
        before = quiet(where, 5 if wanted.short else 30)
        generated = Generator(wanted.seed, where.ids).calls(count)
        answers, during = attack(where, [*known_cases(where.ids), *generated])
    held = report(answers, before, during)
    no_bad_answer = not any(a.problems() for a in answers) and not during.failures
    return 0 if held or (wanted.short and no_bad_answer) else 1


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
    django.setup()
    sys.exit(main())
