"""What a log says was started beside what the launch says: the log wins, and each clash is named."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from vramledger.engine.launch import Launch
from vramledger.engine.vllm.command import parse
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.log.startup import StartupLog
from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.ledger.case import Case

_RECORD: Final = "non-default args: {"
_CARD: Final = 0.05  # relative difference of totals that no variant of one card explains


@frozen
class Stated:
    """One setting as it is accounted for, and who says so: "log", "launch" or "default"."""

    name: str
    value: str
    source: str


@frozen
class Understood:
    """A case after the log has been heard.

    `comparable` is False where model, card or ranks are not the log's: gaps have no other reason then.
    """

    case: Case
    stated: tuple[Stated, ...]
    contradictions: tuple[str, ...]  # one sentence each
    comparable: bool = True


@frozen
class _Setting:
    """A setting that logs state: its flag, its name in sentences and where a deployment keeps it."""

    flag: str
    name: str
    of: Callable[[Deployment], object]
    always: bool = False  # shown even where nobody states it


_SETTINGS: Final = (
    _Setting("tensor-parallel-size", "tensor_parallel_size", lambda d: d.layout.tp, always=True),
    _Setting("pipeline-parallel-size", "pipeline_parallel_size", lambda d: d.layout.pp),
    _Setting("data-parallel-size", "data_parallel_size", lambda d: d.layout.dp),
    _Setting(
        "gpu-memory-utilization",
        "gpu_memory_utilization",
        lambda d: d.gpu_memory_utilization.value,
        always=True,
    ),
    _Setting("max-model-len", "max_model_len", lambda d: d.max_model_len.value, always=True),
    _Setting("max-num-seqs", "max_num_seqs", lambda d: d.max_num_seqs.value),
    _Setting(
        "max-num-batched-tokens", "max_num_batched_tokens", lambda d: d.max_num_batched_tokens.value
    ),
    _Setting("kv-cache-dtype", "kv_cache_dtype", lambda d: d.kv_cache_dtype.value),
    _Setting("dtype", "dtype", lambda d: d.dtype.value),
    _Setting("enforce-eager", "enforce_eager", lambda d: d.enforce_eager.value),
)


def understand(case: Case, log: StartupLog, logged: Launch) -> Understood:
    """The case with the log's version and settings where it states them.

    Args:
        case: the launch as given, or as read from the log.
        log: the readings, among them version, length, utilization and process tags.
        logged: the launch that the log's configuration records state.
    """
    heard, clashes = _with_version(case, log)
    values = _values(log, logged)
    complete = any(_is_whole(line.text) for line in log.configuration)
    for setting in _SETTINGS:
        if setting.flag in values:
            heard, clash = _with_setting(heard, setting, values[setting.flag])
        elif complete and heard.launch.flag(setting.flag) is not None:
            heard, clash = _with_default(heard, setting)
        else:
            continue
        clashes += clash
    open_clashes = _model_clash(case, logged) + _tags_clash(heard, log) + _card_clash(heard, log)
    if open_clashes:
        open_clashes.append("While they differ, the gaps have no other reason.")
    stated = _stated(heard, log, logged, values)
    return Understood(heard, stated, (*clashes, *open_clashes), not open_clashes)


def _is_whole(text: str) -> bool:
    """Whether a record lists every argument that is no default, uncut."""
    _, found, record = text.partition(_RECORD)
    return bool(found) and record.rstrip().endswith("}")


def _model_clash(case: Case, logged: Launch) -> list[str]:
    if logged.model is None or case.launch.model in (None, logged.model):
        return []
    said = (
        f"The log is of the model {logged.model} and the account of {case.launch.model}; the rows "
        "are comparable only if the two are one model."
    )
    return [said]


def _with_version(case: Case, log: StartupLog) -> tuple[Case, list[str]]:
    stated = case.version or case.launch.version
    if log.v0:
        environment = {**case.launch.environment, "VLLM_USE_V1": "0"}
        case = replace(case, launch=replace(case.launch, environment=environment))
    if log.version is None:
        return case, []
    launch = parse(case.launch, log.version) if case.launch.arguments else case.launch
    heard = replace(case, launch=launch, version=log.version)
    if stated is None or stated.removeprefix("v") == log.version.removeprefix("v"):
        return heard, []
    return heard, [
        f"The log is of vLLM {log.version} and {stated} was stated; the log's version is used."
    ]


def _values(log: StartupLog, logged: Launch) -> Mapping[str, str | None]:
    """What the log states, by flag: its records first, then figures that other lines carry."""
    values = {flag.name: flag.value for flag in logged.flags}
    length = log.value("concurrency_at_tokens") or log.value("max_model_len_tokens")
    if length is not None:
        values.setdefault("max-model-len", str(int(length)))
    share = log.value("utilization")
    if share is not None and 0 < share <= 1:
        values.setdefault("gpu-memory-utilization", f"{share:g}")
    return values


def _with_setting(case: Case, setting: _Setting, value: str | None) -> tuple[Case, list[str]]:
    """The case with the log's value where it resolves to another one than the launch's."""
    changed = case.with_flag(setting.flag, value)
    try:
        before, after = setting.of(case.deployment()), setting.of(changed.deployment())
    except VramError:
        return case, []  # a record cut short: the launch's own value stands
    if before == after or before is None:
        return (changed if before is None else case), []
    own = case.launch.flag(setting.flag)
    whose = "the launch states" if own is not None else "the launch's default is"
    return changed, [
        f"The log states {setting.name} {after} and {whose} {before}; the log's value is used."
    ]


def _with_default(case: Case, setting: _Setting) -> tuple[Case, list[str]]:
    """The case without a flag that the log's complete list of arguments does not have."""
    changed = case.without_flag(setting.flag)
    before, after = setting.of(case.deployment()), setting.of(changed.deployment())
    if before == after:
        return case, []
    said = (
        f"The log lists no {setting.name}, so it ran with {after}, and the launch states {before}; "
        "the log's value is used."
    )
    return changed, [said]


def _tags_clash(case: Case, log: StartupLog) -> list[str]:
    """Process tags of more ranks than the account has."""
    tags = [reading.line.tp for reading in log.readings if reading.line.tp is not None]
    tp = case.deployment().layout.tp
    if not tags or max(tags) < tp:
        return []
    said = (
        f"The log has lines of tensor-parallel rank {max(tags)} and the account {tp} such "
        f"rank{'s' if tp > 1 else ''}; state --tensor-parallel-size as it was started."
    )
    return [said]


def _card_clash(case: Case, log: StartupLog) -> list[str]:
    measured, assumed = log.value("total_gib"), case.accelerator.total.value
    if measured is None or abs(measured / assumed - 1) < _CARD:
        return []
    said = (
        f"The log's card reports {measured:.2f} GiB and {case.accelerator.name} {assumed:.2f} GiB; "
        "give the card it ran on with --gpu."
    )
    return [said]


def _stated(
    case: Case, log: StartupLog, logged: Launch, values: Mapping[str, str | None]
) -> tuple[Stated, ...]:
    deployment = case.deployment()
    named = logged.model is not None and logged.model == case.launch.model
    version = "log" if log.version else "launch" if case.version or case.launch.version else ""
    found = [
        Stated("model", deployment.model.id, "log" if named else "launch"),
        Stated("vLLM", deployment.version, version or "newest known"),
    ]
    for setting in _SETTINGS:
        source = "default"
        if setting.flag in values:
            source = "log"
        elif case.launch.flag(setting.flag) is not None:
            source = "launch"
        if setting.always or source != "default":
            value = setting.of(deployment)
            found.append(Stated(setting.name, "auto" if value is None else str(value), source))
    return tuple(found)
