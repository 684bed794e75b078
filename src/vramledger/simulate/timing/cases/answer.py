"""Answers to cases, one a line; a case that cannot be answered has an `error` instead of failing all."""

from collections.abc import Iterable, Iterator
from typing import Any

from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.simulate.timing.cases.known import Known
from vramledger.simulate.timing.cases.line import read_case, read_object
from vramledger.simulate.timing.coefficients import Fit
from vramledger.simulate.timing.predict import predict
from vramledger.simulate.timing.prediction import Prediction


@frozen
class Answer:
    """The answer to a line: a prediction or an error, one of them None."""

    id: Any
    prediction: Prediction | None
    error: str | None


def answers(lines: Iterable[str], fit: Fit | None = None) -> Iterator[Answer]:
    """One answer for each line that is not blank, in their order."""
    known = Known()
    for line in lines:
        if line.strip():
            yield _answer(line, fit, known)


def _answer(line: str, fit: Fit | None, known: Known) -> Answer:
    named: Any = None
    try:
        content = read_object(line)
        named = content.get("id")
        case = read_case(content)
        asked = known.question(case)
        found = predict(
            asked.deployment,
            asked.load,
            fit,
            version_known=asked.version_known,
            preparing=known.preparing(case),
        )
    except VramError as error:
        return Answer(named, None, str(error))
    return Answer(named, found, None)
