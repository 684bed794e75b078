"""Whatever is pasted, reading ends in a launch or in one finished sentence."""

from hypothesis import given
from hypothesis import strategies as st

from vramledger.engine.launch import Argument
from vramledger.engine.paste import repair
from vramledger.engine.read import read_launch
from vramledger.engine.shell import read_commands
from vramledger.errors import BadInput, VramError

_PIECES = [
    "vllm", "serve", "m", "-tp", "4", "--max-model-len", "32k", "auto", "--speculative-config",
    "'{\"method\": \"mtp\"}'", "{", "$X", "${Y:-2}", "$(cat", "`", "'", '"', "\\", "\n", "|", ">",
    "#", "docker", "run", "-e", "A=b", "vllm/vllm-openai:v0.11.0", "python", "-m", "bash", "-c",
    "sudo", "-O3", "--compilation-config.a", "\u2013", "\u201c", "services:", "kind: Pod",
    "[Service]", "ExecStart=", "  command: [", "*a", "&a", "!!x",
]  # fmt: skip
_PASTED = st.lists(st.sampled_from(_PIECES) | st.text(max_size=8), max_size=12).map(" ".join)


@given(_PASTED)
def test_reading_never_fails_in_another_way(text: str) -> None:
    said = ""
    try:
        engine = read_launch(text).engine
    except VramError as refusal:
        engine, said = "", str(refusal)
    assert engine or said.endswith(".")


_WORD = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=12)


@given(st.lists(_WORD, min_size=1, max_size=5))
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    text = "run " + " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    (command,) = read_commands(text, "a text")
    assert command.words == (Argument("run"), *(Argument(word) for word in words))


@given(st.text(st.characters(codec="ascii"), max_size=60).filter(lambda t: "\r" not in t))
def test_plain_text_needs_no_quote_or_dash_repair(text: str) -> None:
    assert not [note for note in repair(text).notes if note.startswith("Typographic")]


@given(st.text(max_size=40))
def test_shell_reading_ends(text: str) -> None:
    said = ""
    try:
        read_commands(text, "a text")
    except BadInput as refusal:
        said = str(refusal)
    assert said == "" or said.startswith("a text ")
