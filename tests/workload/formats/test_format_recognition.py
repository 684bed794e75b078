"""Every sample is recognised as what it is, and by nothing that stands before it."""

from pathlib import Path

import pytest

from vramledger.errors import BadInput
from vramledger.workload.formats.format import Context, Framing, Head
from vramledger.workload.formats.registry import formats
from vramledger.workload.recognise import Heads, recognise
from workload_log_samples import LOG_VARIANTS, LOGS
from workload_samples import REFUSED, TRACES, VARIANTS

_SAMPLES = (
    [(name, name, *sample) for name, sample in (TRACES | LOGS).items()]
    + [(label, *variant) for label, variant in (VARIANTS | LOG_VARIANTS).items()]
    + [(label, "servegen", *sample) for label, sample in REFUSED.items()]
)
_ALSO = {  # format -> a later one that would take its files too, with less of what they say
    "mooncake": {"timed-trace"},
    "bailian": {"timed-trace"},
    "aiperf-trace": {"timed-trace"},
}


@pytest.mark.parametrize(
    ("name", "file_name", "content"),
    [each[1:] for each in _SAMPLES],
    ids=[each[0] for each in _SAMPLES],
)
def test_a_sample_is_recognised_by_its_own_format_alone(
    name: str, file_name: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / file_name
    path.write_bytes(content)
    heads = Heads(path)
    claims = [
        each.name
        for each in formats()
        if any(each.recognise(head) for head in heads.all(each.framings))
    ]
    assert claims[0] == name
    assert set(claims[1:]) <= _ALSO.get(name, set())
    assert recognise(path).format.name == name


def test_every_format_has_a_sample() -> None:
    assert {each.name for each in formats()} == TRACES.keys() | LOGS.keys() | {"servegen"}
    assert {
        each.format for each in (VARIANTS | LOG_VARIANTS).values()
    } <= TRACES.keys() | LOGS.keys()


def test_no_format_takes_an_empty_head() -> None:
    for each in formats():
        for framing in Framing:
            assert not each.recognise(Head(framing)), (each.name, framing)


@pytest.mark.parametrize("label", REFUSED)
def test_a_description_of_rates_is_refused_with_what_reads_it(label: str, tmp_path: Path) -> None:
    path = tmp_path / REFUSED[label].file_name
    path.write_bytes(REFUSED[label].content)
    found = recognise(path)
    assert found.format.refusal == (
        "This describes rates and lengths of a ServeGen client and holds no requests; "
        "`vram workload synth --like` reads it and draws requests from it."
    )
    with pytest.raises(BadInput, match="holds no requests"):
        found.format.parser(Context(found.head))


@pytest.mark.parametrize(
    "row",
    [
        b"0,88.06,1.15,Uniform,0.75,0.015\n",
        b"0,88.06,1.15,Gamma,0.75\n",
        b"7,88.06,1.15,Gamma,0.75,0.015\n",
    ],
)
def test_rows_that_only_resemble_a_description_of_rates_are_not_taken_for_one(
    row: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(row)
    with pytest.raises(BadInput, match="none of the"):
        recognise(path)
