"""An answer's words and tokens as digests, made as its text comes; the text itself is let go of.

The key of the digests is drawn when the mirror starts and lives in its memory alone, so that not even somebody with the tokenizer could
find a word again in what is held. Nothing of it is written.
"""

import re
from typing import Any, Final

from vramledger.methods.shadow.answer import Step, token_hash
from vramledger.methods.shadow.reading import steps_of

_WORD: Final = re.compile(
    r"\S+"
)  # with the blanks before it; a pattern with both takes the square of many blanks
_BLANK: Final = re.compile(r"\s")
MOST: Final = 1 << 17  # words, and tokens, of one answer
_LONGEST: Final = 1 << 16  # characters of one word
_TEXTS: Final = ("reasoning_content", "reasoning", "content", "refusal")


class Said:
    """Takes the choices of one answer, a piece or all of it at a time. `too_long` says that some was let go of unseen."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._rest: list[str] = []  # of a word whose end has not come
        self._rest_size = 0
        self.words: list[Step] = []
        self.tokens: list[Step] = []
        self.too_long = False

    def choice(self, choice: Any) -> None:
        """The `delta`, `message` or `text` of a choice, and its log probabilities."""
        if not isinstance(choice, dict):
            return
        steps = steps_of(choice.get("logprobs"), self._key)
        if len(self.tokens) + len(steps) > MOST:
            self.too_long = True
        else:
            self.tokens += steps
        message = choice.get("delta", choice.get("message"))
        if isinstance(message, dict):
            for name in _TEXTS:
                self._text(message.get(name))
            self._calls(message)
        else:
            self._text(choice.get("text"))

    def end(self) -> None:
        """No more comes: the last word is whole."""
        if self._rest:
            self._words("".join(self._rest))
        self._rest, self._rest_size = [], 0

    def _calls(self, message: dict[str, Any]) -> None:
        """The names and arguments of tools that the answer calls."""
        calls = message.get("tool_calls")
        made = [each.get("function") for each in calls if isinstance(each, dict)] if isinstance(calls, list) else []  # fmt: skip
        for function in (*made, message.get("function_call")):
            if isinstance(function, dict):
                self._text(function.get("name"))
                self._text(function.get("arguments"))

    def _text(self, text: Any) -> None:
        if not isinstance(text, str) or not text or self.too_long:
            return
        if text.isspace() or not _BLANK.search(text):
            self._keep(text)
            return
        whole = "".join((*self._rest, text))
        self._rest, self._rest_size = [], 0
        begin = 0
        for each in _WORD.finditer(whole):
            if each.end() == len(whole):
                break
            self._words(whole[begin : each.end()])
            begin = each.end()
        self._keep(whole[begin:])

    def _keep(self, text: str) -> None:
        self._rest_size += len(text)
        if self._rest_size > _LONGEST:
            self.too_long = True
        elif text:
            self._rest.append(text)

    def _words(self, text: str) -> None:
        """One word with the blanks before it; blanks alone at the end of an answer are none."""
        if len(self.words) >= MOST:
            self.too_long = True
        elif not text.isspace():
            self.words.append(Step(token_hash(text.encode(errors="surrogatepass"), self._key)))
