"""A server looked at for a while: its metrics page and its GPUs are recorded as a run, and nothing is sent to it."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from vramledger import __version__
from vramledger.engine.metrics.page import PageProblem, PageReader
from vramledger.engine.metrics.vocabulary import engine_of
from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.printable import without_password
from vramledger.record.computed_run import refuse_folder
from vramledger.record.recorded_run import RecordedRun
from vramledger.trial.conduct.described import moment_of, wall_at
from vramledger.trial.conduct.interrupts import Interrupts
from vramledger.trial.conduct.watch import SERVER, pages_of
from vramledger.trial.sampling import Sampler, Sources, sources_for
from vramledger.trial.sampling.fetching import PageConnection
from vramledger.trial.sampling.sampler import Level
from vramledger.trial.sampling.source import Clock, Missed
from vramledger.trial.sampling.target import authorization
from vramledger.trial.server import ServerFacts, ask_server
from vramledger.trial.wire.target import Target, key_of

KEY: Final = "look"  # of run.json; vramledger.diagnose.seen.server_alone reads it
_PAGE: Final = "/metrics"
_TICK_S: Final = 0.1
_SHOWN_S: Final = 0.5
_PAGE_S: Final = 10.0
_CLIENT: Final = "client"  # the machine that a load would come from


@frozen
class LookAsked:
    """Which server, for how long, and how often. `metrics_url` is its page where that is elsewhere, `gpu_metrics` where its GPUs are told."""

    url: str
    for_s: float
    interval_s: float
    key_env: str | None = None
    key_file: str | None = None
    metrics_url: str | None = None
    gpu_metrics: str | None = None
    gpu_selector: str = ""


@frozen
class Looked:
    """A look that is over. `seen_s` is how long it lasted, less than `asked_s` where it was interrupted."""

    folder: Path
    url: str
    metrics_url: str
    asked_s: float
    seen_s: float
    interrupted: bool
    unseen: tuple[str, ...]


Progress = Callable[
    [float, float, Level | None], None
]  # seconds so far, of how many, the last page


def look(
    asked: LookAsked, folder: Path, phase: Callable[[str], None], progress: Progress
) -> Looked:
    """Record a server's pages and GPUs in `folder`, which is new; Ctrl-C ends it early, and what was seen is kept.

    Raises:
        BadInput: the server cannot be reached or does not accept the key, or the folder cannot be written.
        CannotKnow: it has no metrics page, or one of no known engine.
    """
    from vramledger.record.document import Ended

    refuse_folder(folder)
    key = key_of(Target("", key_env=asked.key_env, key_file=asked.key_file))
    phase("asking the server")
    base, page = _addresses(asked)
    facts = ask_server(base, key, metrics_url=page, closely=False)
    metrics_url = _known_page(facts, key)
    sources = _sources(asked, facts, metrics_url, key)
    zero_ns = time.monotonic_ns()
    clock = Clock(zero_ns)
    about = _description(asked, facts, sources, zero_ns)
    with RecordedRun.start(folder, about) as run, Interrupts() as interrupts:
        phase(f"looking at {without_password(metrics_url)}")
        with Sampler(sources.sources, run, zero_ns, asked.interval_s) as sampler:
            _wait(asked.for_s, clock, sampler, interrupts, progress)
        seen_s = min(clock.now_s(), asked.for_s)
        interrupted = bool(interrupts.count)
        run.close(Ended.INTERRUPTED if interrupted else Ended.CUT, moment_of(time.time()))
    return Looked(
        folder,
        without_password(facts.base),
        without_password(metrics_url),
        asked.for_s,
        seen_s,
        interrupted,
        sources.unseen,
    )


def _addresses(asked: LookAsked) -> tuple[str, str | None]:
    """The server's address and its page's; the address of a page is that of its server too."""
    url = asked.url.rstrip("/")
    if asked.metrics_url is None and url.endswith(_PAGE):
        return url.removesuffix(_PAGE), url
    return asked.url, asked.metrics_url


def _known_page(facts: ServerFacts, key: str | None) -> str:
    """The page's address, once it was read and is an engine's."""
    if facts.metrics_url is None:
        why = next(
            (each.partition(": ")[2] for each in facts.unseen if each.startswith("its metrics: ")),
            "",
        )
        raise CannotKnow(
            f"{without_password(facts.base)} shows no metrics page{f' ({why})' if why else ''}, and from outside nothing else tells of its engine; name the page "
            "with --metrics URL, or record a load with vram trial run."
        )
    where = without_password(facts.metrics_url)
    connection = PageConnection(facts.metrics_url, authorization(key), _PAGE_S)
    reader = PageReader()
    try:
        reader.read(connection.get().body.decode("utf-8"))
    except Missed as missed:
        raise BadInput(f"{where} cannot be read: {missed.why}; check the address.") from None
    except (UnicodeDecodeError, PageProblem):
        raise BadInput(
            f"{where} is no metrics page; give the address of what the server's /metrics answers."
        ) from None
    finally:
        connection.close()
    if engine_of(series.raw_name for series in reader.series) is None:
        raise CannotKnow(
            f"{where} has no metric of a serving engine that is known; name the engine's own page with --metrics URL."
        )
    return facts.metrics_url


def _sources(asked: LookAsked, facts: ServerFacts, metrics_url: str, key: str | None) -> Sources:
    """The page and the GPUs; no load comes from this machine, so its processors do not matter."""
    found = sources_for(
        pages_of(metrics_url, authorization(key)),
        server=facts.base,
        gpu_metrics=asked.gpu_metrics,
        selector=asked.gpu_selector,
    )
    kept = []
    for source in found.sources:
        if source.name == _CLIENT:
            source.close()
        else:
            kept.append(source)
    return Sources(tuple(kept), found.unseen, found.gpu_uuids, found.driver)


def _description(asked: LookAsked, facts: ServerFacts, sources: Sources, zero_ns: int) -> Any:
    from vramledger.record.document import Clock as Clocks
    from vramledger.record.document import Description, Origin

    now = wall_at(zero_ns)
    known = {"gpu_uuids": list(sources.gpu_uuids) or None, "driver": sources.driver}
    told = {
        "server": without_password(facts.base),
        "for_s": asked.for_s,
        "interval_s": asked.interval_s,
        "kv_tokens": facts.seen.kv_tokens,
        "unseen": [*facts.unseen, *sources.unseen],
    }
    return Description(
        origin=Origin.REHEARSED if facts.rehearsal else Origin.MEASURED,
        name=f"look at {without_password(facts.base)}",
        in_effect=facts.deployment().model_copy(update=known),
        client_version=__version__,
        clock=Clocks(wall_at_zero=now),
        started_at=now,
    ).model_copy(update={KEY: told})


def _wait(
    for_s: float, clock: Clock, sampler: Sampler, interrupts: Interrupts, progress: Progress
) -> None:
    """Until the time is over or somebody interrupts."""
    shown = -_SHOWN_S
    while not interrupts.count and (left := for_s - clock.now_s()) > 0:
        sampler.check()
        if clock.now_s() - shown >= _SHOWN_S:
            shown = clock.now_s()
            progress(shown, for_s, sampler.level(SERVER))
        time.sleep(min(_TICK_S, left))
