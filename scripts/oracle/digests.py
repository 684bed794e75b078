"""The real scheduler's answers, small enough to keep: a digest of many cases of each kind.

``make oracle`` records them in ``tests/data/oracle_digests.json`` with ``--record``, so that the tests can hold the
simulator to them without the engine.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from oracle.engine import RealScheduler
from oracle.kinds import makers

RECORDED: Final = Path(__file__).parents[2] / "tests" / "data" / "oracle_digests.json"
_FIRST: Final = 1_000_000  # other cases than those that are compared
_CASES: Final = 25


def digest_of(answers: Iterable[dict[str, Any]]) -> str:
    """A digest of steps and of whether they end; refusals count as refusals whatever their words."""
    told = hashlib.sha256()
    for answer in answers:
        kept = [answer["steps"], answer["done"], "error" in answer]
        told.update(json.dumps(kept, sort_keys=True).encode())
    return told.hexdigest()


def record(real: RealScheduler) -> None:
    """Write the digests of the real scheduler's answers."""
    numbers = range(_FIRST, _FIRST + _CASES)
    kinds = {
        kind: digest_of(real.answer(make(number)) for number in numbers) for kind, make in makers()
    }
    document = {"engine": real.version, "first": _FIRST, "cases": _CASES, "kinds": kinds}
    RECORDED.write_text(json.dumps(document, indent=1) + "\n")
