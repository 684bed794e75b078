"""Two recorded runs of a real server on GPUs: with three fitted numbers for the step time, the loop replays them.

The step time is a constant, a cost for each prefill token and one for each token of context that is decoded;
whatever the loop and the scheduler did differently would show in the means.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from vramledger.engine.vllm.versions import rules_for
from vramledger.frozen import frozen
from vramledger.simulate.engine_loop import Cost
from vramledger.simulate.loop import simulate
from vramledger.simulate.outcome import Outcome
from vramledger.simulate.request import Arrival
from vramledger.simulate.rules import scheduling_rules
from vramledger.simulate.settings import Settings
from vramledger.simulate.step import Features


@frozen
class Recorded:
    """A run: its file, the pool's blocks, the sequences, and the fitted nanoseconds."""

    file: str
    blocks: int
    sequences: int
    constant: float
    prefill_token: float
    context_token: float


ONE_CARD = Recorded("lss_RTX4090_Llama-3.1-8B", 2588, 256, 15.4e6, 90e3, 235)
TWO_CARDS = Recorded("lss_RTXPRO6000_Qwen3-32B", 100_000, 128, 25.4e6, 161e3, 249)


def _cost(run: Recorded) -> Cost:
    def cost(features: Features) -> int:
        return round(
            run.constant
            + run.prefill_token * features.prefill_tokens
            + run.context_token * features.decode_context
        )

    return cost


def _replay(run: Recorded, rows: list[dict[str, float]]) -> Outcome:
    start = min(row["arrival_time"] for row in rows)
    arrivals = [
        Arrival(
            round((row["arrival_time"] - start) * 1e9),
            int(row["input_toks"]),
            int(row["output_toks"]),
        )
        for row in rows
    ]
    settings = Settings(
        num_blocks=run.blocks,
        block_size=16,
        token_budget=2048,
        max_num_seqs=run.sequences,
        max_model_len=32768,
        async_scheduling=True,
        rules=scheduling_rules(rules_for("0.19.0").rules),
    )
    return simulate(settings, arrivals, _cost(run))


def _means(columns: list[list[float]]) -> list[float]:
    """Mean time to the first token, between tokens, and in all.

    The columns are when a request was queued, its first and its last token, and the number of its tokens.
    """
    start, begin, end, count = (np.asarray(column) for column in columns)
    return [
        float(np.mean(begin - start)),
        float(np.mean((end - begin) / (count - 1))),
        float(np.mean(end - start)),
    ]


@pytest.mark.parametrize(
    ("run", "error", "preemptions"),
    [(ONE_CARD, 0.02, range(150, 250)), (TWO_CARDS, 0.005, range(1))],
    ids=["one card, short of blocks", "two cards, short of sequences"],
)
def test_means_of_a_recorded_run_come_out(
    shared_data: Path, run: Recorded, error: float, preemptions: range
) -> None:
    lines = (shared_data / "perf" / f"{run.file}_vllm_requests.jsonl").read_text().splitlines()
    rows = sorted((json.loads(line) for line in lines), key=lambda row: row["arrival_time"])
    outcome = _replay(run, rows)

    stamps = ("queued_ts", "first_token_ts", "last_token_ts", "output_toks")
    measured = _means([[row[name] for row in rows] for name in stamps])
    times = ("queued_ns", "first_token_ns", "last_token_ns")
    columns = [[getattr(one, name) / 1e9 for one in outcome.requests] for name in times]
    simulated = _means([*columns, [one.output_tokens for one in outcome.requests]])
    assert simulated == pytest.approx(measured, rel=error)
    assert outcome.preemptions in preemptions
    assert outcome.stuck == ""
