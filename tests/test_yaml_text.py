"""YAML is read as plain values with lines; nothing else gets through."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vramledger.errors import BadInput
from vramledger.yaml_nodes import MOST_CHARACTERS
from vramledger.yaml_text import parse_all, parse_yaml


def test_values_are_plain_and_keys_know_their_lines() -> None:
    text = parse_yaml(
        "a: 1\nb:\n  - 2.5\n  - yes\n  - true\n  - ~\n  - 06:00\nc: {d: '1', 3: 0x10}\n", "f.yaml"
    )
    assert text.value == {
        "a": 1,
        "b": [2.5, "yes", True, None, "06:00"],
        "c": {"d": "1", 3: 16},
    }
    assert text.line(("b",)) == 2
    assert text.line(("b", 4)) == 7
    assert text.place(("c", "d")) == "f.yaml line 8"
    assert text.line(("c", "absent")) == 8


def test_dates_and_numbers_that_look_odd_stay_what_they_are_written_as() -> None:
    value = parse_yaml("[2026-12-01, 010, 1_000, -3, 1e3, .5, '010']", "f.yaml").value
    assert value == ["2026-12-01", 10, 1000, -3, 1000.0, 0.5, "010"]


def test_an_anchor_used_twice_is_read_quietly() -> None:
    assert parse_yaml("a: &x 1\nb: &x 2\nc: *x\n", "f.yaml").value == {"a": 1, "b": 2, "c": 2}


def test_aliases_repeat_a_value() -> None:
    assert parse_yaml("a: &x [1, 2]\nb: *x\n", "f.yaml").value == {"a": [1, 2], "b": [1, 2]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "f.yaml line 1 is not YAML: expected ',' or ']', but got '<stream end>'; mend"),
        ("a: 1\n b: 2", "f.yaml line 2 is not YAML: mapping values are not allowed here"),
        ("a: *no", "f.yaml line 1 is not YAML: found undefined alias 'no'"),
        (
            "a: 1\nb: 2\na: 3",
            "f.yaml line 3 gives 'a' a second time; keep one of them.",
        ),
        (
            "x: !!python/object/apply:os.system [true]",
            "f.yaml line 1 has the tag '!!python/object/apply:os.system'; tags are not read",
        ),
        ("x: !!set {a}", "f.yaml line 1 has the tag '!!set'; tags are not read"),
        ("x: !!int [1]", "f.yaml line 1 has the tag '!!int'; tags are not read"),
        ("x: !!int y", "f.yaml line 1: 'y' is not a number."),
        ("x: !secret y", "f.yaml line 1 has the tag '!secret'; tags are not read"),
        ("a: &x {b: 1}\nc:\n  <<: *x", "f.yaml line 3 merges with '<<'"),
        ("[1]: 2", "f.yaml line 1 has a key that is not a word"),
        ("true: 2", "f.yaml line 1 has a key that is not a word"),
        ("", "f.yaml holds no YAML document; it should hold one."),
        ("a: 1\n---\nb: 2", "f.yaml holds 2 YAML documents; it should hold one."),
        ("a: \x00", "f.yaml is not YAML: "),
        ("a: &x [*x]", "f.yaml line 1 "),
        ("[" * 60 + "]" * 60, "f.yaml line 1 is nested more than 40 levels deep."),
        ("[" * 9000, "f.yaml is nested deeper than any file a person writes."),
        ("a: " + "9" * 500, "f.yaml line 1: "),
        ('a: "\\ud800"', "f.yaml line 1 holds half a character (a lone surrogate); remove it."),
    ],
)
def test_what_is_not_plain_yaml_is_refused_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_yaml(text, "f.yaml")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_bomb_of_aliases_is_stopped() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    with pytest.raises(BadInput, match="holds more than 50,000 values, aliases written out"):
        parse_yaml("\n".join(lines), "f.yaml")


def test_a_huge_text_is_refused_before_it_is_read() -> None:
    with pytest.raises(BadInput, match="files a person writes stay under 524,288"):
        parse_yaml("a" * (MOST_CHARACTERS + 1), "f.yaml")


def test_several_documents_are_given_in_order() -> None:
    documents = list(parse_all("a: 1\n---\n---\nb: 2\n", "f.yaml"))
    assert [document.value for document in documents] == [{"a": 1}, {"b": 2}]
    assert documents[1].line(("b",)) == 4


@settings(deadline=None)
@given(st.text(alphabet=st.characters(max_codepoint=0x2FF), max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert _outcome(text)


def _outcome(text: str) -> bool:
    """Whether the text is read, or refused by a message that names the file."""
    try:
        parse_yaml(text, "f.yaml")
    except BadInput as error:
        return "f.yaml" in str(error)
    return True


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )
)
def test_json_is_read_as_itself(value: object) -> None:
    import json

    text = json.dumps({"value": value})  # ASCII, with pairs of surrogates where needed
    assert parse_yaml(text, "f.yaml").value == {"value": value}
