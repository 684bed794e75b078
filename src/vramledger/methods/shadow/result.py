"""What a comparison came to."""

from collections.abc import Mapping

from vramledger.frozen import frozen
from vramledger.methods.shadow.both_read import SameTextFigures
from vramledger.methods.shadow.figures import Figures
from vramledger.methods.shadow.pair import Pair
from vramledger.methods.shadow.side import Style, Told
from vramledger.methods.shadow.verdict import Verdict


@frozen
class Texts:
    """A prompt and both answers, kept where that was asked for."""

    prompt: str
    a: str
    b: str


@frozen
class Shadow:
    """`found` is B against A, `noise` A against itself; `texts` goes by the number of the prompt.

    `unit` says what was compared: "tokens", or "words" where a server tells no tokens. `prompt_tokens_differ` counts the prompts that
    the two count differently, None where either counts none. `style` and the hash are None where the prompts were live traffic.
    """

    a: Told
    b: Told
    style: Style | None
    source: str
    prompts_sha256: str | None
    requests: int
    answered: int  # by both
    unsent: int
    errors_a: Mapping[str, int]
    errors_b: Mapping[str, int]
    found: Figures
    noise: Figures
    noise_p: float | None
    verdict: Verdict
    pairs: tuple[Pair, ...]
    unit: str
    prompt_tokens_differ: int | None
    remarks: tuple[str, ...]
    texts: Mapping[int, Texts]
    same_text: SameTextFigures
    interrupted: bool = False
