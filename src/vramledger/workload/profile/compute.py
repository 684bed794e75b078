"""A profile of requests where they lie: questions to an engine, figures from its whole numbers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from vramledger.workload import scenarios
from vramledger.workload.profile import (
    aggregates,
    concurrency,
    conversations,
    labels,
    length_counts,
    sharing,
)
from vramledger.workload.profile.absent import absent
from vramledger.workload.profile.answers import Answers, Progress
from vramledger.workload.profile.arrivals import arrival
from vramledger.workload.profile.context_limits import context_limits
from vramledger.workload.profile.frequency import Frequency
from vramledger.workload.profile.holding import holding
from vramledger.workload.profile.length_counts import LengthCounts
from vramledger.workload.profile.profile import (
    Arrival,
    Concurrency,
    ContextLimit,
    Holding,
    Prefix,
    Profile,
    Sessions,
    Slice,
)
from vramledger.workload.profile.quantum import instants, quantum_s
from vramledger.workload.profile.slices import (
    Durations,
    half_of,
    half_of_day,
    of_window,
    requests_in,
    slice_of,
)
from vramledger.workload.profile.times import Times, times_of
from vramledger.workload.tables import Requests, opened

_QUESTIONS: Final = 12  # of a log with times and both lengths; others ask a few more or fewer


def profile_workload(
    path: Path, *, engine: str = "duckdb", progress: Progress | None = None
) -> Profile:
    """The profile of a stored workload.

    Args:
        path: the Parquet file.
        engine: of `tables.ENGINES`.
        progress: gets the questions answered and those there are in all.

    Raises:
        BadInput: no stored workload, or one of too many years.
        UnknownName: no such engine.
    """
    with opened(path, engine) as requests:
        return profile_table(requests, progress=progress)


def profile_table(requests: Requests, *, progress: Progress | None = None) -> Profile:
    """The profile of a table of requests, of any engine that Ibis speaks to.

    Raises:
        BadInput: the table is of too many years.
    """
    asking = _Asking(requests, Answers(requests.fetch, _QUESTIONS, progress))
    found = asking.profile()
    asking.answers.done()
    return found


class _Asking:
    """The questions of one profile, in order."""

    def __init__(self, requests: Requests, answers: Answers) -> None:
        self.answers = answers
        self._table, self._held = requests.table, requests.held
        self._metadata, self._keep_models = requests.metadata, requests.keep_models

    def profile(self) -> Profile:
        metadata = self._metadata
        facts = self.answers.one(aggregates.facts(self._table, self._held))
        by_half = self._by_half()
        lengths = length_counts.counts(by_half)
        times = times_of(self._table, self._held, lengths.inputs, facts, self.answers)
        durations = self._of_ms("duration_s")
        slices, unknown = self._scenarios(times, by_half, lengths, durations, facts["requests"])
        inputs, outputs, totals = lengths.inputs, lengths.outputs, lengths.totals
        return Profile(
            requests=facts["requests"],
            input_tokens=inputs.lengths() if inputs else None,
            output_tokens=outputs.lengths() if outputs else None,
            total_tokens=totals.lengths() if totals else None,
            thinking_tokens=self._plain("thinking_tokens"),
            max_output_tokens=self._plain("max_output_tokens"),
            duration_s=_in_seconds(durations) if durations else None,
            joint=lengths.joint,
            arrival=self._arrival(times) if times else Arrival(),
            outcomes=labels.outcomes(self._labels("outcome"), facts["requests"]),
            retries=facts.get("retries", 0),
            cancellations=facts.get("cancellations", 0),
            models=labels.models(self._labels("model"), keep=self._keep_models),
            tenants=facts.get("tenants"),
            images=facts.get("images"),
            audio_s=facts["audio_ms"] / 1000 if facts.get("audio_ms") is not None else None,
            prefix=self._prefix(inputs, facts),
            holding=_holding(lengths),
            concurrency=self._concurrency(times, durations),
            sessions=self._sessions(),
            context=self._context(lengths),
            scenarios=slices,
            basis=metadata.basis,
            week_offset_s=metadata.week_offset_s,
            time_zone=metadata.time_zone,
            formats=metadata.formats,
            inferred=metadata.inferred,
            history=metadata.history,
            loss=metadata.loss,
            synthetic=metadata.synthetic,
            unknown=dict(unknown) | absent(self._held),
        )

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

    def _by_half(self) -> Mapping[str, Any]:
        """The answer to `length_counts.question`, by halves of the day where there is a clock."""
        offset, half = self._metadata.week_offset_s, None
        if offset is not None and "arrival_s" in self._held:
            half = half_of_day(self._table, offset)
        return self._counted(length_counts.questions(self._table, self._held, half))

    def _counted(self, questions: Sequence[Any]) -> Mapping[str, Any]:
        return length_counts.joined([self.answers.columns(each) for each in questions])

    def _context(self, lengths: LengthCounts) -> tuple[ContextLimit, ...]:
        table, inputs, totals = self._table, lengths.inputs, lengths.totals
        if inputs is None or totals is None or lengths.outputs is None:
            return ()
        silent, unanswered, budgets = None, None, None
        if lengths.outputs.times(0):
            silent = self.answers.frequency(
                table.filter(table.output_tokens == 0), table.input_tokens
            )
        if inputs.count != totals.count:
            unanswered = self.answers.frequency(
                table.filter(table.output_tokens.isnull()), table.input_tokens
            )
        if "max_output_tokens" in self._held:
            asked = aggregates.whole(table.input_tokens) + table.max_output_tokens
            budgets = self.answers.frequency(table, asked)
        return context_limits(inputs, totals, silent, unanswered, budgets)

    def _arrival(self, times: Times) -> Arrival:
        from dataclasses import replace

        offset = self._metadata.week_offset_s
        found = arrival(
            times.steps,
            times.squares,
            times.most,
            times.busy,
            (times.first_s, times.last_s),
            offset,
        )
        seen = self.answers.columns(instants(self._table))["value"]
        return replace(found, quantum_s=quantum_s(seen))

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

    def _concurrency(self, times: Times | None, durations: Frequency | None) -> Concurrency | None:
        if times is None or durations is None:
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
        times: Times | None,
        by_half: Mapping[str, Any],
        lengths: LengthCounts,
        durations: Frequency | None,
        requests: int,
    ) -> tuple[tuple[Slice, ...], Mapping[str, str]]:
        seconds = times.seconds if times else None
        found = scenarios.windows(seconds, self._metadata.week_offset_s)
        everything = Durations(durations.count, durations.total) if durations else None
        slices = []
        for window in found.windows:
            if seconds is None or not window.spans:
                slices.append(slice_of(window, requests, lengths, everything))
                continue
            inside = self._window(window, by_half)
            slices.append(
                slice_of(window, requests_in(window, seconds), inside, self._durations(window))
            )
        return tuple(slices), found.unknown

    def _window(self, window: scenarios.Window, by_half: Mapping[str, Any]) -> LengthCounts:
        half = half_of(window)
        if half is not None:
            return length_counts.counts(by_half, (half,))
        table = of_window(self._table, window, self._metadata.week_offset_s)
        return length_counts.counts(self._counted(length_counts.question(table, self._held)))

    def _durations(self, window: scenarios.Window) -> Durations | None:
        if "duration_s" not in self._held:
            return None
        table = of_window(self._table, window, self._metadata.week_offset_s)
        found = self.answers.one(aggregates.durations(table))
        return Durations(found["requests"], found["total_ms"])


def _holding(lengths: LengthCounts) -> Holding | None:
    if lengths.totals is None or lengths.twice_steps is None:
        return None
    return holding(lengths.totals, lengths.twice_steps.counts)


def _in_seconds(durations: Frequency) -> Mapping[str, float]:
    found = durations.lengths()
    named = {name: getattr(found, name) for name in ("mean", "p50", "p95", "p99", "max")}
    return {name: value / 1000 for name, value in named.items()}
