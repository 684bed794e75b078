"""The two kinds of servers."""

from enum import StrEnum


class Pool(StrEnum):
    """What a server computes."""

    PREFILL = "prefill"  # prompts, and one token of each answer, which nobody sees
    DECODE = "decode"  # answers, from the last prompt token on
