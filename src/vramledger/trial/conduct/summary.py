"""A closed trial in figures, worked out from nothing but its directory."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.record.requests import OUTCOMES
from vramledger.record.run import Run
from vramledger.trial.client.health import Health
from vramledger.trial.conduct.history import Story, story_of
from vramledger.trial.conduct.latencies import Latencies, Measured, latencies, measured
from vramledger.trial.conduct.server_side import ServerSide, server_side
from vramledger.trial.conduct.steady_figures import SteadyPart, steady_figures
from vramledger.trial.conduct.ttft_stages import TtftStages, ttft_stages
from vramledger.trial.prompts.judgeable import Unjudgeable
from vramledger.trial.prompts.verification import LengthReport, verify
from vramledger.trial.wire.failures import named

if TYPE_CHECKING:
    from vramledger.record.document import Description


@frozen
class ErrorClass:
    """How often requests failed in one way, and what to make of it."""

    name: str
    count: int
    sentence: str


@frozen
class Rates:
    """Over the measured part, in a second; from the first request sent to the last that ended."""

    seconds: float | None
    requests_per_s: float | None
    output_tokens_per_s: float | None
    input_tokens_per_s: float | None


@frozen
class Summary:
    """A trial. `requests` counts outcomes of the measured part; `inconclusive` are the reasons why its figures decide nothing.

    `client_bottleneck` is None where no worker told how it was. `cached_share` is the part of prompts that the server
    says it had cached, request by request.
    """

    run: Run
    story: Story
    offered: int
    requests: dict[str, int]
    latencies: Latencies
    rates: Rates
    server: ServerSide
    cached_share: float | None
    errors: tuple[ErrorClass, ...]
    lengths: LengthReport
    healths: tuple[Health, ...]
    client_bottleneck: bool | None
    warnings: tuple[str, ...]
    unseen: tuple[str, ...]
    inconclusive: tuple[str, ...]
    steady: SteadyPart
    unjudgeable: tuple[Unjudgeable, ...] = ()
    stages: TtftStages | None = None

    @property
    def description(self) -> "Description":
        """What the run says of itself."""
        return self.run.description

    @property
    def trial(self) -> dict[str, Any]:
        """The key `trial` of run.json."""
        return trial_of(self.run.description)


_TEXTS: Final = ("warnings", "unseen")


def trial_of(description: "Description") -> dict[str, Any]:
    """The key `trial` of a run's description.

    Raises:
        BadInput: it is the run of something else, or the texts in it are none.
    """
    found = (description.model_extra or {}).get("trial")
    if not isinstance(found, dict):
        raise BadInput(
            f"The run {description.name!r} is {description.origin.value} and no trial; name a folder that "
            "vram trial run wrote."
        )
    for name in _TEXTS:
        texts = found.get(name, [])
        if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
            raise BadInput(
                f"The run {description.name!r}: trial.{name} in its run.json is no list of texts; use an unchanged copy."
            )
    return found


def summarise(run: Run) -> Summary:
    """The summary of a closed run.

    Raises:
        BadInput: it is no trial, or its description or a table is damaged.
    """
    from vramledger.trial.conduct.trial_key import check_trial

    trial = trial_of(run.description)
    check_trial(run.description.name, trial)
    story = story_of(run.journal().entries)
    found = measured(run)
    counts = Counter(found.outcome.tolist())
    told = [each.bottleneck for each in story.healths if each.bottleneck is not None]
    return Summary(
        run=run,
        story=story,
        offered=len(found),
        requests={each.value: counts.get(each.value, 0) for each in OUTCOMES},
        latencies=latencies(run, found),
        rates=_rates(found),
        server=server_side(run, story.spans, trial.get("kv_tokens")),
        cached_share=_cached(found),
        errors=tuple(_errors(found)),
        lengths=verify(_records(run)),
        healths=story.healths,
        client_bottleneck=bool(told) if story.healths else None,
        warnings=tuple(trial.get("warnings", ())),
        unseen=tuple(trial.get("unseen", ())),
        inconclusive=tuple(_inconclusive(run, story, found, told)),
        steady=steady_figures(run, story.spans, found, trial.get("kv_tokens")),
        unjudgeable=_undecided(run, trial.get("unjudgeable", [])),
        stages=ttft_stages(run),
    )


def _undecided(run: Run, told: Any) -> tuple[Unjudgeable, ...]:
    rows = told if isinstance(told, list) else [told]
    if not all(
        isinstance(row, dict) and all(isinstance(row.get(key), str) for key in ("line", "why"))
        for row in rows
    ):
        raise BadInput(
            f"The run {run.description.name!r}: trial.unjudgeable in its run.json is no list of lines with their reasons; use an "
            "unchanged copy."
        )
    return tuple(Unjudgeable(row["line"], row["why"]) for row in rows)


def _rates(found: Measured) -> Rates:
    import numpy as np

    columns = found.columns
    if not len(found) or np.isnan(columns["dispatched_s"]).all() or np.isnan(columns["done_s"]).all():  # fmt: skip
        return Rates(None, None, None, None)
    seconds = float(np.nanmax(columns["done_s"]) - np.nanmin(columns["dispatched_s"]))
    if seconds <= 0:
        return Rates(seconds, None, None, None)
    ok = found.outcome == Outcome.OK.value
    return Rates(
        seconds,
        float(ok.sum()) / seconds,
        float(np.nansum(columns["output_tokens_got"])) / seconds,
        float(np.nansum(columns["input_tokens_got"])) / seconds,
    )


def _cached(found: Measured) -> float | None:
    """Of requests for which both figures are told."""
    import numpy as np

    cached, prompt = found.columns["cached_tokens"], found.columns["input_tokens_got"]
    both = ~np.isnan(cached) & ~np.isnan(prompt)
    tokens = float(prompt[both].sum())
    return float(cached[both].sum()) / tokens if tokens else None


def _errors(found: Measured) -> Iterator[ErrorClass]:
    counted = Counter(each for each in found.errors.tolist() if each is not None)
    for name, count in counted.most_common():
        yield ErrorClass(name, count, named(name).sentence)


def _records(run: Run) -> Iterator[Any]:
    """Rows as `verify` reads them: measured ones, with lengths and outcome."""
    from types import SimpleNamespace

    names = (
        "row", "outcome", "input_tokens_asked", "input_tokens_got", "output_tokens_asked", "output_tokens_got",
        "tokens_basis",
    )  # fmt: skip
    for batch in run.requests.batches(names):
        for row in batch.to_pylist():
            if row["row"] is not None:
                yield SimpleNamespace(**row)


def _inconclusive(run: Run, story: Story, found: Measured, told: list[str]) -> Iterator[str]:
    from vramledger.record.document import Ended

    yield from dict.fromkeys(told)
    if not (found.outcome == Outcome.OK.value).any():
        yield "No request was answered as asked, so there is nothing to measure; the classes of failure say why."
    if story.lost:
        yield (
            f"The client's {', '.join(story.lost)} went before its end, and its share of the load was not offered; run the "
            "trial again."
        )
    if run.description.ended is Ended.KILLED:
        yield "The recorder was stopped before the load was over; what was offered until then is whole but for its last second."
    if run.description.ended is Ended.FAILED and not story.lost:
        yield "The trial ended on an error before the load was over; run it again."
