"""Text from files is shown without control characters, on as many lines as it should have."""

from hypothesis import given
from hypothesis import strategies as st

from vramledger.errors import BadInput
from vramledger.printable import flat, lines, one_line, without_password


def test_control_characters_are_escaped() -> None:
    assert one_line("a\x1b[31m\nb\u202ec\udcff\u2028é") == r"a\x1b[31m\nb\u202ec\udcff\u2028é"
    assert lines("a\tb\n\x07c") == "a\\tb\n\\x07c"
    assert flat("a\tb\nc" + "d" * 3000) == "a\\tb\\nc" + "d" * 3000


def test_a_refusal_is_always_one_line() -> None:
    assert str(BadInput("There is no file 'a\nb'.")) == r"There is no file 'a\nb'."


def test_the_middle_of_a_long_line_is_left_out() -> None:
    assert one_line("a" * 1500 + "b" * 5000 + "c" * 400) == (
        "a" * 1500 + " [5,000 characters left out] " + "c" * 400
    )


def test_passwords_in_addresses_are_taken_out() -> None:
    assert without_password("https://me:secret@host/x?y=z@1") == "https://host/x?y=z@1"


@given(st.text())
def test_one_line_is_printable(text: str) -> None:
    assert one_line(text).isprintable()
    assert all(line.isprintable() for line in lines(text).split("\n"))
