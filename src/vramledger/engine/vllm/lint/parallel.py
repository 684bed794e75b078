"""Layouts that vLLM refuses or that waste memory."""

from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.lint.rule import Rule, values_of
from vramledger.engine.vllm.model_traits import traits_of


def _heads(d: Deployment) -> str | None:
    heads, tp = d.model.text.heads, d.layout.tp
    if not heads or heads % tp == 0:
        return None
    fitting = [str(n) for n in range(1, min(heads, 64) + 1) if heads % n == 0]
    return (
        f"The model has {heads} attention heads, which tensor parallel size {tp} does not divide; "
        f"vLLM refuses to start. Sizes that divide it: {', '.join(fitting)}."
    )


def _context_parallel_size(d: Deployment) -> str | None:
    layout = d.layout
    if layout.pcp == 1:
        if layout.tp % layout.dcp == 0:
            return None
        return (
            f"Decode context parallel size {layout.dcp} does not divide tensor parallel size "
            f"{layout.tp}; vLLM refuses to start."
        )
    allowed = sorted({1, layout.pcp, layout.tp * layout.pcp})
    if layout.dcp in allowed:
        return None
    return (
        f"With prefill context parallel size {layout.pcp} the decode context parallel size must be "
        f"one of {', '.join(map(str, allowed))}, not {layout.dcp}; vLLM refuses to start."
    )


def _context_parallel_heads(d: Deployment) -> str | None:
    layout, text = d.layout, d.model.text
    if layout.dcp <= 1 or traits_of(d.model).mla or not text.kv_heads:
        return None
    largest = layout.tp // text.kv_heads
    if layout.tp <= text.kv_heads or layout.dcp > largest:
        return (
            f"Decode context parallelism undoes copies of KV heads: with {text.kv_heads} KV heads "
            f"and tensor parallel size {layout.tp} it may be at most {max(1, largest)}, not "
            f"{layout.dcp}; vLLM refuses to start."
        )
    per_head = text.heads // text.kv_heads
    if per_head % layout.dcp:
        return (
            f"{per_head} query heads share a KV head, which decode context parallel size "
            f"{layout.dcp} does not divide; vLLM refuses to start."
        )
    return None


def _interleave(d: Deployment) -> str | None:
    values = values_of(d)
    size = values.integer("cp-kv-cache-interleave-size") or values.integer(
        "dcp-kv-cache-interleave-size"
    )
    block = d.block_size.value
    if size is None or block is None or d.layout.dcp <= 1 or block % size == 0:
        return None
    return (
        f"block_size ({block}) is not a multiple of the context-parallel interleave size ({size});"
        " vLLM refuses to start."
    )


def _expert_balancing(d: Deployment) -> str | None:
    values = values_of(d)
    config = values.json("eplb-config") or {}
    redundant = config.get("num_redundant_experts") or values.integer("num-redundant-experts", 0)
    if not values.switch("enable-eplb"):
        if not redundant:
            return None
        return "Redundant experts need --enable-eplb; vLLM refuses to start."
    if not d.layout.expert_parallel:
        return "--enable-eplb needs --enable-expert-parallel; vLLM refuses to start."
    if d.layout.tp * d.layout.dp * d.layout.pcp <= 1:
        return "--enable-eplb needs more than one rank that holds experts; vLLM refuses to start."
    return None


def _dense_data_parallel(d: Deployment) -> str | None:
    if d.model.text.experts is not None or d.launch.flag("data-parallel-rank") is None:
        return None
    return (
        "--data-parallel-rank is for mixture-of-experts models; start independent servers for a "
        "dense one."
    )


def _too_few_gpus(d: Deployment) -> str | None:
    granted = d.launch.gpus
    if granted is None or d.layout.gpus <= granted or d.executor == "ray":
        return None
    if values_of(d).integer("nnodes", least=1) not in (None, 1):
        return None
    if d.layout.pp > 1 and d.layout.tp <= granted:
        return None  # stages may be on other machines, which nothing here speaks of
    return (
        f"The layout takes {d.layout.gpus} GPUs (TP {d.layout.tp} x PP {d.layout.pp} x DP "
        f"{d.layout.dp}), and {granted} are granted; vLLM refuses to start."
    )


RULES: Final = (
    Rule("L16", Severity.ERROR, _heads, "config/model.py"),
    Rule("L18", Severity.ERROR, _context_parallel_size, "config/parallel.py", since=10),
    Rule("L19", Severity.ERROR, _context_parallel_heads, "config/model.py", since=13),
    Rule("L20", Severity.ERROR, _interleave, "config/vllm.py", since=11),
    Rule("L22", Severity.ERROR, _expert_balancing, "config/parallel.py", since=9),
    Rule("L58", Severity.ERROR, _dense_data_parallel, "engine/arg_utils.py", since=21),
    Rule("L60", Severity.ERROR, _too_few_gpus, "config/parallel.py"),
)
