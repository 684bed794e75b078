"""Values of single options: cards, prices, factors, axes, shares, counts, model names."""

from collections.abc import Callable
from pathlib import Path
from random import Random

from fuzz.driver import Target
from fuzz.mutation import damaged_text
from vramledger.engine.vllm.versions import rules_for
from vramledger.hardware.catalogue import find
from vramledger.ledger.axis import parse_axis
from vramledger.ledger.gate import parse_loss
from vramledger.model.files.hub import parse_reference
from vramledger.model.load import load_model
from vramledger.plan.price import parse_price
from vramledger.plan.profile import profile
from vramledger.sizing.pairs import parse_factors, prices_of
from vramledger.sizing.people import traffic
from vramledger.units import parse_count

Read = Callable[[str], object]


def people(text: str) -> object:
    return traffic(60, 300.0, dict(parse_factors((text,))))


def model(text: str) -> object:
    if text.startswith("hf:"):
        return parse_reference(text)
    return load_model(text)


OPTIONS: dict[str, tuple[Read, tuple[str, ...]]] = {
    "card": (find, ("H100-80GB-SXM", "4090", "A100-80GB-SXM-MIG-3g.40gb", "NVIDIA L4")),
    "price": (lambda text: parse_price(text, "The price"), ("1.10/h", "USD 2.5/h", "€60/day")),
    "card price": (lambda text: prices_of((text,)), ("L40S=1.10/h", "H100-80GB-SXM=$2/h")),
    "factor": (people, ("active-share=0.6", "peak-factor=1.5", "tokens-per-second=20")),
    "axis": (parse_axis, ("max-model-len=4k..128k", "kv-cache-dtype=auto,fp8", "concurrency=1,2")),
    "loss": (parse_loss, ("5%", "0.05")),
    "count": (lambda text: parse_count(text, "The count"), ("32768", "32k", "25.6K", "1MiB")),
    "version": (rules_for, ("0.19.0", "v0.11.0rc1", "0.20.0.dev12+gabc", "nightly")),
    "profile": (profile, ("chat", "rag")),
    "model": (
        model,
        ("hf:a/b@main", "Qwen/Qwen3-8B", "./x/config.json", "meta-llama/Llama-3.1-8B"),
    ),
}
MARKS = (
    "..", "/", "../../", "=", "-", "e9", "1e400", "nan", "inf", "%", "k", "K", " ", "\n", "\x1b[31m",
    "\x00", "\ud800", "\u202e", "\u0663", "\u00b2", "\uff19", "\U0001d7d7", "_", "9" * 400, "x" * 3_000, "@", "~", ",", "+", "0x",
)  # fmt: skip

Asked = tuple[str, str]


def make(random: Random) -> Asked:
    name = random.choice(list(OPTIONS))
    return name, damaged_text(random.choice(OPTIONS[name][1]), random, MARKS)


def read(asked: Asked, _folder: Path) -> None:
    name, text = asked
    OPTIONS[name][0](text)


TARGETS = (Target("option", 12_000, make, read),)
