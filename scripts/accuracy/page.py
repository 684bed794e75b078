"""The accuracy page: how far predictions are from published logs, by version group."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from accuracy.aside import ASIDE
from accuracy.rows import Rows
from accuracy.validate import Held, held_out
from vramledger.engine.vllm.coefficients import Coefficient, all_coefficients

GROUPS: Final = ("0.11 to 0.20", "0.8 to 0.10 and from 0.21", "before 0.8")
_HEAD: Final = """\
# How sure the figures are

Written by `make accuracy` from `tests/data/observations.jsonl`: start-up logs of vLLM that people
published, each with its source. A second file, further down, adds newer versions and other cards.
A row counts where it states model, version, GPU or its memory, utilization and length. Every row is predicted with calibrated terms fitted without its own model;
quantised copies and tunes of one network are one model.
"""


_FURTHER_HEAD: Final = """\
## Further logs

From `tests/data/observations_public.jsonl`: newer versions and other cards. Some lack a figure that
its notes derive (the total of a card from the advice line, a default of the batch), so no target is
set for them; they take part in the fit. A log that ends without a cache is compared in GiB only.
Most of these rows carry no address: the text they were read from gave none, and their notes hold a line
to search for. The bands of graphs and encoders were widened after these rows were seen.
"""


@dataclass(frozen=True, slots=True)
class Score:
    """Errors of one group, relative."""

    group: str
    rows: int
    weights_median: float | None
    tokens_rows: int
    tokens_median: float | None
    tokens_p90: float | None
    coverage: float | None


def score(group: str, held: Sequence[Held]) -> Score:
    """Median and ninetieth percentile of the absolute errors, and the share inside the band."""
    weights = [abs(h.weight_error) for h in held if h.weight_error is not None]
    tokens = [abs(h.kv_error) for h in held if h.kv_error is not None]
    inside = [h.inside for h in held if h.inside is not None]
    return Score(
        group=group,
        rows=len(held),
        weights_median=median(weights) if weights else None,
        tokens_rows=len(tokens),
        tokens_median=median(tokens) if tokens else None,
        tokens_p90=float(np.quantile(tokens, 0.9)) if tokens else None,
        coverage=sum(inside) / len(inside) if inside else None,
    )


def all_scores(held: Sequence[Held]) -> list[Score]:
    """A score for every version group, and one for all rows."""
    scores = [score(g, [h for h in held if h.measured.group == g]) for g in GROUPS]
    return [*scores, score("all", held)]


def page_text(rows: Rows, further: Rows) -> str:
    """The page as Markdown."""
    held = held_out(rows.kept, further.kept)
    scores = all_scores(held)
    return "\n".join(
        (
            _HEAD,
            *_scores(scores),
            *_coverage_note(),
            *_rows_table(held),
            *_set_aside(rows),
            *_further(held_out(further.kept, rows.kept), further),
            *_terms(),
        )
    )


def _further(held: Sequence[Held], rows: Rows) -> Iterator[str]:
    """The second file, apart: its rows are less complete."""
    yield ""
    yield _FURTHER_HEAD
    scores = [score(g, [h for h in held if h.measured.group == g]) for g in GROUPS[:2]]
    yield from _scores([*scores, score("all", held)])
    yield from _rows_table(held, "###")
    yield from _set_aside(rows, "###")


def _scores(scores: Sequence[Score]) -> Iterator[str]:
    yield "| versions | rows | weights, median error | KV rows | KV tokens, median error | KV tokens, p90 | inside low..high |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for s in scores:
        yield (
            f"| {s.group} | {s.rows} | {_percent(s.weights_median)} | {s.tokens_rows} | "
            f"{_percent(s.tokens_median)} | {_percent(s.tokens_p90)} | {_percent(s.coverage, 0)} |"
        )


def _coverage_note() -> Iterator[str]:
    yield ""
    yield "KV tokens are what that version prints; logs without tokens are compared in GiB of cache."
    yield "A band is made to hold nine of ten held-out observations."


def _rows_table(held: Sequence[Held], level: str = "##") -> Iterator[str]:
    yield ""
    yield f"{level} Row by row"
    yield ""
    yield "| row | version | model | TP x PP | weights GiB, logged / predicted | KV tokens, logged / predicted | error | inside |"
    yield "|---|---|---|---|---:|---:|---:|---|"
    for h in held:
        row = h.measured.row
        logged = "" if row.kv_tokens is None else f"{row.kv_tokens:,} / {h.tokens or 0:,}"
        inside = {True: "yes", False: "no", None: ""}[h.inside]
        yield (
            f"| {row.id} | {row.version} | {row.model} | {row.tp} x {row.pp} | "
            f"{_pair(row.weights_gib, h.measured.weights)} | {logged} | "
            f"{_percent(h.kv_error, 2, signed=True)} | {inside} |"
        )


def _set_aside(rows: Rows, level: str = "##") -> Iterator[str]:
    yield ""
    yield f"{level} Set aside"
    yield ""
    for row in rows.aside:
        yield f"- {row.id} ({row.model}, {row.version}): {ASIDE[row.id]}."
    stated = [refused for refused in rows.refused if refused.row.stated]
    if stated:
        yield ""
        yield "Stated, and refused:"
        yield ""
        for refused in stated:
            yield f"- {refused.row.id} ({refused.row.model}): {refused.reason}"


def _terms() -> Iterator[str]:
    yield ""
    yield "## Calibrated terms"
    yield ""
    yield "| term | group | value | low | high | observations | models | |"
    yield "|---|---|---:|---:|---:|---:|---:|---|"
    for name, entry in all_coefficients().items():
        term, _, key = name.partition("/")
        yield f"| {term} | {key} | {_numbers(entry)} | {entry.note} |"
    yield ""


def _numbers(entry: Coefficient) -> str:
    return (
        f"{entry.value:g} | {entry.low:g} | {entry.high:g} | {entry.observations} | {entry.models}"
    )


def _pair(logged: float | None, predicted: float) -> str:
    return "" if logged is None else f"{logged:.2f} / {predicted:.2f}"


def _percent(value: float | None, digits: int = 2, *, signed: bool = False) -> str:
    if value is None:
        return ""
    return f"{100 * value:{'+' if signed else ''}.{digits}f} %"
