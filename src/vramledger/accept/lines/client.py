"""Client honesty: whether the load was sent and timed by a client that kept up; asked of every run."""

from collections.abc import Iterator

from vramledger.accept.lines.about import JOURNAL, REQUESTS, RUN_JSON, About
from vramledger.accept.verdict import Line, Said
from vramledger.record.document import Origin

NAME = "the client kept up"


def client_line(about: About) -> Iterator[Line]:
    """PASS where the client's own health says so, INCONCLUSIVE where it was the bottleneck or did not tell."""
    told, origin = about.offered.told, about.offered.run.description.origin
    late = told.late_s
    records = (JOURNAL, REQUESTS, RUN_JSON)
    if origin is Origin.SIMULATED:
        yield Line(NAME, Said.NOT_JUDGEABLE, reason="a simulation has no client")
    elif told.inconclusive:
        yield Line(NAME, Said.INCONCLUSIVE, "s", late, reason=" ".join(told.inconclusive), records=records,
                   settles="a run whose client keeps up: more workers, or cores that nothing else uses")  # fmt: skip
    elif origin is Origin.IMPORTED:
        yield Line(NAME, Said.INCONCLUSIVE, "s", late, records=records,
                   reason="another tool measured this run, and nobody here saw its client or its clock",
                   settles="a run of vram trial run")  # fmt: skip
    elif not told.has_client:
        yield Line(NAME, Said.INCONCLUSIVE, "s", late, reason="no client told how it was", records=records,
                   settles="a run that came to its end")  # fmt: skip
    else:
        said = (
            ""
            if late is None
            else f"99 % of the requests were sent within {late * 1000:,.1f} ms of when they were due"
        )
        yield Line(NAME, Said.PASS, "s", late, reason=said, records=records)
