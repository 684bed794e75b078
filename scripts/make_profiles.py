"""Compute the shipped request profiles from public request traces.

    python scripts/make_profiles.py FOLDER_WITH_TRACES

Reads the traces named below and rewrites `src/vramledger/plan/profiles/*.toml` of the profiles
that come from a trace. Only the joint distribution of lengths is kept: no time, no text, no id.
Profiles without a trace are written by hand and are not touched.
"""

import csv
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

PROFILES = Path(__file__).parents[1] / "src" / "vramledger" / "plan" / "profiles"
INPUT_EDGES = (
    *(part / 20 for part in range(18)),
    *(0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999, 1.0),
)
OUTPUT_EDGES = (0, 0.25, 0.5, 0.75, 0.9, 0.99, 1)
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)

Lengths = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Trace:
    """One profile and the trace it is computed from."""

    profile: str
    title: str
    file: str
    read: Callable[[Path], Lengths]
    source: str
    licence: str
    attribution: str
    note: str


def azure(path: Path) -> Lengths:
    with path.open(newline="") as stream:
        rows = csv.DictReader(stream)
        return [(int(row["ContextTokens"]), int(row["GeneratedTokens"])) for row in rows]


def mooncake(path: Path) -> Lengths:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [(int(row["input_length"]), int(row["output_length"])) for row in rows]


TRACES = (
    Trace(
        "chat",
        "Conversation without long documents",
        "azure_llm_2023_conv.csv",
        azure,
        "https://github.com/Azure/AzurePublicDataset, AzureLLMInferenceTrace_conv.csv (2023)",
        "CC-BY-4.0",
        "Azure LLM inference trace 2023; Patel et al., Splitwise, ISCA 2024",
        "One hour of a production conversation service.",
    ),
    Trace(
        "code-completion",
        "Code completion in an editor",
        "azure_llm_2023_code.csv",
        azure,
        "https://github.com/Azure/AzurePublicDataset, AzureLLMInferenceTrace_code.csv (2023)",
        "CC-BY-4.0",
        "Azure LLM inference trace 2023; Patel et al., Splitwise, ISCA 2024",
        "One hour of a production code service; prompts are cut at 7437 tokens.",
    ),
    Trace(
        "chat-with-documents",
        "Conversation about long documents",
        "mooncake_conversation_trace.jsonl",
        mooncake,
        "https://github.com/kvcache-ai/Mooncake, FAST25-release/traces/conversation_trace.jsonl",
        "Apache-2.0",
        "Mooncake; Qin et al., FAST 2025",
        "One hour of a production assistant that reads documents; outputs are cut at 2000 tokens.",
    ),
)


def cells(lengths: Lengths) -> list[tuple[int, int, int]]:
    """(mean input, mean output, requests) over quantile bins; the longest ones on their own."""
    ordered = sorted(lengths)
    longest = {max(ordered), max(ordered, key=lambda row: row[1]), max(ordered, key=sum)}
    rest = list(ordered)
    for row in longest:
        rest.remove(row)
    found = [(inputs, outputs, 1) for inputs, outputs in sorted(longest)]
    for part in _parts(rest, INPUT_EDGES):
        for bin_ in _parts(sorted(part, key=lambda row: row[1]), OUTPUT_EDGES):
            inputs = round(fmean(row[0] for row in bin_))
            outputs = round(fmean(row[1] for row in bin_))
            found.append((inputs, outputs, len(bin_)))
    return sorted(found)


def _parts(rows: Lengths, edges: Sequence[float]) -> list[Lengths]:
    bounds = [round(edge * len(rows)) for edge in edges]
    return [rows[low:high] for low, high in pairwise(bounds) if high > low]


def percentiles(values: list[int]) -> str:
    ordered = sorted(values)
    points = [(f"p{share * 100:g}", ordered[int(share * len(ordered))]) for share in SHARES]
    quoted = [f'"{name}" = {tokens}' for name, tokens in points]
    return "{ " + ", ".join([*quoted, f"max = {ordered[-1]}"]) + " }"


def render(trace: Trace, lengths: Lengths) -> str:
    inputs, outputs = [row[0] for row in lengths], [row[1] for row in lengths]
    head = [
        "# Computed by scripts/make_profiles.py; lengths only.",
        f'title = "{trace.title}"',
        'kind = "latency"',
        'basis = "quoted"',
        f'source = "{trace.source}"',
        f'licence = "{trace.licence}"',
        f'attribution = "{trace.attribution}"',
        f'note = "{trace.note}"',
        f"requests = {len(lengths)}",
        f"mean_input = {fmean(inputs):.1f}",
        f"mean_output = {fmean(outputs):.1f}",
        f"input_tokens = {percentiles(inputs)}",
        f"output_tokens = {percentiles(outputs)}",
        f"total_tokens = {percentiles([sum(row) for row in lengths])}",
        "# mean input tokens, mean output tokens, requests",
        "cells = [",
    ]
    rows = [f"  [{a}, {b}, {count}]," for a, b, count in cells(lengths)]
    return "\n".join([*head, *rows, "]", ""])


def main() -> None:
    folder = Path(sys.argv[1])
    for trace in TRACES:
        text = render(trace, trace.read(folder / trace.file))
        (PROFILES / f"{trace.profile}.toml").write_text(text)
        print(f"{trace.profile}.toml  {len(text)} bytes")


if __name__ == "__main__":
    main()
