"""A trial as long as one wants it, with every table, drawn from a seed and written in bulk: to time whatever reads records.

The server is a made-up one: Poisson arrivals, log-normal lengths, a first token after some queueing, one token a chunk. A few
requests are refused. The workload that was sent lies beside the run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from vramledger.plan.contract_json import contract_to_json
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.record.document import Clock, Deployment, Description, Origin
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.requests import REQUESTS
from vramledger.record.samples import GPU, SERVER
from vramledger.record.table import Table, arrow_schema
from vramledger.trial.conduct.standing import Standing
from vramledger.trial.load.job import LoadJob, PromptSettings
from vramledger.trial.prompts.body import BodyStyle
from vramledger.trial.prompts.lexicon import ids_lexicon
from vramledger.trial.wire.target import Target
from vramledger.workload import schema
from vramledger.workload.metadata import Metadata
from vramledger.workload.store import write_workload

INTERVAL_S: Final = 0.25
_BEGIN_S: Final = 10.0  # second of the clock at which the load begins
_BATCH: Final = 20_000
_GAUGES: Final = {
    "running": "vllm:num_requests_running",
    "waiting": "vllm:num_requests_waiting",
    "kv_usage": "vllm:kv_cache_usage_perc",
}
_COUNTERS: Final = {"preemptions": "vllm:num_preemptions_total"}


@dataclass(frozen=True)
class Recorded:
    """The run's folder and its workload's file."""

    run: Path
    workload: Path


def recorded(
    folder: Path, requests: int, per_s: float, *, seed: int = 1, gpus: int = 8
) -> Recorded:
    """Write `folder`/run and `folder`/workload.parquet; `requests` at `per_s` a second, one in 400 refused."""
    draw = np.random.default_rng(seed)
    gaps = draw.exponential(1 / per_s, requests)
    arrivals = np.round(np.cumsum(gaps) - gaps[0], 6)
    prompts = np.clip(draw.lognormal(6.5, 1.0, requests), 8, 30_000).astype(np.int32)
    answers = np.clip(draw.lognormal(4.6, 0.8, requests), 1, 2_000).astype(np.int32)
    folder.mkdir(parents=True, exist_ok=True)
    workload = folder / "workload.parquet"
    _write_workload(workload, arrivals, prompts, answers)
    about = _described(sha256(workload.read_bytes()).hexdigest(), workload)
    span_s = float(arrivals[-1]) + 60
    with RecordedRun.start(folder / "run", about) as run:
        run.note(_BEGIN_S, "phase", name="measured", load_zero_s=_BEGIN_S, position_s=0.0)
        for batch in _requests(draw, arrivals, prompts, answers):
            run.add_batch(REQUESTS, batch)
        run.add_batch(SERVER, _pages(draw, span_s))
        run.add_batch(GPU, _cards(draw, span_s, gpus))
        run.note(_BEGIN_S + span_s, "phase", name="drained", how="complete")
    return Recorded(folder / "run", workload)


def _described(workload_sha256: str, workload: Path) -> Description:
    moment = "2026-12-01T10:00:00.000000Z"
    contract = Contract(
        latency={
            "ttft_s": (LatencyLimit(None, {0.5: 1.0, 0.95: 4.0}),),
            "itl_s": (LatencyLimit(None, {0.95: 0.1}),),
        },
        success=0.99,
    )
    load = LoadJob(str(workload), PromptSettings(BodyStyle("chat", "m"), ids_lexicon(), 7))
    standing = Standing(
        target=Target("http://localhost:8000"), load=load, load_sha256="0" * 64, workers=1, zero_ns=0,
        boot_id=None, metrics_url=None, server="http://localhost:8000", gpu_metrics=None, gpu_selector="",
        interval_s=INTERVAL_S, drain_s=60.0, on_interrupt="drain", cold=False, rate_scale=1.0,
        prompts_said="They are counted.", kv_tokens=1_000_000,
    )  # fmt: skip
    about = Description(
        origin=Origin.MEASURED,
        name="m workload",
        in_effect=Deployment(engine="vllm", engine_version="0.32.0", model="m"),
        clock=Clock(wall_at_zero=moment),
        started_at=moment,
        workload_sha256=workload_sha256,
        seed=0,
    )
    trial = standing.to_json() | {"contract": contract_to_json(contract)}
    return about.model_copy(update={"trial": trial})


def _write_workload(path: Path, arrivals: Any, prompts: Any, answers: Any) -> None:
    columns = {
        "row": np.arange(len(arrivals)),
        "arrival_s": arrivals,
        "input_tokens": prompts,
        "output_tokens": answers,
        "outcome": np.full(len(arrivals), "ok"),
    }
    batch = _filled(schema.arrow_schema(), columns, len(arrivals))
    write_workload([batch], Metadata(), path)


def _filled(wanted: pa.Schema, columns: dict[str, Any], rows: int) -> pa.RecordBatch:
    """A batch with nulls where no column is given."""
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(rows, field.type)
        for field in wanted
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def _table(table: Table, columns: dict[str, Any], rows: int) -> pa.RecordBatch:
    return _filled(arrow_schema(table), columns, rows)


def _requests(
    draw: np.random.Generator, arrivals: Any, prompts: Any, answers: Any
) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(arrivals), _BATCH):
        part = slice(start, start + _BATCH)
        yield _served(draw, start, _BEGIN_S + arrivals[part], prompts[part], answers[part])


def _served(
    draw: np.random.Generator, first: int, due: Any, prompts: Any, answers: Any
) -> pa.RecordBatch:
    """One batch of requests with every gap; what is refused has no token."""
    rows = len(due)
    refused = draw.uniform(size=rows) < 1 / 400
    gaps = (
        draw.gamma(4.0, 5_000.0, int(answers.sum())).astype(np.int64) + 1
    )  # us, 20 ms in the mean
    ends = np.cumsum(answers)
    begins = ends - answers
    gaps[begins] = 0
    whole = np.cumsum(gaps)
    offsets = whole - np.repeat(whole[begins], answers)
    content = due + 0.05 + draw.gamma(1.5, 0.15, rows) + prompts * 2e-5
    last = content + offsets[ends - 1] / 1e6
    seen = ~refused
    counts = np.concatenate(([0], np.cumsum(np.where(seen, answers, 0))))
    kept = np.repeat(seen, answers)
    chunks = pa.ListArray.from_arrays(
        pa.array(counts, pa.int32()), pa.array(offsets[kept]), mask=pa.array(refused)
    )
    tokens = pa.ListArray.from_arrays(
        pa.array(counts, pa.int32()),
        pa.array(np.ones(int(kept.sum()), np.int32)),
        mask=pa.array(refused),
    )
    number = np.arange(first, first + rows)

    def told(values: Any) -> pa.Array:
        return pa.array(values, mask=refused)

    columns = {
        "request_id": number, "row": number, "attempt": np.zeros(rows, np.int32), "due_s": due,
        "dispatched_s": due + 0.0005, "headers_s": due + 0.02, "first_byte_s": told(due + 0.03),
        "first_content_s": told(content), "first_answer_s": told(content), "last_content_s": told(last),
        "done_s": np.where(refused, due + 0.04, last + 0.001), "chunk_offset_us": chunks, "chunk_tokens": tokens,
        "input_tokens_asked": prompts, "input_tokens_got": told(prompts), "output_tokens_asked": answers,
        "output_tokens_got": told(answers), "tokens_basis": pa.array(np.full(rows, "usage"), mask=refused),
        "outcome": np.where(refused, "rejected", "ok"),
        "error_class": pa.array(np.full(rows, "http_429"), mask=seen),
        "http_status": np.where(refused, 429, 200).astype(np.int32),
    }  # fmt: skip
    return _table(REQUESTS, columns, rows)


def _pages(draw: np.random.Generator, span_s: float) -> pa.RecordBatch:
    """Four series a page."""
    moments = np.arange(0, _BEGIN_S + span_s, INTERVAL_S)
    names = [*_GAUGES, *_COUNTERS]
    levels = {
        "running": draw.poisson(60, len(moments)),
        "waiting": draw.poisson(2, len(moments)),
        "kv_usage": draw.beta(6, 6, len(moments)),
        "preemptions": np.cumsum(draw.uniform(size=len(moments)) < 0.01),
    }
    raw = _GAUGES | _COUNTERS
    rows = len(names) * len(moments)
    columns = {
        "t_s": np.repeat(moments, len(names)),
        "scrape_s": np.full(rows, 0.003),
        "target": np.full(rows, "target-0"),
        "name": np.tile(names, len(moments)),
        "raw_name": np.tile([raw[name] for name in names], len(moments)),
        "labels": np.full(rows, '{"engine":"0"}'),
        "kind": np.tile(["counter" if n in _COUNTERS else "gauge" for n in names], len(moments)),
        "value": np.stack([levels[name] for name in names], axis=1).ravel().astype(float),
    }
    return _table(SERVER, columns, rows)


def _cards(draw: np.random.Generator, span_s: float, gpus: int) -> pa.RecordBatch:
    moments = np.arange(0, _BEGIN_S + span_s, INTERVAL_S)
    rows = gpus * len(moments)
    used = np.full(rows, 70 << 30)
    columns = {
        "t_s": np.repeat(moments, gpus),
        "gpu_uuid": np.tile([f"GPU-{number}" for number in range(gpus)], len(moments)),
        "used_bytes": used,
        "free_bytes": (80 << 30) - used,
        "utilization": draw.uniform(0.5, 1, rows),
        "power_w": draw.normal(500, 20, rows),
        "temperature_c": draw.normal(60, 2, rows),
    }
    return _table(GPU, columns, rows)
