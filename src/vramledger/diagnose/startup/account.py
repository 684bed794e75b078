"""The engine's words beside our own account: whether the launch of a log starts by the ledger, and with which change."""

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Final

from vramledger.diagnose.told import Change
from vramledger.engine.launch import Launch
from vramledger.engine.vllm.log.startup import StartupLog
from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.ledger.case import Case
from vramledger.ledger.measured import Comparison

_SAME_TOTAL: Final = 0.01


@frozen
class Account:
    """What our account adds: sentences for and against, what kept it from being made, and the log's figures beside it."""

    supports: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    compared: tuple[Comparison, ...] = field(default_factory=tuple)
    starts_after: bool | None = None  # with the change, None where that was not asked


@frozen
class Asked:
    """What the user says beside the log: the card and the model's name or folder; empty where it says nothing."""

    gpu: str = ""
    model: str = ""


def account_of(log: StartupLog | None, launch: Launch | None, card: str | None, asked: Asked, change: Change | None, *, failed: bool) -> Account:  # fmt: skip
    """The account of what a log says was started.

    Args:
        log: vLLM's readings, None for other engines.
        launch: what the log says was started.
        card: the GPU as the driver prints it, where a line names it.
        asked: the user's own words.
        change: the change to be tried; None for none.
        failed: whether the start failed; if so the account is asked whether it should have.
    """
    if log is None or launch is None:
        return Account(unseen=("Our own account was not asked: the log does not say what was started, or it is not vLLM.",))  # fmt: skip
    try:
        case, stand_in = _case(log, launch, card, asked)
        if case is None:
            return Account(
                unseen=(
                    "Our own account was not asked: the log names no card; give it with --gpu.",
                )
            )
        if failed:
            return _should_it(case, change, stand_in)
        return _beside(case, log, stand_in)
    except VramError as error:
        return Account(unseen=(f"Our own account was not asked: {error}",))


def _case(
    log: StartupLog, launch: Launch, card: str | None, asked: Asked
) -> tuple[Case | None, str]:
    """The launch on its card, as the log tells it; the second is a sentence where the card was only guessed by its memory."""
    from vramledger.ledger.question import model_of
    from vramledger.ledger.understood import understand

    accelerator, stand_in = _accelerator(log, card, asked.gpu)
    if accelerator is None:
        return None, ""
    if asked.model:
        launch = replace(launch, model=asked.model)
    case = Case(launch=launch, model=model_of(launch), accelerator=accelerator, version=log.version)
    logged = replace(launch, model=None) if asked.model else launch
    return understand(case, log, logged).case, stand_in


def _accelerator(log: StartupLog, card: str | None, gpu: str) -> tuple[Accelerator | None, str]:
    from vramledger.hardware.catalogue import accelerators, printing
    from vramledger.ledger.question import accelerator_for

    total = log.value("total_gib")
    if gpu:
        return accelerator_for(gpu), ""
    if any("(CPU)" in reading.row for reading in log.readings) or any("on node" in f.line.text for f in log.failures):  # fmt: skip
        return accelerator_for("cpu", total), ""
    named = printing(card) if card else ()
    if len(named) == 1:
        return named[0], ""
    near = [each for each in named or accelerators() if total and abs(each.total.value / total - 1) < _SAME_TOTAL]  # fmt: skip
    if not near or total is None:
        return None, ""
    found = min(near, key=lambda each: abs(each.total.value - total))
    return (
        found,
        f"The log names no card; {total:.2f} GiB is what {found.name} reports, which is assumed.",
    )


def _should_it(case: Case, change: Change | None, stand_in: str) -> Account:
    """Whether the launch should have failed, and whether the change is enough."""
    from vramledger.ledger.account import assess
    from vramledger.ledger.remedy import remedy

    unseen = (stand_in,) if stand_in else ()
    found = assess(case.deployment(), memory=case.memory)
    if found.fits:
        said = f"By our own account it starts: {found.verdict.reason} So something holds memory that is not in the account."
        return Account(contradicts=(said,), unseen=unseen)
    supports, contradicts = [f"Our own account comes to the same end. {found.verdict.reason}"], []
    starts: bool | None = None
    if change is not None and change.flag is not None:
        then = assess(case.with_flag(change.flag, change.value).deployment(), memory=case.memory)
        starts = then.fits
        if starts:
            supports.append(f"With {change.text} it starts by our own account, too.")
        else:
            contradicts.append(f"By our own account {change.text} is not enough at the pessimistic end: {then.verdict.reason}")  # fmt: skip
    better = remedy(case)
    if better is not None:
        supports.append(better.message)
    return Account(tuple(supports), tuple(contradicts), unseen, starts_after=starts)


def _beside(case: Case, log: StartupLog, stand_in: str) -> Account:
    """The figures of a start that came up, beside the ledger."""
    from vramledger.ledger.measured import compare_log

    compared = compare_log(case.ledger(), log)
    inside = [each for each in compared if each.inside_band]
    outside = [each for each in compared if each.inside_band is False]
    unseen = (stand_in,) if stand_in else ()
    supports = (
        (f"{len(inside)} figures of the log lie inside the band of our own account.",)
        if inside
        else ()
    )
    return Account(supports, tuple(_outside(outside)), unseen, compared)


def _outside(found: Iterable[Comparison]) -> Iterable[str]:
    for each in found:
        if each.predicted is not None:
            yield (
                f"{each.label}: {each.measured.value:,.2f} {each.unit} in the log, {each.predicted.low:,.2f} to "
                f"{each.predicted.high:,.2f} by our own account. {each.reason}".strip()
            )
