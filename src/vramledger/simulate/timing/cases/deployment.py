"""From a case to the deployment and load it describes."""

from dataclasses import replace
from functools import lru_cache
from typing import Final

from vramledger.engine.launch import Flag, Launch
from vramledger.engine.setting import Layout
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.versions import rules_for
from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.catalogue import find
from vramledger.ledger.case import Case
from vramledger.model.model import Model
from vramledger.simulate.timing.cases.checkpoint import checkpoint_of
from vramledger.simulate.timing.cases.layout import layout_of
from vramledger.simulate.timing.cases.line import CaseLine
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.rates import is_blackwell

# Names of systems that several of our cards answer to; the usual one is meant.
_SYSTEMS: Final = {
    "a100_sxm": "A100-80GB-SXM",
    "a100_pcie": "A100-80GB-PCIe",
    "h20_sxm": "H20-96GB-SXM",
    "rtx_pro_6000": "RTX-PRO-6000-Server",
    "gh200": "GH200-96GB",
}
# Records that state no version are the earliest ones, of autumn 2025; moving ones were the last release.
OLDEST_VERSION: Final = "0.11.0"
MOVING_VERSION: Final = "0.19.0"
# The launch scripts of those early records fuse attention into the graph on Blackwell cards.
_EARLY_BLACKWELL: Final = '{"cudagraph_mode": "FULL_DECODE_ONLY"}'
_SHORTEST_LIMIT: Final = 4096
_CACHE_TYPES: Final = {
    "fp8": "fp8", "fp8_e4m3": "fp8", "fp8_e5m2": "fp8_e5m2", "int8": "fp8",
}  # fmt: skip
_PLAIN_CACHE: Final = ("bf16", "bfloat16", "fp16", "float16", "half")
_AUTO: Final = "auto"


@frozen
class Question:
    """A case as a deployment, with what had to be assumed."""

    deployment: Deployment
    load: Load
    version_known: bool

    def with_load_of(self, case: CaseLine) -> "Question":
        """The same deployment under the load of another case."""
        return Question(self.deployment, load_of(case), self.version_known)


def question_of(case: CaseLine) -> Question:
    """The deployment of a case.

    Raises:
        CannotKnow: another engine.
        UnknownName: the model, card or a type is none that we know.
        BadInput: the layout or a value is not possible.
    """
    if case.engine.casefold() != "vllm":
        raise CannotKnow(
            f"The step time of {case.engine} is not modelled; cases of vllm are answered."
        )
    version, known = _version(case.engine_version)
    model = _cache_type(checkpoint_of(case.model, case.precision), case.kv_dtype)
    accelerator = accelerator_of(case.gpu)
    flags = _flags(layout_of(case), case, model)
    if case.engine_version is None:
        flags += _early_flags(accelerator)
    launch = Launch("vllm", model.id, tuple(Flag(n, v, f"--{n}") for n, v in flags))
    asked = Case(launch, model, accelerator, version)
    return Question(asked.deployment(), load_of(case), known)


def load_of(case: CaseLine) -> Load:
    """The load of a case; a run shorter than its concurrency starts all its requests together."""
    requests = float("inf") if case.requests is None else case.requests
    return Load(
        case.input_tokens, case.output_tokens, case.concurrency, max(requests, case.concurrency)
    )


@lru_cache(maxsize=64)
def accelerator_of(name: str) -> Accelerator:
    """The card behind a system's name.

    Raises:
        UnknownName: no card has that name.
        BadInput: it fits several.
    """
    return find(_SYSTEMS.get(name.casefold(), name))


@lru_cache(maxsize=256)
def _version(text: str | None) -> tuple[str, bool]:
    """The version to take, and whether it is the one that ran: a release."""
    if text is None:
        return OLDEST_VERSION, False
    try:
        match = rules_for(text)
    except (UnknownName, BadInput):
        return MOVING_VERSION, False
    if match.note:
        moving = not text.strip().lstrip("vV")[:1].isdigit()
        return (MOVING_VERSION if moving else text), False
    return text, True


def _cache_type(model: Model, kv_dtype: str | None) -> Model:
    """The model without a declared cache type where the case states 16 bits."""
    plain = kv_dtype is not None and kv_dtype.casefold() in _PLAIN_CACHE
    if not plain or model.quantization is None or model.quantization.kv_dtype is None:
        return model
    return replace(model, quantization=replace(model.quantization, kv_dtype=None))


def length_limit(case: CaseLine) -> int:
    """max_model_len as it is launched for such lengths, where the model goes so far."""
    return max(_SHORTEST_LIMIT, int(2 * (case.input_tokens + case.output_tokens)))


def _flags(layout: Layout, case: CaseLine, model: Model) -> list[tuple[str, str | None]]:
    limit = length_limit(case)
    if model.text.max_positions:
        limit = min(limit, model.text.max_positions)
    flags: list[tuple[str, str | None]] = [
        ("tensor-parallel-size", str(layout.tp)),
        ("pipeline-parallel-size", str(layout.pp)),
        ("data-parallel-size", str(layout.dp)),
        ("max-model-len", str(limit)),
    ]
    if layout.expert_parallel:
        flags.append(("enable-expert-parallel", None))
    if case.max_num_seqs is not None:
        flags.append(("max-num-seqs", str(case.max_num_seqs)))
    return flags + _cache_flag(case.kv_dtype)


def _early_flags(accelerator: Accelerator) -> list[tuple[str, str | None]]:
    """What the launch scripts of the earliest records set beside the layout."""
    flags: list[tuple[str, str | None]] = [("async-scheduling", None)]
    if is_blackwell(accelerator):
        flags.append(("compilation-config", _EARLY_BLACKWELL))
    return flags


def _cache_flag(kv_dtype: str | None) -> list[tuple[str, str | None]]:
    if kv_dtype is None or kv_dtype.casefold() in (_AUTO, *_PLAIN_CACHE):
        return []
    name = _CACHE_TYPES.get(kv_dtype.casefold())
    if name is None:
        raise UnknownName("cache type", kv_dtype, (*_CACHE_TYPES, *_PLAIN_CACHE))
    return [("kv-cache-dtype", name)]
