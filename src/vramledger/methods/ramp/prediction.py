"""Where the simulator expects the safe load to end: a place to start a ramp at, and no evidence of anything."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.methods.knee.find import find_limits
from vramledger.methods.knee.probes import Probes
from vramledger.methods.simulated.subject import SimulatedSubject, Standing, standing_of
from vramledger.methods.subject import Axis
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.run import NotServed, Question
from vramledger.simulate.run_notes import times_of
from vramledger.simulate.timing.carrying import refusals

if TYPE_CHECKING:
    from vramledger.record.document import Deployment

TOLERANCE: Final = 0.1
STEP: Final = 1.4  # ratio of steps that begin at a prediction
_OPEN: Final = "auto"  # a server says so of what it worked out for itself
_BELOW: Final = 0.7


@frozen
class Prediction:
    """`level` is the highest safe load in the simulation, None where there is none and `why` says so.

    `basis` is of its step times. `foreign` are the reasons, finished sentences, why a calibration is none of this deployment. `of` is what
    was simulated, as run.json tells a deployment, and `server` says in sentences where the server that was met is another.
    """

    level: float | None
    basis: str
    why: str = ""
    foreign: tuple[str, ...] = ()
    of: Mapping[str, Any] = field(default_factory=dict)
    server: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As ramp.json keeps it."""
        return {
            "level": self.level,
            "basis": self.basis,
            "why": self.why or None,
            "foreign": list(self.foreign),
            "of": dict(self.of),
            "server": list(self.server),
            "evidence": False,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> "Prediction":
        """What `to_json` made."""
        return cls(
            told["level"],
            told["basis"],
            told["why"] or "",
            tuple(told["foreign"]),
            told.get("of", {}),
            tuple(told.get("server", ())),
        )

    def beside(self, in_effect: "Deployment") -> "Prediction":
        """With what it says of a server that tells this of itself; what that does not tell is not compared."""
        from vramledger.record.document import Deployment
        from vramledger.trial.server.differences import changes

        found = changes(Deployment.model_validate(self.of), in_effect)
        told = (
            f"{each.title or f'--{each.name}'} {each.other}, simulated with {each.one}"
            for each in found
            if each.other != _OPEN
        )
        return replace(self, server=tuple(told))


def predicted(question: Question) -> Prediction:
    """The prediction for a load of the question's kind.

    Raises:
        BadInput: no deployment, or no workload.
        CannotKnow: a card, cache, feature or workload that cannot be simulated.
    """
    standing = standing_of(question)
    if isinstance(standing, NotServed):
        return Prediction(None, "derived", f"The deployment does not start: {standing.reason}")
    foreign = refusals(standing.bench.deployment, question.fit)
    of = _simulated(standing)
    basis = str(times_of(standing.bench).basis)
    subject = SimulatedSubject(standing, hits=standing.hits)
    limits = find_limits(Probes(subject, lambda _done, _of_all: None), TOLERANCE)
    held = limits.safe.held or limits.contract.held
    if held is None:
        return Prediction(None, basis, "No load is safe in the simulation.", foreign, of)
    return Prediction(held.level, basis, foreign=foreign, of=of)


def _simulated(standing: Standing) -> dict[str, Any]:
    """What was simulated, of which servers tell something too."""
    deployment = standing.bench.deployment
    settings = settings_of(
        deployment,
        standing.bench.pool,
        prefix_caching=False,
        acceptance=standing.bench.question.acceptance,
    )
    return {
        "engine": "vllm",
        "engine_version": deployment.version,
        "model": deployment.model.id,
        "arguments": {
            "max-model-len": settings.max_model_len,
            "block-size": settings.block_size,
            "enable-prefix-caching": deployment.enable_prefix_caching.value,
            "gpu-memory-utilization": deployment.gpu_memory_utilization.value,
            "kv-cache-dtype": standing.bench.pool.layout.cache_dtype,
        },
    }


def started_at(level: float, axis: Axis) -> float:
    """Where to begin below a predicted end."""
    begin = level * _BELOW
    return max(float(int(begin)), 1.0) if axis is Axis.CONCURRENCY else begin
