"""The loss report as a person reads it."""

import json
from pathlib import Path

from vramledger.report.workload_import import to_json, to_text
from vramledger.workload.importer import Imported
from vramledger.workload.loss import Broken, ClockReport, LossReport, Place
from vramledger.workload.metadata import Metadata
from vramledger.workload.store import Stored

REPORT = LossReport(
    rows_read=1210,
    rows_kept=1200,
    requests=1195,
    dropped={"not JSON": 9, "tokens is negative": 1},
    dropped_at={
        "not JSON": (Place(1, 5), Place(1, 7000), Place(2, 1)),
        "tokens is negative": (Place(2, 8),),
    },
    requests_dropped={"a request that was read before": 5},
    formats={"mooncake": 2, "otel": 1},
    files=4,
    files_unread=1,
    broken=(Broken(2, 4100, "the gzip file is cut off"),),
    identical_rows=3,
    retries_unmatched=2,
    clock=ClockReport(
        out_of_order=7,
        largest_step_back_s=2.5,
        largest_gap_s=90_000.0,
        gaps_over_a_day=1,
        instants=400,
        quantum_s=3.0,
    ),
    inferred=("Turns follow the order (inferred).",),
    assumed=("Times are UTC (assumed).",),
    lacks=("It names no models.",),
)
QUANTISED = (
    "Times come in steps of 3 s (400 instants): replayed so they make bursts that never were; --spread "
    "spreads them over the step."
)
STORED = Stored(
    Path("w.parquet"), 1195, Metadata(block_tokens=512, basis={"input_tokens": "exact"})
)


def test_everything_that_was_lost_or_odd_is_told() -> None:
    assert to_text(Imported(STORED, REPORT), Path("w.parquet")).splitlines() == [
        "1,210 rows read, 1,200 kept, 10 dropped; mooncake (2 files), otel (1 file).",
        "  dropped 9: not JSON (file 1 line 5, file 1 line 7,000, file 2 line 1, ...)",
        "  dropped 1: tokens is negative (file 2 line 8)",
        "  left out 5 requests of rows that were kept: a request that was read before",
        "File 2 broke off after line 4,100 (the gzip file is cut off); what came before was kept.",
        "1 file of 4 could not be read.",
        "Rows that repeat one before: 3, kept, since no id says that they are one request.",
        "Attempts that were retried and are not in the log: 2.",
        "7 rows came out of order, the furthest by 2.5 s; they were put in order.",
        "The longest time without an arrival is 25 h.",
        "Times without an arrival for more than a day: 1; the clock jumped, or nothing was logged.",
        QUANTISED,
        "Inferred: Turns follow the order.",
        "Assumed: Times are UTC.",
        "Not in the log: It names no models.",
        "Wrote w.parquet: 1,195 requests of 1,200 rows, without identities.",
    ]


def test_a_clean_log_has_a_short_report() -> None:
    report = LossReport(rows_read=1, rows_kept=1, requests=1, formats={"otel": 1}, files=1)
    assert to_text(Imported(STORED, report), Path("w.parquet")) == (
        "1 row read, 1 kept, 0 dropped; otel (1 file).\n"
        "Wrote w.parquet: 1 request, without identities."
    )


def test_a_line_that_holds_many_records_is_named_once() -> None:
    report = LossReport(
        rows_read=9, rows_kept=5, requests=5, files=1,
        dropped={"span is no call of a model": 4},
        dropped_at={"span is no call of a model": (Place(1, 1), Place(1, 1), Place(1, 2))},
    )  # fmt: skip
    assert "  dropped 4: span is no call of a model (line 1, line 2, ...)" in to_text(
        Imported(STORED, report), Path("w.parquet")
    )


def test_identities_that_were_kept_are_not_called_removed() -> None:
    report = LossReport(rows_read=1, rows_kept=1, requests=1)
    found = Imported(STORED, report, warnings=("The workload holds who sent requests.",))
    last = to_text(found, Path("w.parquet")).splitlines()[-1]
    assert last == "Wrote w.parquet: 1 request, with what --keep asked for."


def test_json_has_the_counts_and_no_name_of_a_file() -> None:
    found = json.loads(json.dumps(to_json(Imported(STORED, REPORT, ("secret.csv is empty.",)))))
    assert found["schema"] == "vramledger.import/1"
    assert found["dropped"] == {"not JSON": 9, "tokens is negative": 1}
    assert found["dropped_at"]["tokens is negative"] == [{"file": 2, "line": 8}]
    assert found["broken"] == [{"file": 2, "line": 4100, "how": "the gzip file is cut off"}]
    assert found["clock"]["quantum_s"] == 3.0
    assert (found["block_tokens"], found["basis"]) == (512, {"input_tokens": "exact"})
    assert "secret" not in str(found)
