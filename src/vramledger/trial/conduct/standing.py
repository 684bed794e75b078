"""A trial as it stands in run.json under `trial`: enough to go on with it after everything else is gone."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.trial.load.job import LoadJob, load_from_json
from vramledger.trial.wire.target import Target

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


@frozen
class Standing:
    """What is needed to send the load and to watch the server.

    `zero_ns` is second 0 of the run on CLOCK_MONOTONIC of the boot named by `boot_id`. `load_sha256` is of the file that
    `load` reads. `tokenizer` is a file that counts answers, where the server does not. `stages` is a file of stages,
    on a clock that is `clock_ahead_s` ahead of ours, give or take `clock_error_s`. `ray` is the cluster that workers are on, None for this machine. `warnings` stand beside every figure of the run; `unseen` is what could not be learned.
    """

    target: Target
    load: LoadJob
    load_sha256: str
    workers: int
    zero_ns: int
    boot_id: str | None
    metrics_url: str | None
    server: str
    gpu_metrics: str | None
    gpu_selector: str
    interval_s: float
    drain_s: float
    on_interrupt: str
    cold: bool
    rate_scale: float
    prompts_said: str
    kv_tokens: int | None = None
    tokenizer: str | None = None
    stages: str | None = None
    clock_ahead_s: float | None = None
    clock_error_s: float | None = None
    ray: str | None = None
    warnings: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON holds it; no secret is in it."""
        import json

        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return plain | {
            "target": self.target.to_json(),
            "load": json.loads(self.load.to_json()),
            "warnings": list(self.warnings),
            "unseen": list(self.unseen),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Standing":
        """What `to_json` made.

        Raises:
            KeyError, TypeError: it is none.
        """
        return cls(
            **{
                **found,
                "target": Target.from_json(dict(found["target"])),
                "load": load_from_json(found["load"]),
                "warnings": tuple(found["warnings"]),
                "unseen": tuple(found["unseen"]),
            }
        )


def boot_id() -> str | None:
    """Which boot of this machine this is, None where the kernel does not tell."""
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return None
