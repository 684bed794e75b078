"""Trials to compare: every figure drawn from stated distributions, and every setting stated."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from recorded_trials import described, standing
from vramledger.record.computed_run import ComputedRun
from vramledger.record.document import Deployment, Description, Ended
from vramledger.record.requests import REQUESTS
from vramledger.record.table import arrow_schema

ARGUMENTS = {"kv-cache-dtype": "auto", "max-num-seqs": 256, "max-model-len": 8192}


def deployment(**values: Any) -> Deployment:
    """A server that tells all of itself."""
    told: dict[str, Any] = {
        "engine": "vllm",
        "engine_version": "0.32.0",
        "model": "Qwen/Qwen3-8B",
        "model_revision": "main",
        "weights_sha256": "2" * 64,
        "chat_template": "3" * 64,
        "arguments": dict(ARGUMENTS),
        "sampling": {"temperature": 0.0},
        "output_limit": 4096,
        "gpu": "H100-80GB-SXM",
        "gpu_uuids": ["GPU-0"],
        "driver": "580.1",
    }
    return Deployment(**(told | values))


def about(
    *, seen: Deployment | None = None, trial: dict[str, Any] | None = None, **values: Any
) -> Description:
    """The run.json of a trial on it; `trial` changes keys under trial."""
    given: dict[str, Any] = {"in_effect": seen or deployment(), "seed": 0, "client_version": "0.1.0", "scenario": "daily"}  # fmt: skip
    stated = standing(boot_id="one").to_json() | {"kv_tokens": None} | (trial or {})
    return described(**(given | {"trial": stated} | values))


def slow(count: int, seed: int, alike: float = 0.6) -> "np.ndarray[Any, Any]":
    """A factor on each request's latency that neighbours share: exp of a first-order autoregression."""
    from scipy.signal import lfilter

    drawn = np.random.default_rng(seed).normal(size=count)
    scatter = lfilter([np.sqrt(1 - alike**2)], [1.0, -alike], drawn)
    return np.asarray(np.exp(0.4 * scatter))


def trial(
    folder: Path,
    told: Description | None = None,
    *,
    count: int = 400,
    seed: int = 0,
    factor: float = 1.0,
    failing: float = 0.0,
    **columns: Any,
) -> Path:
    """Requests a tenth of a second apart, whose latencies are `factor` times what the workload and the seed make of them."""
    workload = np.random.default_rng(99)
    tokens = workload.integers(20, 200, count)
    prompts = workload.integers(50, 500, count)
    due = 10 + 0.1 * np.arange(count)
    ttft = factor * 0.2 * (prompts / 200) * slow(count, 2 * seed + 1)
    tpot = factor * 0.01 * slow(count, 2 * seed + 2)
    ok = np.random.default_rng(seed + 10_000).random(count) >= failing
    told_ok = {
        "first_content_s": due + ttft,
        "last_content_s": due + ttft + tpot * (tokens - 1),
        "done_s": due + ttft + tpot * (tokens - 1),
        "output_tokens_got": tokens,
    }
    given: dict[str, Any] = {
        "request_id": np.arange(count),
        "row": np.arange(count),
        "attempt": np.zeros(count),
        "due_s": due,
        "dispatched_s": due + 0.0001,
        "input_tokens_asked": prompts,
        "input_tokens_got": prompts,
        "output_tokens_asked": tokens,
        **told_ok,
    }
    given |= {name: values(given) for name, values in columns.items()}
    arrays = {
        name: pa.array(values, mask=~ok if name in told_ok else None)
        for name, values in given.items()
    }
    arrays["outcome"] = pa.array(np.where(ok, "ok", "failed").tolist())
    with ComputedRun(folder, told or about()) as run:
        run.note(10.0, "phase", name="measured", load_zero_s=10.0, position_s=0.0)
        run.add_batch(REQUESTS, _batch(arrays, count))
        run.note(10 + 0.1 * count, "phase", name="drained", how="complete")
        run.close(Ended.COMPLETE)
    return folder


def _batch(arrays: dict[str, pa.Array], count: int) -> pa.RecordBatch:
    schema = arrow_schema(REQUESTS)
    return pa.RecordBatch.from_arrays(
        [
            arrays[field.name].cast(field.type, safe=False) if field.name in arrays else pa.nulls(count, field.type)
            for field in schema
        ],
        schema=schema,
    )  # fmt: skip
