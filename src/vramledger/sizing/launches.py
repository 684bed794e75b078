"""Launch commands of candidates: the object that is resolved and the line that is printed."""

import shlex

from vramledger.engine.launch import Flag, Launch
from vramledger.engine.setting import Layout
from vramledger.sizing.served import Served

_ENGINE = "vllm"


def launch_for(
    served: Served,
    layout: Layout,
    kv: str,
    max_model_len: int,
    extra: tuple[Flag, ...] = (),
    *,
    across_servers: bool = False,
) -> Launch:
    """The launch of one replica; `extra` flags come last and replace ours of the same name."""
    flags = [_flag("max-model-len", str(max_model_len))]
    if layout.tp > 1:
        flags.append(_flag("tensor-parallel-size", str(layout.tp)))
    if layout.pp > 1:
        flags.append(_flag("pipeline-parallel-size", str(layout.pp)))
    if layout.expert_parallel:
        flags.append(_flag("enable-expert-parallel", None))
    if across_servers:
        flags.append(_flag("distributed-executor-backend", "ray"))
    if served.quantization is not None:
        flags.append(_flag("quantization", served.quantization))
    if kv != "auto":
        flags.append(_flag("kv-cache-dtype", kv))
    given = {flag.name for flag in extra}
    kept = [flag for flag in flags if flag.name not in given]
    where = "the candidate's launch command"
    return Launch(_ENGINE, served.reference, (*kept, *extra), where=where)


def command_line(launch: Launch) -> str:
    """The command as one would type it."""
    words = ["vllm", "serve", launch.model or ""]
    for flag in launch.flags:
        words.append(f"--{flag.name}")
        words += flag.values or (() if flag.value is None else (flag.value,))
    return shlex.join(words)


def _flag(name: str, value: str | None) -> Flag:
    return Flag(name, value, f"--{name}")
