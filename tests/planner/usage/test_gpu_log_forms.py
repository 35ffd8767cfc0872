"""The forms that logs come in: each reads as nvidia-smi's own CSV would."""

import time

import pytest

from planner.usage.gpu_logs import calibrate, decode_log
from pricing.common.invalid_input import InvalidInput

LONGEST = 4_000_000
DMON = """# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk     fb
# Idx      W      C      C      %      %    MHz    MHz     MB
    0    631     63     57    100     10   2619   1980  40000
    1    620     60      -     90      9   2619   1950  30000
# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk     fb
# Idx      W      C      C      %      %    MHz    MHz     MB
    0    633     64     58     98     10   2619   1980  41000
"""
TIMED = """#Date       Time        gpu    pwr     sm    mem
#YYYYMMDD   HH:MM:SS    Idx      W      %      %
 20261120   10:00:00      0    300     97     40
 20261120   10:00:05      0    310     95     40
"""
SECONDS = 10
"""Far more than a shared machine takes, far less than hours: the steps grew by the square."""


def only(text):
    (use,) = calibrate(text).gpus
    return use


def test_dmon_reads_by_gpu_and_passes_over_its_repeated_headers():
    first, second = calibrate(DMON).gpus
    assert (first.gpu, first.samples, first.sustained_utilisation) == ("0", 2, pytest.approx(0.99))
    assert first.memory_peak_gib == pytest.approx(41000 / 1024)
    assert (second.gpu, second.power_mean_w) == ("1", 620)
    assert only(TIMED).hours == pytest.approx(5 / 3600)
    header = "#gpu, pwr, gtemp, sm, mem, pclk\n#Idx, W, C, %, %, MHz\n,,,\n"
    use = only(header + "0, 631, 61, 97, 45, 1600\n" * 3)
    assert (use.samples, use.sustained_utilisation, use.power_mean_w) == (3, 0.97, 631)


def test_dcgmi_tells_the_engine_before_the_kernels():
    header = "#Entity   GPUTL     GRACT     POWER\nID                              W\n"
    rows = "GPU 0     100       0.970     631.2\nGPU 1     98       N/A     610.0\n"
    first, second = calibrate((header + rows) * 3).gpus
    assert (first.gpu, first.samples, first.sustained_utilisation) == ("0", 3, 0.97)
    assert (second.gpu, second.power_mean_w, second.sustained_utilisation) == ("1", 610, 0.98)


def test_a_header_in_the_middle_names_the_columns_that_follow():
    """Two logs put together, with the columns in another order and fewer of them."""
    first = (
        "Script started\n\nindex, utilization.gpu [%], utilization.memory [%], clocks.sm [MHz]\n"
    )
    other = "index, utilization.memory [%], utilization.gpu [%]\n"
    text = first + "0, 98 %, 40 %, 1600 MHz\n" * 4 + other + "0, 40 %, 98 %\n" * 4
    calibration = calibrate(text)
    (gpu,) = calibration.gpus
    assert (gpu.samples, gpu.sustained_utilisation) == (8, 0.98)
    assert calibration.skipped_lines == 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_texts_are_decoded_as_they_come(encoding):
    text = "index, utilization.gpu [%]\n0, 97 %\n"
    assert only(decode_log(text.encode(encoding))).sustained_utilisation == 0.97


def filled(text: str) -> str:
    return (text * (LONGEST // len(text) + 1))[:LONGEST]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"# gpu  sm\n0 {filled('1')}", "1 of 1 lines"),
        (f"#Entity GPUTL\nGPU 0 {filled('1')}", "1 of 1 lines"),
        ("2026/11/20 10:00:00, 0, 97 %\n", "no log of nvidia-smi"),
    ],
    ids=lambda text: text[:40],
)
def test_near_misses_are_refused_and_end_soon(text, words):
    start = time.monotonic()
    with pytest.raises(InvalidInput, match=words) as refused:
        calibrate(text)
    assert refused.value.field == "log"
    assert time.monotonic() - start < SECONDS


def test_what_is_no_text_is_refused():
    with pytest.raises(InvalidInput, match="neither UTF-8 nor UTF-16"):
        decode_log(b"\x93\xff\xfe\x00")
