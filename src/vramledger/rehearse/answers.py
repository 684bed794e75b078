"""What the rehearsed model says: words drawn by the seed, as many as were asked for or until it ends by itself."""

from bisect import bisect_left
from itertools import accumulate, pairwise
from random import Random

from vramledger.frozen import frozen
from vramledger.rehearse.api.asked import Asked
from vramledger.rehearse.text.tokenizer import END, SPACED, text_of
from vramledger.rehearse.text.words import WORDS


@frozen
class Answer:
    """An answer before it is generated: one text a token, all of words with a space before them.

    `finish` is "length" or "stop"; `stop` is the string that ended it, None for its own end, whose token has no text.
    """

    tokens: tuple[int, ...]
    texts: tuple[str, ...]
    finish: str
    stop: str | None = None


def drawn_answer(asked: Asked, seed: int, number: int, mean: float) -> Answer:
    """The answer to request `number`; one with a seed of its own is answered alike whenever it comes.

    Its own end falls on each token with the same chance, so that answers have `mean` tokens where nothing cuts them;
    not before `min_tokens`, and never under `ignore_eos`.
    """
    own = asked.seed is not None
    draw = Random(f"own {asked.seed}" if own else f"{seed} {number}")  # noqa: S311 - words, not secrets
    ends = 1 + int(draw.expovariate(1 / mean))
    ends = max(ends, asked.min_tokens + 1)
    own_end = not asked.ignore_eos and ends <= asked.max_tokens
    length = ends if own_end else asked.max_tokens
    words = draw.choices(range(SPACED, SPACED + len(WORDS)), k=length)
    texts = [text_of(word) for word in words]
    if own_end:
        words[-1], texts[-1] = END, ""
    whole = Answer(tuple(words), tuple(texts), "stop" if own_end else "length")
    return _cut(whole, asked) if asked.stop else whole


def _cut(answer: Answer, asked: Asked) -> Answer:
    """The answer up to the first stop string after `min_tokens`: its text ends before it, its tokens with it."""
    text = "".join(answer.texts)
    starts = list(accumulate(map(len, answer.texts), initial=0))
    begin = starts[min(asked.min_tokens, len(answer.texts))]
    found = {stop: at for stop in asked.stop if (at := text.find(stop, begin)) >= 0}
    if not found:
        return answer
    stop, at = min(found.items(), key=lambda item: item[1])
    count = bisect_left(starts, at + len(stop))
    texts = tuple(text[start : min(end, at)] for start, end in pairwise(starts[: count + 1]))
    return Answer(answer.tokens[:count], texts, "stop", stop)
