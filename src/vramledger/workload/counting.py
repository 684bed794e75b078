"""How many tokens a text is: by a tokenizer's file, or by its characters.

By characters, a token stands for about 4 characters of scripts that write words of letters and for about 1.5
of scripts whose characters are syllables or words (Chinese, Japanese, Korean). Vendors say so of their tokenizers:
1 token is 3 to 4 characters of English and 1.5 to 1.8 of Chinese (Qwen,
https://www.alibabacloud.com/help/en/model-studio/billing-for-model-studio), 1 English character is about
0.3 token and 1 Chinese character about 0.6 (DeepSeek, https://api-docs.deepseek.com/quick_start/token_usage), 1 token
is about 4 characters of English (https://help.openai.com/en/articles/4936856). The band holds these statements
and the wider spread of code, figures and smaller vocabularies.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    _Whole = np.ndarray[Any, np.dtype[np.int64]]

LETTERS: Final = 4.0  # characters a token, of alphabets
LETTERS_BAND: Final = (3.0, 5.0)
IDEOGRAPHS: Final = 1.5  # characters a token, of Chinese, Japanese and Korean
IDEOGRAPHS_BAND: Final = (1.0, 2.0)
_LARGEST_FILE: Final = 256 << 20  # bytes; the largest vocabularies take a tenth
_PARTS: Final = 12_000_000  # weights are whole numbers of these parts of a token: sums are exact
_RANGES: Final = (  # code points of ideographs, kana and hangul (Unicode Blocks.txt)
    (0x1100, 0x11FF), (0x2E80, 0x303F), (0x3040, 0x30FF), (0x3100, 0x31FF), (0x3200, 0x4DBF),
    (0x4E00, 0x9FFF), (0xA960, 0xA97F), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF),
    (0x1B000, 0x1B2FF), (0x20000, 0x3FFFF),
)  # fmt: skip


@frozen
class Units:
    """A text as units that add up: tokens, or characters by their weights.

    `ends[i]` is where unit i ends, in `parts` of a token from the beginning of the text; `symbols` are the
    units themselves, as bytes of equal width each.
    """

    symbols: bytes
    width: int
    ends: "_Whole"
    parts: int


class Counter(ABC):
    """Counts tokens. `basis` is "exact" or "assumed", `said` the sentence on how it counts."""

    def __init__(self, basis: str, said: str) -> None:
        self.basis = basis
        self.said = said

    @abstractmethod
    def count(self, text: str) -> int:
        """Tokens of a text, without those that a chat template adds."""

    @abstractmethod
    def units(self, text: str) -> Units:
        """The text cut into what is counted, for `text_blocks`."""


class TokenizerCounter(Counter):
    """By the file of a model's own tokenizer."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            "exact",
            "Tokens are counted with the tokenizer's file that was given, without those that a chat "
            "template adds (exact).",
        )
        self._tokenizer = load_tokenizer(path)

    def count(self, text: str) -> int:
        return len(self._ids(text))

    def units(self, text: str) -> Units:
        import numpy as np

        ids = np.asarray(self._ids(text), dtype="<u4")
        return Units(ids.tobytes(), 4, np.arange(1, len(ids) + 1, dtype=np.int64), 1)

    def _ids(self, text: str) -> Sequence[int]:
        sound = text.encode(errors="replace").decode()  # half of a pair of surrogates is no text
        found: Sequence[int] = self._tokenizer.encode(sound, add_special_tokens=False).ids
        return found


class CharacterCounter(Counter):
    """By characters: of `characters_per_token` each, or by script where None."""

    def __init__(self, characters_per_token: float | None = None) -> None:
        super().__init__("assumed", _said(characters_per_token))
        given = characters_per_token
        self._letter = int(_PARTS / (given or LETTERS))
        self._ideograph = int(_PARTS / (given or IDEOGRAPHS))

    def count(self, text: str) -> int:
        """Rounded up: a text of one character is a token."""
        letters = len(text)
        if not text.isascii():
            ideographs = int(_ideographs(_code_points(text)).sum())
            return -(
                -(self._letter * (letters - ideographs) + self._ideograph * ideographs) // _PARTS
            )
        return -(-self._letter * letters // _PARTS)

    def units(self, text: str) -> Units:
        import numpy as np

        points = _code_points(text)
        if text.isascii():
            ends = np.arange(1, len(text) + 1, dtype=np.int64) * self._letter
            return Units(points.tobytes(), 4, ends, _PARTS)
        weights = np.where(_ideographs(points), self._ideograph, self._letter).astype(np.int64)
        return Units(points.tobytes(), 4, np.cumsum(weights), _PARTS)


def counter_for(
    tokenizer: Path | None = None, characters_per_token: float | None = None
) -> Counter:
    """The counter that options ask for: a tokenizer's file, a ratio, or neither.

    Raises:
        BadInput: both, a file that is no tokenizer, or a ratio that is none.
    """
    if tokenizer is not None and characters_per_token is not None:
        raise BadInput(
            "--tokenizer counts tokens exactly and --characters-per-token estimates them; give one."
        )
    if tokenizer is not None:
        return TokenizerCounter(tokenizer)
    if characters_per_token is not None and not 0.1 <= characters_per_token <= 100:
        raise BadInput(
            f"--characters-per-token is {characters_per_token:g}; a token stands for between 0.1 and "
            "100 characters."
        )
    return CharacterCounter(characters_per_token)


def load_tokenizer(path: Path) -> Any:
    """The `tokenizers.Tokenizer` of a file.

    Raises:
        BadInput: no such file, no tokenizer in it, or the library is not installed.
    """
    from vramledger.named_file import read_bytes

    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise BadInput(
            "--tokenizer needs tokenizers, which the base installation leaves out; run "
            "pip install 'vramledger[full]'."
        ) from None
    try:
        return Tokenizer.from_buffer(read_bytes(path, _LARGEST_FILE, "a tokenizer's file"))
    except ValueError:
        raise BadInput(
            f"{path} is no tokenizer's file; give the tokenizer.json that lies beside a model's weights."
        ) from None


def _said(given: float | None) -> str:
    if given is not None:
        return f"Tokens are estimated at {given:g} characters a token, as given (assumed)."
    letters, ideographs = LETTERS_BAND, IDEOGRAPHS_BAND
    return (
        f"Tokens are estimated at {LETTERS:g} characters a token, and {IDEOGRAPHS:g} of Chinese, Japanese "
        f"and Korean; the truth may lie between {letters[0]:g} and {letters[1]:g}, and between "
        f"{ideographs[0]:g} and {ideographs[1]:g} (assumed)."
    )


@cache
def _ranges() -> (
    "tuple[np.ndarray[Any, np.dtype[np.uint32]], np.ndarray[Any, np.dtype[np.uint32]]]"
):
    """First and last code points of the ranges."""
    import numpy as np

    firsts, lasts = zip(*_RANGES, strict=True)
    return np.array(firsts, dtype=np.uint32), np.array(lasts, dtype=np.uint32)


def _code_points(text: str) -> "np.ndarray[Any, np.dtype[np.uint32]]":
    import numpy as np

    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _ideographs(
    points: "np.ndarray[Any, np.dtype[np.uint32]]",
) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Which code points are ideographs, kana or hangul."""
    import numpy as np

    starts, ends = _ranges()
    place = np.searchsorted(starts, points, side="right")
    found: np.ndarray[Any, np.dtype[np.bool_]] = (place > 0) & (
        points <= ends[np.maximum(place, 1) - 1]
    )
    return found
