"""What people copy from a screen, join by hand or save from a spreadsheet."""

from __future__ import annotations

import pytest

from planner.sizing.calibration.calibration import calibrate
from pricing.common.invalid_input import InvalidInput

TABLE = """Fri Nov 20 10:00:{second:02d} 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |
| N/A   61C    P0            630W /  700W |   61440MiB /  81559MiB |     97%      Default |
|                                         |                        |             Disabled |
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:2B:00.0 Off |                    0 |
| N/A   58C    P0            610W /  700W |   40960MiB /  81559MiB |     91%      Default |
+-----------------------------------------+------------------------+----------------------+
"""
QUERY = """
==============NVSMI LOG==============

Timestamp                                 : Fri Nov 20 10:00:{second:02d} 2026
Attached GPUs                             : 1
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    FB Memory Usage
        Total                             : 81559 MiB
        Used                              : 61440 MiB
    BAR1 Memory Usage
        Total                             : 131072 MiB
        Used                              : 4 MiB
    Utilization
        Gpu                               : 97 %
        Memory                            : 45 %
    Clocks Event Reasons
        SW Power Cap                      : Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
    GPU Power Readings
        Average Power Draw                : N/A
        Instantaneous Power Draw          : 630.00 W
        Current Power Limit               : 700.00 W
    Clocks
        SM                                : 1600 MHz
"""
DCGM = """#Entity   GPUTL     GRACT     POWER
ID                              W
GPU 0     100       0.970     631.2
GPU 1     100       0.910     610.0
"""


def headless(*columns: str, gpus: int = 8, samples: int = 5) -> str:
    """A log without header, of whose columns {gpu} and {at} are the GPU's and the sample's."""
    lines = (
        ", ".join(columns).format(gpu=gpu, at=at, bus=f"00000000:{gpu + 1}B:00.0", warm=55 + at)
        for at in range(samples)
        for gpu in range(gpus)
    )
    return "\n".join(lines)


def test_tables_written_one_after_the_other_are_series():
    first, second = calibrate(TABLE.format(second=0) + TABLE.format(second=5)).gpus
    assert (first.gpu, first.accelerator, first.samples) == ("0", "nvidia-h100-80gb-sxm", 2)
    assert first.hours == pytest.approx(5 / 3600)
    assert (first.memory_peak_gib, second.memory_peak_gib) == (60, 40)
    assert (first.sustained_utilisation, second.sustained_utilisation) == (0.97, 0.91)
    assert first.power_share_of_limit == pytest.approx(0.9)


def test_the_text_of_a_query_is_read_part_by_part():
    (gpu,) = calibrate(QUERY.format(second=0) + QUERY.format(second=10)).gpus
    assert (gpu.gpu, gpu.samples, gpu.memory_peak_gib) == ("00000000:1B:00.0", 2, 60)
    assert (gpu.sustained_utilisation, gpu.power_mean_w) == (0.97, 630)
    assert (gpu.power_capped_share, gpu.thermally_throttled_share) == (1, 0)


def test_dcgmi_tells_the_engine_before_the_kernels():
    first, second = calibrate(DCGM * 3).gpus
    assert (first.gpu, first.samples, first.sustained_utilisation) == ("0", 3, 0.97)
    assert (second.gpu, second.power_mean_w, second.sustained_utilisation) == ("1", 610, 0.91)


def test_dmon_is_read_with_commas_too():
    header = "#gpu, pwr, gtemp, sm, mem, pclk\n#Idx, W, C, %, %, MHz\n"
    (gpu,) = calibrate(header + "0, 631, 61, 97, 45, 1600\n" * 3).gpus
    assert (gpu.samples, gpu.sustained_utilisation, gpu.power_mean_w) == (3, 0.97, 631)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_spreadsheets_separators_and_decimal_commas_are_read(separator):
    rows = ("index", "utilization.gpu [%]", "power.draw [W]"), ("0", "97 %", "631,20 W")
    (gpu,) = calibrate("\n".join(separator.join(row) for row in rows)).gpus
    assert (gpu.sustained_utilisation, gpu.power_mean_w) == (0.97, 631.2)


def test_a_header_in_the_middle_names_the_columns_that_follow():
    """Two logs put together, with the columns in another order and fewer of them."""
    first = "index, utilization.gpu [%], utilization.memory [%], clocks.sm [MHz]\n"
    other = "index, utilization.memory [%], utilization.gpu [%]\n"
    text = first + "0, 98 %, 40 %, 1600 MHz\n" * 4 + other + "0, 40 %, 98 %\n" * 4
    calibration = calibrate(text)
    (gpu,) = calibration.gpus
    assert (gpu.samples, gpu.sustained_utilisation, gpu.clock_median_mhz) == (8, 0.98, 1600)
    assert calibration.skipped_lines == 0


def test_lines_before_the_header_are_passed_over():
    text = "Script started on 2026-11-20\n\nindex, utilization.gpu [%]\n" + "0, 97 %\n" * 3
    assert calibrate(text).gpus[0].samples == 3


def test_without_a_header_places_on_the_bus_tell_gpus_apart():
    """The query of NVIDIA's own examples: without an index, with a state and bare numbers."""
    text = headless("NVIDIA H100 80GB HBM3", "{bus}", "550.54", "P0", "5", "{warm}", "97 %", "2 %")
    gpus = calibrate(text).gpus
    assert [gpu.samples for gpu in gpus] == [5] * 8
    assert {gpu.accelerator for gpu in gpus} == {"nvidia-h100-80gb-sxm"}


@pytest.mark.parametrize(
    ("columns", "gpus", "count"),
    [
        (("{warm}", "97 %"), 1, 1),
        (("{warm}", "{gpu}", "97 %"), 8, 8),
        (("P0", "{gpu}", "97 %", "1 MiB"), 4, 4),
    ],
)
def test_without_a_header_a_temperature_is_no_index(columns, gpus, count):
    assert len(calibrate(headless(*columns, gpus=gpus)).gpus) == count


def test_without_a_header_limits_are_told_from_what_was_measured():
    text = headless("{gpu}", "97 %", "700.00 W", "61{at}.00 W", "1980 MHz", "16{warm} MHz", gpus=1)
    (gpu,) = calibrate(text).gpus
    assert (gpu.power_mean_w, gpu.clock_median_mhz) == (612, 1657)
    assert gpu.power_share_of_limit == pytest.approx(612 / 700)


def test_without_a_header_used_memory_beside_free_is_not_guessed():
    (gpu,) = calibrate(headless("0", "97 %", "81559 MiB", "20119 MiB", "61440 MiB", gpus=1)).gpus
    assert gpu.memory_peak_gib is None
    assert gpu.memory_total_gib == pytest.approx(81559 / 1024)


def test_hosts_that_only_their_address_tells_apart_are_not_one():
    lines = (
        f'DCGM_FI_DEV_GPU_UTIL{{gpu="0",instance="10.0.0.{host}:9400"}} {share}'
        for host, share in ((1, 97), (2, 20))
    )
    gpus = calibrate("\n".join(lines)).gpus
    assert [gpu.sustained_utilisation for gpu in gpus] == [0.97, 0.2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "# gpu   pid   type   sm\n    0   11327   C   97\n",
            "pmon, which tells the shares of proc",
        ),
        ("NVIDIA-SMI has failed because it couldn't communicate", "reached no GPU"),
    ],
)
def test_what_tells_nothing_of_gpus_is_called_by_its_name(text, words):
    with pytest.raises(InvalidInput, match=words) as caught:
        calibrate(text)
    assert "--query-gpu=timestamp,index" in caught.value.message


@pytest.mark.parametrize("line", ["30 %, 97 %, 1000 MiB\n", "30 %, 97 %, 40 %, 1000 MiB\n"])
def test_the_speed_of_a_fan_is_not_taken_for_use(line):
    with pytest.raises(InvalidInput, match="which of its shares"):
        calibrate(2 * line)


def test_what_dcgm_may_not_profile_is_read_from_the_driver():
    rows = "#Entity  GPUTL  GRACT  POWER\nID\nGPU 0  97  N/A  612\nGPU 1  98  0.5  612\n"
    assert [use.sustained_utilisation for use in calibrate(rows).gpus] == [0.97, 0.5]


@pytest.mark.parametrize("missing", ["[N/A]", "[Unknown Error]", "[Not Supported]"])
def test_a_first_line_without_a_value_shifts_no_column(missing):
    """That of the memory stood for the use of a GPU whose first line had none."""
    later = headless("97 %", "12 %", "81920 MiB", gpus=1)
    (gpu,) = calibrate(f"{missing}, 12 %, 81920 MiB\n" + later).gpus
    assert gpu.sustained_utilisation == 0.97
