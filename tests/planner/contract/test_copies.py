"""What a long plan works out holds up no short one."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from planner.contract.copies import cached_property


class Plan:
    def __init__(self) -> None:
        self.begun, self.may_end = Event(), Event()

    @cached_property
    def cost(self) -> bool:
        self.begun.set()
        return self.may_end.wait(10.0)


def test_a_short_plan_waits_for_no_long_one() -> None:
    long, short = Plan(), Plan()
    with ThreadPoolExecutor() as threads:
        of_long = threads.submit(lambda: long.cost)
        assert long.begun.wait(10.0)
        short.may_end.set()
        threads.submit(lambda: short.cost).result(5.0)
        assert not of_long.done()
        long.may_end.set()
        assert of_long.result(10.0)
    assert vars(long)["cost"] is True
