"""Every sample of a production log is recognised as what it is, by no other format."""

from pathlib import Path

import pytest

from vramledger.workload.formats.format import Framing, Head
from vramledger.workload.formats.registry import format_named, formats
from vramledger.workload.recognise import Heads, recognise
from workload_log_samples import LOG_VARIANTS, LOGS
from workload_samples import TRACES, VARIANTS

_LOGS = {name: (name, *sample) for name, sample in LOGS.items()} | dict(LOG_VARIANTS.items())
_TRACES = {name: (name, *sample) for name, sample in TRACES.items()} | dict(VARIANTS.items())


def _claims(path: Path) -> set[str]:
    heads = Heads(path)
    return {
        each.name
        for each in formats()
        if any(each.recognise(head) for head in heads.all(each.framings))
    }


@pytest.mark.parametrize("label", _LOGS)
def test_a_log_is_claimed_by_its_own_format_alone(label: str, tmp_path: Path) -> None:
    name, file_name, content = _LOGS[label]
    path = tmp_path / file_name
    path.write_bytes(content)
    assert _claims(path) == {name}
    assert recognise(path).format.name == name


@pytest.mark.parametrize("label", _TRACES)
def test_a_trace_is_claimed_by_no_format_of_logs(label: str, tmp_path: Path) -> None:
    _, file_name, content = _TRACES[label]
    path = tmp_path / file_name
    path.write_bytes(content)
    assert not _claims(path) & LOGS.keys()


def test_the_variants_are_of_formats_that_exist() -> None:
    for variant in LOG_VARIANTS.values():
        assert variant.format in LOGS


def test_every_log_format_says_where_it_is_written_down_and_what_it_lacks() -> None:
    for name in LOGS:
        found = format_named(name)
        assert found.source.startswith("https://")
        assert found.lacks
        assert all(sentence.endswith(".") and sentence.isprintable() for sentence in found.lacks)


@pytest.mark.parametrize(
    "line",
    [
        "2026-03-02 09:00:00,250 INFO app.server: started",
        "just words",
        "[2026-03-02T09:00:00Z] INFO started",
        '{"level": "info", "msg": "started", "status": 200}',
    ],
)
def test_lines_of_other_programs_are_claimed_by_none(line: str) -> None:
    head = Head(Framing.TEXT, lines=(line,) * 5)
    assert not [name for name in LOGS if format_named(name).recognise(head)]
