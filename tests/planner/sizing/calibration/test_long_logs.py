"""Logs of millions of characters that nearly fit a form end soon, and none ends in a crash."""

import time

import pytest

from planner.sizing.calibration.calibration import calibrate
from planner.sizing.calibration.log_forms import guess_header
from planner.sizing.calibration.pilot import MOST_LOG_CHARACTERS as LONGEST
from pricing.common.invalid_input import InvalidInput

TABLE, QUERY = "| NVIDIA-SMI 570 |\n", "=NVSMI LOG=\n"
GPU = f"{QUERY}GPU 0\n    Utilization\n        Gpu : "
XML = "<nvidia_smi_log>"
SECONDS = 10
"""Far more than a shared machine takes, far less than hours: the steps grew by the square."""


def filled(text: str) -> str:
    return (text * (LONGEST // len(text) + 1))[:LONGEST]


@pytest.mark.parametrize(
    "text",
    [
        f"{TABLE}| 1 x{filled(' ')}",
        f"{TABLE}|{filled('1')}",
        TABLE + filled(f"|{'1' * 8_000}\n"),
        f"{QUERY}GPU 0\n a{filled(' ')}b",
        f"{QUERY}Timestamp : a{filled(' ')}b",
        f"{GPU}1{filled(' ')}x",
        XML + filled('<gpu id="">'),
        f'{XML}<gpu id="">{filled("<product_name>")}</gpu>',
        f"{XML}<timestamp>{filled(' ')}",
        f"{XML}<hostname>{filled('a ')}<b",
        f'{XML}<gpu id="">x<clocks_event_reason_hw_slowdown>{filled(" ")}</gpu>',
        f'DCGM_FI_DEV_GPU_UTIL{{x="1"{filled("a")}}} x',
    ],
    ids=lambda text: text[:40],
)
def test_near_misses_end_soon(text):
    start = time.monotonic()
    with pytest.raises(InvalidInput):
        calibrate(text)
    assert time.monotonic() - start < SECONDS


def test_one_line_of_many_columns_does_not_slow_the_others():
    rows = [["97 %", *["1"] * 4_900], *[["1"]] * 500_000]
    start = time.monotonic()
    assert guess_header(rows)[0] == "utilization.gpu"
    assert time.monotonic() - start < SECONDS


def test_lines_of_commas_alone_are_passed_over():
    assert calibrate("# gpu, sm\n,,,\n0, 97\n").gpus[0].sustained_utilisation == 0.97


def test_a_moment_beyond_all_numbers_is_refused():
    series = '{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL"},"values":[[1' + "0" * 400 + ',"1"]]}'
    with pytest.raises(InvalidInput, match="no answer of Prometheus"):
        calibrate(f'{{"data":{{"result":[{series}]}}}}')


def test_half_a_character_is_refused():
    series = (
        r'{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","Hostname":"\ud800"},"values":[[1,"5"]]}'
    )
    with pytest.raises(InvalidInput, match="no answer of Prometheus"):
        calibrate(f'{{"data":{{"result":[{series}]}}}}')


def test_a_value_too_long_is_told_by_its_length():
    with pytest.raises(InvalidInput, match=r"201 characters in utilization\.gpu"):
        calibrate(f"{GPU}1{' ' * 199}x")
