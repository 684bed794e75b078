"""Import, synth, profile: within sampling error on real traces, at several seeds."""

from pathlib import Path

import numpy as np
import pytest

from synthesised import numbers, table
from vramledger.workload.importer import Options, import_logs
from vramledger.workload.profile.load import load_profile
from vramledger.workload.store import read_batches
from vramledger.workload.synth.arrivals import Arrivals
from vramledger.workload.synth.line import Verdict
from vramledger.workload.synth.make import make, source_at

TRACES = {
    "azure_llm_2023_code.csv": False,
    "azure_llm_2023_conv.csv": False,
    "mooncake_conversation_trace.jsonl": True,  # its clock has steps of 3 s: spread
    "mooncake_synthetic_trace.jsonl": False,
}
SEEDS = range(3)


@pytest.fixture(scope="module")
def imported(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("imported")
    found = {}
    for name, spread in TRACES.items():
        found[name] = folder / f"{name}.parquet"
        import_logs([str(shared_data / "traces" / name)], found[name], Options(spread=spread))
    return found


@pytest.mark.parametrize("name", TRACES)
def test_every_distance_is_within_sampling_error(
    imported: dict[str, Path], tmp_path: Path, name: str
) -> None:
    source = source_at(imported[name])
    count = source.profile().requests
    beyond = []
    for seed in SEEDS:
        asked = Arrivals(requests=count)
        made = make(source, asked, tmp_path / "made.parquet", seed=seed)
        assert made.closeness
        assert made.closeness.not_compared == ()
        judged = [line for line in made.closeness.lines if line.verdict is not Verdict.NOT_JUDGED]
        assert len(judged) >= 10
        beyond += [(seed, part) for part in made.closeness.beyond]
    assert beyond == []


@pytest.mark.parametrize("name", [name for name, spread in TRACES.items() if not spread])
def test_counts_by_second_agree_with_the_raw_times_and_not_only_with_the_profile(
    imported: dict[str, Path], name: str
) -> None:
    real = numbers(table(read_batches(imported[name])), "arrival_s")
    profile = load_profile(imported[name])
    source = source_at(imported[name])
    seconds = int(real[-1])
    distances = []
    for seed in SEEDS:
        asked = Arrivals(requests=profile.requests)
        made = numbers(table(source.batches(asked, seed, prefix=False)), "arrival_s")
        shares = [
            np.bincount(np.bincount(each.astype(int), minlength=seconds)[:seconds], minlength=500)
            / seconds
            for each in (real, made)
        ]
        distances.append(np.abs(np.cumsum(shares[0] - shares[1])).max())
    limit = 1.63 * (2 / seconds) ** 0.5  # 1 % of pairs of independent samples are beyond (Smirnov)
    assert np.median(distances) < limit


@pytest.mark.parametrize("name", ["azure_llm_2023_conv.csv", "mooncake_synthetic_trace.jsonl"])
def test_lengths_agree_with_the_raw_lengths_together_and_one_by_one(
    imported: dict[str, Path], name: str
) -> None:
    real = table(read_batches(imported[name]))
    made = table(source_at(imported[name]).batches(Arrivals(requests=len(real)), 1, prefix=False))
    limit = 1.63 * (2 / len(real)) ** 0.5
    for weight in ((1, 0), (0, 1), (1, 1), (1, -3), (1, 5)):
        one, other = (
            np.sort(weight[0] * numbers(each, "input_tokens").astype(int)
                    + weight[1] * numbers(each, "output_tokens").astype(int))
            for each in (real, made)
        )  # fmt: skip
        at = np.concatenate((one, other))
        shares = [np.searchsorted(each, at, side="right") / len(each) for each in (one, other)]
        assert np.abs(shares[0] - shares[1]).max() < limit
