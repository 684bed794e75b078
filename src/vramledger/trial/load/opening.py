"""The requests of a load, made as they are asked for."""

from collections.abc import Callable, Container, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from vramledger.trial.load.job import LoadJob, PromptSettings
from vramledger.trial.load.rounds import Rounds
from vramledger.trial.load.rows import Row, Share, rows
from vramledger.trial.planned import PlannedRequest
from vramledger.trial.prompts.body import BodyMaker
from vramledger.trial.prompts.numbering import PRIVATE
from vramledger.trial.prompts.own import OwnPrompts
from vramledger.trial.prompts.text import TextMaker

MakeBody = Callable[[int, Row, Sequence[int]], bytes]
_MORE: Final = 4096  # sessions to come


def open_load(
    job: LoadJob, part: int, parts: int, done: Container[int] = ()
) -> Iterator[PlannedRequest]:
    """The requests of part `part` of `parts`, in the order in which they are due.

    A session is in one part, and so are all of its turns. A turn has `think_s` if, and only if, a request of the same
    session came before it in this load; in a closed loop no turn has, since there requests follow one another
    as clients come free. `number` is unique over all parts. Without `duration_s` the iterator ends with the
    workload; with it, a closed loop has no end and the caller stops. A part without requests ends at once. Numbers in
    `done` are left out, as if the load did not have them.
    """
    rounds = Rounds(Path(job.workload))
    make = body_of(job.prompts, rounds.block_tokens)
    for number in count():
        seen = _Seen()
        row = None
        for row in rows(Path(job.workload), Share(part, parts)):
            due = _due(job, row, number)
            if job.duration_s is not None and due is not None and due >= job.duration_s:
                return
            if number * rounds.requests + row.row in done:
                continue
            again = seen.again(row.session)
            waits = again and not row.attempt
            yield _planned(job, rounds, make, row, number, due, waits=waits)
        if job.duration_s is None or row is None:
            return


class _Seen:
    """Sessions that had a request, a byte each."""

    def __init__(self) -> None:
        self._of = bytearray()

    def again(self, session: int | None) -> bool:
        """Whether the session had one; from now on it has."""
        if session is None:
            return False
        if session >= len(self._of):
            self._of.extend(bytes(session + 1 - len(self._of) + _MORE))
        had = bool(self._of[session])
        self._of[session] = 1
        return had


def body_of(prompts: PromptSettings, block_tokens: int, kind: int = PRIVATE) -> MakeBody:
    """What makes the body of a row that is sent under a number, with these blocks."""
    maker = BodyMaker(prompts.style, as_ids=prompts.lexicon is not None and prompts.lexicon.as_ids)
    if prompts.own is not None:
        own = OwnPrompts(Path(prompts.own), prompts.style.endpoint)
        return lambda number, row, _blocks: own.body(number, row.output_tokens, maker)
    if prompts.lexicon is None:
        raise ValueError("a load has a lexicon or prompts of its own")
    text = TextMaker(prompts.lexicon, prompts.salt, kind).text
    with_text = maker.with_text
    return lambda number, row, blocks: with_text(
        text(number, row.input_tokens, blocks, block_tokens), row.output_tokens
    )


def _due(job: LoadJob, row: Row, number: int) -> float | None:
    if job.closed is not None or row.arrival_s is None:
        return None
    return row.arrival_s + number * job.period_s


def _planned(
    job: LoadJob,
    rounds: Rounds,
    make: MakeBody,
    row: Row,
    number: int,
    due: float | None,
    *,
    waits: bool,
) -> PlannedRequest:
    request = number * rounds.requests + row.row
    own = job.prompts.own is not None
    return PlannedRequest(
        number=request,
        row=row.row,
        due_s=due,
        body=make(request, row, rounds.blocks(row, number)),
        input_tokens=None if own else row.input_tokens,
        output_tokens=row.output_tokens,
        session=rounds.session(row, number),
        turn=row.turn,
        think_s=(row.think_s or 0.0) if waits and job.closed is None else None,
        tenant=rounds.tenant(row, number),
        attempt=row.attempt,
        cancel_after_s=row.cancel_after_s,
        times_out=row.times_out,
        exact=job.prompts.style.is_exact,
    )
