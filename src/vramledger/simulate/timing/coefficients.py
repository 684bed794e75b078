"""The fitted numbers of the step time, and where others come from.

``coefficients.toml`` is written by ``make timing``. A host's own file in the same form takes its place: a
calibration writes one, `read_coefficients` reads it, and every prediction names the file it used.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.named_file import read_text
from vramledger.simulate.timing.host import Host

_FILE: Final = Path(__file__).with_name("coefficients.toml")
_LARGEST: Final = 1 << 20


@frozen
class Coefficients:
    """Shares of sheet figures (no unit) and fixed costs; the unit is in the name."""

    dense_read: float  # share of the memory bandwidth that dense weights reach
    fp4_read: float  # the same of dense FP4 weights, as a share of `dense_read`
    expert_read: float
    weight_only_read: float  # of weight-only experts, as a share of `expert_read`
    cache_read: float
    matmul_bf16: float  # share of the dense peak
    matmul_fp8: float
    matmul_fp4: float
    matmul_int8: float
    matmul_weight_only: float  # of the 16-bit peak, weights unpacked on the way
    experts_bf16: float
    experts_fp8: float
    experts_fp4: float
    experts_weight_only: float
    experts_mxfp4: float  # of the 16-bit peak, where the card has no FP4
    experts_mxfp4_fp8: float  # of the FP8 peak, where it has
    blackwell_compute: float  # factor on the shares of the peak
    prompt_attention: float  # share of the 16-bit peak
    decode_attention: float
    overlap: float  # exponent of the smooth maximum of reading and computing, dense matrices
    overlap_experts: float
    routing_skew: float  # half of the experts are (1+s), half (1-s) times as likely as the mean
    hidden_passes: float  # times a layer reads or writes the hidden state
    routed_passes: float  # the same for each routed copy of a token
    kernel_us: float
    eager_kernel_us: float  # launching a kernel from Python, outside any CUDA graph
    compiled_kernel_us: float  # the same in compiled code
    slow_expert_read: float  # factor on reading FP8 experts before vLLM 0.13
    slow_expert_kernels: float  # kernels more for each layer of FP8 experts before vLLM 0.17
    step_us: float  # host work of a step
    request_us: float  # the same for each running request
    synchronous_us: float  # added without asynchronous scheduling
    prefill_step_us: float  # added to a step with prompts
    all_reduce_us: float
    all_reduce_doubling_us: float  # for each doubling of the ranks
    all_to_all_us: float
    link_share: float  # of the link's rate in one direction
    blackwell_link: float  # factor on it
    pcie_share: float  # the same where GPUs meet over PCIe
    pcie_us: float  # an all-reduce over PCIe, beyond `all_reduce_us`
    steps_waited: float  # decode steps between arrival and the own prefill, and after it
    front_ms: float
    front_ms_per_1000_tokens: float
    front_ms_per_request: float
    held_output: float  # share of its output that a running request holds on average
    queue: float  # factor on the waiting behind others' prompts


@frozen
class Band:
    """Predicted over measured of left-out groups: the ends that hold nine of ten."""

    low: float
    high: float


@frozen
class Fit:
    """A set of coefficients with its bands, its date and what it was fitted to."""

    coefficients: Coefficients
    tpot: Band
    ttft: Band
    ttft_waiting: Band  # where requests wait for room in the cache
    tpot_waiting: Band
    date: str
    rows: int
    source: str
    architectures: frozenset[str]  # GPU architectures that were measured
    releases: tuple[str, ...]  # the first and the last release family that were, () for any
    errors: Mapping[str, Any]  # what the fit left, for documents
    host: Host | None = None  # where it is a calibration: the host that was measured


@cache
def shipped() -> Fit:
    """The fit that comes with the package."""
    return _fit(tomllib.loads(_FILE.read_text(encoding="utf-8")), "the shipped coefficients")


def read_coefficients(path: Path) -> Fit:
    """A fit from a file of that form.

    Raises:
        BadInput: the file is no TOML, or a coefficient is missing, unknown or not a number above zero.
    """
    text = read_text(path, _LARGEST, "coefficients")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is not TOML: {error}; write it by a calibration.") from None
    return _fit(content, str(path))


def _fit(content: Mapping[str, Any], where: str) -> Fit:
    return Fit(
        coefficients=_coefficients(content.get("coefficients", {}), where),
        tpot=_band(content, "tpot", where),
        ttft=_band(content, "ttft", where),
        tpot_waiting=_band(content, "tpot_waiting", where),
        ttft_waiting=_band(content, "ttft_waiting", where),
        date=str(content.get("date", "")),
        rows=int(content.get("rows", 0)),
        source=where,
        architectures=frozenset(content.get("architectures", ())),
        releases=tuple(content.get("releases", ())),
        errors=content.get("errors", {}),
    )


def _coefficients(table: Mapping[str, Any], where: str) -> Coefficients:
    names = {field.name for field in fields(Coefficients)}
    if table.keys() != names:
        odd = ", ".join(sorted(names ^ table.keys()))
        raise BadInput(
            f"The table [coefficients] of {where} is missing or has other keys than it must: {odd}; "
            "copy the shipped file and change its numbers."
        )
    for name, value in table.items():
        if not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise BadInput(f"{name} of {where} is {value!r}; it must be a number of at least 0.")
    return Coefficients(**{name: float(value) for name, value in table.items()})


def _band(content: Mapping[str, Any], name: str, where: str) -> Band:
    table = content.get("bands", {}).get(name, {})
    low, high = table.get("low"), table.get("high")
    if not isinstance(low, int | float) or not isinstance(high, int | float) or not 0 < low <= high:
        raise BadInput(
            f"[bands.{name}] of {where} needs low and high, predicted over measured, above zero."
        )
    return Band(float(low), float(high))
