"""All that was seen of a run, in the same windows of time: what the causes look at."""

from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.calibrate.run_deployment import Stated
from vramledger.diagnose.seen.gpus import GpuSeen, read_gpus
from vramledger.diagnose.seen.moments import Moments
from vramledger.diagnose.seen.pages import Pages, read_pages, read_scrapes
from vramledger.diagnose.seen.requests import Requests, read_requests
from vramledger.diagnose.seen.server_alone import Look, as_a_client_would, look_of
from vramledger.diagnose.seen.setting import Setting, setting_of
from vramledger.diagnose.seen.silence import Silence, silences_of
from vramledger.diagnose.seen.slow import Slow, slow_of
from vramledger.diagnose.seen.steps import Stepped, read_steps
from vramledger.diagnose.seen.windows import Windows, windows_over
from vramledger.frozen import frozen
from vramledger.trial.client.health import Health
from vramledger.trial.server.differences import same_version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vramledger.record.document import Description
    from vramledger.record.run import Run

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_NO_REQUEST: Final = "No request was recorded, so that what clients see, and the way between them and the server, were not seen."
_GAP: Final = 5.0  # times the usual time between pages: longer is a gap


@frozen
class Evidence:
    """A run as it was seen. `series` has a row a window; what was not seen is not in it.

    `missing` are sentences on what the run lacks, so that less can be said.
    """

    origin: str
    setting: Setting
    windows: Windows
    requests: Requests
    series: "Mapping[str, Floats]"
    moments: Moments | None
    gpus: GpuSeen | None
    healths: tuple[Health, ...] = ()
    events: tuple[str, ...] = ()
    pages: Pages | None = None
    missing: tuple[str, ...] = ()
    uptime_s: float | None = None
    silences: tuple[Silence, ...] = ()
    look: Look | None = None
    slow: Slow = Slow()

    def of(self, name: str) -> "Floats":
        """A series by window; NaN in every window where it was not seen."""
        return self.series.get(name, self.windows.nothing)

    def seen(self, *names: str) -> bool:
        """Whether all of these series were seen."""
        return all(name in self.series for name in names)

    def mean(self, name: str, where: "np.ndarray[Any, Any] | None" = None) -> float:
        """The mean of a series over windows; NaN where it was not seen there."""
        values = self.of(name)
        told = np.isfinite(values) if where is None else np.isfinite(values) & where
        return float(values[told].mean()) if told.any() else np.nan


def evidence_of(run: "Run", stated: Stated) -> Evidence:
    """Everything that a closed run tells.

    Raises:
        BadInput: a table is damaged.
        UnknownName: the user named a card, model or version that is none.
    """
    from vramledger.trial.conduct.history import story_of

    entries = run.journal().entries
    story, silences = story_of(entries), silences_of(entries)
    requests = read_requests(run, story.from_s)
    windows = _windows(run, requests)
    pages, steps = read_pages(run, windows), read_steps(run, windows)
    gpus = read_gpus(run, windows)
    series: dict[str, Floats] = {} if steps is None else dict(steps.series)
    if pages is not None:
        series |= pages.series
    series |= read_scrapes(run, windows)
    series |= {} if gpus is None else gpus.series
    series |= _of_requests(requests, windows)
    if not len(requests) and steps is None:
        series |= as_a_client_would(series, windows)
    look = look_of(run.description)
    return Evidence(
        origin=run.description.origin.value,
        setting=setting_of(run.description, {} if pages is None else pages.config, stated),
        windows=windows,
        requests=requests,
        series=series,
        moments=_moments(pages, steps, windows),
        gpus=gpus,
        healths=story.healths,
        events=tuple(each.event for each in story.events),
        pages=pages,
        missing=(
            *_missing(run.description, requests, pages, steps, gpus),
            *_silent(silences, look),
        ),
        uptime_s=run.description.in_effect.uptime_s,
        silences=silences,
        look=look,
        slow=slow_of(run.description, requests),
    )


def _windows(run: "Run", requests: Requests) -> Windows:
    """From the first request that was due to the last that ended; pages should lie in each."""
    from vramledger.record.samples import SERVER

    shortest = 0.5
    if SERVER.name in run.tables:
        asked = run.table(SERVER).read(("t_s", "name"))
        t_s = np.unique(np.asarray(asked["t_s"].to_numpy())[np.asarray(asked["name"]) == "up"])
        shortest = max(shortest, 2 * float(np.median(np.diff(t_s)))) if len(t_s) > 2 else shortest
        if not len(requests) and len(t_s):
            return windows_over(float(t_s[0]), float(t_s[-1]), shortest)
    if not len(requests):
        return windows_over(0.0, 0.0)
    ends = np.concatenate(
        [requests[name] for name in ("done_s", "last_content_s", "due_s", "dispatched_s")]
    )
    return windows_over(float(requests["due_s"].min()), float(np.nanmax(ends)), shortest)


def _moments(pages: Pages | None, steps: Stepped | None, windows: Windows) -> Moments | None:
    """The steps where there are some, else the pages of the time in which the load was served."""
    if steps is not None:
        return steps.moments
    if pages is None or pages.moments is None:
        return None
    found = pages.moments
    inside = (windows.place(found.t_s) >= 0) & np.isfinite(found.running)
    if not inside.any():
        return None
    kept = {name: getattr(found, name)[inside] for name in ("t_s", "running", "waiting", "kv_usage", "weights")}  # fmt: skip
    return Moments(**kept, engines=found.engines)


def _of_requests(requests: Requests, windows: Windows) -> "dict[str, Floats]":
    """The client's own series; those of latencies by when a request was due."""
    if not len(requests):
        return {}
    due, done = requests["due_s"], requests["done_s"]
    sent = requests.sent_s
    until = np.where(np.isnan(done), inf, done)
    tokens, first, last = (requests[name] for name in ("output_tokens_got", "first_content_s", "last_content_s"))  # fmt: skip
    found = {
        "arrivals_per_s": windows.count(due) / windows.widths_s,
        "prompt_arrivals_per_s": windows.count(due) * _filled(windows.mean(due, requests.input_tokens)) / windows.widths_s,
        "completions_per_s": windows.count(done) / windows.widths_s,
        "in_flight": windows.present(sent, until),
        "ttft_s": windows.mean(due, requests.ttft_s),
        "late_s": windows.mean(due, requests.late_s),
        "before_headers_s": windows.mean(due, requests.before_headers_s),
        "after_headers_s": windows.mean(due, requests.after_headers_s),
        "request_queue_s": windows.mean(due, requests["queue_s"]),
        "tpot_s": windows.mean((first + last) / 2, requests.tpot_s, np.nan_to_num(tokens)),
        "cached_share": windows.mean(due, requests.cached_share, np.nan_to_num(requests.input_tokens)),
        "longest_gap_s": windows.mean((first + last) / 2, requests.longest_gap_s),
        "request_chunk_tokens": windows.mean((first + last) / 2, requests.chunk_tokens),
    }  # fmt: skip
    return {name: values for name, values in found.items() if np.isfinite(values).any()}


def _filled(values: "Floats") -> "Floats":
    return np.nan_to_num(values)


def _missing(
    description: "Description",
    requests: Requests,
    pages: Pages | None,
    steps: Stepped | None,
    gpus: GpuSeen | None,
) -> "list[str]":
    """Sentences on what the run does not have."""
    said = []
    if not len(requests):
        said.append(_NO_REQUEST if look_of(description) else "The run has no requests.")
    if pages is None and steps is None:
        said.append(
            "The run has no server metrics, so that the engine's queue and its KV cache were not seen."
        )
    if gpus is None:
        said.append(
            "The run has no GPU samples, so that memory, clocks and other processes were not seen."
        )
    apart = pages is not None and look_of(description) is None
    if pages is not None and apart and pages.longest_gap_s > max(_GAP * pages.interval_s, _GAP):
        said.append(
            f"For {pages.longest_gap_s:.0f} s no metrics page was read; that time is judged from the client alone."
        )
    if pages is not None and pages.restarts:
        said.append(f"Counters of the server fell {pages.restarts} times: it restarted.")
    if len(requests) and not np.isfinite(requests["headers_s"]).any() and steps is None:
        said.append(
            "Nobody stamped the heads of the answers, so that time before the engine cannot be split."
        )
    back = int(
        (np.diff(requests["dispatched_s"][np.isfinite(requests["dispatched_s"])]) < -60).sum()
    )
    done = requests["done_s"] - requests["due_s"]
    if back or bool((done[np.isfinite(done)] < -1e-3).any()):
        said.append(
            "Clocks jumped: some requests ended before they were due or were sent out of order, and are left out."
        )
    wanted, got = description.asked.engine_version, description.in_effect.engine_version
    if wanted and got and not same_version(wanted, got):
        said.append(
            f"The version asked for and the one in effect differ ({' and '.join(sorted((wanted, got)))})."
        )
    return said


def _silent(silences: "tuple[Silence, ...]", look: Look | None) -> "list[str]":
    """Of a look, when its only source was silent."""
    if look is None:
        return []
    return [
        f"From second {each.from_s:.0f} {'to the end' if each.to_the_end else f'to second {each.to_s:.0f}'} no metrics page was read, as {each.why or 'it did not come'}."
        for each in silences
    ]
