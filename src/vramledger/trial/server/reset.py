"""Emptying a server's prefix cache, where it can."""

from vramledger.frozen import frozen
from vramledger.trial.server.asking import Asker, Refused
from vramledger.trial.server.engines.registry import BY_ENGINE
from vramledger.trial.server.facts import ServerFacts


@frozen
class Reset:
    """Whether the prefix cache is empty now; otherwise a sentence that says why it may not be, with the remedy."""

    done: bool
    why: str = ""


def reset_prefix_cache(facts: ServerFacts, key: str | None = None) -> Reset:
    """Ask the server to drop all cached prefixes; running requests keep theirs."""
    reader = BY_ENGINE.get(facts.engine or "")
    if reader is None or not reader.resets:
        hint = reader.reset_hint if reader else ""
        why = "This server's prefix cache cannot be emptied from outside"
        return Reset(False, f"{why}; {hint or 'fresh prompts keep it from mattering'}.")
    ask = Asker(facts.base, key)
    refusals = []
    for path in reader.resets:
        answer = ask.post(path)
        if not isinstance(answer, Refused):
            return Reset(True)
        refusals.append(f"{path}: {answer.why}")
    tried = ", ".join(refusals)
    return Reset(False, f"The prefix cache was not emptied ({tried}); {reader.reset_hint}.")
