"""What a comparison is asked to do."""

from pathlib import Path

from vramledger.frozen import frozen


@frozen
class ServerAsked:
    """One side: its address, the model to ask for, and where its key lies."""

    url: str
    model: str | None = None
    key_env: str | None = None
    key_file: str | None = None


@frozen
class ShadowAsked:
    """One comparison. Of the sides either `a` or `recorded` is there; without `b`, A's answers are recorded only.

    `repeat` is the share of the prompts that A answers twice, 0..1; `timeout_s` is for one answer; `same_text` has both read A's answers, where
    they tell what they hold of a text.
    """

    a: ServerAsked | None
    b: ServerAsked | None
    recorded: Path | None = None
    prompts: Path | None = None
    requests: int = 100
    max_tokens: int = 64
    api: str = "chat"
    at_once: int = 4
    repeat: float = 0.25
    top: int = 5
    seed: int = 0
    threshold: float | None = None
    keep_text: bool = False
    same_text: bool = True
    timeout_s: float = 300.0
