"""A run that is written while it happens: what is read back, and what a kill leaves."""

import json
import multiprocessing
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recorded_runs import described, measured_request, measured_run, metric, record_every_fourth
from vramledger.errors import BadInput
from vramledger.record.closing import close_interrupted
from vramledger.record.document import Deployment, Ended, Origin
from vramledger.record.outcome import Outcome
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.recorder import FLUSH_S
from vramledger.record.requests import REQUESTS, RequestRecord
from vramledger.record.run import read_run
from vramledger.record.samples import SERVER
from vramledger.record.segments import segments, whole_batches

MEASURED = described(Origin.MEASURED)


def test_what_was_recorded_is_read_back_in_order(tmp_path: Path) -> None:
    with RecordedRun.start(tmp_path / "run", MEASURED) as run:
        for number in (2, 0, 1):
            run.append(measured_request(number, float(number), (0, 10)))
            run.append(metric(float(number), number))
        run.note(0.5, "server restarted", target="target-0")
    found = read_run(tmp_path / "run")
    assert found.requests.read(["request_id"])["request_id"].to_pylist() == [0, 1, 2]
    assert found.table(SERVER).read(["value"])["value"].to_pylist() == [0.0, 1.0, 2.0]
    (entry,) = found.journal().entries
    assert (entry.t_s, entry.event, entry.details) == (
        0.5,
        "server restarted",
        {"target": "target-0"},
    )
    assert found.description.ended is Ended.COMPLETE
    assert found.description.torn_segments == []
    found.check_unchanged()


def test_a_closed_run_holds_its_files_and_nothing_else(tmp_path: Path) -> None:
    measured_run(tmp_path / "run")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "gpu.parquet",
        "journal.jsonl",
        "requests.parquet",
        "run.json",
        "server.parquet",
    ]


def test_a_run_without_requests_has_a_table_without_rows(tmp_path: Path) -> None:
    with RecordedRun.start(tmp_path / "run", MEASURED):
        pass
    assert read_run(tmp_path / "run").requests.rows == 0


def test_a_request_that_was_begun_and_never_ended_is_kept_as_begun(tmp_path: Path) -> None:
    with RecordedRun.start(tmp_path / "run", MEASURED) as run:
        for number in range(3):
            run.begin(RequestRecord(number, due_s=float(number), error_class="run_ended"))
        run.append(measured_request(1, 1.0, (0,)))
    rows = read_run(tmp_path / "run").requests.read(["request_id", "outcome", "error_class"])
    assert rows.to_pylist() == [
        {"request_id": 0, "outcome": "incomplete", "error_class": "run_ended"},
        {"request_id": 1, "outcome": "ok", "error_class": None},
        {"request_id": 2, "outcome": "incomplete", "error_class": "run_ended"},
    ]


def test_processes_record_side_by_side(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with RecordedRun.start(tmp_path / "run", MEASURED):
        workers = [
            context.Process(target=record_every_fourth, args=(tmp_path / "run", n))
            for n in range(4)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    found = read_run(tmp_path / "run").requests.read(["request_id"])
    assert found["request_id"].to_pylist() == list(range(40))


def test_what_was_learned_on_the_way_stands_in_the_description(tmp_path: Path) -> None:
    with RecordedRun.start(tmp_path / "run", MEASURED) as run:
        run.update(in_effect=Deployment(engine="vllm", engine_version="0.32.0"))
    assert read_run(tmp_path / "run").description.in_effect.engine_version == "0.32.0"


@pytest.mark.parametrize(
    ("error", "ended"),
    [(KeyboardInterrupt, Ended.INTERRUPTED), (RuntimeError, Ended.FAILED)],
)
def test_an_error_closes_the_run_with_what_it_has(
    tmp_path: Path, error: type[BaseException], ended: Ended
) -> None:
    def record() -> None:
        with RecordedRun.start(tmp_path / "run", MEASURED) as run:
            run.append(measured_request(0, 0.0, (0,)))
            raise error

    with pytest.raises(error):
        record()
    found = read_run(tmp_path / "run")
    assert (found.requests.rows, found.description.ended) == (1, ended)


def test_a_folder_that_holds_something_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(BadInput) as refused:
        RecordedRun.start(tmp_path, MEASURED)
    assert str(refused.value) == (
        f"{tmp_path} holds something already; name a folder that is not there yet."
    )


def test_a_run_that_is_being_recorded_is_neither_read_nor_closed_nor_resumed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    busy = f"{folder} is being recorded by another process; wait until that ends."
    with RecordedRun.start(folder, MEASURED):
        with pytest.raises(BadInput) as unread:
            read_run(folder)
        with pytest.raises(BadInput) as unclosed:
            close_interrupted(folder)
        with pytest.raises(BadInput) as unresumed:
            RecordedRun.resume(folder)
    assert str(unread.value) == (
        f"{folder} was never closed: it is being recorded, or its recorder was stopped; wait, or go on "
        f"with `vram trial resume {folder}`, which closes it with --close."
    )
    assert (str(unclosed.value), str(unresumed.value)) == (busy, busy)


def test_a_closed_run_takes_no_more_records(tmp_path: Path) -> None:
    measured_run(tmp_path / "run")
    with pytest.raises(BadInput) as refused:
        RecordedRun.resume(tmp_path / "run")
    assert str(refused.value) == (
        f"{tmp_path / 'run'} is closed (complete) and takes no more records; start another run."
    )


RECORDER = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from recorded_runs import described, measured_request, metric
from vramledger.record.document import Origin
from vramledger.record.recorded_run import RecordedRun
with RecordedRun.start(Path(sys.argv[1]), described(Origin.MEASURED), flush_s=0.1) as run:
    print("recording", flush=True)
    heard = os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY)
    number = 0
    while True:
        now = time.monotonic()
        run.append(measured_request(number, now, tuple(range(30))))
        run.append(metric(now, number))
        run.note(now, "tick", number=number)
        os.pwrite(heard, b"%20.9f" % now, 0)
        number += 1
        time.sleep(0.0005)
"""


def _killed(folder: Path, after_s: float = 0.0, rows: int = 0) -> float:
    """Record so long, and until so many requests are on disk, then kill; the moment of the last row given to it."""
    program = RECORDER.format(tests=str(Path(__file__).parents[1]))
    heard = folder.parent / "heard"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(folder), str(heard)], stdout=subprocess.PIPE
    ) as recorder:
        assert recorder.stdout is not None
        assert recorder.stdout.readline() == b"recording\n"
        time.sleep(after_s)
        end = time.monotonic() + 60
        while _on_disk(folder) < rows and time.monotonic() < end:
            time.sleep(0.02)
        recorder.send_signal(signal.SIGKILL)
    return float(heard.read_text() or 0) if heard.exists() else 0.0


def _on_disk(folder: Path) -> int:
    return sum(batch.num_rows for batch in whole_batches(REQUESTS, segments(folder, "requests")))


@pytest.mark.parametrize("after_s", [0.02, 0.35, 0.77, 1.3])
def test_a_kill_loses_no_more_than_the_last_second(tmp_path: Path, after_s: float) -> None:
    folder = tmp_path / "run"
    moment = _killed(folder, after_s, rows=1 if after_s > 1 else 0)
    assert close_interrupted(folder).ended is Ended.KILLED
    found = read_run(folder)
    found.check_unchanged()
    rows = found.requests.read(["request_id", "due_s", "chunk_offset_us"]).to_pylist()
    assert [row["request_id"] for row in rows] == list(range(len(rows)))
    assert all(row["chunk_offset_us"] == list(range(30)) for row in rows)
    ticks = found.journal().entries
    assert [tick.details["number"] for tick in ticks] == list(range(len(ticks)))
    if after_s > 1:
        assert ticks[-1].t_s > moment - 1
        assert rows[-1]["due_s"] > moment - 1
    assert FLUSH_S <= 0.5


def test_a_killed_run_can_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    _killed(folder, rows=2)
    with RecordedRun.resume(folder) as run:
        run.append(measured_request(1_000_000, 1e9, (0,)))
        run.note(1e9, "resumed")
    found = read_run(folder)
    numbers = found.requests.read(["request_id"])["request_id"].to_pylist()
    assert numbers == [*range(len(numbers) - 1), 1_000_000]
    assert len(numbers) > 1
    assert found.journal().entries[-1].event == "resumed"


def test_closing_that_was_cut_short_can_be_done_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    _killed(folder, rows=2)
    (folder / "requests.parquet").write_bytes(b"PAR1")
    (folder / ".merging-abc").mkdir()
    first = close_interrupted(folder)
    assert close_interrupted(folder) == first
    assert read_run(folder).requests.rows > 0
    assert segments(folder, "requests") == ()
    assert not (folder / ".merging-abc").exists()


def test_a_torn_batch_at_the_end_of_a_segment_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    _killed(folder, rows=100)
    (segment,) = segments(folder, "requests")
    whole = segment.read_bytes()
    segment.write_bytes(whole[: len(whole) * 2 // 3])
    assert close_interrupted(folder).torn_segments == ["requests.main.0001.arrows"]
    rows = read_run(folder).requests.read(["request_id"])["request_id"].to_pylist()
    assert rows == list(range(len(rows)))


FULL_DISK = """
import random, resource, signal, sys, time
from itertools import count
from pathlib import Path
sys.path.insert(0, {tests!r})
from recorded_runs import described, measured_request
from vramledger.errors import BadInput
from vramledger.record.document import Origin
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.segments import segments
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
draw = random.Random(1)
try:
    with RecordedRun.start(Path(sys.argv[1]), described(Origin.MEASURED), flush_s=0.01) as run:
        for number in count():
            if number == 100:  # which are on disk soon
                while sum(path.stat().st_size for path in segments(run.folder, "requests")) < 12_000:
                    time.sleep(0.01)
                resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            offsets = tuple(sorted(draw.sample(range(10**9), 20)))
            run.append(measured_request(number, float(number), offsets))
            time.sleep(0.001)
except BadInput as error:
    print(error)
"""


def test_a_full_disk_is_said_and_what_was_recorded_stays(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    program = FULL_DISK.format(tests=str(Path(__file__).parents[1]))
    told = subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True
    )
    assert told.stdout == (
        f"{folder} cannot be written: File too large; what was recorded so far stays, so make room and "
        "resume it.\n"
    )
    assert told.stderr == ""
    assert json.loads((folder / "run.json").read_text())["ended"] in (None, "failed")
    close_interrupted(folder)
    rows = read_run(folder).requests.read(["request_id"])["request_id"].to_pylist()
    assert rows == list(range(len(rows)))
    assert len(rows) > 10


def test_a_value_that_fits_no_column_is_told_where_the_next_is_added(tmp_path: Path) -> None:
    def record() -> None:
        with RecordedRun.start(tmp_path / "run", MEASURED) as run:
            run.append(measured_request(0, 0.0, (0,), input_tokens_got=1 << 40))

    with pytest.raises(BadInput, match="a recorded value does not fit its column"):
        record()


def test_an_unanswered_request_is_incomplete_by_default() -> None:
    assert RequestRecord(0).outcome is Outcome.INCOMPLETE
