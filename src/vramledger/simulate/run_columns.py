"""A simulation as the arrays that its overview is made of."""

from typing import TYPE_CHECKING

import numpy as np

from vramledger.record.overview.columns import (
    LATENCIES,
    Gaps,
    RequestColumns,
    RunColumns,
    StepColumns,
)
from vramledger.simulate.answers import gib_of_block
from vramledger.simulate.figures import seconds
from vramledger.simulate.output_gaps import output_gaps

if TYPE_CHECKING:
    from vramledger.simulate.engines import Engine
    from vramledger.simulate.run import Played, Simulation


def run_columns(simulation: "Simulation", played: "Played") -> RunColumns:
    """The columns of one of a simulation's runs, equal to those of its directory but for more known."""
    offered, figures = played.offered, played.figures
    layout = simulation.deployment.layout
    block = gib_of_block(simulation.pool.layout.bytes_per_block, layout.tp * layout.pcp)
    gaps = output_gaps(played.engines)
    return RunColumns(
        RequestColumns(
            figures.columns["due_s"],
            offered.input_tokens.astype(np.float64),
            offered.output_tokens.astype(np.float64),
            {name: figures.latency[name] for name in LATENCIES},
            figures.found["block_ns"].astype(np.float64) * block / 1e9,
        ),
        tuple(_steps(engine, played.settings.num_blocks) for engine in played.engines),
        Gaps(gaps.seconds, gaps.events),
    )


def _steps(engine: "Engine", num_blocks: int) -> StepColumns:
    steps = engine.found.steps
    counts = {name: steps[name].astype(np.float64) for name in ("running", "waiting", "preempted")}
    return StepColumns(
        seconds(steps["start_ns"]),
        seconds(steps["end_ns"]),
        kv_usage=steps["used_blocks"] / max(num_blocks - 1, 1),
        **counts,
    )
