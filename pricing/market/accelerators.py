"""Accelerators by canonical name, with aliases and datasheet values. PURE.

One row of `accelerators.csv` is one device. Rates are dense (never sparse), per device as
clouds bill it: a K80 or M60 is one die, a TPU one chip, a GB200 one GPU. `unverified` names
the fields of a row that were not seen in a source; every row carries its source and year.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType

from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_table

PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8")
"""Precisions of `Accelerator.dense_tflops`; int8 in TOPS."""

_TABLE = Path(__file__).with_name("accelerators.csv")
_IGNORED_WORDS = frozenset(
    {"nvidia", "amd", "google", "aws", "amazon", "intel", "habana", "qualcomm", "tesla", "geforce"}
    | {"cloud", "gpu", "gpus", "tensor", "core", "accelerator", "chip", "generation", "edition"}
    | {"hbm2", "hbm2e", "hbm3", "hbm3e", "gddr6", "gen5"}
)
_FORMS = {"sxm2": "sxm", "sxm4": "sxm", "sxm5": "sxm", "sxm6": "sxm", "hgx": "sxm"}
LIKE = 0.5
"""Similarity of a name from which it is proposed (difflib, 0 to 1); a planning choice, 2026."""
_MEMORY = re.compile(r"(?<![a-z0-9])(\d+)[\s-]?(?:gib|gb|g)(?![a-z0-9])")
_WATTS = re.compile(r"(?<![a-z0-9])\d+\s?w(?![a-z0-9])")


@dataclass(frozen=True)
class Accelerator:
    """A device and its datasheet; `None` where no source gives the value."""

    slug: str
    name: str
    vendor: str
    architecture: str
    year: int
    accelerator_class: str
    """consumer, workstation, data_center or tpu."""
    form: str
    """pcie, sxm, sxm3, nvl, oam, superchip, board or mobile."""
    memory_gib: float
    memory_bandwidth_gb_per_s: float | None = None
    fp32_tflops: float | None = None
    tf32_tflops: float | None = None
    bf16_tflops: float | None = None
    fp16_tflops: float | None = None
    """Tensor rate with FP32 accumulation where there are tensor cores; None where FP16 is
    absent or slower than FP32."""
    fp8_tflops: float | None = None
    fp4_tflops: float | None = None
    int8_tops: float | None = None
    cores: int | None = None
    """Of fp32 arithmetic: CUDA cores, stream processors."""
    base_clock_mhz: float | None = None
    """Clock that the card holds under any load within its power: the one a run is judged by."""
    boost_clock_mhz: float | None = None
    """Highest clock, for which rates are stated; fp32 is cores x clock x 2, or x 4 where two
    operations are issued at once."""
    tdp_w: float | None = None
    interconnect: str = ""
    """nvlink, nvlink-bridge, pcie, infinity-fabric, ici, neuronlink, or "" where unknown."""
    interconnect_gb_per_s: float | None = None
    """Both directions together, per device."""
    launch_price_usd: float | None = None
    street_price_usd: float | None = None
    street_price_year: int | None = None
    retired: bool = False
    """True where no cloud offers it to a new plan any more."""
    aliases: tuple[str, ...] = ()
    """Usual names; vendor words, case, punctuation and order of words do not matter."""
    api_names: tuple[str, ...] = ()
    """Spellings of cloud APIs, which hold only exactly as written (but for case)."""
    unverified: tuple[str, ...] = ()
    """Fields of this row that no source was seen for."""
    source: str = ""
    notes: str = ""

    @property
    def name_with_memory(self) -> str:
        """Its name, which says how much memory it has.

        >>> get("nvidia-h100-80gb-sxm").name_with_memory, get("nvidia-l4").name_with_memory
        ('H100 SXM5 80 GB', 'L4 (24 GiB)')
        """
        return self.name if " GB" in self.name else f"{self.name} ({self.memory_gib:g} GiB)"

    def dense_tflops(self, precision: str) -> float | None:
        """Dense peak of one device in 10^12 operations a second, None where it lacks it.

        >>> get("nvidia-h100-80gb-sxm").dense_tflops("bf16")
        989.4
        >>> get("nvidia-v100-16gb-sxm").dense_tflops("bf16") is None
        True
        """
        if precision not in PRECISIONS:
            allowed = ", ".join(PRECISIONS)
            raise InvalidInput("precision", f"{precision!r} is unknown; allowed are {allowed}")
        if precision == "int8":
            return self.int8_tops
        rate: float | None = getattr(self, f"{precision}_tflops")
        return rate


def all_accelerators() -> tuple[Accelerator, ...]:
    return tuple(_accelerators_by_slug().values())


def get(slug: str) -> Accelerator:
    """The device with this canonical slug; `KeyError` if there is none.

    >>> get("nvidia-t4").memory_gib
    16.0
    """
    return _accelerators_by_slug()[slug]


def resolve(name: str, field: str = "accelerator") -> Accelerator:
    """The device meant by a slug, a usual name or a cloud API's spelling.

    Words are compared as a set, so "A100-SXM4-80GB" and "NVIDIA A100 80GB SXM" are one; a
    name that leaves several devices open is refused with them, an unknown one with what is
    named in its place, or with the closest. Raises `InvalidInput` on `field`.

    >>> resolve("Tesla V100 16 GB").slug
    'nvidia-v100-16gb-sxm'
    >>> resolve("A100-80GB").slug
    'nvidia-a100-80gb-sxm'
    >>> resolve("A100")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: accelerator: 'A100' is ambiguous; ...
    """
    match = find(name)
    if match is not None:
        return match
    near = find_near(name)
    if near is not None:
        raise InvalidInput(
            field,
            f"{name!r} is not a known accelerator: it is {near.what_it_is}; name {near.instead} in "
            "its place",
        )
    matches = candidates(name)
    if len(matches) == 1:
        raise InvalidInput(field, f"{name!r} is not a full name; did you mean {matches[0].name}?")
    if matches:
        names = ", ".join(one.name for one in matches)
        raise InvalidInput(field, f"{name!r} is ambiguous; choose one of {names}")
    closest = ", ".join(get(slug).name for slug in _closest_slugs(name))
    known = f"closest are {closest}" if closest else "a name is such as H100 SXM5 80 GB"
    raise InvalidInput(field, f"{name!r} is not a known accelerator; {known}")


def family(name: str) -> tuple[Accelerator, ...]:
    """Every device that a name of one generation means, by memory, bandwidth and power, the most
    first; none for a name that means one device, or several generations.

    >>> [one.slug for one in family("A100")][::3]
    ['nvidia-a100-80gb-sxm', 'nvidia-a100-40gb-pcie']
    >>> family("H100"), family("Trainium")
    ((), ())
    """
    members = () if find(name) else candidates(name)
    if len(members) < 2 or len({one.architecture for one in members}) > 1:
        return ()

    def strength(one: Accelerator) -> tuple[float, ...]:
        return one.memory_gib, one.memory_bandwidth_gb_per_s or 0, one.tdp_w or 0

    return tuple(sorted(members, key=strength, reverse=True))


def resolve_all(name: str, field: str = "accelerator") -> tuple[Accelerator, ...]:
    """Every device of a family, or the one that the name means (`resolve`)."""
    return family(name) or (resolve(name, field),)


@lru_cache(maxsize=4096)
def find(name: str) -> Accelerator | None:
    """The one device a name means, or None where it is unknown or ambiguous."""
    text = name.strip().casefold()
    exact = slugs_by_spelling().get(text)
    if exact is not None:
        return get(exact)
    words = normalize_words(text)
    usual = _slugs_by_words().get(words)
    if usual is not None:
        return get(usual)
    matches = candidates(name)
    return (
        matches[0]
        if len(matches) == 1
        and any(normalize_words(alias.casefold()) <= words for alias in matches[0].aliases)
        else None
    )


def candidates(name: str) -> tuple[Accelerator, ...]:
    """Devices whose own words include all of the name's words, in the table's order.

    >>> [one.slug for one in candidates("H100 PCIe")]
    ['nvidia-h100-80gb-pcie']
    """
    words = normalize_words(name.casefold())
    if not words:
        return ()
    return tuple(one for one in all_accelerators() if words <= _words_by_slug()[one.slug])


def normalize_words(text: str) -> frozenset[str]:
    """Words that tell devices apart: memory as "80gb", form as "sxm", vendor words gone."""
    text = _MEMORY.sub(r" \1gb ", _WATTS.sub(" ", text))
    words = re.split(r"[^a-z0-9.]+", text)
    return frozenset(_FORMS.get(w, w) for w in words if w and w not in _IGNORED_WORDS)


def _closest_slugs(name: str) -> list[str]:
    known = {alias.casefold(): one.slug for one in all_accelerators() for alias in one.aliases}
    known.update({slug: slug for slug in _accelerators_by_slug()})
    suggestions = difflib.get_close_matches(name.strip().casefold(), known, n=6, cutoff=LIKE)
    return list(dict.fromkeys(known[text] for text in suggestions))[:3]


@cache
def _accelerators_by_slug() -> MappingProxyType[str, Accelerator]:
    rows = read_table(_TABLE, Accelerator)
    return MappingProxyType({one.slug: one for one in rows})


@cache
def slugs_by_spelling() -> dict[str, str]:
    slugs_by_spelling = {slug: slug for slug in _accelerators_by_slug()}
    for one in all_accelerators():
        slugs_by_spelling.update({text.casefold(): one.slug for text in one.api_names})
    return slugs_by_spelling


@cache
def _slugs_by_words() -> dict[frozenset[str], str]:
    return {
        normalize_words(text.casefold()): one.slug
        for one in all_accelerators()
        for text in (one.name, *one.aliases)
    }


@cache
def _words_by_slug() -> dict[str, frozenset[str]]:
    return {
        one.slug: frozenset().union(
            *(normalize_words(text.casefold()) for text in (one.name, *one.aliases)),
            normalize_words(one.slug.replace("-", " ")),
            {f"{one.memory_gib:g}gb", one.form},
        )
        for one in all_accelerators()
    }


_NEAR_TABLE = Path(__file__).with_name("near_accelerators.csv")
_SIZE_OR_FORM = re.compile(r"\d+gb|sxm|pcie|nvl|oam|hbm3")


@dataclass(frozen=True)
class NearAccelerator:
    """A device that is not known, beside one that is."""

    name: str
    instead: str
    """Slug of the known one."""
    what_it_is: str
    source: str


def find_near(name: str) -> NearAccelerator | None:
    """The row that a name means by its words, in which a size of memory or a form may stand beside
    those of the row; the one with the most words.

    >>> find_near("NVIDIA H800-SXM5-80GB").instead
    'nvidia-h100-80gb-sxm'
    >>> find_near("RTX 4070 Ti") is None
    True
    """
    words = normalize_words(name.casefold())
    meant = [
        (of_row, row)
        for of_row, row in (
            (normalize_words(row.name.casefold()), row) for row in near_accelerators()
        )
        if of_row <= words and all(_SIZE_OR_FORM.fullmatch(word) for word in words - of_row)
    ]
    return max(meant, key=lambda pair: len(pair[0]))[1] if meant else None


@cache
def near_accelerators() -> tuple[NearAccelerator, ...]:
    return tuple(read_table(_NEAR_TABLE, NearAccelerator))
