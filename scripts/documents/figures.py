"""Small tables of the explanations, from the product's own figures."""

from typing import Final

from vramledger.model.figures import full_bytes_per_token, window_bytes_per_token
from vramledger.model.inspection import inspect
from vramledger.model.load import load_model
from vramledger.plan.factors import FACTORS
from vramledger.units import GIB

_FIVE: Final = (
    "meta-llama/Llama-3.1-8B",
    "Qwen/Qwen2.5-72B",
    "google/gemma-3-27b-it",
    "deepseek-ai/DeepSeek-V3",
    "openai/gpt-oss-120b",
)


def factors() -> str:
    """The assumptions between people and requests in flight."""
    rows = [
        f"| `{f.name}` | {f.low:g} | {f.expected:g} | {f.high:g} | {f.meaning} |" for f in FACTORS
    ]
    return "\n".join(
        ["| factor | low | expected | high | meaning |", "|---|---:|---:|---:|---|", *rows]
    )


def five_models() -> str:
    """Parameters, stored bytes and what a token keeps, of five models of different kinds."""
    rows = []
    for name in _FIVE:
        model = load_model(name)
        seen = inspect(model)
        rows.append(
            f"| {name} | {seen.params_total:,} | {seen.weights_bytes / GIB:,.2f} "
            f"| {full_bytes_per_token(model):,} | {window_bytes_per_token(model):,} |"
        )
    head = "| model | parameters | GiB as stored | bytes a token, for good | and within a window |"
    return "\n".join([head, "|---|---:|---:|---:|---:|", *rows])
