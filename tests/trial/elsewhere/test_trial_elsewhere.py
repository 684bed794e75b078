"""Workers on other machines: clocks, files, segments, and the split of a load."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stored_workloads import chats, stored
from vramledger.record.segments import FOLDER
from vramledger.trial.client.job import WorkerJob, places_of
from vramledger.trial.elsewhere.hand import Piece
from vramledger.trial.elsewhere.landing import Landing
from vramledger.trial.elsewhere.luggage import KEY_ENV, files_of, packed, unpacked
from vramledger.trial.elsewhere.offset import Offset, measured
from vramledger.trial.load import LoadJob, open_load
from vramledger.trial.load.job import PromptSettings, load_from_json
from vramledger.trial.load.prepare import LoadAsked, prepare_load
from vramledger.trial.load.rest import Rest, write_done
from vramledger.trial.prompts.body import COMPLETIONS, LENGTH, BodyStyle
from vramledger.trial.prompts.lexicon import ids_lexicon
from vramledger.trial.wire.target import Target
from vramledger.workload.operators.prepared import Part

STYLE = BodyStyle(COMPLETIONS, "m", length={"ignore_eos": True, "min_tokens": LENGTH})
PROMPTS = PromptSettings(STYLE, ids_lexicon(), salt=11)
SMALL = st.integers(0, 10**7)


@given(st.integers(-(10**15), 10**15), st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=30))
def test_an_offset_lies_within_its_error_however_slow_the_ways_are(
    ahead: int, ways: list[tuple[int, int]]
) -> None:
    now = 0
    left = iter(ways)

    def there() -> int:
        nonlocal now
        out, back = next(left)
        now += out
        read = now + ahead
        now += back
        return read

    found = measured(there, lambda: now, len(ways))
    assert abs(found.ahead_ns - ahead) <= found.error_ns
    assert found.error_ns <= (min(out + back for out, back in ways) + 1) // 2 + 1


def test_a_drift_is_part_of_the_error() -> None:
    assert Offset(1000, 5).drifted(Offset(1300, 20)) == 320
    with pytest.raises(ValueError, match="no round trip"):
        measured(lambda: 0, lambda: 0, 0)


@given(st.integers(1, 60), st.integers(1, 12))
def test_places_of_a_closed_loop_are_split_without_one_lost(closed: int, parts: int) -> None:
    found = [places_of(closed, part, parts) for part in range(parts)]
    counts = [each for each in found if each is not None]
    assert sum(counts) == closed
    assert max(counts) - min(counts) <= 1


@given(st.integers(1, 9), st.integers(1, 14), st.integers(0, 99))
def test_parts_are_the_workload_at_its_own_times(
    tmp_path_factory: pytest.TempPathFactory, parts: int, sessions: int, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("split")
    path = stored(folder / "w.parquet", chats(sessions, turns=2, seed=seed, span_s=60))
    job = prepare_load(LoadAsked(Part(path, None, 1), PROMPTS), folder).job
    whole = {each.number: each for each in open_load(job, 0, 1)}
    split = [list(open_load(job, part, parts)) for part in range(parts)]
    numbers = [each.number for part in split for each in part]
    assert sorted(numbers) == sorted(whole)
    owners: dict[int | None, set[int]] = {}
    for place, part in enumerate(split):
        assert [each.due_s for each in part] == [whole[each.number].due_s for each in part]
        assert [each.body for each in part] == [whole[each.number].body for each in part]
        order = [number for number in whole if number in {each.number for each in part}]
        assert [each.number for each in part] == order
        for each in part:
            owners.setdefault(each.session, set()).add(place)
    assert all(len(places) == 1 for places in owners.values())


def job_of(folder: Path, **values: Any) -> WorkerJob:
    path = stored(folder / "w.parquet", chats(3, span_s=9))
    load = LoadJob(str(path), PROMPTS).to_json()
    target = Target("http://h:1", COMPLETIONS, key_file="/secret/key")
    given: dict[str, Any] = {
        "target": target,
        "load": load,
        "folder": "/run",
        "zero_ns": 7,
        "cpu": 1,
    }
    return WorkerJob(**(given | values))


def test_a_job_takes_its_files_along_and_no_key(tmp_path: Path) -> None:
    write_done([1, 2], tmp_path / "sent.bin")
    (tmp_path / "tokenizer.json").write_text("{}")
    job = job_of(
        tmp_path,
        rest=Rest(str(tmp_path / "sent.bin"), 1.5),
        tokenizer=str(tmp_path / "tokenizer.json"),
    )
    there = packed(job, 1000, with_key=True)
    assert (there.zero_ns, there.cpu) == (1007, None)
    assert (there.target.key_env, there.target.key_file) == (KEY_ENV, None)
    assert packed(job, 0, with_key=False).target.key_env is None
    files = files_of(job)
    (tmp_path / "far").mkdir()
    sent = unpacked(
        WorkerJob.from_json(json.loads(json.dumps(there.to_json()))), files, tmp_path / "far"
    )
    assert sent.folder == str(tmp_path / "far")
    load = load_from_json(sent.load)
    assert Path(load.workload).parent == tmp_path / "far"
    assert Path(load.workload).read_bytes() == (tmp_path / "w.parquet").read_bytes()
    assert sent.rest is not None
    assert Path(sent.rest.done).read_bytes() == (tmp_path / "sent.bin").read_bytes()
    assert (sent.rest.from_s, load.prompts) == (1.5, PROMPTS)
    assert sent.tokenizer is not None
    assert Path(sent.tokenizer).read_text() == "{}"


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_segments_land_as_they_were_after_those_that_are_there(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, cuts: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    (folder / FOLDER).mkdir()
    before = folder / FOLDER / "requests.worker-0.0003.arrows"
    before.write_bytes(b"before")
    landing = Landing(folder)
    edges = sorted({0, len(content), *(min(cut, len(content)) for cut in cuts)})
    for start, end in pairwise(edges):
        landing.take(Piece("requests.worker-0.0001.arrows", start, content[start:end]))
    after = folder / FOLDER / "requests.worker-0.0004.arrows"
    assert (after.read_bytes() if content else b"") == content
    assert before.read_bytes() == b"before"


@pytest.mark.parametrize("name", ["../x.w.0001.arrows", "requests.w.arrows", "/etc/passwd"])
def test_a_name_that_is_no_segment_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is no segment"):
        Landing(tmp_path).take(Piece(name, 0, b"x"))
    with pytest.raises(ValueError, match="goes on at 5, and 0 bytes are here"):
        Landing(tmp_path).take(Piece("requests.w-0.0001.arrows", 5, b"x"))
    assert list((tmp_path / FOLDER).iterdir()) == []
