"""Which way of counting a trial takes, and whether the server agrees."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from vramledger.errors import BadInput, CannotKnow
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.trial.prompts.body import CHAT, BodyMaker, BodyStyle
from vramledger.trial.prompts.learning import learn
from vramledger.trial.prompts.lexicon import Lexicon, ids_lexicon, surrounded
from vramledger.trial.prompts.server_tokens import server_tokens
from vramledger.trial.prompts.token_source import FileTokens, TokenSource
from vramledger.trial.prompts.usage_learning import errors_of, learn_from_usage
from vramledger.trial.server.asking import Asker

Fetch = Callable[
    [bytes], int | None
]  # body -> tokens of the prompt by the answer's usage, None where it has none


@frozen
class Counters:
    """The ways to count that there are.

    `fetch` sends a body and tells what the server counted. `ask` asks the server for tokens; None: it is left alone.
    `tokenizer` is a file that the user gives. `ids` is whether to send lists of token ids, which only completions take.
    """

    style: BodyStyle
    fetch: Fetch
    ask: Asker | None = None
    tokenizer: Path | None = None
    ids: bool = False

    def count(self, text: str) -> int | None:
        """What the server counts for a prompt of this content."""
        return self.fetch(BodyMaker(self.style, as_ids=self.ids).with_text(text.encode(), 1))


def settle(counters: Counters) -> Lexicon:
    """The lexicon for a server: from the file if one is given, else from its tokenizer, else from what it counts.

    What its usage says decides: where it is off by the same number of tokens for every text, the difference belongs to what
    stands around the units.

    Raises:
        BadInput: no tokenizer in the file, or token ids for a chat.
        CannotKnow: nothing counts, or the counts do not add up.
    """
    if counters.ids:
        return _ids(counters)
    source = _source(counters)
    if source is None:
        return learn_from_usage(counters.count)
    found = learn(source, counters.style.endpoint)
    try:
        errors = errors_of(found, counters.count)
    except CannotKnow:
        if found.sides_known:
            return replace(found, said=f"{found.said} The server states no usage to check it by.")
        raise
    return _agreed(found, errors, checked=source.basis is not Basis.MEASURED)


def _source(counters: Counters) -> TokenSource | None:
    if counters.tokenizer is not None:
        return FileTokens(counters.tokenizer)
    if counters.ask is None:
        return None
    return server_tokens(counters.ask, counters.style.model, counters.style.extra)


def _ids(counters: Counters) -> Lexicon:
    if counters.style.endpoint == CHAT:
        raise BadInput(
            "A chat takes no token ids; send to the completions endpoint, or leave ids out."
        )
    found = ids_lexicon()
    errors = errors_of(found, counters.count)
    if any(errors):
        raise CannotKnow(
            f"The server counts {errors[0]:+d} tokens for a list of token ids beyond those in it, so it does not "
            "take them as they are; send words instead."
        )
    return found


def _agreed(found: Lexicon, errors: list[int], *, checked: bool) -> Lexicon:
    """The lexicon as the server's usage has it.

    Raises:
        CannotKnow: they differ by more tokens for longer texts.
    """
    short, long = errors
    if short != long:
        whose = "the tokenizer's file" if checked else "its own tokenizer"
        raise CannotKnow(
            f"The server counts other tokens than {whose}: {short:+d} for a short prompt and {long:+d} for a longer one; "
            "give the tokenizer of the model that is served, or leave --tokenizer out."
        )
    if not short and found.sides_known:
        return replace(found, said=f"{found.said} The server's usage agrees.")
    said = f"{found.said} What stands around them is from the server's usage."
    return surrounded(found, found.around + short, said)
