"""The formats of ``vram trial import``. A format is one module and one row."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.trial.imported.formats import aiperf, guidellm, inference_perf, llm_d, vllm_bench
from vramledger.trial.imported.sources import Source, read_sources
from vramledger.trial.imported.told import Benchmark


@frozen
class Format:
    """One format: what it is called, whether a file is one, what is in files of it, and by what a file is known."""

    title: str
    looks: Callable[[Source], bool]
    read: Callable[[tuple[Source, ...]], Iterator[Benchmark]]
    looked_for: str


@frozen
class Results:
    """The benchmarks of some files, and the SHA-256 of each file by its name."""

    benchmarks: tuple[Benchmark, ...]
    files: Mapping[str, str]


FORMATS: Final[Mapping[str, Format]] = {
    "vllm-bench": Format(
        vllm_bench.TITLE, vllm_bench.looks, vllm_bench.read, vllm_bench.LOOKED_FOR
    ),
    "guidellm": Format(guidellm.TITLE, guidellm.looks, guidellm.read, guidellm.LOOKED_FOR),
    "aiperf": Format(aiperf.TITLE, aiperf.looks, aiperf.read, aiperf.LOOKED_FOR),
    "inference-perf": Format(
        inference_perf.TITLE, inference_perf.looks, inference_perf.read, inference_perf.LOOKED_FOR
    ),
    "llm-d": Format(llm_d.TITLE, llm_d.looks, llm_d.read, llm_d.LOOKED_FOR),
}


def read_results(paths: Sequence[Path]) -> Results:
    """The benchmarks in files of one result; other files of a folder are passed over.

    Raises:
        BadInput: a file cannot be read or is of no known format, or files are of two.
    """
    sources = read_sources(paths)
    named = {path.resolve() for path in paths if not path.is_dir()}
    by_format: dict[str, list[Source]] = {}
    strange: list[Source] = []
    for source in sources:
        name = next((name for name, each in FORMATS.items() if each.looks(source)), None)
        if name is not None:
            by_format.setdefault(name, []).append(source)
        elif source.path.resolve() in named or len(sources) == 1:
            raise _unknown(source)
        else:
            strange.append(source)
    if not by_format:
        raise _unknown(strange[0])
    if len(by_format) > 1:
        first, second = list(by_format.values())[:2]
        raise BadInput(
            f"{first[0].path} is of {FORMATS[next(iter(by_format))].title} and {second[0].path} of {FORMATS[list(by_format)[1]].title}; "
            "import the files of one tool at a time."
        )
    ((name, found),) = by_format.items()
    return Results(
        tuple(FORMATS[name].read(tuple(found))), {each.path.name: each.sha256 for each in found}
    )


def _unknown(source: Source) -> BadInput:
    looked = "; ".join(f"{each.title} ({each.looked_for})" for each in FORMATS.values())
    keys = [each[:40] for each in source.table[0]] if source.table else _keys(source.document)
    has = f" has {', '.join(keys[:6])}" if keys else " has no keys"
    near = _nearest(keys)
    return BadInput(
        f"{source.path} is no result that can be read:{has}. Looked for: {looked}."
        + (f" The nearest is {near}." if near else " Give the file that the tool itself wrote.")
    )


def _keys(found: Any) -> list[str]:
    if isinstance(found, list) and found:
        found = found[0]
    return [str(each)[:40] for each in found] if isinstance(found, dict) else []


def _nearest(keys: Sequence[str]) -> str | None:
    """The format with a key most like one of these, where one is like enough."""

    def likeness(each: Format) -> float:
        wanted = each.looked_for.replace(".", " ").replace(",", " ").split()
        return max(
            (SequenceMatcher(None, key, want).ratio() for key in keys for want in wanted if len(want) > 4), default=0.0
        )  # fmt: skip

    best = max(FORMATS.values(), key=likeness)
    return best.title if likeness(best) > 0.75 else None
