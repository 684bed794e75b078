"""The options of ``vram diagnose`` as a run to diagnose."""

from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any

from vramledger.calibrate.run_deployment import Stated
from vramledger.diagnose.diagnosis import diagnose
from vramledger.errors import BadInput, ExitCode
from vramledger.frozen import frozen
from vramledger.ledger.question import accelerator_for
from vramledger.record.run import Run, read_run
from vramledger.report.diagnosis import diagnosis_text
from vramledger.report.diagnosis_json import diagnosis_json


@frozen
class Answer:
    """A diagnosis as its document and as text."""

    document: Mapping[str, Any]
    text: str
    exit_code: ExitCode


def answer_of(run: Path | None, stated: Mapping[str, Any]) -> Answer:
    """The diagnosis that was asked for.

    Raises:
        BadInput: no run, or a damaged one.
        UnknownName: a card, model or version that is none.
    """
    if run is None:
        raise BadInput("Name the folder of a run to diagnose; vram trial run records one.")
    return answer_for(read_run(run), stated)


def answer_for(run: Run, stated: Mapping[str, Any]) -> Answer:
    """The diagnosis of a run that is read; errors as of `answer_of`."""
    given = dict(stated)
    other, card, prices = given.pop("against"), given.pop("upgrade"), _prices(given.pop("prices"))
    found = diagnose(
        run,
        Stated(**given),
        against=None if other is None else read_run(other),
        upgrade=card,
        prices=prices,
    )
    return Answer(diagnosis_json(found), diagnosis_text(found), found.judged.exit_code)


def _prices(given: Iterable[str]) -> dict[str, float]:
    """``H100-80GB-SXM=2.50`` for each card.

    Raises:
        BadInput: that is none.
        UnknownName: no such card.
    """
    found = {}
    for text in given:
        name, sign, amount = text.partition("=")
        try:
            price = float(amount)
        except ValueError:
            price = -1.0
        if not sign or not 0 < price < inf:
            raise BadInput(
                f"--price {text} is no price; write CARD=AMOUNT, of one GPU and hour, such as H100-80GB-SXM=2.50."
            )
        found[accelerator_for(name, where="--price").name] = price
    return found
