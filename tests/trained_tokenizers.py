"""Tokenizers of the kinds that models have, trained here on drawn text."""

import random
from functools import cache
from typing import Any

from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from vramledger.trial.prompts.learning import common_words

# How GPT-4's and Llama 3's tokenizers cut a text, in short: a word takes the one character before it along.
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SIZE = 2400
_UNKNOWN = "<unk>"


def _text() -> list[str]:
    draws = random.Random(7)
    words = [*common_words()[::2], "Zug", "naïve", "2026", "end."]
    weights = [1 / (place + 5) for place in range(len(words))]
    return [" ".join(draws.choices(words, weights, k=200)) + "\n" for _ in range(300)]


@cache
def byte_level() -> Any:
    """As GPT-2's and Qwen's: bytes, cut before words; nothing is added."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        _text(),
        trainers.BpeTrainer(vocab_size=SIZE, initial_alphabet=alphabet, show_progress=False),
    )
    return made


@cache
def begins_marked() -> Any:
    """As Llama 3's: bytes cut by an expression, and a mark of the beginning."""
    made = Tokenizer(models.BPE(ignore_merges=True))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        special_tokens=["<|begin|>", "<|user|>", "<|end|>", "<|answer|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(_text(), trainer)
    made.post_processor = processors.TemplateProcessing(
        single="<|begin|> $A", special_tokens=[("<|begin|>", made.token_to_id("<|begin|>"))]
    )
    return made


@cache
def pieces() -> Any:
    """As Llama 2's: SentencePiece's BPE, whose merges see the whole text."""
    made = Tokenizer(models.BPE(unk_token=_UNKNOWN, fuse_unk=True))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE, special_tokens=[_UNKNOWN, "<s>"], show_progress=False
    )
    made.train_from_iterator(_text(), trainer)
    made.pre_tokenizer = None
    made.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", made.token_to_id("<s>"))]
    )
    return made


@cache
def unigram() -> Any:
    """As T5's and XLM-R's: SentencePiece's unigram model."""
    made = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=SIZE, special_tokens=[_UNKNOWN, "</s>"], unk_token=_UNKNOWN, show_progress=False
    )
    made.train_from_iterator(_text(), trainer)
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", made.token_to_id("</s>"))]
    )
    return made


@cache
def joins_words() -> Any:
    """A tokenizer whose tokens run over blanks, so that words do not add up."""
    made = Tokenizer(models.BPE())
    made.decoder = decoders.Fuse()
    made.train_from_iterator(
        [line[:400] for line in _text()],
        trainers.BpeTrainer(vocab_size=1500, show_progress=False),
    )
    return made


KINDS = {
    "byte_level": byte_level,
    "begins_marked": begins_marked,
    "pieces": pieces,
    "unigram": unigram,
}
