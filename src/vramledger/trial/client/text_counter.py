"""Counting the tokens of answers by a tokenizer's file, where a server tells neither usage nor log probabilities."""

from pathlib import Path

from vramledger.trial.client.recorded import CountText


def text_counter(tokenizer: str | None) -> CountText | None:
    """What counts the tokens of a text, special ones left out; None without a file.

    Raises:
        BadInput: there is no tokenizer in the file.
    """
    if tokenizer is None:
        return None
    from vramledger.workload.counting import load_tokenizer

    loaded = load_tokenizer(Path(tokenizer))
    return lambda text: len(loaded.encode(text, add_special_tokens=False).ids)
