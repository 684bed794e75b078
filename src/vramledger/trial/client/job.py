"""What a worker process is told: one JSON object on its standard input, on one line.

After it, lines of words steer the worker; the worker answers with JSON objects, one a line, on its standard output.

| to the worker | meaning |
|---|---|
| ``start NS`` | second 0 of the load is at this nanosecond of CLOCK_MONOTONIC; only where the job has no `start_ns` |
| ``drain`` | send nothing more, let what is under way end |
| ``cancel`` | send nothing more, give up what is under way; SIGTERM and the end of the input mean the same |

| from the worker, by `event` | meaning |
|---|---|
| ``ready`` | connections are open and the beginning of the load is made; it waits for ``start`` |
| ``progress`` | every 250 ms: `t_s`, `sent`, `in_flight`, `waiting`, `ended` by outcome, `failures` by class, `tokens`, `ttft_s` (a sketch of the time since the last line), `late_p99_s` |
| ``ended`` | the last line: the same over the whole run, with `health` (see `client.health`), `examples` of the server's own words by class of failure (not for a record), and `how`: ``complete``, ``drained`` or ``cancelled`` |
| ``error`` | it cannot go on: `message`, a finished sentence, and `exit_code` |
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from vramledger.frozen import frozen
from vramledger.trial.load.rest import Rest
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.target import Target


@frozen
class WorkerJob:
    """One worker's part of a trial.

    `load` is the text that `trial.load.LoadJob.to_json` made; this worker sends part `part` of `parts` of it. Rows go to
    the run in `folder` under the name `writer`. `zero_ns` is second 0 of the run on CLOCK_MONOTONIC, which all processes
    of a machine share; `start_ns` second 0 of the load, None to wait for ``start``. `closed` is how many requests this
    worker keeps under way, None for an open loop. After `duration_s` of the load nothing more is sent, and what is under way
    may end. `cpu` is the core to stay on, None for any. With `rest`, a part of the load was sent before.
    """

    target: Target
    load: str
    folder: str
    zero_ns: int
    writer: str = "worker-0"
    part: int = 0
    parts: int = 1
    start_ns: int | None = None
    closed: int | None = None
    duration_s: float | None = None
    cpu: int | None = None
    limits: Limits = field(default_factory=Limits)
    rest: Rest | None = None
    tokenizer: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The job as a JSON object; it holds no secret."""
        return {
            "target": self.target.to_json(),
            "load": self.load,
            "folder": self.folder,
            "zero_ns": self.zero_ns,
            "writer": self.writer,
            "part": self.part,
            "parts": self.parts,
            "start_ns": self.start_ns,
            "closed": self.closed,
            "duration_s": self.duration_s,
            "cpu": self.cpu,
            "limits": self.limits.to_json(),
            "rest": None if self.rest is None else self.rest.to_json(),
            "tokenizer": self.tokenizer,
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "WorkerJob":
        """What `to_json` made."""
        rest = {name: found[name] for name in found if name not in ("target", "limits", "rest")}
        return cls(
            target=Target.from_json(found["target"]),
            limits=Limits.from_json(found["limits"]),
            rest=Rest(**found["rest"]) if found.get("rest") else None,
            **rest,
        )


def places_of(closed: int | None, part: int, parts: int) -> int | None:
    """How many of a closed loop's requests under way are this part's; None for an open loop."""
    return None if closed is None else closed // parts + (part < closed % parts)
