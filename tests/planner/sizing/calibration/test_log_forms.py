"""The forms that logs come in: each reads as nvidia-smi's own CSV would."""

import json

import pytest

from planner.sizing.calibration.calibration import calibrate
from planner.sizing.calibration.log_forms import decode_log
from pricing.common.invalid_input import InvalidInput

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
XML = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
  <timestamp>{time}</timestamp>
  <gpu id="00000000:84:00.0">
    <product_name>NVIDIA A100-SXM4-80GB</product_name>
    <uuid>GPU-1</uuid>
    <fb_memory_usage><total>81920 MiB</total><used>40960 MiB</used></fb_memory_usage>
    <utilization><gpu_util>{used}</gpu_util><memory_util>40 %</memory_util></utilization>
    <temperature><gpu_temp>61 C</gpu_temp></temperature>
    <{power}><power_draw>350.00 W</power_draw><power_limit>400.00 W</power_limit></{power}>
    <clocks><sm_clock>1400 MHz</sm_clock></clocks>
    <max_clocks><sm_clock>1410 MHz</sm_clock></max_clocks>
    <clocks_{word}_reasons>
      <clocks_{word}_reason_sw_thermal_slowdown>Active</clocks_{word}_reason_sw_thermal_slowdown>
    </clocks_{word}_reasons>
  </gpu>
</nvidia_smi_log>
"""
DCGM = """# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-0",modelName="Tesla T4",Hostname="a"} 97
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",modelName="Tesla T4",Hostname="b"} 50
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-0",modelName="Tesla T4",Hostname="a"} 6144
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-0",modelName="Tesla T4",Hostname="a"} 9216
DCGM_FI_DEV_POWER_USAGE{gpu="0", UUID="GPU-0", Hostname="a"} 61.5
DCGM_FI_DEV_MEMORY_TEMP{gpu="0",UUID="GPU-0",Hostname="a"} 9223372036854775794
"""
EXPORTER = """# TYPE nvidia_smi_utilization_gpu_ratio gauge
nvidia_smi_utilization_gpu_ratio{uuid="u"} 0.97
nvidia_smi_memory_used_bytes{uuid="u"} 1.073741824e+10
nvidia_smi_gpu_info{uuid="u",name="NVIDIA H200"} 1
"""
HEADLESS = (
    "2026/11/20 10:00:00.123, 3, NVIDIA A100-SXM4-80GB, 97 %, 81920 MiB, 40960 MiB, 350.00 W\n"
    "2026/11/20 10:00:05.123, 3, NVIDIA A100-SXM4-80GB, 95 %, 81920 MiB, 41000 MiB, 340.00 W\n"
)


def xml(time="Mon Aug 7 11:10:06 2023", used="97 %", power="power_readings", word="throttle"):
    return XML.format(time=time, used=used, power=power, word=word)


def only(text):
    (use,) = calibrate(text).gpus
    return use


def test_dmon_reads_by_gpu_and_passes_over_its_repeated_headers():
    first, second = calibrate(DMON).gpus
    assert (first.gpu, first.samples, first.sustained_utilisation) == ("0", 2, pytest.approx(0.99))
    assert first.memory_peak_gib == pytest.approx(41000 / 1024)
    assert (second.gpu, second.power_mean_w) == ("1", 620)


def test_dmon_with_times_has_hours():
    assert only(TIMED).hours == pytest.approx(5 / 3600)


@pytest.mark.parametrize("power", ["power_readings", "gpu_power_readings"])
@pytest.mark.parametrize("word", ["throttle", "event"])
def test_xml_reads_by_the_names_of_each_driver(power, word):
    use = only(xml(power=power, word=word))
    assert use.accelerator == "nvidia-a100-80gb-sxm"
    assert (use.sustained_utilisation, use.memory_peak_gib, use.power_mean_w) == (0.97, 40, 350)
    assert use.thermally_throttled_share == 1


def test_repeated_xml_is_one_series():
    use = only(xml() + xml(time="Mon Aug 7 11:10:11 2023", used="95 %"))
    assert (use.samples, use.hours) == (2, pytest.approx(5 / 3600))


def test_dcgm_keeps_hosts_apart_and_blanks_out():
    first, second = calibrate(DCGM).gpus
    assert (first.gpu, second.gpu) == ("a 0", "b 0")
    assert (first.accelerator, first.power_mean_w) == ("nvidia-t4", 61.5)
    assert (first.memory_peak_gib, first.memory_total_gib) == (6, 15)


def test_the_nvidia_smi_exporter_reads_in_its_own_units():
    use = only(EXPORTER)
    assert (use.sustained_utilisation, use.memory_peak_gib) == (0.97, 10)
    assert use.accelerator == "nvidia-h200-141gb-sxm"


def test_a_range_of_prometheus_is_a_series():
    labels = {"__name__": "DCGM_FI_DEV_GPU_UTIL", "gpu": "1", "Hostname": "node", "GPU_I_ID": "7"}
    values = [[1763600000 + 300 * i, value] for i, value in enumerate(["90", "NaN", "80"])]
    answer = {"data": {"resultType": "matrix", "result": [{"metric": labels, "values": values}]}}
    use = only(json.dumps(answer))
    assert (use.gpu, use.sustained_utilisation) == ("node 1/7", pytest.approx(0.85))
    assert use.hours == pytest.approx(600 / 3600)


def test_a_log_without_header_is_read_by_its_units():
    use = only(HEADLESS)
    assert (use.gpu, use.name) == ("3", "NVIDIA A100-SXM4-80GB")
    assert (use.memory_total_gib, use.memory_peak_gib) == (80, pytest.approx(41000 / 1024))
    assert (use.sustained_utilisation, use.power_mean_w) == (pytest.approx(0.96), 345)


def test_a_column_of_hosts_keeps_them_apart():
    text = "hostname, index, utilization.gpu [%]\nn1, 0, 97 %\nn2, 0, 50 %\n"
    assert [use.gpu for use in calibrate(text).gpus] == ["n1 0", "n2 0"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_texts_are_decoded_as_they_come(encoding):
    text = "index, utilization.gpu [%]\n0, 97 %\n"
    assert only(decode_log(text.encode(encoding))).sustained_utilisation == 0.97


def test_what_is_no_text_is_refused():
    with pytest.raises(InvalidInput, match="neither UTF-8 nor UTF-16"):
        decode_log(b"\x93\xff\xfe\x00")


def test_the_same_of_eight_gpus_is_said_once():
    lines = [f"{gpu}, 97 %, 8000 MiB, 80000 MiB" for gpu in range(8)]
    header = "index, utilization.gpu [%], memory.used [MiB], memory.total [MiB]"
    changes = calibrate("\n".join([header, *lines])).changes
    assert [c.message[:7] for c in changes if c.kind == "bigger_batch"] == ["8 GPUs:"]


@pytest.mark.parametrize(
    "text",
    [
        '{"data": {"result": [1]}, "x": "DCGM_FI_DEV_GPU_UTIL"}',
        "<nvidia_smi_log></nvidia_smi_log>",
        "# HELP DCGM_FI_DEV_GPU_UTIL x\n",
        xml(used="N/A"),
    ],
)
def test_a_form_without_any_value_is_refused(text):
    with pytest.raises(InvalidInput) as refused:
        calibrate(text)
    assert refused.value.field == "log"
