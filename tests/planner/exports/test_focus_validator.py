"""FOCUS exports against the public validator, for every version whose rules it brings.

`make focus` sets FOCUS_VALIDATOR. Release 2.2.1 brings the rules of 1.2 alone and would load others
from the network, which is not done here; a release that brings more is held to them as well.
"""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from planner.contract.request.portfolio import read_portfolio
from planner.exports.focus import as_focus
from planner.exports.portfolio_exports import as_portfolio_focus
from planner.portfolio.portfolio import plan_portfolio
from pricing.bundled.catalog import bundled_catalog
from tests.planner.exports.answers import typed
from tests.planner.exports.test_focus import KEYS, context
from tests.planner.portfolio.portfolios import TODAY, relay

pytestmark = [
    pytest.mark.skipif("FOCUS_VALIDATOR" not in os.environ, reason="make focus sets it"),
    pytest.mark.xdist_group("focus validator"),
]
KNOWN_DEFECTS = {
    "InvoiceId-C-004",
    "InvoiceId-C-005",
    "CommitmentDiscountStatus-C-004",
    "CapacityReservationStatus-C-004",
}
"""Rules that fail on a null and on its opposite, or on rows that their condition leaves out."""


@cache
def packages() -> Path:
    """Where the validator lies: it reads its rules relative to its own packages."""
    program = Path(os.environ["FOCUS_VALIDATOR"])
    return next(program.parent.parent.glob("lib/python*/site-packages"))


@cache
def versions() -> tuple[str, ...]:
    rules = (packages() / "focus_validator" / "rules").glob("model-*.json")
    return tuple(sorted(path.stem.removeprefix("model-") for path in rules))


def failures(content: bytes, version: str, folder: Path) -> tuple[set[str], str]:
    """Rules that fail, and how many passed and failed in all."""
    data = folder / "focus.csv"
    data.write_bytes(content)
    program = os.environ["FOCUS_VALIDATOR"]
    command = [program, "--data-file", data, "--block-download", "--validate-version", version]
    done = subprocess.run(command, cwd=packages(), capture_output=True, text=True, check=True)
    total = re.search(r"Total: .*Pass: \d+.*", done.stdout)
    assert total, done.stdout[-2000:]
    lines = (line for line in done.stdout.splitlines() if ": FAIL" in line)
    return {line.split()[1].rstrip(":") for line in lines}, total[0]


def assert_clean(content: bytes, version: str, folder: Path) -> None:
    failed, total = failures(content, version, folder)
    unknown = {rule for rule in failed if rule.rsplit("-", 1)[0] not in KNOWN_DEFECTS}
    print(version, total)
    assert not unknown, f"{total}: {sorted(unknown)}"


def test_the_validator_knows_1_2() -> None:
    assert any(version.startswith("1.2") for version in versions())


@pytest.mark.parametrize("key", KEYS)
def test_a_plan_is_clean_in_every_version(key: str, tmp_path: Path) -> None:
    for version in versions():
        assert_clean(as_focus(typed(), context(key), "1.2"), version, tmp_path)


def test_a_portfolio_is_clean_in_every_version(tmp_path: Path) -> None:
    answer = plan_portfolio(
        read_portfolio(relay(3, 24, what_if=False)), bundled_catalog(), today=TODAY
    )
    for version in versions():
        assert_clean(as_portfolio_focus(answer, "1.2"), version, tmp_path)


def test_the_validator_sees_what_is_wrong(tmp_path: Path) -> None:
    """A currency that is none fails."""
    broken = as_focus(typed(), context("cloud"), "1.2").replace(b",USD,", b",Dollars,")
    failed, _ = failures(broken, versions()[0], tmp_path)
    assert any(rule.startswith("BillingCurrency") for rule in failed)
