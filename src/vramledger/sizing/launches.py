"""Launch commands of candidates: the object that is resolved and the line that is printed."""

from vramledger.engine.launch import Flag, Launch
from vramledger.engine.setting import Layout
from vramledger.sizing.candidate import Precision

_ENGINE = "vllm"


def launch_for(
    model: str,
    layout: Layout,
    precision: Precision,
    max_model_len: int,
    extra: tuple[Flag, ...] = (),
) -> Launch:
    """The launch of one replica; `extra` flags come last and win."""
    flags = [_flag("max-model-len", str(max_model_len))]
    if layout.tp > 1:
        flags.append(_flag("tensor-parallel-size", str(layout.tp)))
    if layout.pp > 1:
        flags.append(_flag("pipeline-parallel-size", str(layout.pp)))
    if layout.expert_parallel:
        flags.append(_flag("enable-expert-parallel", None))
    if precision.weights != "as-stored":
        flags.append(_flag("quantization", precision.weights))
    if precision.kv != "auto":
        flags.append(_flag("kv-cache-dtype", precision.kv))
    given = {flag.name for flag in extra}
    kept = [flag for flag in flags if flag.name not in given]
    return Launch(_ENGINE, model, (*kept, *extra), where="the candidate's launch command")


def command_line(launch: Launch) -> str:
    """The command as one would type it."""
    written = [
        f"--{flag.name}" if flag.value is None else f"--{flag.name} {flag.value}"
        for flag in launch.flags
    ]
    return " ".join(["vllm serve", launch.model or "", *written])


def _flag(name: str, value: str | None) -> Flag:
    return Flag(name, value, f"--{name}")
