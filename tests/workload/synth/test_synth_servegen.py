"""ServeGen's descriptions: read without trust, drawn as they say."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from synthesised import numbers, table
from vramledger.errors import BadInput
from vramledger.workload.synth.arrivals import Arrivals
from vramledger.workload.synth.make import source_at
from vramledger.workload.synth.servegen import is_servegen, read_servegen
from vramledger.workload.synth.servegen_profile import profile_of

TRACE = "0,2.0,1.5,Gamma,0.4444,1.125\n600,0,0,,0,0\n1200,4.0,1.2,Weibull,0.8378,0.2276\n"
LENGTHS = {
    "0": {"input_tokens": "{50: 0.25, 90: 0.75}", "output_tokens": "{2: 1.0}"},
    "600": {"input_tokens": "{}", "output_tokens": "{}"},
    "1200": {"input_tokens": "{700: 5e-1, 7000: 0.5}", "output_tokens": "{10: 0.5, 20: 0.5}"},
}


def chunk(folder: Path, number: int = 1, trace: str = TRACE, lengths: Any = LENGTHS) -> Path:
    (folder / f"chunk-{number}-dataset.json").write_text(json.dumps(lengths), encoding="utf-8")
    path = folder / f"chunk-{number}-trace.csv"
    path.write_text(trace, encoding="utf-8")
    return path


def test_windows_tables_and_the_length_of_the_last_window_are_read(tmp_path: Path) -> None:
    found = read_servegen(chunk(tmp_path))
    (client,) = found.clients
    assert [window.seconds for window in client.windows] == [600, 600, 600]
    assert [window.shape for window in client.windows] == [0.4444, None, 0.8378]
    assert [each.start_s for each in client.tables] == [0, 1200]
    assert client.tables[0].inputs == ((50, 0.25), (90, 0.75))
    assert found.mean_per_s == (2 + 4) / 3


def test_a_folder_is_all_its_chunks_by_number_and_datasets_may_be_packed(tmp_path: Path) -> None:
    for number in (10, 2):
        chunk(tmp_path, number, TRACE.replace("2.0", f"{number}.0"))
    plain = tmp_path / "chunk-2-dataset.json"
    (tmp_path / "chunk-2-dataset.json.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert is_servegen(tmp_path)
    found = read_servegen(tmp_path)
    assert [client.windows[0].per_s for client in found.clients] == [2, 10]


def test_requests_come_at_the_rates_and_with_the_lengths_of_their_window(tmp_path: Path) -> None:
    source = source_at(chunk(tmp_path))
    counts = []
    for seed in range(30):
        made = table(source.batches(Arrivals(seconds=1800.0), seed, prefix=True))
        times, inputs = numbers(made, "arrival_s"), numbers(made, "input_tokens")
        assert times[0] == 0
        assert (np.diff(times) >= 0).all()
        assert set(inputs[times < 600].tolist()) == {50, 90}
        assert set(inputs[times >= 1200].tolist()) == {700, 7000}
        counts.append([(times < 600).sum(), ((times >= 600) & (times < 1200)).sum(), len(times)])
    first, quiet, whole = np.array(counts).T
    assert not quiet.any()
    for found, expected in ((first, 1200), (whole, 3600)):
        assert abs(found.mean() - expected) < 4 * found.std() / 30**0.5


def test_an_uneven_and_quiet_client_has_no_more_requests_at_windows_edges(tmp_path: Path) -> None:
    trace = "".join(f"{600 * k},0.01,4.0,Gamma,0.0625,1600\n" for k in range(50))
    source = source_at(chunk(tmp_path, trace=trace))
    found = np.array(
        [
            table(source.batches(Arrivals(seconds=30_000.0), seed, prefix=True)).num_rows
            for seed in range(60)
        ]
    )
    assert abs(found.mean() - 300) < 4 * found.std() / 60**0.5


def test_passes_follow_each_other_and_a_rate_scales_them(tmp_path: Path) -> None:
    source = source_at(chunk(tmp_path))
    made = table(source.batches(Arrivals(requests=20_000, rate=4.0), 1, prefix=True))
    times = numbers(made, "arrival_s")
    assert len(times) == 20_000
    assert times[-1] == pytest.approx(20_000 / 4.0, rel=0.05)


def test_tenants_are_the_clients(tmp_path: Path) -> None:
    chunk(tmp_path, 1)
    chunk(tmp_path, 2, TRACE.replace("2.0", "6.0"))
    made = table(source_at(tmp_path).batches(Arrivals(seconds=600.0), 1, prefix=True))
    tenants = numbers(made, "tenant")
    assert (tenants == 1).mean() == pytest.approx(0.75, abs=0.05)


def test_the_profile_of_a_description_is_what_is_to_be_expected(tmp_path: Path) -> None:
    found = profile_of(read_servegen(chunk(tmp_path)), 1500.0)
    assert found.requests == 1200 + 1200
    assert found.input_tokens is not None
    assert found.joint is not None
    assert found.input_tokens.mean == pytest.approx((80 + 3850) / 2)
    assert found.input_tokens.max == 7000
    assert found.arrival.per_step[:11] == (120,) * 10 + (0,)
    assert sum(found.arrival.per_step) == 2400
    assert sum(cell.input_total for cell in found.joint.cells) == found.input_tokens.total


def test_a_sample_of_the_real_thing_is_read_whole(shared_data: Path) -> None:
    trace = next((shared_data / "traces").glob("servegen*-trace.csv"))
    found = read_servegen(trace)
    (client,) = found.clients
    lines = trace.read_text(encoding="utf-8").splitlines()
    assert len(client.windows) == len(lines)
    rates = [float(line.split(",")[1]) for line in lines]
    assert found.mean_per_s == pytest.approx(sum(rates) / len(rates))
    for each in client.tables:
        assert sum(share for _, share in each.inputs) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("trace", "lengths", "sentence"),
    [
        ("", LENGTHS, "{trace} is empty; a trace has one line for every window."),
        (
            "0,1,1,Gamma,1\n",
            LENGTHS,
            (
                "{trace}, line 1 has 5 columns, and a trace of ServeGen has 6 (start, rate, cv, "
                "distribution, shape, scale); name another file."
            ),
        ),
        (
            "0,1,1,Gamma,1,1\n600,-3,1,Gamma,1,1\n",
            LENGTHS,
            "{trace}, line 2: the rate is no number of 0 or more; mend that line.",
        ),
        (
            "600,1,1,Gamma,1,1\n0,1,1,Gamma,1,1\n",
            LENGTHS,
            "{trace}: its windows do not come in order of time; sort it by column 1.",
        ),
        (
            "0,0,0,,0,0\n",
            LENGTHS,
            "{trace} describes no requests: every window's rate is 0; name another.",
        ),
        (TRACE, [], "{dataset} holds no object of windows; name a dataset of ServeGen."),
        (TRACE, {}, "{dataset} holds no lengths in any window; name another dataset."),
        (TRACE, {"0": 3}, "{dataset}, window 0 is no object; name a dataset of ServeGen."),
        (
            TRACE,
            {"0": {"input_tokens": "{1: 1}", "output_tokens": None}},
            "{dataset}, window 0 has no output_tokens as text; name a dataset of ServeGen.",
        ),
        (
            TRACE,
            {"0": {"input_tokens": "__import__('os')", "output_tokens": "{1: 1}"}},
            '{dataset}, window 0: input_tokens is not of the form "{{tokens: share, ...}}"; mend it.',
        ),
        (
            TRACE,
            {"0": {"input_tokens": "{1: 1}", "output_tokens": "{1: -1}"}},
            '{dataset}, window 0: output_tokens is not of the form "{{tokens: share, ...}}"; mend it.',
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    tmp_path: Path, trace: str, lengths: Any, sentence: str
) -> None:
    path = chunk(tmp_path, trace=trace, lengths=lengths)
    with pytest.raises(BadInput) as refusal:
        read_servegen(path)
    dataset = tmp_path / "chunk-1-dataset.json"
    assert str(refusal.value) == sentence.format(trace=path, dataset=dataset)


def test_a_trace_without_its_dataset_is_refused(tmp_path: Path) -> None:
    path = chunk(tmp_path)
    (tmp_path / "chunk-1-dataset.json").unlink()
    with pytest.raises(BadInput) as refusal:
        read_servegen(path)
    assert str(refusal.value) == (
        f"{path} has no chunk-1-dataset.json beside it, which holds the lengths; put it there, packed "
        "(.gz) or not."
    )


def test_a_truncated_dataset_is_refused(tmp_path: Path) -> None:
    path = chunk(tmp_path)
    plain = tmp_path / "chunk-1-dataset.json"
    packed = gzip.compress(plain.read_bytes())[:-12]
    plain.unlink()
    (tmp_path / "chunk-1-dataset.json.gz").write_bytes(packed)
    with pytest.raises(BadInput, match=r"chunk-1-dataset\.json\.gz cannot be read: "):
        read_servegen(path)
