"""What the result of another load generator holds, in our terms."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from vramledger.frozen import frozen
from vramledger.record.requests import RequestRecord

if TYPE_CHECKING:
    from vramledger.trial.imported.claims import Claim
    from vramledger.trial.imported.counted import Counted


@frozen
class Told:
    """One benchmark of a result, without its requests.

    `version` is of the tool, where its file tells it. `closed` is how many requests it kept under way, None where it sent by a
    clock or does not say. `zero_s` is the wall clock at second 0, since 1970, `ended_s` at its end. `claims` are its own headline figures with
    those worked out from the records by its own definitions. `missing` maps a column of requests.parquet to why it is
    null, or stands for something else. `definitions` says in a sentence each how the tool counts. `unrecorded` failures are counted in the file
    and have no record.
    """

    tool: str
    claims: "tuple[Claim, ...]"
    missing: Mapping[str, str]
    definitions: Mapping[str, str]
    version: str | None = None
    model: str | None = None
    endpoint: str | None = None
    closed: int | None = None
    zero_s: float | None = None
    ended_s: float | None = None
    unrecorded: int = 0
    claimed_origin: str | None = None
    notes: tuple[str, ...] = ()


@frozen
class Benchmark:
    """One benchmark of a file, whose requests are read when they are asked for.

    `records` gives them in the order of the file; their seconds count from `base_s` of the file's own clock. `told` is asked once they are
    all written, with what was counted in them (seconds from the first request) and with when that was by the file's clock.
    """

    name: str
    base_s: float
    records: Callable[[], Iterator[RequestRecord]]
    told: "Callable[[Counted, float], Told]"
