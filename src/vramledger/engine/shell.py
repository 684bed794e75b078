"""Reading shell text without running it: words, quotes, comments, variables, assignments.

Only what launch scripts need is understood. A variable is replaced by a value given earlier in the
text; any other, and every command substitution, stays as written and is named in the word's
`unknown`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from vramledger.engine.launch import Argument, opening
from vramledger.errors import BadInput
from vramledger.frozen import frozen

_LARGEST: Final = 1 << 20
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_ASSIGNMENT: Final = re.compile(r"(?P<name>[A-Za-z_]\w*)\+?=(?P<value>.*)\Z", re.DOTALL)
_BRACED: Final = re.compile(r"(?P<name>\w+|[@*#?])(?:(?P<mark>:?[-=])(?P<default>[^{}]*))?\Z")
_ENDS: Final = frozenset("\n;&|()")


@frozen
class Command:
    """One simple command with the variables set for it, exported ones included."""

    words: tuple[Argument, ...]
    environment: Mapping[str, str]


def read_commands(
    text: str, where: str, variables: Mapping[str, str] | None = None
) -> tuple[Command, ...]:
    """The commands of a script or pasted line, in order.

    Raises:
        BadInput: a quote is not closed, or the text is larger than 1 MiB or holds NUL bytes.
    """
    if len(text) > _LARGEST or "\0" in text:
        raise BadInput(
            f"{opening(where)} is not a launch command: it is binary or larger than 1 MiB."
        )
    return _Reader(text, where, dict(variables or {})).read()


@dataclass(slots=True)
class _Word:
    """The word being read; `started` tells an empty quoted word from none."""

    text: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    started: bool = False
    quoted: bool = False


class _Reader:
    def __init__(self, text: str, where: str, variables: dict[str, str]) -> None:
        self.text = text
        self.where = where
        self.variables = variables
        self.exported: dict[str, str] = {}
        self.position = 0
        self.word = _Word()
        self.words: list[Argument] = []
        self.commands: list[Command] = []

    def read(self) -> tuple[Command, ...]:
        while self.position < len(self.text):
            self._step(self.text[self.position])
        self._end_command()
        return tuple(self.commands)

    def _step(self, char: str) -> None:
        self.position += 1
        if char in " \t\r":
            self._end_word()
        elif char == "#" and not self.word.started:
            self._skip_line()
        elif char in "<>" or (char == "&" and self._peek() == ">"):
            self._skip_redirection()
        elif char == "\n":
            self._end_line()
        elif char in _ENDS:
            self._end_command()
        elif char == "\\":
            self._escape()
        elif char == "'":
            self._single_quoted()
        elif char == '"':
            self._double_quoted()
        elif char in "$`":
            self._expand(char, quoted=False)
        else:
            self._add(char)

    def _peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def _add(self, text: str, *, quoted: bool = False) -> None:
        self.word.text.append(text)
        self.word.started = True
        self.word.quoted |= quoted

    def _skip_line(self) -> None:
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end

    def _end_line(self) -> None:
        """A line break ends the command, unless the next line begins with an option."""
        rest = self.text[self.position :].lstrip(" \t\n")
        if (self.words or self.word.started) and rest.startswith("--"):
            self._end_word()
        else:
            self._end_command()

    def _escape(self) -> None:
        char = self._peek()
        self.position += 1
        if char == "\n":
            return
        self._add(char, quoted=True)

    def _single_quoted(self) -> None:
        end = self.text.find("'", self.position)
        if end < 0:
            self._refuse_open_quote("'")
        self._add(self.text[self.position : end], quoted=True)
        self.position = end + 1

    def _double_quoted(self) -> None:
        start = self.position
        self._add("", quoted=True)
        while self.position < len(self.text):
            char = self.text[self.position]
            self.position += 1
            if char == '"':
                return
            if char == "\\":
                self._escape_in_double()
            elif char in "$`":
                self._expand(char, quoted=True)
            else:
                self._add(char)
        self.position = start
        self._refuse_open_quote('"')

    def _escape_in_double(self) -> None:
        char = self._peek()
        self.position += 1
        if char != "\n":
            self._add(char if char in '"\\$`' else "\\" + char)

    def _refuse_open_quote(self, quote: str) -> None:
        line = self.text.count("\n", 0, self.position) + 1
        raise BadInput(
            f"{opening(self.where)} has a {quote} on line {line} that is never closed; close the quote."
        )

    def _expand(self, mark: str, *, quoted: bool) -> None:
        """A variable or a command substitution after `mark`."""
        if mark == "`":
            self._unknown(self._until("`"))
            return
        following = self._peek()
        if following == "(":
            self.position += 1
            self._unknown(f"$({self._until_closing('(', ')')})")
        elif following == "{":
            self.position += 1
            self._braced(self._until("}"), quoted=quoted)
        elif (name := _NAME.match(self.text, self.position)) is not None:
            self.position = name.end()
            self._variable(name[0], f"${name[0]}", None, quoted=quoted)
        elif following and following in "@*#?$!0123456789":
            self.position += 1
            self._unknown(f"${following}")
        else:
            self._add("$")

    def _braced(self, inside: str, *, quoted: bool) -> None:
        match = _BRACED.match(inside)
        if match is None:
            self._unknown(f"${{{inside}}}")
        else:
            self._variable(match["name"], f"${{{inside}}}", match["default"], quoted=quoted)

    def _variable(self, name: str, written: str, default: str | None, *, quoted: bool) -> None:
        value = self.variables.get(name) or default
        if value is None:
            value = self.variables.get(name)
        if value is None:
            self._unknown(written)
        elif quoted:
            self._add(value)
        else:
            self._add_split(value)

    def _add_split(self, value: str) -> None:
        """An unquoted value: its blanks separate words."""
        pieces = value.split()
        for index, piece in enumerate(pieces):
            if index or value[:1].isspace():
                self._end_word()
            self._add(piece)
        if value[-1:].isspace():
            self._end_word()

    def _unknown(self, written: str) -> None:
        self._add(written)
        self.word.unknown.append(written)

    def _until(self, closing: str) -> str:
        end = self.text.find(closing, self.position)
        end = len(self.text) if end < 0 else end
        inside = self.text[self.position : end]
        self.position = end + 1
        return inside

    def _until_closing(self, opening: str, closing: str) -> str:
        start, depth = self.position, 1
        while self.position < len(self.text) and depth:
            char = self.text[self.position]
            depth += (char == opening) - (char == closing)
            self.position += 1
        return self.text[start : self.position - 1]

    def _skip_redirection(self) -> None:
        """``> file``, ``2>&1``, ``&>> log``: the operator and its target are dropped."""
        if "".join(self.word.text).isdigit() and not self.word.quoted:
            self.word = _Word()
        self._end_word()
        while self._peek() and self._peek() in "<>&|":
            self.position += 1
        kept = len(self.words)
        while self._peek() and self._peek() in " \t":
            self.position += 1
        while self._peek() and self._peek() not in " \t\r\n;&|()<>":
            self._step(self._peek())
        self._end_word()
        del self.words[kept:]

    def _end_word(self) -> None:
        if self.word.started:
            text = "".join(self.word.text)
            self.words.append(Argument(text, tuple(self.word.unknown)))
        self.word = _Word()

    def _end_command(self) -> None:
        self._end_word()
        words, self.words = self.words, []
        if words and words[0].text in {"export", "declare", "set", "local"}:
            self._assign(words[1:], export=True)
            return
        count = leading_assignments(words)
        if count == len(words):
            self._assign(words, export=False)
            return
        own = {**self.exported, **assignments(words[:count])}
        self.commands.append(Command(tuple(words[count:]), own))

    def _assign(self, words: list[Argument], *, export: bool) -> None:
        values = assignments(words)
        self.variables.update(values)
        if export:
            names = [word.text for word in words if word.text in self.variables]
            self.exported.update({name: self.variables[name] for name in names} | values)


def leading_assignments(words: list[Argument] | tuple[Argument, ...]) -> int:
    """How many words at the front set variables (``NAME=value``)."""
    count = 0
    while count < len(words) and _ASSIGNMENT.match(words[count].text):
        count += 1
    return count


def assignments(words: list[Argument] | tuple[Argument, ...]) -> dict[str, str]:
    """Variables that the words set to known values."""
    pairs = ((_ASSIGNMENT.match(word.text), word.unknown) for word in words)
    return {match["name"]: match["value"] for match, unknown in pairs if match and not unknown}
