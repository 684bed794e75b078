"""One request that both sides were put, compared: numbers alone."""

from vramledger.frozen import frozen
from vramledger.methods.mirror.heard import Heard
from vramledger.methods.shadow.answer import OK, STOPPED, Answer
from vramledger.methods.shadow.pair import Pair, compare

_OWN_ENDS = frozenset({"stop", "tool_calls", "function_call", "content_filter", "eos", "eos_token"})


@frozen
class Timing:
    """Seconds of one answer: to its first event with text, whole, and between events; None where there is none."""

    ttft_s: float | None
    e2e_s: float | None
    gap_s: float | None


@frozen
class Row:
    """Both answers to one request. `words` compares them by words, `tokens` by tokens where both list them.

    `tokens_a` and `tokens_b` are their lengths as the servers count them. `slowed` says that the client read slowly, so that
    A's times are the client's.
    """

    greedy: bool
    streamed: bool
    words: Pair
    tokens: Pair | None
    tokens_a: int | None
    tokens_b: int | None
    prompt_tokens_differ: bool | None
    finish_a: str
    finish_b: str
    a: Timing
    b: Timing
    slowed: bool


def row_of(number: int, a: Heard, b: Heard, *, greedy: bool) -> Row:
    """Both must be answers."""
    listed = bool(a.said.tokens and b.said.tokens)
    counts = (a.prompt_tokens, b.prompt_tokens)
    return Row(
        greedy,
        a.streamed,
        compare(number, _by_words(a), _by_words(b)),
        compare(number, _by_tokens(a), _by_tokens(b)) if listed else None,
        a.tokens,
        b.tokens,
        None if None in counts else counts[0] != counts[1],
        a.finish,
        b.finish,
        _timing(a),
        _timing(b),
        a.slowed,
    )


def pair_of(number: int, a: Heard, again: Heard) -> tuple[Pair, Pair | None]:
    """A's answer and its answer once more, by words and by tokens."""
    listed = bool(a.said.tokens and again.said.tokens)
    by_tokens = compare(number, _by_tokens(a), _by_tokens(again)) if listed else None
    return compare(number, _by_words(a), _by_words(again)), by_tokens


def _by_words(heard: Heard) -> Answer:
    return Answer(OK, tuple(heard.said.words), _end(heard), unit="words")


def _by_tokens(heard: Heard) -> Answer:
    return Answer(OK, tuple(heard.said.tokens), _end(heard), output_tokens=heard.tokens)


def _end(heard: Heard) -> str:
    """Every way in which an answer ends by itself as one."""
    return STOPPED if heard.finish in _OWN_ENDS else heard.finish


def _timing(heard: Heard) -> Timing:
    return Timing(heard.ttft_s, heard.e2e_s, heard.gap_s)
