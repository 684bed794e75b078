"""Everything that a server tells of itself, asked once before a trial."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from vramledger.engine.metrics.page import PageProblem, PageReader
from vramledger.engine.metrics.vocabulary import chosen, engine_of, match
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.printable import without_password
from vramledger.trial.sampling.fetching import Fetched
from vramledger.trial.sampling.server_page import is_moment, started_at
from vramledger.trial.sampling.target import authorization
from vramledger.trial.server.asking import Asker, Refused, base_of
from vramledger.trial.server.clock import clock_offset
from vramledger.trial.server.engines import vllm
from vramledger.trial.server.engines.reader import EngineReader, text, whole
from vramledger.trial.server.engines.registry import BY_ENGINE, READERS, by_owner
from vramledger.trial.server.facts import (
    REHEARSAL,
    Seen,
    ServedModel,
    ServerFacts,
    together,
    without_credentials,
)
from vramledger.trial.server.model_files import ModelFiles, model_files
from vramledger.trial.wire.target import Target, route_to

_DENIED: Final = ("http_401", "http_403")
_MODELS: Final = "/v1/models"
_IF_TLS: Final = "write https:// where it speaks TLS, and else check the port"
_REMEDIES: Final = {
    "tls": "write http:// where it speaks plain HTTP, and check its certificate where it speaks TLS",
    "no_http": _IF_TLS,
    "reset": _IF_TLS,
}
_UNSEEN: Final[Mapping[str, Callable[[Seen], Any]]] = {
    "the engine's arguments": lambda seen: seen.arguments,
    "the revision of the model": lambda seen: seen.model_revision,
    "the chat template": lambda seen: seen.chat_template,
    "the size of the KV cache": lambda seen: seen.kv_tokens,
    "how long the server has been up": lambda seen: seen.started_at,
}


@frozen
class _Page:
    """A metrics page as facts."""

    url: str | None
    engine: str | None = None
    seen: Seen = Seen()
    why: str = ""


def ask_server(
    url: str,
    key: str | None = None,
    *,
    metrics_url: str | None = None,
    server_log: Path | None = None,
    now: Callable[[], float] = time.time,
    closely: bool = True,
) -> ServerFacts:
    """What is known of the server at an address.

    Args:
        url: its address, with or without `/v1`.
        key: sent to that address only.
        metrics_url: its metrics page, where that is elsewhere.
        server_log: its start-up log, for figures that no address tells.
        now: the wall clock, in seconds since 1970.
        closely: whether to compare clocks, which takes up to a second, and to read the model's files where they lie here.

    Raises:
        BadInput: it cannot be reached, the proxy is none that can be used, it does not accept the key, or the log is none.
        CannotKnow: the log is another engine's than vLLM's.
    """
    ask = Asker(base_of(url), key)
    route_to(Target(ask.base))  # says what no request could be sent through
    listed = ask.json(_MODELS)
    _check_reached(ask.base, listed)
    models = () if isinstance(listed, Refused) else _models(listed)
    reader = by_owner(models[0].owned_by if models else None)
    page = _metrics(ask, reader, metrics_url)
    reader = reader or BY_ENGINE.get(page.engine or "") or _by_sign(ask)
    startup, from_log = _from_log(server_log)
    parts = (*(reader.read(ask) if reader else ()), page.seen, from_log)
    told = _completed(together(parts), models)
    files = (
        model_files(ask.base, (told.model, *(each.root for each in models[:1])))
        if closely
        else ModelFiles()
    )
    seen = together((told, _from_files(files, told)))
    engine = (reader.engine if reader else page.engine) or from_log.engine
    clock = clock_offset(ask.base + _MODELS, authorization(key), now) if closely else None
    return ServerFacts(
        base=ask.base,
        engine=engine,
        engine_version=seen.engine_version,
        models=models,
        metrics_url=page.url,
        seen=seen,
        rehearsal=any(model.owned_by == REHEARSAL for model in models) or _says_rehearsal(ask),
        speculative=seen.speculative,
        uptime_s=max(0.0, now() - seen.started_at) if seen.started_at is not None else None,
        answered=ask.answered(),
        unseen=_unseen(listed, engine, seen, page, files),
        clock_offset_s=clock.offset_s if clock else None,
        clock_error_s=clock.error_s if clock else None,
        model_files=files.where,
        startup=startup,
    )


def _check_reached(base: str, listed: "dict[str, Any] | Refused") -> None:
    if not isinstance(listed, Refused) or listed.error_class == "http_404":
        return
    where = without_password(base)
    if listed.error_class in _DENIED:
        raise BadInput(
            f"{where} answers {listed.error_class[-3:]} to {_MODELS}: it wants another key; name the "
            "environment variable or the file that holds the right one."
        )
    if listed.error_class == "http_503":
        raise BadInput(f"{where} answers 503: it is still loading, so wait until it is ready.")
    remedy = _REMEDIES.get(
        listed.error_class, "check that an OpenAI-compatible server is up at that address"
    )
    raise BadInput(f"{where} gives no list of models at {_MODELS}: {listed.why}; {remedy}.")


def _models(listed: Mapping[str, Any]) -> tuple[ServedModel, ...]:
    entries = listed.get("data")
    return tuple(
        ServedModel(
            entry["id"],
            text(entry.get("root")),
            whole(entry.get("max_model_len")),
            text(entry.get("owned_by")),
        )
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, Mapping) and text(entry.get("id")) and not entry.get("parent")
    )


def _by_sign(ask: Asker) -> EngineReader | None:
    for reader in READERS:
        for path, key in reader.signs:
            found = ask.json(path)
            if not isinstance(found, Refused) and key in found:
                return reader
    return None


def _metrics(ask: Asker, reader: EngineReader | None, elsewhere: str | None) -> _Page:
    if elsewhere is not None:
        return _read_page(Asker(elsewhere), "")
    why = _Page(None, why="it has no metrics page")
    for path in reader.metrics if reader else ("/metrics",):
        found = _read_page(ask, path)
        if found.url is not None:
            return found
        why = found
    return why


def _read_page(ask: Asker, path: str) -> _Page:
    found = ask.page(path)
    if isinstance(found, Refused):
        return _Page(None, why=found.why)
    reader = PageReader()
    try:
        values = reader.read(found.body.decode("utf-8"))
    except (UnicodeDecodeError, PageProblem):
        return _Page(None, why="what it answers is no metrics page")
    engine = engine_of(series.raw_name for series in reader.series)
    return _Page(ask.base + path, engine, _from_page(found, reader, values))


def _from_page(found: Fetched, reader: PageReader, values: Mapping[int, float]) -> Seen:
    matches = [match(series.raw_name, series.label_values) for series in reader.series]
    counting = chosen(matches)
    named: dict[str, list[int]] = {}
    for number, each in enumerate(matches):
        if each is not None and each in counting:
            named.setdefault(each.name, []).append(number)
    first = {name: values[numbers[0]] for name, numbers in named.items()}
    configs = [reader.series[number].label_values for number in named.get("cache_config", ())]
    cache = vllm.from_cache_config(configs[0]) if configs else Seen()
    began = first.get("process_start_s", 0.0)
    return Seen(
        arguments=cache.arguments,
        kv_tokens=_capacity(first, configs),
        started_at=started_at(found.headers) or (began if is_moment(began) else None),
        speculative=_drafts(first.get("spec_drafts"), reader),
    )


def _drafts(count: float | None, reader: PageReader) -> bool | None:
    """Of vLLM the counters are there where it drafts only; others show them always."""
    if engine_of(series.raw_name for series in reader.series) == "vllm":
        return count is not None
    return True if count else None


def _capacity(first: Mapping[str, float], configs: Iterable[Mapping[str, str]]) -> int | None:
    """KV tokens of all engines together."""
    told = [whole(vllm.typed(labels.get("kv_cache_size_tokens", ""))) for labels in configs]
    known = [tokens for tokens in told if tokens is not None]
    if known:
        return sum(known)
    if "kv_capacity_tokens" in first:
        return whole(first["kv_capacity_tokens"])
    if "kv_capacity_blocks" in first and "kv_block_tokens" in first:
        return whole(first["kv_capacity_blocks"] * first["kv_block_tokens"])
    return None


def _from_log(path: Path | None) -> tuple[Any, Seen]:
    if path is None:
        return None, Seen()
    from vramledger.engine.vllm.log.launch import launch_from_log
    from vramledger.engine.vllm.log.startup import read_startup

    log = read_startup(path)
    launch = launch_from_log(log, str(path))
    tokens = log.value("kv_tokens")
    return log, Seen(
        engine="vllm",
        engine_version=log.version,
        model=launch.model,
        model_revision=next((f.value for f in launch.flags if f.name == "revision"), None),
        arguments={
            flag.name: True if flag.value is None else vllm.typed(flag.value)
            for flag in launch.flags
        },
        kv_tokens=None if tokens is None else int(tokens),
    )


def _completed(seen: Seen, models: tuple[ServedModel, ...]) -> Seen:
    """With what the list of models tells, and without anything that may be a key."""
    length = models[0].max_model_len if models else None
    listed = {} if length is None else {"max-model-len": length}
    return replace(
        seen,
        model=seen.model or (models[0].root if models else None),
        arguments=without_credentials({**listed, **seen.arguments}),
    )


def _says_rehearsal(ask: Asker) -> bool:
    found = ask.page(_MODELS)
    return isinstance(found, Fetched) and REHEARSAL in found.headers.get("server", "")


def _from_files(files: ModelFiles, told: Seen) -> Seen:
    """A template given to the server is another than the model's own."""
    own = None if "chat-template" in told.arguments else files.chat_template
    return Seen(
        model_revision=files.revision, weights_sha256=files.weights_sha256, chat_template=own
    )


def _unseen(
    listed: "dict[str, Any] | Refused",
    engine: str | None,
    seen: Seen,
    page: _Page,
    files: ModelFiles,
) -> tuple[str, ...]:
    found = [name for name, value in _UNSEEN.items() if not value(seen)]
    if seen.weights_sha256 is None:
        found.append(f"the hash of the weights: {files.weights_unseen}")
    if isinstance(listed, Refused):
        found.append(f"the served models: {_MODELS} cannot be read, as {listed.why}")
    if page.url is None:
        found.append(f"its metrics: {page.why}")
    if engine is None:
        found.append("which engine it is")
    elif seen.engine_version is None:
        found.append("the engine's version")
    return tuple(found)
