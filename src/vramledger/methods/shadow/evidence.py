"""A stored comparison as evidence for a smaller precision; reads JSON alone, and nothing heavy."""

import json
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.named_file import read_text

SCHEMA: Final = "vramledger.shadow/1"
_BOUND_TO: Final = ("quantization", "kv_cache_dtype", "engine_version", "attention_backend")
_MOST_BYTES: Final = 1 << 28


@frozen
class Evidence:
    """What the file says: the names of the models, the agreement with its ends, and how many prompts both answered."""

    model_a: str
    model_b: str
    value: float
    low: float
    high: float
    answered: int
    rehearsed: bool
    weights_b: str | None = None  # what B's server told: quantisation of its weights
    kv_dtype_b: str | None = None
    engine_version_b: str | None = None
    backend_b: str | None = None

    def holds(self, least: float) -> bool | None:
        """Whether the agreement reaches `least`; None where the interval holds it."""
        return True if self.low >= least else False if self.high < least else None


def read_evidence(path: Path) -> Evidence:
    """The agreement that a comparison found.

    Raises:
        BadInput: no such file, or no comparison with a figure.
    """
    text = read_text(path, _MOST_BYTES, "a shadow comparison")
    try:
        found: Any = json.loads(text)
        if found["schema"] != SCHEMA:
            raise ValueError  # noqa: TRY301 - said below with every other flaw
        agreement = found["token_agreement"]
        return Evidence(
            str(found["a"]["model"]),
            str(found["b"]["model"]),
            float(agreement["value"]),
            float(agreement["low"]),
            float(agreement["high"]),
            int(found["requests"]["answered"]),
            found["basis"] != "measured",
            *(_told(found["b"].get(name)) for name in _BOUND_TO),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadInput(
            f"{path} is no shadow comparison with a figure ({SCHEMA}); make it with vram trial shadow -o {path}."
        ) from None


def _told(value: Any) -> str | None:
    return None if value is None else str(value).casefold()
