"""What a SKU of the Cloud Billing Catalog is, read from its description.

`usageType` says OnDemand of flex-start, calendar-mode, reserved and some spot SKUs, so the words
decide and the type must merely not contradict them. Places in the text vary ("Virginia",
"Northern Virginia") and are never read; the SKU's `serviceRegions` say where it holds.

Components are named `gpu:a100-80gb`, `core:A3Plus`, `ram:N1`, `ssd`, `slice:b200` (an
accelerator with its share of the machine), `tpu:v3:pod`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from pricing.market.offers import PurchaseOption


@dataclass(frozen=True)
class Component:
    """A part that a machine is priced by. `share`: accelerators that one unit stands for."""

    name: str
    share: Fraction = Fraction(1)


@dataclass(frozen=True)
class Terms:
    """How a component is bought. Of two texts for the same terms the lower `rank` counts."""

    option: PurchaseOption
    months: int = 0
    rank: int = 0


_GPUS: tuple[tuple[str, str], ...] = (
    # The longer name first: "A100" also stands in "A100 80GB", "B200" in "GB200".
    ("slice:gb300", r"\bgb300\b"),
    ("slice:gb200", r"\bgb200\b"),
    ("slice:b300", r"\bb300\b"),
    ("slice:b200", r"\bb200\b"),
    ("gpu:h200", r"\bh200\b"),
    ("gpu:h100-mega", r"\bh100\b(?=.*\b(?:mega|plus)\b)"),
    ("gpu:h100", r"\bh100\b"),
    ("gpu:a100-80gb", r"\ba100\b(?=.*\b80 ?gb\b)"),
    ("gpu:a100-40gb", r"\ba100\b"),
    ("gpu:rtx-pro-6000", r"\brtx (?:pro )?6000\b"),
    ("gpu:l4", r"\bl4\b"),
    ("gpu:t4", r"\bt4\b"),
    ("gpu:p4", r"\bp4\b"),
    ("gpu:p100", r"\bp100\b"),
    ("gpu:v100", r"\bv100\b"),
    ("gpu:k80", r"\bk80\b"),
)
_GPU_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in _GPUS)
_SHARE = re.compile(r"\b(\d+)/(\d+) vgpu\b")
"""Fractional G4: "1/8 vGPU no lssd" stands for an eighth of the accelerator and its host."""
_SLICE = re.compile(r"\((\d+) gpu slice\)")
_SERIES = re.compile(
    r"\b(a2|a3 ?plus|a3 ?mega|a3 ?ultra|a3|a4x|a4|g2|g4|n1)\b(?:[a-z0-9 -]*?)\b(core|cpu|ram)\b"
)
_SERIES_NAMES = {"a3plus": "A3Plus", "a3mega": "A3Plus", "a3ultra": "A3Ultra"}
_N1_COMMITMENT = re.compile(r"^commitment v\d+: (cpu|ram)\b")
"""The oldest commitments name no series: they are for N1."""
_SSD = re.compile(r"\b(?:ssd backed local storage|local ssd)\b")
_SSD_OF_OTHERS = re.compile(r"\b(?:instance|instances|titanium) local ssd\b")
"""Disks of C4, Z3 and the like have a rate of their own."""
_TPU = re.compile(
    r"(?:\btpu[ -]?v?|(?<!commitment )\bv)"
    r"(?P<gen>2|3|4|5 ?e|5 ?p|5 ?lite(?:pod)?|6 ?e|7x?)\b"
)
"""Texts of flex-start and calendar mode leave "Tpu" out: "DWS Defined Duration V6e"."""
_TPU_NAMES = {"trillium": "v6e", "ironwood": "v7"}
_TPU_GENERATIONS = {"5lite": "v5e", "5litepod": "v5e", "7x": "v7"}
_YEARS = re.compile(r"\bfor (\d+) years?\b")
_USAGE_MONTHS = {"commit1yr": 12, "commit3yr": 36}

_EXCLUDED: tuple[tuple[str, str], ...] = (
    ("sole tenancy", r"\bsole tenan"),
    ("virtual workstation", r"\bvirtual workstation\b|\bvws\b"),
    ("custom machine", r"\bcustom\b"),
    ("extended memory", r"\bextended\b"),
    ("confidential machine", r"\bconfidential\b"),
    ("premium", r"\bpremium\b"),
    ("suspended machine", r"\bsuspend"),
    ("capacity optimized", r"\bcapacity optimi[sz]ed\b"),
    ("sustained use", r"\bsustained\b"),
    ("commitment in dollars", r"\bdollar based\b"),
    ("licence", r"\blicens"),
    ("slice with local disk", r"\bvgpu\b(?!.*\bno lssd\b)"),
)
_EXCLUSIONS = tuple((reason, re.compile(pattern)) for reason, pattern in _EXCLUDED)


def normalize(description: str) -> str:
    """The description in lower case with single spaces."""
    return " ".join(description.lower().split())


def parse_component(text: str, group: str) -> Component | None:
    """The part of a machine that a plain description prices; None for what is none of ours.

    >>> parse_component("nvidia tesla a100 80gb gpu running in americas", "GPU").name
    'gpu:a100-80gb'
    >>> parse_component("a3plus instance ram running in tokyo", "RAM").name
    'ram:A3Plus'
    """
    if group.upper() == "TPU" or "tpu" in text:
        return _parse_tpu(text)
    share = _SHARE.search(text)
    if share:
        return Component("slice:g4", Fraction(int(share[1]), int(share[2])))
    series = _SERIES.search(text)
    if series:
        return Component(_host_component(series[2], _normalize_series(series[1])))
    n1 = _N1_COMMITMENT.search(text)
    if n1:
        return Component(_host_component(n1[1], "N1"))
    if _SSD.search(text):
        return None if _SSD_OF_OTHERS.search(text) else Component("ssd")
    return _parse_gpu(text)


def find_exclusion(text: str) -> str:
    """Why a SKU of a known component is no price of a plain machine; empty if it may be one."""
    return next((reason for reason, pattern in _EXCLUSIONS if pattern.search(text)), "")


def parse_terms(text: str, usage_type: str) -> Terms | str:
    """How the SKU is bought, or why that cannot be said.

    >>> parse_terms("spot preemptible a4 nvidia b200 (1 gpu slice)", "OnDemand").option
    <PurchaseOption.SPOT: 'spot'>
    """
    usage = usage_type.lower()
    if text.startswith("commitment"):
        return _parse_commitment(text, usage)
    if usage.startswith("commit"):
        return "usage type contradicts the description"
    if "calendar mode" in text:
        return Terms(PurchaseOption.DWS_CALENDAR_MODE, rank=int(text.startswith("reserved")))
    if text.startswith("reserved"):
        return "placeholder of a reservation"
    if re.search(r"\bdws\b|\bdefined duration\b|\bflex[ -]start\b", text):
        return Terms(PurchaseOption.DWS_FLEX_START)
    if re.search(r"\bpreemptible\b|\bspot\b", text):
        return Terms(PurchaseOption.SPOT)
    if usage in ("ondemand", ""):
        return Terms(PurchaseOption.ON_DEMAND)
    return "usage type contradicts the description"


def _parse_commitment(text: str, usage: str) -> Terms | str:
    term_match = _YEARS.search(text)
    months = 12 * int(term_match[1]) if term_match else _USAGE_MONTHS.get(usage, 0)
    if not months:
        return "commitment without a known term"
    if _USAGE_MONTHS.get(usage, months) != months:
        return "usage type contradicts the description"
    return Terms(PurchaseOption.COMMITTED_USE, months)


def _parse_gpu(text: str) -> Component | None:
    name = next((name for name, pattern in _GPU_PATTERNS if pattern.search(text)), None)
    if name is None:
        return None
    if not name.startswith("slice:"):
        return Component(name)
    slices = _SLICE.search(text)
    return Component(name, Fraction(int(slices[1]) if slices else 1))


def _parse_tpu(text: str) -> Component | None:
    tpu_name = next((gen for word, gen in _TPU_NAMES.items() if word in text), "")
    match = _TPU.search(text)
    if not tpu_name and not match:
        return None
    generation = tpu_name or _parse_generation(match["gen"] if match else "")
    if generation in ("v2", "v3"):
        return Component(f"tpu:{generation}:{'pod' if 'pod' in text else 'device'}")
    return Component(f"tpu:{generation}:{'pod' if generation == 'v4' else 'chip'}")


def _parse_generation(text: str) -> str:
    compact = text.replace(" ", "")
    return _TPU_GENERATIONS.get(compact, f"v{compact}")


def _host_component(word: str, series: str) -> str:
    return f"{'ram' if word == 'ram' else 'core'}:{series}"


def _normalize_series(text: str) -> str:
    compact = text.replace(" ", "")
    return _SERIES_NAMES.get(compact, compact.upper())
