"""Logs of nvidia-smi in every shape that people have, and what is refused."""

import math

import pytest

from planner.usage.gpu_logs import calibrate, read_log
from pricing.common.invalid_input import InvalidInput

HEADER = (
    "timestamp, index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], "
    "power.draw [W], power.limit [W], temperature.gpu, clocks.sm [MHz], clocks.max.sm [MHz]"
)


def line(second=0, gpu=0, used="97 %", memory="40960 MiB", power="350.00 W", clock="1410 MHz"):
    stamp = f"2026/11/20 10:{second // 60:02d}:{second % 60:02d}.123"
    return (
        f"{stamp}, {gpu}, NVIDIA A100-SXM4-80GB, {used}, {memory}, 81920 MiB, {power}, 400.00 W, "
        f"61, {clock}, 1410 MHz"
    )


def log(*lines, header=HEADER):
    return "\n".join((header, *lines)) + "\n"


def kinds(text):
    return [change.kind for change in calibrate(text).changes]


def test_units_are_read_and_dropped():
    series = read_log(log(line())).gpus[0]
    assert series.values["utilisation_percent"] == [97.0]
    assert series.values["memory_used_mib"] == [40960.0]
    assert series.values["power_w"] == [350.0]


def test_several_gpus_are_kept_apart():
    found = calibrate(log(line(gpu=0, used="90 %"), line(gpu=1, used="10 %")))
    assert [(g.gpu, g.sustained_utilisation) for g in found.gpus] == [("0", 0.9), ("1", 0.1)]


@pytest.mark.parametrize("missing", ["[N/A]", "[Not Supported]", "N/A", "", "[Unknown Error]"])
def test_a_missing_value_is_missing_and_not_zero(missing):
    series = read_log(log(line(power=missing), line(second=5))).gpus[0]
    assert math.isnan(series.values["power_w"][0])
    assert calibrate(log(line(power=missing), line(second=5))).gpus[0].power_mean_w == 350.0


def test_gaps_are_not_time_of_the_job():
    steps = [line(second=s) for s in (0, 5, 10, 15, 20, 1200, 1205)]
    use = calibrate(log(*steps)).gpus[0]
    assert use.hours == pytest.approx(25 / 3600)
    assert use.gap_hours == pytest.approx(1180 / 3600)


def test_a_cut_last_line_is_left_out_and_said():
    found = calibrate(log(*(line(second=s) for s in range(6)), "2026/11/20 10:00:06.1, 0, NVI"))
    assert found.skipped_lines == 1
    assert "1 lines did not fit" in found.changes[-1].message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "a,b,c\n1,2,3\n",
        '{"gpus": []}',
        "# gpu   pid   type   sm\n    0   11327   C   97\n",
        "2026/11/20 10:00:00.123, 0, 97, 40960\n",
        "index, memory.used [MiB]\n0, 100 MiB\n",
    ],
)
def test_another_format_is_refused_with_the_columns_that_are_read(text):
    with pytest.raises(InvalidInput) as caught:
        calibrate(text)
    assert caught.value.field == "log"
    assert "utilization.gpu" in caught.value.message
    assert "memory.used" in caught.value.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEADER, "no value of utilization.gpu"),
        (log(line(used="[N/A]")), "no value of utilization.gpu"),
        (log(line(used="970 %")), "more than 100%"),
        (log(line(), "1, 2, 3", "4, 5"), "2 of 3 lines"),
        (log(line(used="-5 %")), "1 of 1 lines"),
        (log(line(used="nan")), "1 of 1 lines"),
    ],
)
def test_a_log_without_sound_values_is_refused(text, words):
    with pytest.raises(InvalidInput, match=words):
        calibrate(text)


def test_a_gpu_that_reports_nothing_is_named():
    found = calibrate(log(line(gpu=0), line(gpu=1, used="[N/A]")))
    assert [g.gpu for g in found.gpus] == ["0"]
    assert "GPU 1: no utilisation" in found.changes[-1].message


def test_free_memory_or_low_use_asks_for_a_smaller_card():
    changes = {c.kind: c.message for c in calibrate(log(line(memory="20480 MiB"))).changes}
    assert "such as A10, A10G, A30 hold it" in changes["smaller_card"]
    low = [line(second=s, used=f"{95 if s % 2 else 5} %") for s in range(20)]
    assert "smaller_card" in kinds(log(*low))


def test_idle_time_around_the_job_does_not_lower_its_utilisation():
    idle = [line(second=s, used="0 %") for s in range(5)]
    text = log(*idle, line(second=5, used="90 %"), line(second=6, used="90 %"), *idle)
    assert calibrate(text).gpus[0].sustained_utilisation == 0.9
    assert "idle" in kinds(text)


@pytest.mark.parametrize("missing", ["[GPU requires reset]", "ERR!", "-"])
def test_whatever_nvidia_smi_cannot_tell_is_missing(missing):
    assert calibrate(log(line(power=missing))).gpus[0].power_mean_w is None


@pytest.mark.parametrize(
    "stamp",
    [
        "2026/11/20 10:00:0{}.123",
        "2026/11/20 10:00:0{}",
        "2026-11-20T10:00:0{}.5Z",
        "2026-11-20 10:00:0{}+01:00",
        "176362560{}",
    ],
)
def test_times_are_read_in_every_usual_form(stamp):
    text = "timestamp, utilization.gpu [%]\n" + "".join(
        f"{stamp.format(s)}, 50 %\n" for s in (1, 4)
    )
    found = calibrate(text)
    assert found.gpus[0].hours == pytest.approx(3 / 3600)
    assert not any("timestamps" in c.message for c in found.changes)


def test_times_of_another_form_are_said_to_be_left_out():
    found = calibrate("timestamp, utilization.gpu [%]\n11/20/2026 10:00:00, 50 %\n")
    assert found.gpus[0].hours is None
    assert any("unreadable timestamps: 1 (known" in c.message for c in found.changes)


def test_a_stray_quotation_mark_ends_with_its_line():
    text = 'index, utilization.gpu [%]\n"0, 50 %\n' + "0, 60 %\n" * 2_000
    found = calibrate(text)
    assert (found.gpus[0].samples, found.skipped_lines) == (2_000, 1)
    assert calibrate(f"utilization.gpu [%]\n{'9' * 200_000}\n" + "50 %\n" * 9).skipped_lines == 1


def test_more_memory_used_than_there_is_is_refused():
    with pytest.raises(InvalidInput, match="81,921 MiB is more than"):
        calibrate(log(line(memory="81921 MiB")))
