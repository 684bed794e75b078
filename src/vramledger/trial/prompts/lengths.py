"""How each engine is told the length of an answer, and what that does besides.

Where an engine has `ignore_eos`, answers run to the limit. That makes the load repeatable, and it is not what users
do: text behind the end of an answer is no text a model would write, which drafts and quality figures show.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.trial.prompts.body import CHAT, LENGTH


@frozen
class LengthControl:
    """One engine's fields (as `BodyStyle.length`), by endpoint, what they do besides, and where that is said."""

    chat: Mapping[str, Any] = field(default_factory=dict)
    completions: Mapping[str, Any] = field(default_factory=dict)
    limit: str = "max_tokens"
    effects: tuple[str, ...] = ()
    takes_ids: bool = False  # a completion's prompt may be a list of token ids
    source: str = ""

    def fields(self, endpoint: str) -> Mapping[str, Any]:
        """The fields for an endpoint; empty where nothing fixes a length."""
        return self.chat if endpoint == CHAT else self.completions


_IGNORE: Final = {"ignore_eos": True}
_PAST_END: Final = (
    "Answers are forced to their lengths (ignore_eos), so they run on past their natural ends."
)
_BY_THEMSELVES: Final = (
    "The server has no way to fix the length of an answer that is known here, so answers end by themselves, at the asked "
    "length at the latest."
)
_SGLANG_RESERVES: Final = (
    "SGLang reserves the whole rest of such an answer, up to 4,096 tokens, when it admits others, where it reserves an "
    "estimate under real traffic: fewer requests run at once and fewer are retracted."
)
_NATURAL: Final = LengthControl(effects=(_BY_THEMSELVES,))
CONTROLS: Final[Mapping[str, LengthControl]] = {
    "vllm": LengthControl(
        _IGNORE,
        _IGNORE,
        effects=(_PAST_END,),
        takes_ids=True,
        # There ignore_eos also takes out the end tokens of the generation config, so min_tokens, which masks logits on
        # every step, is not needed.
        source="https://github.com/vllm-project/vllm/blob/main/vllm/sampling_params.py",
    ),
    "sglang": LengthControl(
        _IGNORE,
        _IGNORE,
        effects=(
            _PAST_END,
            _SGLANG_RESERVES,
        ),
        takes_ids=True,
        source="https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/managers/schedule_policy.py",
    ),
    "llama.cpp": LengthControl(
        _IGNORE,
        _IGNORE,
        effects=(_PAST_END,),
        source="https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
    ),
    "tensorrt-llm": LengthControl(
        _IGNORE,
        _IGNORE,
        effects=(_PAST_END,),
        takes_ids=True,
        source="https://github.com/NVIDIA/TensorRT-LLM/blob/main/tensorrt_llm/serve/openai_protocol.py",
    ),
    "lmdeploy": LengthControl(
        _IGNORE,
        _IGNORE,
        effects=(_PAST_END,),
        source="https://github.com/InternLM/lmdeploy/blob/main/lmdeploy/serve/openai/protocol.py",
    ),
    "dynamo": LengthControl(
        {"ignore_eos": True, "min_tokens": LENGTH},
        {"ignore_eos": True, "min_tokens": LENGTH},
        effects=(_PAST_END,),
        takes_ids=True,
        source="https://docs.rs/crate/dynamo-llm/latest/source/src/protocols/openai/common_ext.rs",
    ),
}


def length_control(engine: str | None) -> LengthControl:
    """The control of an engine; where it is not known, or has none, answers end by themselves."""
    return CONTROLS.get(engine or "", _NATURAL)
