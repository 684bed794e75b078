"""Requests become rows of numbers: texts are counted, identities numbered, impossible parts left out."""

import secrets
from array import array
from typing import Final

from vramledger.frozen import frozen
from vramledger.workload.arrivals import Arrivals
from vramledger.workload.counting import Counter
from vramledger.workload.deidentify import Scope
from vramledger.workload.fields import MILLISECOND, MOST_TOKENS, SECOND
from vramledger.workload.formats.format import Clock
from vramledger.workload.loss import DUPLICATE, Tally
from vramledger.workload.raw import RawRequest
from vramledger.workload.spool import NO_TIME, Spool
from vramledger.workload.text_blocks import KEY_BYTES, block_ids

_WEAKEST: Final = ("mean", "assumed", "exact", "measured")  # the first that occurs is the basis
# Moments from 2000 to 2116: a zero that stands for "no time" would put decades between two requests.
_EARLIEST_NS: Final = {Clock.EPOCH: 946_684_800 * SECOND, Clock.RELATIVE: -(1 << 60)}
_LATEST_NS: Final = {Clock.EPOCH: 1 << 62, Clock.RELATIVE: 1 << 60}  # 36 years
LONE_LINKS: Final = (
    "Ids of sessions or traces that only one call has (retries apart) are taken as made up for the "
    "call, and for no session (inferred)."
)
_STAMP_NS: Final = 2 * MILLISECOND  # an end that is a start and a duration is no closer
_BEFORE_ALL_NS: Final = -(1 << 62)
_COUNTS: Final = {  # attribute -> what it is called
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "thinking_tokens": "thinking tokens",
    "cached_tokens": "cached tokens",
    "max_output_tokens": "the output limit",
}


@frozen
class FileOf:
    """What the rows of one file share."""

    scope: Scope
    clock: Clock
    block_tokens: int  # of the workload
    keeps_blocks: bool  # whether the prefix ids of this file stand for so many tokens


class Collector:
    """Takes requests, file after file."""

    def __init__(
        self, spool: Spool, tally: Tally, counter: Counter, *, keep_order: bool = False
    ) -> None:
        self._spool, self._tally, self._counter = spool, tally, counter
        self.arrivals = Arrivals(keep_order=keep_order)
        self.fingerprints = array("q")  # of rows without a request id
        self._text_key = secrets.token_bytes(KEY_BYTES)
        self._requests: dict[bytes, int] = {}  # digest -> row; ~row while only a retry named it
        self._next = 0
        self._input_bases: set[str] = set()
        self._output_bases: set[str] = set()
        self._latest = _BEFORE_ALL_NS
        self.links = array("i")  # numbers of sessions that were told as links
        self._numbered = 0  # sessions so far
        self.sessions = self.retries = self.blocks = False  # whether any row has one

    def begin(self, file: FileOf) -> None:
        """The requests that follow are of this file."""
        self._file = file
        self._latest = _BEFORE_ALL_NS
        self._first = self._spool.count

    def end(self) -> None:
        """The file is read."""
        if self._file.clock is Clock.RELATIVE and self._spool.count > self._first:
            self.arrivals.relative.append((self._first, self._spool.count))

    @property
    def basis(self) -> dict[str, str]:
        """The basis of each length: the weakest that occurs."""
        bases = {"input_tokens": self._input_bases, "output_tokens": self._output_bases}
        return {
            name: next(each for each in _WEAKEST if each in found)
            for name, found in bases.items()
            if found
        }

    @property
    def retries_unmatched(self) -> int:
        """Attempts that a retry names and no row is."""
        return sum(1 for row in self._requests.values() if row < 0)

    def add(self, request: RawRequest) -> str:
        """Store a request; "" or the reason why it is left out."""
        arrival = self._arrival(request)
        if isinstance(arrival, str):
            return arrival
        beyond = _beyond(request)
        if beyond:
            return beyond
        row = self._row_of(request)
        if row is None:
            return DUPLICATE
        self._see_time(request, arrival)
        self._clear_negative(request)
        self._count_texts(request)
        self._clear_parts(request)
        if request.repeat > 1:
            self._repeat(row, arrival, request)
        else:
            self._store(row, arrival, request)
        return ""

    def _arrival(self, request: RawRequest) -> int | str:
        """Nanoseconds since the zero of its clock, NO_TIME, or why there is none."""
        arrival, clock = request.arrival_ns, self._file.clock
        if clock is Clock.NONE:
            return NO_TIME
        if arrival is None:
            return "the arrival is missing"
        if not _EARLIEST_NS[clock] <= arrival < _LATEST_NS[clock]:
            return "the arrival is beyond any clock"
        return arrival if clock is Clock.RELATIVE else self.arrivals.epoch(arrival)

    def _see_time(self, request: RawRequest, arrival: int) -> None:
        """Count what comes after one of its file that was written later.

        Many logs write a request when it has ended: their arrivals are in no order.
        """
        if arrival == NO_TIME or request.arrival_ns is None:
            return
        logged, slack = request.logged_ns, _STAMP_NS
        if logged is None:
            logged, slack = request.arrival_ns, 0
        if logged >= self._latest:
            self._latest = logged
        elif logged + slack < self._latest:
            self._tally.out_of_order += 1
            back = self._latest - logged
            self._tally.largest_step_back_ns = max(self._tally.largest_step_back_ns, back)

    def _row_of(self, request: RawRequest) -> int | None:
        """The number of its row; None where a row has its id already."""
        if request.request_id is None:
            self._next += 1
            return self._next - 1
        digest = self._file.scope.request.digest(request.request_id)
        known = self._requests.get(digest)
        if known is not None and known >= 0:
            return None
        if known is None:
            known = ~self._next
            self._next += 1
        self._requests[digest] = ~known
        return ~known

    def _retried(self, request_id: str) -> int:
        """The row of the attempt before, which may be yet to come."""
        digest = self._file.scope.request.digest(request_id)
        known = self._requests.setdefault(digest, ~self._next)
        if known == ~self._next:
            self._next += 1
        return known if known >= 0 else ~known

    def _clear_negative(self, request: RawRequest) -> None:
        """Clocks that disagree put ends before arrivals: what follows from that is not known."""
        duration, first_token = request.duration_ns, request.first_token_ns
        if (duration is not None and duration < 0) or (first_token is not None and first_token < 0):
            request.duration_ns = request.first_token_ns = None
            self._tally.infer("Durations below zero are taken as not known (inferred).")

    def _clear_parts(self, request: RawRequest) -> None:
        """Sources that count a part beside the whole, and not within it, do not tell the part."""
        thinking, cached = request.thinking_tokens, request.cached_tokens
        if thinking is not None and thinking > (request.output_tokens or 0):
            request.thinking_tokens = None
            self._tally.infer(
                "Thinking tokens that are more than the output are taken as not known (inferred)."
            )
        if cached is not None and cached > (request.input_tokens or 0):
            request.cached_tokens = None
            self._tally.infer(
                "Cached tokens that are more than the input are taken as not known (inferred)."
            )

    def _count_texts(self, request: RawRequest) -> None:
        """Count the texts whose tokens the log does not say."""
        stated = "measured" if request.repeat == 1 else "mean"
        if request.input_tokens is not None:
            self._input_bases.add(stated)
        elif request.input_text is not None:
            request.input_tokens = self._counted(request.input_text, self._input_bases)
        if request.output_tokens is not None:
            self._output_bases.add(stated)
        elif request.output_text is not None:
            request.output_tokens = self._counted(request.output_text, self._output_bases)

    def _counted(self, text: str, bases: set[str]) -> int:
        bases.add(self._counter.basis)
        self._tally.assume(self._counter.said)
        return self._counter.count(text)

    def _repeat(self, row: int, arrival: int, request: RawRequest) -> None:
        """One row for each of equal requests, spread evenly, with exact totals."""
        inputs, outputs = request.input_tokens, request.output_tokens
        for place in range(request.repeat):
            if inputs is not None:
                request.input_tokens = inputs + (place < request.input_remainder)
            if outputs is not None:
                request.output_tokens = outputs + (place < request.output_remainder)
            later = request.spread_ns * place // request.repeat
            self._store(row, arrival if arrival == NO_TIME else arrival + later, request)
            row, self._next = self._next, self._next + 1
        self._next -= 1

    def _store(self, row: int, arrival: int, request: RawRequest) -> None:
        scope = self._file.scope
        session = self._session(request)
        tenant = None if request.tenant is None else scope.tenant.of(request.tenant)
        model = None if request.model is None else scope.model.of(request.model)
        if request.retry_of is not None:
            self.retries = True
        before = None if request.retry_of is None else self._retried(request.retry_of)
        values = (
            None,  # the arrival is put in place once all are known
            request.input_tokens,
            request.output_tokens,
            request.thinking_tokens,
            request.cached_tokens,
            request.max_output_tokens,
            request.duration_ns,
            request.first_token_ns,
            self._blocks(request),
            session,
            request.turn,
            request.think_ns,
            request.outcome,
            request.cancel_after_ns,
            before,
            request.images,
            request.audio_ns,
            model,
            tenant,
        )
        if request.request_id is None and request.repeat == 1:
            self.fingerprints.append(hash((arrival, *values)))
        self.arrivals.add(arrival, row, session, before)
        self._spool.append((row, *values))

    def _session(self, request: RawRequest) -> int | None:
        named = request.link if request.session is None else request.session
        if named is None:
            return None
        self.sessions = True
        number = self._file.scope.session.of(named)
        if number == self._numbered:
            self._numbered += 1
            if request.session is None:
                self.links.append(number)
                self._tally.infer(LONE_LINKS)
        return number

    def _blocks(self, request: RawRequest) -> tuple[int, ...] | None:
        """Numbers of the prefix blocks: the log's own, or those of the prompt's text."""
        file, ids = self._file, request.prefix_ids
        if ids is None and request.input_text is not None and request.input_tokens is not None:
            ids = block_ids(request.input_text, self._counter, file.block_tokens, self._text_key)
            ids = ids[: request.input_tokens // file.block_tokens]
        elif not file.keeps_blocks:
            return None
        if ids is None:
            return None
        self.blocks = True
        return tuple(map(file.scope.prefix.of, ids))


def _beyond(request: RawRequest) -> str:
    """Why counts are impossible, "" where they are not: a format may have added up several fields."""
    for attribute, name in _COUNTS.items():
        if (getattr(request, attribute) or 0) > MOST_TOKENS:
            return f"{name} beyond any context"
    return ""
