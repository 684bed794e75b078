"""Small runs for tests, measured and simulated."""

import random
from pathlib import Path
from typing import Any

from vramledger.record.computed_run import ComputedRun
from vramledger.record.document import Description, Origin
from vramledger.record.outcome import Outcome
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.recorder import Recorder
from vramledger.record.requests import RequestRecord
from vramledger.record.run import Run, read_run
from vramledger.record.samples import GpuSample, MetricKind, Sample, Step

UUID = "GPU-0"


def described(origin: Origin = Origin.SIMULATED, **values: Any) -> Description:
    return Description(origin=origin, name="a run", seed=7, **values)


def record_every_fourth(folder: Path, worker: int) -> None:
    """What one of four worker processes does."""
    with Recorder(folder, f"w{worker}") as recorder:
        for number in range(worker, 40, 4):
            recorder.append(measured_request(number, float(number), (0,)))


def measured_request(
    number: int, due_s: float, offsets_us: tuple[int, ...], **values: Any
) -> RequestRecord:
    """A request that was sent 1 ms late and answered 0.5 s later, one token a chunk."""
    first = due_s + 0.501
    last = first + offsets_us[-1] / 1e6
    given: dict[str, Any] = {
        "row": number,
        "due_s": due_s,
        "dispatched_s": due_s + 0.001,
        "headers_s": due_s + 0.1,
        "first_byte_s": due_s + 0.1,
        "first_content_s": first,
        "first_answer_s": first,
        "last_content_s": last,
        "done_s": last + 0.01,
        "chunk_offset_us": offsets_us,
        "chunk_tokens": (1,) * len(offsets_us),
        "output_tokens_got": len(offsets_us),
        "tokens_basis": "usage",
        "outcome": Outcome.OK,
    }
    return RequestRecord(number, **(given | values))


def metric(t_s: float, value: float, name: str = "vllm:num_requests_running") -> Sample:
    return Sample(t_s, "target-0", name, MetricKind.GAUGE, value)


def measured_run(folder: Path, requests: int = 20, *, seed: int = 0) -> Run:
    draw = random.Random(seed)
    with RecordedRun.start(folder, described(Origin.MEASURED)) as run:
        run.note(0.0, "started")
        for number in range(requests):
            gaps = [draw.randrange(1, 90_000) for _ in range(draw.randrange(8))]
            offsets = tuple(sum(gaps[:count]) for count in range(len(gaps) + 1))
            run.append(measured_request(number, number * 0.25, offsets))
            run.append(metric(number * 0.25, draw.randrange(9)))
            run.append(
                GpuSample(number * 0.25, UUID, used_bytes=1 << 34, utilization=draw.random())
            )
    return read_run(folder)


def simulated_run(folder: Path, requests: list[RequestRecord], steps: list[Step]) -> Run:
    with ComputedRun(folder, described()) as run:
        for request in requests:
            run.append(request)
        for step in steps:
            run.append(step)
    return read_run(folder)


def steps_of(ends_s: list[float], engine: int = 0, first: int = 0) -> list[Step]:
    """Steps that end at these moments, each beginning where the one before it ended."""
    begins = [0.0, *ends_s[:-1]]
    return [
        Step(first + place, begin, end, 1, 1, 0, 0.5, engine=engine)
        for place, (begin, end) in enumerate(zip(begins, ends_s, strict=True))
    ]
