"""Tokens of texts: exact by a tokenizer's file, or estimated by characters and said so."""

from fractions import Fraction
from math import ceil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from vramledger.errors import BadInput
from vramledger.workload.counting import CharacterCounter, TokenizerCounter, counter_for

_IDEOGRAPHS = "你好世界。こんにちはカナ안녕하세요"


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level tokenizer, trained on a few lines, that adds a token at the beginning if asked."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(["the red bicycle and the red house"] * 20, trainer)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def test_a_tokenizer_s_file_counts_exactly_what_the_tokenizer_does(tokenizer_file: Path) -> None:
    counter = counter_for(tokenizer_file)
    reference = Tokenizer.from_file(str(tokenizer_file))
    for text in ("the red bicycle", "", "übergroß", "你好", "a" * 1000):
        assert counter.count(text) == len(reference.encode(text, add_special_tokens=False).ids)
    assert counter.basis == "exact"
    assert counter.said == (
        "Tokens are counted with the tokenizer's file that was given, without those that a chat "
        "template adds (exact)."
    )


def test_half_of_a_surrogate_pair_is_counted_and_breaks_nothing(tokenizer_file: Path) -> None:
    broken = "a\ud800b"
    assert counter_for(tokenizer_file).count(broken) == 3
    assert counter_for().count(broken) == 1


@pytest.mark.parametrize("content", [b"", b"{}", b"no tokenizer", b"\xff\xfe"])
def test_a_file_that_is_no_tokenizer_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(BadInput) as refused:
        counter_for(path)
    assert str(refused.value) == (
        f"{path} is no tokenizer's file; give the tokenizer.json that lies beside a model's weights."
    )


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"tokenizer\.json"):
        counter_for(tmp_path / "tokenizer.json")


def test_both_ways_at_once_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        counter_for(tmp_path / "tokenizer.json", 4.0)
    assert str(refused.value) == (
        "--tokenizer counts tokens exactly and --characters-per-token estimates them; give one."
    )


@pytest.mark.parametrize("ratio", [0.0, -1.0, 1000.0, float("nan"), float("inf")])
def test_a_ratio_that_is_none_is_refused(ratio: float) -> None:
    with pytest.raises(
        BadInput, match=r"^--characters-per-token is .*; a token stands for between"
    ):
        counter_for(None, ratio)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("x" * 4000, 1000),
        ("你好世", 2),
        ("你好世界" * 300, 800),
        ("é" * 8, 2),
        ("дом " * 4, 4),
        ("𠀀" * 3, 2),  # beyond the basic plane
        ("🙂" * 4, 1),
        ("abcd你好世", 3),
    ],
)
def test_characters_are_counted_by_their_script(text: str, tokens: int) -> None:
    assert CharacterCounter().count(text) == tokens


def test_a_ratio_that_was_given_holds_for_all_scripts_and_is_said() -> None:
    counter = counter_for(None, 2.5)
    assert counter.count("abcde" * 10) == 20
    assert counter.count("你好世界们" * 10) == 20
    assert counter_for(None, 3.3).count("x" * 33) == 10
    assert (counter.basis, counter.said) == (
        "assumed",
        "Tokens are estimated at 2.5 characters a token, as given (assumed).",
    )


def test_the_ratio_and_its_band_are_said() -> None:
    assert counter_for().said == (
        "Tokens are estimated at 4 characters a token, and 1.5 of Chinese, Japanese and Korean; the "
        "truth may lie between 3 and 5, and between 1 and 2 (assumed)."
    )


@given(st.text(alphabet=st.characters() | st.sampled_from(_IDEOGRAPHS), max_size=200))
def test_the_fast_count_is_the_sum_over_characters(text: str) -> None:
    ideographs = sum(_plainly_ideograph(ord(each)) for each in text)
    tokens = Fraction(len(text) - ideographs, 4) + ideographs / Fraction(3, 2)
    assert CharacterCounter().count(text) == ceil(tokens)
    units = CharacterCounter().units(text)
    assert Fraction(int(units.ends[-1]) if text else 0, units.parts) == tokens


def _plainly_ideograph(point: int) -> bool:
    blocks = (
        range(0x1100, 0x1200), range(0x2E80, 0x4DC0), range(0x4E00, 0xA000), range(0xA960, 0xA980),
        range(0xAC00, 0xD800), range(0xF900, 0xFB00), range(0xFF00, 0xFFF0),
        range(0x1B000, 0x1B300), range(0x20000, 0x40000),
    )  # fmt: skip
    return any(point in block for block in blocks)


def test_units_of_a_tokenizer_are_its_tokens(tokenizer_file: Path) -> None:
    counter = TokenizerCounter(tokenizer_file)
    units = counter.units("the red house")
    assert len(units.ends) == counter.count("the red house")
    assert len(units.symbols) == units.width * len(units.ends)
