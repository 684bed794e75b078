"""What one streamed answer amounts to: when each of its tokens came, and how many there were.

An event with an empty text may stand for a token (see `chunks`) or for nothing. Which it was is decided at the end,
by the server's own count: such events count where the total leaves room for them, and those that
also carry the finish reason only where the total asks for them.
"""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen
from vramledger.trial.wire.chunks import Chunk

if TYPE_CHECKING:
    from collections.abc import Callable

_UNTOLD: Final = -1


@frozen
class Timeline:
    """The events with tokens of one answer.

    `stamps_ns` is when each came; `tokens` how many each held, None where nobody tells; `total` how many there
    were in all and `basis` who counted them (`usage`, `logprobs`, `tokenizer` or `chunks`), both None where none came and the server is silent.
    """

    stamps_ns: Sequence[int]
    tokens: Sequence[int] | None
    total: int | None
    basis: str | None


class Tally:
    """Takes the chunks of one answer in order; moments are nanoseconds of the monotonic clock.

    With `keep_text`, `texts` are the pieces of the answer by the JSON key they stood under, for somebody who counts them;
    None where they are not kept, or a chunk could not be told to be one piece.
    """

    __slots__ = (
        "_counts", "_empty", "_empty_ends", "_listed", "_told", "answer_ns", "cached_tokens", "finish", "id",
        "prompt_tokens", "role_ns", "stamps", "texts",
    )  # fmt: skip

    def __init__(self, *, keep_text: bool = False) -> None:
        self.texts: dict[str, list[str]] | None = {} if keep_text else None
        self.stamps = array("q")
        self.role_ns: int | None = None
        self.answer_ns: int | None = None
        self.finish: str | None = None
        self.id: str | None = None
        self.prompt_tokens: int | None = None
        self.cached_tokens: int | None = None
        self._told: int | None = None  # completion tokens of the last usage
        self._listed = False  # whether chunks list their tokens themselves
        self._counts = array("i")  # tokens of the events so far, as far as they tell
        self._empty = array("q")  # positions of events that may stand for a token
        self._empty_ends = array("q")  # those that carry the finish reason

    def add(self, chunk: Chunk, now: int) -> None:
        """Count a chunk that came at `now`."""
        if chunk.id is not None:
            self.id = self.id or chunk.id
        if chunk.finish is not None:
            self.finish = chunk.finish
        tokens = self._tokens(chunk)
        if self.texts is not None and (chunk.thinking or chunk.answer):
            self._keep(chunk)
        if chunk.thinking or chunk.answer:
            self._event(tokens, now)
            if chunk.answer and self.answer_ns is None:
                self.answer_ns = now
        elif tokens:
            self._event(tokens, now)
        elif chunk.role:
            self.role_ns = now if self.role_ns is None and not self.stamps else self.role_ns
        elif chunk.empty and tokens is None:
            (self._empty if chunk.finish is None else self._empty_ends).append(len(self.stamps))
            self._event(None, now)

    def timeline(self) -> Timeline:
        """All of it, once the answer has ended."""
        total = self._told
        dropped = self._dropped(total)
        stamps, counts = self.stamps, self._counts
        if dropped:
            keep = [place for place in range(len(stamps)) if place not in dropped]
            stamps = array("q", [stamps[place] for place in keep])
            counts = array("i", [counts[place] for place in keep if place < len(counts)])
        if total is None and not stamps:
            return Timeline(stamps, None, None, None)
        tokens = self._per_event(counts, len(stamps), total)
        if total is not None:
            return Timeline(stamps, tokens, total, "usage")
        if tokens is not None and self._listed:
            return Timeline(stamps, tokens, sum(tokens), "logprobs")
        return Timeline(stamps, None, len(stamps), "chunks")

    def counted(self, count: "Callable[[str], int]") -> Timeline:
        """All of it, its tokens counted in the text that was kept where neither the server nor the chunks tell them."""
        found = self.timeline()
        if found.basis != "chunks" or self.texts is None:
            return found
        total = sum(count("".join(pieces)) for pieces in self.texts.values())
        each = array("i", [1]) * total if total == len(found.stamps_ns) else None
        return Timeline(found.stamps_ns, each, total, "tokenizer")

    def _keep(self, chunk: Chunk) -> None:
        if self.texts is None or chunk.text is None:
            self.texts = None
        else:
            self.texts.setdefault(chunk.text.key, []).append(chunk.text.text)

    def _tokens(self, chunk: Chunk) -> int | None:
        """How many tokens the chunk says it holds: more than the last usage said, or as many as it lists."""
        told = None
        if chunk.usage is not None:
            told = self._usage(chunk)
        if chunk.tokens is not None:
            self._listed = True
            return chunk.tokens
        return told

    def _usage(self, chunk: Chunk) -> int | None:
        usage = chunk.usage
        if usage is None:
            return None
        if usage.prompt is not None:
            self.prompt_tokens = usage.prompt
        if usage.cached is not None:
            self.cached_tokens = usage.cached
        if usage.completion is None:
            return None
        before, self._told = self._told or 0, usage.completion
        running = chunk.choices and len(self._counts) == len(
            self.stamps
        )  # told since the first event
        return max(usage.completion - before, 0) if running else None

    def _event(self, tokens: int | None, now: int) -> None:
        if tokens is not None:
            missing = len(self.stamps) - len(self._counts)
            self._counts.extend([_UNTOLD] * missing)
            self._counts.append(tokens)
        self.stamps.append(now)

    def _dropped(self, total: int | None) -> set[int]:
        """Positions of the empty events that stood for nothing."""
        likely, possible = len(self._empty), len(self._empty_ends)
        if not likely and not possible:
            return set()
        certain = len(self.stamps) - likely - possible
        dropped: set[int] = set()
        if total is not None and certain + likely > total:
            dropped.update(self._empty)
            likely = 0
        if total is None or certain + likely + possible > total:
            dropped.update(self._empty_ends)
        return dropped

    @staticmethod
    def _per_event(counts: "array[int]", events: int, total: int | None) -> Sequence[int] | None:
        """Tokens of each event: as told by all of them, or one each where that is the total."""
        if events and len(counts) == events and _UNTOLD not in counts:
            return counts
        return array("i", [1]) * events if events and total == events else None
