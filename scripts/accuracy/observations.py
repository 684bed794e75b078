"""Published start-up logs, one JSON object a line, as checked records."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Observation:
    """One log: what was launched and what it printed. None where the log does not say."""

    id: str
    engine: str
    version: str | None
    model: str
    quantization: str | None
    dtype: str | None
    kv_dtype: str | None
    gpu: str | None
    tp: int
    pp: int
    total_gib: float | None
    utilization: float | None
    max_model_len: int | None
    max_num_seqs: int | None
    max_num_batched_tokens: int | None
    enforce_eager: bool | None
    block_size: int | None
    weights_gib: float | None
    non_torch_gib: float | None
    activation_gib: float | None
    graphs_gib: float | None
    kv_gib: float | None
    kv_tokens: int | None
    concurrency: float | None
    other_args: str
    error: str | None
    notes: str
    source: str

    @property
    def stated(self) -> bool:
        """Model, version, GPU or its memory, utilization and length are all in the log."""
        card = self.gpu is not None or self.total_gib is not None
        return card and None not in (self.version, self.utilization, self.max_model_len)


def read(path: Path, engine: str = "vllm") -> tuple[Observation, ...]:
    """Every observation of that engine, in the order of the file."""
    lines = path.read_text("utf-8").splitlines()
    rows = (_observation(json.loads(line)) for line in lines if line.strip())
    return tuple(row for row in rows if row.engine == engine)


def _observation(values: dict[str, Any]) -> Observation:
    return Observation(
        id=values["id"],
        engine=values["engine"],
        version=values["engine_version"],
        model=values["model"],
        quantization=values["quantization"],
        dtype=values["dtype"],
        kv_dtype=values["kv_cache_dtype"],
        gpu=values["gpu_name"],
        tp=values["tensor_parallel"] or 1,
        pp=values["pipeline_parallel"] or 1,
        total_gib=values["total_gpu_memory_gib"],
        utilization=values["gpu_memory_utilization"],
        max_model_len=values["max_model_len"],
        max_num_seqs=values["max_num_seqs"],
        max_num_batched_tokens=values["max_num_batched_tokens"],
        enforce_eager=values["enforce_eager"],
        block_size=values["block_size"],
        weights_gib=values["weights_gib"],
        non_torch_gib=values["non_torch_gib"],
        activation_gib=values["activation_gib"],
        graphs_gib=values["cudagraph_gib"],
        kv_gib=values["kv_cache_gib"],
        kv_tokens=values["kv_cache_tokens"],
        concurrency=values["max_concurrency_x"],
        other_args=values["other_args"] or "",
        error=values["oom_or_error"],
        notes=values["notes"] or "",
        source=values["source_url"] or "",
    )
