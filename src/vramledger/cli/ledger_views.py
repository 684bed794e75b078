"""The questions of ``vram ledger``: which one the options ask, and how its answer is shown."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from vramledger.cli.ledger_asked import ACCOUNT, Asked, question
from vramledger.engine.launch import Launch
from vramledger.engine.read import read_launch
from vramledger.errors import BadInput, CannotKnow, ExitCode
from vramledger.frozen import frozen
from vramledger.ledger.calibration_file import read_memory
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.model.model import Model

ENGINE = "vllm"
_MOST_GIB = 1e6
_MAX_LOSS = "5%"


@frozen
class Shown:
    """An answer in the three forms; only the one asked for is made."""

    exit_code: ExitCode
    as_text: Callable[[], str]
    as_json: Callable[[], Any]
    as_markdown: Callable[[], str]


def view(asked: Asked) -> Shown:
    """The answer to the one question that the options ask.

    Raises:
        BadInput: two questions at once, an option without a part, no launch, or no accelerator.
    """
    asks = question(asked)
    launch = _launch(asked)
    if launch.engine != ENGINE:
        return _other_engine(asked, launch)
    case = _case(asked, launch)
    if asks == ACCOUNT:
        return _account(case)
    shown = _VIEWS[asks](asked, case)
    return shown if case.model.weights_unknown is None else _uncertain(shown, case.model)


def _uncertain(shown: Shown, model: Model) -> Shown:
    """An answer about weights that are but an upper bound: it says so first, and decides nothing."""
    first = f"CANNOT KNOW: {model.weights_unknown}\n"
    return Shown(
        ExitCode.CANNOT_KNOW,
        lambda: first + shown.as_text(),
        shown.as_json,
        lambda: first + shown.as_markdown(),
    )


def _launch(asked: Asked) -> Launch:
    if asked.launch is not None:
        launch = read_launch(asked.launch, version=asked.engine_version)
    elif asked.from_log is not None:
        from vramledger.engine.vllm.log.launch import launch_from_log
        from vramledger.engine.vllm.log.startup import read_startup

        launch = launch_from_log(read_startup(Path(asked.from_log)), asked.from_log)
    else:
        raise BadInput(
            "State what to account for: a launch command, a file of one, or --from-log FILE."
        )
    return replace(launch, model=asked.model) if asked.model is not None else launch


def _case(asked: Asked, launch: Launch) -> Case:
    if asked.gpu is None:
        raise BadInput("State the accelerator with --gpu NAME; vram gpus lists the names.")
    return Case(
        launch=launch,
        model=model_of(launch),
        accelerator=accelerator_for(asked.gpu, asked.total_gib),
        version=asked.engine_version,
        request_tokens=asked.tokens,
        neighbours_gib=_used(asked),
        memory=None if asked.calibration is None else read_memory(Path(asked.calibration)),
    )


def _used(asked: Asked) -> float:
    used = asked.used_gib or 0.0
    if not 0 <= used < _MOST_GIB:
        raise BadInput(f"--used-gib is {used:g}; write the GiB that other processes hold on a GPU.")
    return used


def _other_engine(asked: Asked, launch: Launch) -> Shown:
    from vramledger.ledger.independent import independent
    from vramledger.report import independent as shown

    if asked.gpu is not None:
        accelerator_for(asked.gpu, asked.total_gib)
    part = independent(launch, model_of(launch))
    return Shown(
        ExitCode.CANNOT_KNOW,
        lambda: shown.to_text(part),
        lambda: shown.to_json(part),
        lambda: shown.to_text(part),
    )


def _account(case: Case) -> Shown:
    from vramledger.ledger.upgrade import account

    ledger = account(case)

    def text() -> str:
        from vramledger.report.ledger import to_text

        return to_text(ledger)

    def as_json() -> Any:
        from vramledger.report.ledger_json import ledger_json

        return ledger_json(ledger)

    def markdown() -> str:
        from vramledger.report.ledger_markdown import to_markdown

        return to_markdown(ledger).rstrip("\n")

    speculation = ledger.deployment.speculation
    uncounted = speculation is not None and speculation.uncounted
    known = not (case.model.cache_unknown or case.model.weights_unknown or uncounted)
    code = ExitCode.HOLDS if ledger.fits else ExitCode.DOES_NOT_HOLD
    return Shown(code if known else ExitCode.CANNOT_KNOW, text, as_json, markdown)


def _solve(asked: Asked, case: Case) -> Shown:
    from vramledger.ledger.solve import Load, solve
    from vramledger.report import questions

    answer = solve(case, asked.solve or "", Load(asked.requests, case.request_tokens))
    code = ExitCode.DOES_NOT_HOLD if answer.value is None else ExitCode.HOLDS
    return _shown(
        code, lambda: questions.solution_text(answer), lambda: questions.solution_json(answer)
    )


def _versus(asked: Asked, case: Case) -> Shown:
    from vramledger.ledger.versus import versus
    from vramledger.report import questions

    before = _side(case, asked.launch or "", asked)
    after = _side(case, asked.vs or "", asked)
    found = versus(before, after)
    return _shown(
        ExitCode.HOLDS, lambda: questions.versus_text(found), lambda: questions.versus_json(found)
    )


def _only_ours(launch: Launch, option: str) -> None:
    if launch.engine != ENGINE:
        raise CannotKnow(
            f"{option} names a launch of {launch.engine}, whose memory policy is not known here; "
            "compare launches of vLLM."
        )


def _side(case: Case, text: str, asked: Asked) -> Case:
    """One of two launches: on the version it states itself, else on that of the option."""
    launch = read_launch(text)
    if launch.version is None and asked.engine_version is not None:
        launch = read_launch(text, version=asked.engine_version)
    _only_ours(launch, "--vs")
    if launch.model is None or (asked.model is not None and text == asked.launch):
        launch = replace(launch, model=case.launch.model)
    model = case.model if launch.model == case.launch.model else model_of(launch)
    return replace(case, launch=launch, version=launch.version, model=model)


def _table(asked: Asked, case: Case) -> Shown:
    from vramledger.ledger.axis import parse_axis, resolve_axis
    from vramledger.ledger.sweep import movers, sweep
    from vramledger.report import questions

    axes = [resolve_axis(parse_axis(text), case) for text in asked.tables]
    if asked.total_gib is not None and any(axis.name == "gpu" for axis in axes):
        raise BadInput("--total-gib states one card's memory; leave it out beside --table gpu.")
    tables = [(axis, sweep(case, axis, asked.requests, case.request_tokens)) for axis in axes]
    moving = movers(case, asked.requests, case.request_tokens)
    holds = any(entry.fits for _, entries in tables for entry in entries)
    return _shown(
        ExitCode.HOLDS if holds else ExitCode.DOES_NOT_HOLD,
        lambda: questions.sweep_text(tables, moving),
        lambda: questions.sweep_json(tables, moving),
    )


def _layouts(asked: Asked, case: Case) -> Shown:
    from vramledger.ledger.layouts import layouts
    from vramledger.report import sharing

    found = layouts(case, asked.layouts or 0)
    code = ExitCode.HOLDS if any(spread.fits for spread in found) else ExitCode.DOES_NOT_HOLD
    return _shown(code, lambda: sharing.layouts_text(found), lambda: sharing.layouts_json(found))


def _beside(asked: Asked, case: Case) -> Shown:
    from vramledger.ledger.cotenancy import together
    from vramledger.ledger.solve import Load
    from vramledger.report import sharing

    other = read_launch(asked.beside or "", version=asked.engine_version)
    _only_ours(other, "--beside")
    beside = replace(case, launch=other, model=model_of(other) if other.model else case.model)
    found = together(case, beside, Load(asked.requests, case.request_tokens))
    code = ExitCode.HOLDS if any(turn.holds for turn in found) else ExitCode.DOES_NOT_HOLD
    return _shown(code, lambda: sharing.together_text(found), lambda: sharing.together_json(found))


def _gate(asked: Asked, case: Case) -> Shown:
    from vramledger.ledger.gate import gate, parse_loss, read_baseline
    from vramledger.report import questions

    allowed = parse_loss(asked.max_loss or _MAX_LOSS)
    found = gate(case.ledger(), read_baseline(Path(asked.baseline or "")), allowed)
    code = ExitCode.HOLDS if found.holds else ExitCode.DOES_NOT_HOLD
    return _shown(code, lambda: questions.gate_text(found), lambda: questions.gate_json(found))


def _log(asked: Asked, case: Case) -> Shown:
    from vramledger.engine.vllm.log.launch import launch_from_log
    from vramledger.engine.vllm.log.startup import read_startup
    from vramledger.ledger.measured import compare_log, verdict
    from vramledger.ledger.understood import understand
    from vramledger.report import measured

    log = read_startup(Path(asked.from_log or ""))
    logged = launch_from_log(log, asked.from_log or "")
    heard = understand(case, log, replace(logged, model=None) if asked.model else logged)
    ledger = heard.case.ledger()
    compared = compare_log(ledger, log, explain=heard.comparable)
    alone = ledger if log.failures and not compared else None
    return _shown(
        verdict(compared, log.failures),
        lambda: measured.measured_text(compared, log.failures, heard, alone),
        lambda: measured.measured_json(compared, log.failures, heard, alone),
    )


def _metrics(asked: Asked, case: Case) -> Shown:
    from vramledger.engine.vllm.metrics_page import read_cache_configs
    from vramledger.ledger.measured import compare_page, verdict
    from vramledger.report import measured

    compared = compare_page(case.ledger(), read_cache_configs(asked.from_metrics or ""))
    return _shown(
        verdict(compared),
        lambda: measured.measured_text(compared),
        lambda: measured.measured_json(compared),
    )


def _shown(code: ExitCode, text: Callable[[], str], as_json: Callable[[], Any]) -> Shown:
    return Shown(code, text, as_json, lambda: f"```text\n{text()}\n```")


_VIEWS: dict[str, Callable[[Asked, Case], Shown]] = {
    "solve": _solve,
    "vs": _versus,
    "tables": _table,
    "layouts": _layouts,
    "beside": _beside,
    "baseline": _gate,
    "from_log": _log,
    "from_metrics": _metrics,
}
