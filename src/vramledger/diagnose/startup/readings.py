"""Memory figures that other engines than vLLM print on their way up, one row each; vLLM's stand in `engine/vllm/log`."""

import re
from typing import Final

from vramledger.frozen import frozen


@frozen
class ReadingRow:
    """One kind of line. The group `value` is the figure; lines of one label replace each other, or add up."""

    label: str
    unit: str
    cue: str
    regex: re.Pattern[str]
    adds: bool = False


def _row(label: str, unit: str, cue: str, regex: str, *, adds: bool = False) -> ReadingRow:
    return ReadingRow(label, unit, cue, re.compile(regex), adds)


ROWS: Final = (
    _row("weights", "GiB", "Load weight end", r"Load weight end\..*?mem usage=(?P<value>[\d.]+) GB"),
    _row("KV cache", "tokens", "#tokens:", r"(?:KV [Cc]ache|Cache) is allocated\..*?#tokens: (?P<value>\d+)"),
    _row("KV cache of keys", "GiB", "K size:", r"is allocated\..*?K size: (?P<value>[\d.]+) GB"),
    _row("KV cache of values", "GiB", "V size:", r"is allocated\..*?V size: (?P<value>[\d.]+) GB"),
    _row("graphs", "GiB", "graph end", r"Capture [\w ]*graph end\..*?mem usage=(?P<value>-?[\d.]+) GB"),
    _row("KV cache in all", "tokens", "max_total_num_tokens=", r"max_total_num_tokens=(?P<value>\d+)"),
    _row("free afterwards", "GiB", "available_gpu_mem=", r"available_gpu_mem=(?P<value>[\d.]+) GB"),
    _row("weights", "GiB", "Memory used after loading model weights", r"weights \(inside torch\).*?: (?P<value>[\d.]+) GiB"),
    _row("KV cache", "GiB", "max tokens in paged KV cache", r"Allocated (?P<value>[\d.]+) GiB for max tokens in paged KV cache"),
    _row("KV cache in all", "tokens", "max tokens in paged KV cache", r"for max tokens in paged KV cache \((?P<value>\d+)\)"),
    _row("weights", "MiB", "model buffer size", r"(?!\S*(?:Host|CPU))\b\w+ model buffer size = *(?P<value>[\d.]+) MiB", adds=True),
    _row("weights on the host", "MiB", "model buffer size", r"\S*(?:Host|CPU)\S* model buffer size = *(?P<value>[\d.]+) MiB", adds=True),
    _row("KV cache", "MiB", "KV buffer size", r"KV buffer size = *(?P<value>[\d.]+) MiB", adds=True),
    _row("compute buffers", "MiB", "compute buffer size", r"compute buffer size = *(?P<value>[\d.]+) MiB", adds=True),
    _row("slots", "slots", "n_slots =", r"n_slots = (?P<value>\d+)"),
    _row("context of a slot", "tokens", "n_ctx_slot =", r"n_ctx_slot = (?P<value>\d+)"),
    _row("KV cache in all", "tokens", "max batch total tokens", r"Setting max batch total tokens to (?P<value>\d+)"),
    _row("KV cache", "blocks", "KV-cache blocks:", r"KV-cache blocks: (?P<value>\d+)"),
    _row("KV cache", "blocks", "num_gpu_blocks=", r"num_gpu_blocks=(?P<value>\d+)"),
    _row("KV cache", "MB", "Object cache budget", r"Object cache budget: (?P<value>[\d.]+) MB"),
)  # fmt: skip
