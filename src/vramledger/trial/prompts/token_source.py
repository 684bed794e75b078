"""Who can tell the tokens of a text: a tokenizer's file, or the server itself."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from vramledger.evidence import Basis
from vramledger.workload.counting import load_tokenizer


class TokenSource(Protocol):
    """Tells token ids. A method gives None where the source cannot tell."""

    basis: Basis
    said: str

    def plain(self, text: str) -> Sequence[int] | None:
        """The tokens of a text alone, without special ones."""

    def prompt(self, text: str) -> Sequence[int] | None:
        """The tokens of a completion with this prompt, special ones included."""

    def chat(self, text: str) -> Sequence[int] | None:
        """The tokens of a chat whose only message, the user's, is this text."""

    def words(self) -> Iterator[str]:
        """Texts of single tokens of the vocabulary, as far as the source tells them; some may be no words."""


class FileTokens:
    """By a local tokenizer.json. It holds no chat template."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            BadInput: no such file, or no tokenizer in it.
        """
        self.basis = Basis.EXACT
        self.said = f"Prompts are counted with the tokenizer's file {path.name}."
        self._tokenizer: Any = load_tokenizer(path)

    def plain(self, text: str) -> Sequence[int] | None:
        ids: Sequence[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def prompt(self, text: str) -> Sequence[int] | None:
        ids: Sequence[int] = self._tokenizer.encode(text, add_special_tokens=True).ids
        return ids

    def chat(self, text: str) -> Sequence[int] | None:  # noqa: ARG002 - the file cannot tell
        return None

    def words(self) -> Iterator[str]:
        for number in sorted(self._tokenizer.get_vocab(with_added_tokens=False).values()):
            yield self._tokenizer.decode([number], skip_special_tokens=True)
