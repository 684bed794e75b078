"""Optional features of a launch: adapters, speculative decoding, multimodal limits."""

import json
from collections.abc import Mapping
from typing import Any, Final

from vramledger.engine.vllm.deployment import Lora, Speculation
from vramledger.engine.vllm.values import Values, json_integer, json_text
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.load import load_model
from vramledger.model.model import Model

_NO_DRAFT: Final = frozenset(
    {"ngram", "ngram_gpu", "suffix", "mtp", "extract_hidden_states", "custom_class"}
)
# Fragments of a draft's name that say its method, as vLLM looks for them.
_NAME_SAYS: Final = (
    ("eagle-", "eagle"),
    ("eagle3", "eagle3"),
    ("dflash", "dflash"),
    ("dspark", "dspark"),
    ("medusa", "medusa"),
)


def read_lora(values: Values) -> Lora | None:
    """Adapter slots, None where adapters are off."""
    if not values.switch("enable-lora"):
        return None
    slots = values.integer("max-loras") or 1
    rank = values.integer("max-lora-rank") or 16
    return Lora(slots, rank, values.integer("max-cpu-loras") or slots)


@frozen
class SpeculationRead:
    """Speculative decoding as asked for; notes say what could not be known."""

    speculation: Speculation | None
    notes: tuple[str, ...] = ()


def read_speculation(values: Values, tp: int) -> SpeculationRead:
    """Speculative decoding from the JSON flag, its short forms or the flags before 0.8.3."""
    config = _speculative_settings(values)
    if config is None:
        return SpeculationRead(None)
    where = f"--speculative-config in {values.where}"
    reference = json_text(config, "model", where)
    method = _method(json_text(config, "method", where), reference)
    tokens = json_integer(config, "num_speculative_tokens", where, default=0)
    draft_tp = json_integer(config, "draft_tensor_parallel_size", where, default=tp, least=1)
    notes: list[str] = []
    if not tokens:
        tokens = 1
        notes.append("num_speculative_tokens is not given; one draft token a step is assumed.")
    draft = None
    if method not in _NO_DRAFT and reference:
        draft = _load_draft(reference, notes)
    missing = draft is None and reference is not None and method not in _NO_DRAFT
    found = Speculation(method, tokens, draft, draft_tp, reference, uncounted=missing)
    return SpeculationRead(found, tuple(notes))


def _speculative_settings(values: Values) -> Mapping[str, Any] | None:
    config = values.json("speculative-config")
    short: dict[str, Any] = {
        "method": values.text("spec-method"),
        "model": values.text("spec-model") or values.text("speculative-model"),
        "num_speculative_tokens": values.integer("spec-tokens")
        or values.integer("num-speculative-tokens"),
        "draft_tensor_parallel_size": values.integer("speculative-draft-tensor-parallel-size"),
    }
    given = {key: value for key, value in short.items() if value is not None}
    if config is None and not given:
        return None
    return {**given, **(config or {})}


def _method(given: str | None, reference: str | None) -> str:
    """The method in vLLM's words; every MTP flavour is ``mtp``."""
    if given is not None:
        name = given.strip("[]").casefold()
        return "mtp" if name.endswith("mtp") else name
    name = (reference or "").casefold()
    if name.strip("[]") == "ngram":
        return "ngram"
    return next((method for part, method in _NAME_SAYS if part in name), "draft_model")


def _load_draft(reference: str, notes: list[str]) -> Model | None:
    try:
        return load_model(reference)
    except BadInput as error:
        notes.append(f"The draft model is not counted: {error}")
        return None


def read_limits(values: Values) -> dict[str, int]:
    """Most items of each modality per prompt, from JSON or ``image=4,video=1``.

    Raises:
        BadInput: a limit is no whole number of at least 0.
    """
    text = values.text("limit-mm-per-prompt")
    limits: dict[str, int] = {}
    if text is not None:
        where = f"{values.launch_written('limit-mm-per-prompt')} in {values.where}"
        settings = _limit_settings(text, values)
        for modality in settings:
            value = settings[modality]
            counted = value if isinstance(value, dict) else {"count": value}
            limits[modality] = json_integer(counted, "count", f"{where}, {modality}", default=999)
    if values.switch("language-model-only"):
        limits = dict.fromkeys(("image", "video", "audio"), 0)
    return limits


def _limit_settings(text: str, values: Values) -> Mapping[str, Any]:
    if text.lstrip().startswith("{"):
        return values.json("limit-mm-per-prompt") or {}
    settings: dict[str, Any] = {}
    for pair in text.split(","):
        name, _, number = pair.partition("=")
        settings[name.strip()] = int(number) if number.strip().isdigit() else number
    return settings


def read_capture_sizes(values: Values, compilation: Mapping[str, Any]) -> tuple[int, ...] | None:
    """CUDA graph sizes given by flag or inside ``--compilation-config``; None where not given."""
    words = values.words("cudagraph-capture-sizes") or values.words("cuda-graph-sizes")
    listed: Any = compilation.get("cudagraph_capture_sizes")
    if words:
        listed = [_json_or_word(word) for word in words]
        if len(listed) == 1 and isinstance(listed[0], list):
            listed = listed[0]
    if listed is None:
        return None
    if not isinstance(listed, list) or not all(
        isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in listed
    ):
        raise BadInput(
            f"The CUDA graph sizes in {values.where} are {listed!r}; they must be whole numbers "
            "of at least 1."
        )
    return tuple(listed)


def _json_or_word(word: str) -> Any:
    try:
        return json.loads(word)
    except (ValueError, RecursionError):
        return word
