"""The worked example of the trade: what sixteen long sequences cost, and why 24 do not fit.

Every figure of the page comes from here, by the product's own ledger and length arithmetic.
"""

from dataclasses import dataclass

from vramledger.engine.launch import Flag, Launch
from vramledger.evidence import Basis
from vramledger.hardware.catalogue import find
from vramledger.ledger.case import Case
from vramledger.ledger.ledger import Ledger
from vramledger.model.architectures import build
from vramledger.model.config import Config
from vramledger.model.figures import (
    full_bytes_per_token,
    state_bytes_per_sequence,
    window,
    window_bytes_per_token,
)
from vramledger.model.load import load_model
from vramledger.model.model import Model
from vramledger.plan.lengths import from_cells
from vramledger.sizing.demand import Demand, in_flight
from vramledger.units import GIB, KIB

LAYERS, KV_HEADS, HEAD_DIM, ELEMENT = 32, 8, 128, 2
PROMPT, OUTPUT = 8192, 1024
CARD = "L40S"  # sold as 48 GB
VERSION = "0.33.0"
CONFIG = {
    "model_type": "llama",
    "hidden_size": 5120,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 40,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_DIM,
    "intermediate_size": 19456,
    "vocab_size": 131072,
    "max_position_embeddings": 32768,
    "torch_dtype": "bfloat16",
}
# half the requests short, a tenth long: the same mean prompt of about 8,192 tokens
UNEQUAL = ((2048, OUTPUT, 0.50), (8192, OUTPUT, 0.30), (16384, OUTPUT, 0.10), (30720, OUTPUT, 0.10))
ROUGH_MODELS = (
    ("meta-llama/Llama-3.1-8B", "GQA"),
    ("Qwen/Qwen2.5-72B-Instruct", "GQA"),
    ("deepseek-ai/DeepSeek-R1", "MLA"),
    ("openai/gpt-oss-120b", "sliding and full layers"),
    ("google/gemma-3-27b-it", "sliding and full layers"),
    ("Qwen/Qwen3-Next-80B-A3B-Instruct", "gated delta and full layers"),
)


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the reckoning: what is left of the card, and the sequences that makes."""

    name: str
    left_gib: float
    sequences: int


@dataclass(frozen=True, slots=True)
class Rough:
    """The rough formula with query heads beside what a sequence really keeps."""

    model: str
    kind: str
    rough_bytes: float  # per token
    real_bytes: float  # per token of a sequence of 8,192 tokens, windows and states shared out

    @property
    def factor(self) -> float:
        return self.rough_bytes / self.real_bytes


def example_model() -> Model:
    """A 12.9 B decoder whose weights take 24 GiB."""
    return build(Config(CONFIG, "the worked example"), "worked-example")


def example_ledger() -> Ledger:
    """The example on a card sold as 48 GB."""
    launch = Launch("vllm", "worked-example", (Flag("max-model-len", "32768", "--max-model-len"),))
    return Case(launch, example_model(), find(CARD), VERSION).ledger()


def bytes_per_token() -> int:
    return 2 * LAYERS * KV_HEADS * HEAD_DIM * ELEMENT


def steps() -> tuple[Step, ...]:
    """From "48 minus 24" to what the pool holds in practice."""
    ledger = example_ledger()
    rank = ledger.ranks[0]
    pool = ledger.pool
    if pool is None or ledger.pool_low is None:
        raise SystemExit("the example keeps no pool")
    sequence = PROMPT * bytes_per_token() / GIB
    weights = rank.row("weights").value
    total, budget = rank.total.value, rank.budget.value
    grown = pool.layout.blocks_at(PROMPT + OUTPUT)
    cells = from_cells(UNEQUAL, Basis.ASSUMED, "the worked example")
    demand = Demand(in_flight(cells.cells, pool.layout.blocks_at))
    left = rank.row("kv_cache").value
    low = ledger.pool_low
    return (
        Step("48 GiB less 24 GiB of weights, divided by 1 GiB", 24.0, 24),
        Step("the driver reports less than 48 GiB", total - weights, int((total - weights) / sequence)),
        Step("the engine takes 92 % of that", budget - weights, int((budget - weights) / sequence)),
        Step("activations, graphs and libraries come first", left, int(left / sequence)),
        Step("answers of 1,024 tokens grow each to its full length", left, pool.usable_blocks // grown),
        Step("unequal lengths, held at 95 % of moments", left, demand.held(pool.usable_blocks, 0.95)),
        Step(
            "the pessimistic end of the ledger's band",
            rank.row("kv_cache").low,
            demand.held(low.usable_blocks, 0.95),
        ),
    )  # fmt: skip


def rough_table() -> tuple[Rough, ...]:
    """``2 x layers x heads x head size x 2 bytes`` against the model's own caches."""
    found = []
    for name, kind in ROUGH_MODELS:
        model = load_model(name)
        text = model.text
        rough = 2 * text.layers * text.heads * (text.hidden // text.heads) * ELEMENT
        kept = min(PROMPT, window(model) or 0)
        real = full_bytes_per_token(model) * PROMPT + window_bytes_per_token(model) * kept
        real += state_bytes_per_sequence(model)
        found.append(Rough(name, kind, rough, real / PROMPT))
    return tuple(found)


def steps_table() -> str:
    """The reckoning as Markdown."""
    rows = [f"| {step.name} | {step.left_gib:.2f} | {step.sequences} |" for step in steps()]
    return "\n".join(
        ["| step | GiB left for the cache | sequences held |", "|---|---:|---:|", *rows]
    )


def rough_markdown() -> str:
    """The rough formula's error as Markdown."""
    rows = [
        f"| {r.model} | {r.kind} | {r.rough_bytes / KIB:,.0f} | {r.real_bytes / KIB:,.1f} "
        f"| {r.factor:.1f}x |"
        for r in rough_table()
    ]
    head = "| model | cache | rough KiB a token | real KiB a token | too high by |"
    return "\n".join([head, "|---|---|---:|---:|---:|", *rows])


if __name__ == "__main__":
    print(steps_table())
    print(rough_markdown())
