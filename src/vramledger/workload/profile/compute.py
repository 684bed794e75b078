"""A profile of requests where they lie: questions to an engine, figures from its whole numbers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.workload import scenarios
from vramledger.workload.profile import aggregates, concurrency, conversations, labels, sharing
from vramledger.workload.profile.answers import Answers, Progress
from vramledger.workload.profile.arrivals import arrival
from vramledger.workload.profile.context_limits import context_limits
from vramledger.workload.profile.frequency import Frequency, ascending
from vramledger.workload.profile.holding import holding
from vramledger.workload.profile.joint import joint_of
from vramledger.workload.profile.profile import (
    Arrival,
    Concurrency,
    ContextLimit,
    Holding,
    Joint,
    Prefix,
    Profile,
    Sessions,
    Slice,
)
from vramledger.workload.profile.quantum import instants, quantum_s
from vramledger.workload.profile.slices import Basics, basics, of_window, slice_of
from vramledger.workload.tables import Requests, opened

_QUESTIONS: Final = 24  # of a log with times and both lengths; others ask a few more or fewer


def profile_workload(
    path: Path, *, engine: str = "duckdb", progress: Progress | None = None
) -> Profile:
    """The profile of a stored workload.

    Args:
        path: the Parquet file.
        engine: of `tables.ENGINES`.
        progress: gets the questions answered and those there are in all.

    Raises:
        BadInput: no stored workload.
        UnknownName: no such engine.
    """
    with opened(path, engine) as requests:
        return profile_table(requests, progress=progress)


def profile_table(requests: Requests, *, progress: Progress | None = None) -> Profile:
    """The profile of a table of requests, of any engine that Ibis speaks to."""
    asking = _Asking(requests, Answers(requests.fetch, _QUESTIONS, progress))
    found = asking.profile()
    asking.answers.done()
    return found


@frozen
class _Whole:
    """What of the whole log several figures are made of; None where no request has it."""

    inputs: Frequency | None
    outputs: Frequency | None
    totals: Frequency | None
    holding: Holding | None
    context: tuple[ContextLimit, ...]
    joint: Joint | None


class _Asking:
    """The questions of one profile, in order."""

    def __init__(self, requests: Requests, answers: Answers) -> None:
        self.answers = answers
        self._table, self._held = requests.table, requests.held
        self._metadata, self._keep_models = requests.metadata, requests.keep_models

    def profile(self) -> Profile:
        metadata = self._metadata
        facts = self.answers.one(aggregates.facts(self._table, self._held))
        lengths = self._lengths()
        seconds = self._seconds(lengths.inputs)
        durations = self._of_ms("duration_s")
        slices, unknown = self._scenarios(seconds, lengths, durations, facts["requests"])
        return Profile(
            requests=facts["requests"],
            input_tokens=lengths.inputs.lengths() if lengths.inputs else None,
            output_tokens=lengths.outputs.lengths() if lengths.outputs else None,
            total_tokens=lengths.totals.lengths() if lengths.totals else None,
            thinking_tokens=self._plain("thinking_tokens"),
            max_output_tokens=self._plain("max_output_tokens"),
            duration_s=_in_seconds(durations) if durations else None,
            joint=lengths.joint,
            arrival=self._arrival(seconds, facts),
            outcomes=labels.outcomes(self._labels("outcome"), facts["requests"]),
            retries=facts.get("retries", 0),
            cancellations=facts.get("cancellations", 0),
            models=labels.models(self._labels("model"), keep=self._keep_models),
            tenants=facts.get("tenants"),
            images=facts.get("images"),
            audio_s=facts["audio_ms"] / 1000 if facts.get("audio_ms") is not None else None,
            prefix=self._prefix(lengths.inputs, facts),
            holding=lengths.holding,
            concurrency=self._concurrency(seconds, durations),
            sessions=self._sessions(),
            context=lengths.context,
            scenarios=slices,
            basis=metadata.basis,
            week_offset_s=metadata.week_offset_s,
            time_zone=metadata.time_zone,
            formats=metadata.formats,
            inferred=metadata.inferred,
            history=metadata.history,
            loss=metadata.loss,
            synthetic=metadata.synthetic,
            unknown=dict(unknown) | self._absent(),
        )

    def _absent(self) -> dict[str, str]:
        """The parts that the log does not have, and why."""
        return {part: why for part, (columns, why) in _NEEDS.items() if not columns <= self._held}

    def _column(self, name: str) -> Frequency | None:
        return (
            self.answers.frequency(self._table, self._table[name]) if name in self._held else None
        )

    def _plain(self, name: str) -> Any:
        found = self._column(name)
        return found.lengths() if found else None

    def _of_ms(self, name: str) -> Frequency | None:
        if name not in self._held:
            return None
        return self.answers.frequency(self._table, aggregates.milliseconds(self._table[name]))

    def _labels(self, name: str) -> Mapping[str, int]:
        if name not in self._held:
            return {}
        found = self.answers.columns(aggregates.labels(self._table, name))
        pairs = zip(found["label"], (int(each) for each in found["requests"]), strict=True)
        return dict(pairs)

    def _lengths(self) -> _Whole:
        inputs, outputs = self._column("input_tokens"), self._column("output_tokens")
        if inputs is None or outputs is None:
            return _Whole(inputs, outputs, None, None, (), None)
        found = self.answers.columns(aggregates.totals(self._table))
        totals = ascending(found["value"], found["requests"])
        if totals is None:
            return _Whole(inputs, outputs, None, None, (), None)
        steps = ascending(found["value"], found["steps"])
        silent = ascending(found["value"], found["silent"])
        return _Whole(
            inputs=inputs,
            outputs=outputs,
            totals=totals,
            holding=holding(totals, steps.counts) if steps else None,
            context=self._context(inputs, totals, silent),
            joint=joint_of(self.answers.columns(aggregates.joint(self._table))),
        )

    def _context(
        self, inputs: Frequency, totals: Frequency, silent: Frequency | None
    ) -> tuple[ContextLimit, ...]:
        table, unanswered, budgets = self._table, None, None
        if inputs.count != totals.count:
            unanswered = self.answers.frequency(
                table.filter(table.output_tokens.isnull()), table.input_tokens
            )
        if "max_output_tokens" in self._held:
            asked = aggregates.whole(table.input_tokens) + table.max_output_tokens
            budgets = self.answers.frequency(table, asked)
        return context_limits(inputs, totals, silent, unanswered, budgets)

    def _seconds(self, inputs: Frequency | None) -> scenarios.Seconds | None:
        import numpy as np

        if "arrival_s" not in self._held:
            return None
        above = scenarios.long_input(inputs.values, inputs.counts) if inputs else None
        found = self.answers.columns(aggregates.seconds(self._table, self._held, above))
        order = np.argsort(found["second"])
        columns = {name: values[order] for name, values in found.items()}
        return scenarios.Seconds(**columns) if len(order) else None

    def _arrival(self, seconds: scenarios.Seconds | None, facts: Mapping[str, Any]) -> Arrival:
        from dataclasses import replace

        if seconds is None:
            return Arrival()
        span = facts["last_s"] - facts["first_s"]
        found = arrival(seconds, span, self._metadata.week_offset_s)
        times = self.answers.columns(instants(self._table))["value"]
        return replace(found, quantum_s=quantum_s(sorted(int(each) for each in times)))

    def _prefix(self, inputs: Frequency | None, facts: Mapping[str, Any]) -> Prefix:
        from dataclasses import replace

        found = Prefix()
        if "prefix_blocks" in self._held and self._metadata.block_tokens and inputs:
            found = self._shared(self._metadata.block_tokens, inputs)
        if facts.get("cached_of"):
            found = replace(found, cached_share=facts["cached"] / facts["cached_of"])
        return found

    def _shared(self, block_tokens: int, inputs: Frequency) -> Prefix:
        counted = sharing.multiples(block_tokens, int(inputs.values[-1]))
        blocks = sharing.full_blocks(self._table, block_tokens)
        counts = self.answers.one(sharing.reuse(blocks, counted))
        seen = None
        if "row" in self._held:
            seen = self.answers.columns(sharing.seen_before(self._table, blocks))
        return sharing.prefix(block_tokens, counted, counts, seen, inputs.total)

    def _concurrency(
        self, seconds: scenarios.Seconds | None, durations: Frequency | None
    ) -> Concurrency | None:
        if seconds is None or durations is None:
            return None
        levels = self.answers.table(concurrency.in_flight(self._table))
        return concurrency.concurrency(levels, durations.count) if levels else None

    def _sessions(self) -> Sessions | None:
        if "session" not in self._held:
            return None
        of_turns = self.answers.table(conversations.turns(self._table))
        if of_turns is None:
            return None
        share = None
        if {"input_tokens", "output_tokens", "row"} <= self._held:
            found = self.answers.one(conversations.carried(self._table))
            share = found["carried"] / found["given"] if found["given"] else None
        return conversations.sessions(of_turns, self._of_ms("think_s"), share)

    def _scenarios(
        self,
        seconds: scenarios.Seconds | None,
        whole: _Whole,
        durations: Frequency | None,
        requests: int,
    ) -> tuple[tuple[Slice, ...], Mapping[str, str]]:
        offset = self._metadata.week_offset_s
        found = scenarios.windows(seconds, offset)
        everything = Basics(
            requests=requests,
            inputs=whole.inputs.lengths() if whole.inputs else None,
            outputs=whole.outputs.lengths() if whole.outputs else None,
            joint=whole.joint,
            mean_duration_s=durations.total / durations.count / 1000 if durations else None,
        )
        slices = []
        for window in found.windows:
            figures = everything
            if window.spans:
                figures = basics(self.answers, of_window(self._table, window, offset), self._held)
            slices.append(slice_of(window, figures))
        return tuple(slices), found.unknown


_NEEDS: Final[Mapping[str, tuple[frozenset[str], str]]] = {  # part -> columns, why it is absent
    "input_tokens": (frozenset({"input_tokens"}), "The log has no counts of input tokens."),
    "output_tokens": (frozenset({"output_tokens"}), "The log has no counts of output tokens."),
    "holding": (
        frozenset({"input_tokens", "output_tokens"}),
        "The log does not count both input and output tokens.",
    ),
    "arrival": (frozenset({"arrival_s"}), scenarios.NO_TIMES),
    "concurrency": (
        frozenset({"arrival_s", "duration_s"}),
        "The log does not tell how long requests took.",
    ),
    "sessions": (frozenset({"session"}), "The log does not tell which requests belong together."),
    "prefix": (
        frozenset({"prefix_blocks"}),
        "The log does not tell which prompts begin alike.",
    ),
}


def _in_seconds(durations: Frequency) -> Mapping[str, float]:
    found = durations.lengths()
    named = {name: getattr(found, name) for name in ("mean", "p50", "p95", "p99", "max")}
    return {name: value / 1000 for name, value in named.items()}
