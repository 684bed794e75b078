"""The generator: batches of a synthetic workload, in the order of their arrivals."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from vramledger.workload.profile.profile import Profile
from vramledger.workload.schema import arrow_schema
from vramledger.workload.synth.arrivals import Arrivals, arrival_times, check
from vramledger.workload.synth.conversations import ConversationDraws
from vramledger.workload.synth.draws import streams
from vramledger.workload.synth.lengths import DrawnLengths, LengthDraws
from vramledger.workload.synth.marks import MarkDraws
from vramledger.workload.synth.sharing import SharingDraws

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


def synthesise(
    profile: Profile,
    requests: int | None = None,
    seed: int = 0,
    *,
    arrivals: Arrivals | None = None,
    prefix: bool = True,
) -> "Iterator[pa.RecordBatch]":
    """Batches of `schema.arrow_schema`, rows from 0 by arrival, like the profile.

    `arrivals` says more than a number of requests can; without it they follow the profile's own rate
    curve. `prefix` False leaves the prefix blocks out. The same profile, request and seed give the
    same batches. Memory is bounded by a chunk of requests, and with prefix blocks by the requests
    that can still be shared with.

    Raises:
        BadInput: the request cannot be meant.
        CannotKnow: the profile lacks lengths or what the arrivals need.
    """
    asked = arrivals or Arrivals(requests=requests)
    check(asked)
    rng = streams(seed)
    lengths = LengthDraws(profile)
    times = arrival_times(profile, asked, rng["arrivals"])
    return batches(
        ((chunk, lengths.draw(rng["lengths"], len(chunk)), None) for chunk in times),
        Rest(profile, rng, prefix=prefix),
    )


class Rest:
    """Draws all columns that depend on arrivals and lengths."""

    def __init__(
        self, profile: Profile, rng: "Mapping[str, np.random.Generator]", *, prefix: bool
    ) -> None:
        self._rng = rng
        self._marks = MarkDraws(profile)
        sessions = profile.sessions
        self._conversations = (
            ConversationDraws(profile, sessions) if sessions and sessions.turns else None
        )
        self._sharing = (
            SharingDraws(profile.prefix, profile.requests)
            if prefix and profile.prefix.block_tokens and profile.prefix.shared_blocks
            else None
        )

    def columns(self, times: "NDArray[np.float64]", lengths: DrawnLengths) -> "dict[str, pa.Array]":
        """Columns of the schema, without `row`."""
        import pyarrow as pa

        found: dict[str, pa.Array] = {}
        previous = None
        if self._conversations is not None:
            talk = self._conversations.draw(times, lengths, self._rng["conversations"])
            times, lengths, previous = talk.times, talk.lengths, talk.previous
            alone = talk.session < 0
            found["session"] = pa.array(talk.session, mask=alone)
            found["turn"] = pa.array(talk.turn, mask=alone)
            found["think_s"] = pa.array(talk.think_s, mask=talk.previous < 0)
        found["arrival_s"] = pa.array(times)
        found["input_tokens"] = pa.array(lengths.input_tokens, mask=~lengths.has_input)
        found["output_tokens"] = pa.array(lengths.output_tokens, mask=~lengths.has_output)
        found |= self._marks.draw(lengths, self._rng["marks"])
        if self._sharing is not None:
            found["prefix_blocks"] = self._sharing.draw(
                lengths.input_tokens, previous, self._rng["sharing"]
            )
        return found


def batches(chunks: Iterator[Any], rest: Rest) -> "Iterator[pa.RecordBatch]":
    """Batches of (times, lengths, tenants or None)."""
    import numpy as np
    import pyarrow as pa

    schema, row = arrow_schema(), 0
    for times, lengths, tenants in chunks:
        count = len(times)
        columns = rest.columns(times, lengths)
        columns["row"] = pa.array(np.arange(row, row + count))
        if tenants is not None:
            columns["tenant"] = pa.array(tenants)
        row += count
        yield pa.RecordBatch.from_arrays(
            [
                columns[part.name] if part.name in columns else pa.nulls(count, part.type)
                for part in schema
            ],
            schema=schema,
        )
