"""A small measured trial whose every row is known, for tests."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recorded_runs import UUID, measured_request
from vramledger.methods.measured.observed import Judging
from vramledger.methods.measured.subject import Stepping
from vramledger.methods.ramp.kept import SOAK, Kept
from vramledger.methods.ramp.ramp import RampAsked, ramp
from vramledger.methods.repeated.series import SCHEMA, Series, write_series
from vramledger.methods.repeated.turns import Order, Side
from vramledger.methods.soak.growth import growths
from vramledger.methods.soak.segment import read_segment
from vramledger.methods.soak.soak import Soak
from vramledger.methods.subject import Axis, Range
from vramledger.plan.contract_json import contract_to_json
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.record.document import Clock, Deployment, Description, Origin
from vramledger.record.outcome import Outcome
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.samples import GpuSample, MetricKind, Sample
from vramledger.report.ramp_json import ramp_json
from vramledger.report.soak_json import soak_json
from vramledger.trial.client.health import Health, Spread
from vramledger.trial.conduct.asked import TrialAsked
from vramledger.trial.conduct.standing import Standing
from vramledger.trial.conduct.watch import Blind
from vramledger.trial.load.job import LoadJob, PromptSettings
from vramledger.trial.prompts.body import BodyStyle
from vramledger.trial.prompts.lexicon import ids_lexicon
from vramledger.trial.sampling.server_page import UP
from vramledger.trial.wire.target import Target
from vramledger.workload.operators.prepared import Part

GIB = 1 << 30
KV_TOKENS = 10_000


def standing(**values: Any) -> Standing:
    load = LoadJob("w.parquet", PromptSettings(BodyStyle("chat", "m"), ids_lexicon(), 7))
    given: dict[str, Any] = {
        "target": Target("http://localhost:8000"),
        "load": load,
        "load_sha256": "0" * 64,
        "workers": 1,
        "zero_ns": 0,
        "boot_id": None,
        "metrics_url": None,
        "server": "http://localhost:8000",
        "gpu_metrics": None,
        "gpu_selector": "",
        "interval_s": 0.25,
        "drain_s": 60.0,
        "on_interrupt": "drain",
        "cold": False,
        "rate_scale": 1.0,
        "prompts_said": "They are counted.",
        "kv_tokens": KV_TOKENS,
    }
    return Standing(**(given | values))


def health(bottleneck: str | None = None) -> dict[str, Any]:
    spread = Spread(0.001, 0.002, 0.003)
    found = Health(10.0, spread, spread, 0.0, 1.0, 0.2, 0.0, 0, 0.0, 0.0, 8, 0, None, bottleneck)
    return found.to_json()


def described(**values: Any) -> Description:
    about = Description(
        origin=Origin.MEASURED,
        name="m w",
        in_effect=Deployment(engine="vllm", engine_version="0.32.0", model="m"),
        clock=Clock(wall_at_zero="2026-12-01T10:00:00.000000Z"),
        started_at="2026-12-01T10:00:00.000000Z",
        workload_sha256="1" * 64,
    )
    return about.model_copy(update={"trial": standing().to_json()} | values)


def page(run: RecordedRun, t_s: float, preemptions: float, usage: tuple[float, ...]) -> None:
    """A page of a server with an engine for each usage."""
    run.append(Sample(t_s, "target-0", UP, MetricKind.GAUGE, 1.0, 0.01, UP))
    told = (("vllm:num_preemptions_total", MetricKind.COUNTER, preemptions, "preemptions"),)
    for raw, kind, value, name in told:
        run.append(Sample(t_s, "target-0", raw, kind, value, 0.01, name))
    for engine, value in enumerate(usage):
        labels = json.dumps({"engine": str(engine)}, separators=(",", ":"))
        run.append(Sample(t_s, "target-0", "vllm:kv_cache_usage_perc", MetricKind.GAUGE, value, 0.01, "kv_usage", labels))  # fmt: skip
        run.append(Sample(t_s, "target-0", "vllm:num_requests_running", MetricKind.GAUGE, 3.0, 0.01, "running", labels))  # fmt: skip


def small_trial(
    folder: Path,
    bottleneck: str | None = None,
    about: Description | None = None,
    queue_s: float | None = None,
    values: Mapping[int, Mapping[str, Any]] = MappingProxyType({}),
) -> Path:
    """Four measured requests from second 10 on, of which one failed, one of the warm-up before; pages at 9, 11 and 12 s.

    `queue_s` is how long each answered one was queued, `values` what is otherwise in a request, by its number.
    """
    with RecordedRun.start(folder, about or described()) as run:
        run.note(1.0, "phase", name="warm_up")
        run.append(measured_request(-1, 1.0, (0, 900_000), row=None))
        run.note(10.0, "phase", name="measured", load_zero_s=10.0, position_s=0.0)
        for number, gaps in enumerate(((0, 10_000), (0, 10_000, 40_000), (0,))):
            known: dict[str, Any] = {"due_s": 10.0 + number, "input_tokens_got": 100}
            known |= {"queue_s": queue_s, **values.get(number, {})}
            run.append(measured_request(number, known.pop("due_s"), gaps, **known))
        failed: dict[str, Any] = dict.fromkeys(
            ("first_content_s", "first_answer_s", "last_content_s", "chunk_offset_us", "chunk_tokens",
             "output_tokens_got", "tokens_basis"))  # fmt: skip
        run.append(
            measured_request(
                3,
                13.0,
                (0,),
                **failed
                | {
                    "outcome": Outcome.REJECTED,
                    "error_class": "http_429",
                    "http_status": 429,
                }
                | dict(values.get(3, {})),
            )
        )
        page(run, 9.0, 5.0, (0.9, 0.9))
        page(run, 11.0, 6.0, (0.25, 0.5))
        page(run, 12.0, 2.0, (0.5, 0.25))  # restarted: two more at least
        for t_s, used in ((9.0, 30), (11.0, 10), (12.0, 12)):
            run.append(GpuSample(t_s, UUID, used_bytes=used * GIB))
            run.append(GpuSample(t_s, "GPU-1", used_bytes=(used - 1) * GIB))
        run.note(14.0, "worker_ended", writer="worker-0", how="complete", health=health(bottleneck))
        run.note(14.0, "phase", name="drained", how="complete")
    return folder


def small_ramp(folder: Path) -> Path:
    """A ramp that ended after such a trial."""
    kept = Kept.begun(folder, asked={}, prediction=None, workload_sha256="1" * 64)
    trial = standing().to_json()
    trial["load"]["closed"] = 1
    small_trial(folder / "step-c1", about=described(trial=trial))
    asked = RampAsked(
        TrialAsked("http://localhost:8000", Part(Path("w.parquet"))),
        Range(1, 1, 1, Axis.CONCURRENCY),
        Judging(Axis.CONCURRENCY),
        Stepping(10.0, 1),
        tolerance=0.1,
    )
    found = ramp(asked, folder, Blind(), kept.step)
    kept.ended(found.stopped_by, ramp_json(found))
    return folder


def small_series(folder: Path) -> Path:
    """Two pairs of such trials, on two servers in turn, with a contract."""
    contract = Contract(latency={"ttft_s": (LatencyLimit(None, {0.5: 0.6}),)}, success=0.9)
    trial = standing().to_json() | {"contract": contract_to_json(contract)}
    asked = Series(2, 0, Order.ABAB, {"url_a": "http://a", "url_b": "http://b"})
    for turn in asked.turns:
        seen = Deployment(engine="vllm", engine_version=f"0.3{turn.side == Side.B:d}", model="m")
        small_trial(
            folder / turn.name, about=described(trial=trial, in_effect=seen, seed=turn.seed)
        )
    write_series(folder, {"schema": SCHEMA, "asked": asked.to_json()})
    return folder


def small_soak(folder: Path) -> Path:
    """A soak of so many equal segments, of which one figure is told often enough."""
    kept = Kept.begun(folder, SOAK, asked={}, workload_sha256="1" * 64)
    place = small_trial(folder / "segment-001")
    idle = {"kv_usage": 0.0}
    segments = tuple(read_segment(place, 60.0 * each, idle, None) for each in range(14))
    for each in segments:
        kept.add(each.to_json())
    found = Soak(folder, segments, growths(segments), (), 840.0)
    kept.ended("over", soak_json(found))
    return folder
