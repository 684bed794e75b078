"""An engine of a drawn deployment, and requests through it in wall time: its steps may be slower for a while, or stand."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vramledger.engine.launch import Flag, Launch
from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import BadInput, VramError
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.simulate.drafted_cost import deployment_cost
from vramledger.simulate.engines import Arriving, run_engines
from vramledger.simulate.fast.records import UNSET, FastOutcome
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.offered import Offered
from vramledger.simulate.prefixes import Prefixes, no_prefixes
from vramledger.simulate.priced import typical_of
from vramledger.simulate.saturation import balance_of, held, mix_of, per_s
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.timing.coefficients import shipped

Array = np.ndarray[Any, np.dtype[Any]]

PLACES = (
    ("meta-llama/Llama-3.1-8B-Instruct", "H100-80GB-SXM", 1), ("meta-llama/Llama-3.1-8B-Instruct", "A100-80GB-SXM", 1),
    ("meta-llama/Llama-3.1-8B-Instruct", "L40S", 1), ("Qwen/Qwen2.5-7B-Instruct", "A100-40GB-SXM", 1),
    ("Qwen/Qwen2.5-14B-Instruct", "H100-80GB-SXM", 1), ("Qwen/Qwen2.5-32B-Instruct", "H100-80GB-SXM", 2),
    ("Qwen/Qwen3-8B", "RTX-4090", 1), ("Qwen/Qwen3-14B", "L40S", 1), ("meta-llama/Llama-3.1-70B-Instruct", "H100-80GB-SXM", 4),
    ("Qwen/Qwen2.5-72B-Instruct", "H200-141GB-SXM", 2), ("Qwen/Qwen3-32B", "A100-80GB-SXM", 2),
)  # fmt: skip
SLOW_PLACES = (
    ("Qwen/Qwen2.5-32B-Instruct", "L4", 4), ("meta-llama/Llama-3.1-70B-Instruct", "L4", 8), ("Qwen/Qwen2.5-14B-Instruct", "L4", 2),
)  # fmt: skip
VERSIONS = ("0.11.0", "0.15.1", "0.19.0", "0.24.0", "0.30.0", "0.33.0")


@dataclass
class Engine:
    """A deployment with its settings and step cost."""

    deployment: Deployment
    settings: Settings
    cost: StepCost
    pool_bytes: int

    def saturation(self, inputs: Array, outputs: Array) -> float:
        """Requests a second of this mix that it serves at most."""
        return self._rate(inputs, outputs)[0]

    def room(self, inputs: Array, outputs: Array) -> float:
        """Requests that the pool holds at once."""
        return self._rate(inputs, outputs)[1]

    def _rate(self, inputs: Array, outputs: Array) -> tuple[float, float]:
        count = len(inputs)
        zeros = np.zeros(count, np.int64)
        offered = Offered(
            np.arange(count), zeros, inputs, outputs, zeros - 1, zeros - 1, zeros - 1, np.zeros(0, np.int64), zeros, 0, 0,
        )  # fmt: skip
        mix = mix_of(offered, self.settings)
        if mix is None:
            raise BadInput("No request of this mix is served.")
        room = held(self.settings, mix)
        at_once = min(room, float(self.settings.max_num_seqs))
        return per_s(balance_of(self.settings, mix, at_once), self.settings, self.cost), room


def drawn_engine(
    draw: np.random.Generator,
    mean_input: float,
    mean_output: float,
    *,
    slow: bool = False,
    **flags: int,
) -> Engine:
    """An engine of a drawn place and version; `flags` are engine arguments."""
    places = SLOW_PLACES if slow else PLACES
    while True:
        model, card, tp = places[int(draw.integers(len(places)))]
        given = {"tensor-parallel-size": tp, "max-model-len": 32768 if mean_input > 4000 else 16384}
        given |= {name.replace("_", "-"): value for name, value in flags.items()}
        launch = Launch(
            "vllm",
            model,
            tuple(Flag(name, str(value), f"--{name}") for name, value in given.items()),
        )
        version = VERSIONS[int(draw.integers(len(VERSIONS)))]
        try:
            case = Case(launch, model_of(launch), accelerator_for(card), version)
            ledger = case.ledger()
            if ledger.pool is None or not ledger.pool.fits_one:
                continue
            deployment = ledger.deployment
            settings = settings_of(deployment, ledger.pool, prefix_caching=True)
        except VramError:
            continue
        cost = deployment_cost(
            deployment, shipped().coefficients, typical_of(mean_input, mean_output)
        )
        pool = sum(ledger.pool.layout.bytes_per_block) * settings.num_blocks
        return Engine(deployment, settings, cost, pool)


@dataclass
class Warp:
    """Wall time over the engine's own: it runs `pace` times slower in some spans, and stands for some moments."""

    wall: Array
    engine: Array

    @classmethod
    def none(cls) -> "Warp":
        """The same."""
        return cls(np.array([0.0, 1e6]), np.array([0.0, 1e6]))

    @classmethod
    def slowed(cls, spans: list[tuple[float, float, float]]) -> "Warp":
        """Spans of wall time (from, to, how much slower), in order; infinite stands still."""
        wall, engine = [0.0], [0.0]
        for asked, end, slower in spans:
            begin = max(asked, wall[-1])
            engine.append(engine[-1] + begin - wall[-1])
            wall.append(begin)
            engine.append(engine[-1] + (end - begin) / slower)
            wall.append(end)
        wall.append(wall[-1] + 1e6)
        engine.append(engine[-1] + 1e6)
        return cls(np.array(wall), np.array(engine))

    def to_engine(self, wall_s: Array) -> Array:
        """Engine seconds of wall seconds."""
        return np.interp(wall_s, self.wall, self.engine)

    def to_wall(self, engine_s: Array) -> Array:
        """Wall seconds of engine seconds."""
        return np.interp(engine_s, self.engine, self.wall)


@dataclass
class Served:
    """Requests as the engine stamped them, and its steps, in wall seconds."""

    found: FastOutcome
    queued_s: Array
    scheduled_s: Array
    first_s: Array
    last_s: Array
    step_start_s: Array
    step_end_s: Array

    @property
    def requests(self) -> Any:
        """Rows of what became of them."""
        return self.found.requests

    @property
    def steps(self) -> Any:
        """Rows of the steps."""
        return self.found.steps


def serve(
    engine: Engine,
    arrival_s: Array,
    inputs: Array,
    outputs: Array,
    warp: Warp,
    prefixes: Prefixes | None = None,
) -> Served:
    """The requests on the engine; `arrival_s` is wall time at the engine."""
    arriving = Arriving(
        arrival_ns=np.rint(warp.to_engine(arrival_s) * 1e9).astype(np.int64),
        input_tokens=inputs,
        output_tokens=outputs,
        cancel_after_ns=np.full(len(inputs), -1, np.int64),
        prefixes=prefixes or no_prefixes(len(inputs)),
    )
    settings = (
        engine.settings if prefixes is not None else replace(engine.settings, prefix_caching=False)
    )
    (one,) = run_engines(settings, arriving, engine.cost, 1, seed=0, progress=lambda _, __: None)
    rows = np.zeros(len(inputs), one.found.requests.dtype)
    rows[one.places] = one.found.requests
    found = replace(one.found, requests=rows)

    def wall(name: str) -> Array:
        values = rows[name]
        return np.where(values == UNSET, np.nan, warp.to_wall(values / 1e9))

    return Served(
        found, wall("queued_ns"), wall("scheduled_ns"), wall("first_token_ns"), wall("last_token_ns"),
        warp.to_wall(found.steps["start_ns"] / 1e9), warp.to_wall(found.steps["end_ns"] / 1e9),
    )  # fmt: skip
