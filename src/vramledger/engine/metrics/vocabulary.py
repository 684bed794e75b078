"""Raw names of every engine as common ones, from one table an engine in `data/`.

Of several raw names for one common name the first counts that is on the page, so that a page with an old name
beside the new one is not counted twice.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

from vramledger.frozen import frozen

# earlier ones win where a page has rows of several: engines before what stands in front of them
ENGINES: Final = (
    "vllm", "sglang", "llama_cpp", "tgi", "tensorrt_llm", "triton", "lmdeploy", "dynamo", "process",
)  # fmt: skip
_SELECTED: Final = re.compile(r"(?P<name>\w+)\{(?P<label>\w+)=(?P<value>\w+)\}")
_PARTS: Final = {"_bucket": "", "_sum": "_sum", "_count": "_count"}


@frozen
class Match:
    """What a raw name is called; the lowest `rank` on a page counts."""

    name: str
    rank: int
    engine: str


@frozen
class _Row:
    match: Match
    label: str = ""
    value: str = ""


def match(raw_name: str, labels: Mapping[str, str]) -> Match | None:
    """The common name of one series, None where the vocabulary has none."""
    rows = _table()
    for base, ending in _bases(raw_name):
        for row in rows.get(base, ()):
            if not row.label or labels.get(row.label) == row.value:
                found = row.match
                return Match(found.name + ending, found.rank, found.engine)
    return None


def chosen(matches: Iterable[Match | None]) -> frozenset[Match]:
    """Those that count on a page with these series: of each common name the one of lowest rank."""
    best: dict[str, Match] = {}
    for found in matches:
        if found is not None and (found.name not in best or found.rank < best[found.name].rank):
            best[found.name] = found
    return frozenset(best.values())


def engine_of(raw_names: Iterable[str]) -> str | None:
    """The engine whose metrics these are, None where none is known; the engine before a front end."""
    names = tuple(raw_names)
    for engine, prefixes in _prefixes():
        if any(name.startswith(prefixes) for name in names):
            return engine
    return None


def _bases(raw_name: str) -> Iterable[tuple[str, str]]:
    """The names under which a row may list it, each with what is added to the common name."""
    yield raw_name, ""
    if raw_name.endswith("_total"):
        yield raw_name.removesuffix("_total"), ""
    for suffix, ending in _PARTS.items():
        if raw_name.endswith(suffix):
            yield raw_name.removesuffix(suffix), ending


@cache
def _table() -> dict[str, tuple[_Row, ...]]:
    found: dict[str, tuple[_Row, ...]] = {}
    rank = 0
    for document in _documents():
        for name, raws in document["names"].items():
            for raw in raws:
                rank += 1
                base, label, value = _split(raw)
                row = _Row(Match(name, rank, document["engine"]), label, value)
                for prefix in document["prefixes"]:
                    found[prefix + base] = (*found.get(prefix + base, ()), row)
    return found


def _split(raw: str) -> tuple[str, str, str]:
    selected = _SELECTED.fullmatch(raw)
    return (selected["name"], selected["label"], selected["value"]) if selected else (raw, "", "")


@cache
def _prefixes() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (document["engine"], tuple(document["prefixes"]))
        for document in _documents()
        if document["engine"]
    )


@cache
def _documents() -> tuple[dict[str, Any], ...]:
    folder = resources.files("vramledger.engine.metrics") / "data"
    return tuple(
        tomllib.loads((folder / f"{engine}.toml").read_text("utf-8")) for engine in ENGINES
    )
