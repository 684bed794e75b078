"""Request logs of every format, damaged, down to the stored workload."""

import gzip
import json
from functools import cache
from pathlib import Path
from random import Random

from fuzz.driver import Target
from fuzz.mutation import damaged_bytes, damaged_text, noise
from vramledger.errors import BadInput
from vramledger.report.workload_import import to_json, to_text
from vramledger.workload.importer import Options, import_logs
from workload_log_samples import LOG_VARIANTS, LOGS
from workload_samples import TRACES, VARIANTS

MARKS = (
    "null", "true", "-1", "0", "1e400", "9" * 400, "NaN", "inf", "1.5", '"', '""', "{", "}", "[", "]",
    ",", ",,", "\n", "\r", "\0", ":", "\ud800", "2024-13-45", "1970-01-01T00:00:00Z", "[" * 300,
    '{"a": ' * 40, "\x1b[31m", "é" * 9, "2147483648", "-0", "\ufeff", "\u0663", "\u2028", "1_0", "\r\n", ";",
    "[" * 2_000, "x" * 5_000, "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "23:59:60", "+99:99",
)  # fmt: skip


@cache
def samples() -> list[bytes]:
    """A small log of every shape of every format."""
    variants = (*VARIANTS.values(), *LOG_VARIANTS.values())
    return [
        *(each.content for each in (*TRACES.values(), *LOGS.values())),
        *(each.content for each in variants),
    ]


def make_log(random: Random) -> bytes:
    if random.randrange(12) == 0:
        return noise(random, 2_000)
    content = random.choice(samples())
    if random.randrange(2):
        text = damaged_text(content.decode(errors="surrogateescape"), random, MARKS)
        content = text.encode("utf-8", "surrogatepass")
    else:
        content = damaged_bytes(content, random)
    return damaged_bytes(gzip.compress(content), random, 2) if random.randrange(8) == 0 else content


def read_log(content: bytes, folder: Path) -> None:
    log = folder / "log"
    log.write_bytes(content)
    options = Options(spread=len(content) % 3 == 0, coarsen=len(content) % 5 == 0)
    found = import_logs([str(log)], folder / "workload.parquet", options)
    report = found.report
    assert report.rows_read == report.rows_kept + sum(report.dropped.values())
    assert (found.stored.rows if found.stored else 0) == report.requests
    json.dumps(to_json(found), allow_nan=False)
    if found.stored is None:
        raise BadInput(to_text(found, folder).splitlines()[-1])


TARGETS = (Target("request log", 3_000, make_log, read_log),)
