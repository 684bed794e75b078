"""Results of lm-eval-harness as evidence of quality: scores with standard errors, and what they were taken on.

The file is what ``lm_eval --output_path`` writes: ``results`` maps a task to its figures, ``exact_match,strict-match`` beside
``exact_match_stderr,strict-match``, and ``config.model_args`` says how the model was served
(https://github.com/EleutherAI/lm-evaluation-harness, docs/interface.md).
"""

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Final

from vramledger.accept.precision import Served, from_arguments
from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen
from vramledger.named_file import read_text

_MOST_BYTES: Final = 1 << 26
_NEEDED: Final = "write one with lm_eval --output_path"


@frozen
class Score:
    """One figure of one task; `error` is its standard error, None where the file has none."""

    value: float
    error: float | None


@frozen
class Evals:
    """`scores` goes by ``task/metric``; a metric's filter is part of its name where the task has several."""

    scores: Mapping[str, Score]
    served: Served

    def score(self, name: str) -> Score:
        """The figure of that name.

        Raises:
            UnknownName: the file has none of it.
        """
        if name not in self.scores:
            raise UnknownName("score", name, sorted(self.scores), "the results of lm-eval-harness")
        return self.scores[name]


def read_evals(path: Path) -> Evals:
    """The scores of a results file.

    Raises:
        BadInput: no such file, or no results of lm-eval-harness.
    """
    text = read_text(path, _MOST_BYTES, "results of lm-eval-harness")
    try:
        found: Any = json.loads(text)
        scores = {
            name: score
            for task, figures in found["results"].items()
            for name, score in _scores(str(task), figures).items()
        }
        config = found.get("config") or {}
        served = from_arguments(_arguments(config.get("model_args")), _version(found))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadInput(f"{path} holds no results of lm-eval-harness; {_NEEDED}.") from None
    if not scores:
        raise BadInput(f"{path} holds no score of any task; {_NEEDED}.")
    return Evals(scores, served)


def _scores(task: str, figures: Mapping[str, Any]) -> dict[str, Score]:
    """By ``task/metric,filter``, and by ``task/metric`` for the first filter."""
    found: dict[str, Score] = {}
    for key, value in figures.items():
        metric, _, filtered = str(key).partition(",")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if metric.endswith("_stderr") or not number or not isfinite(value):
            continue
        if not filtered:
            continue
        error = figures.get(f"{metric}_stderr,{filtered}")
        score = Score(float(value), float(error) if isinstance(error, int | float) else None)
        found[f"{task}/{metric},{filtered}"] = score
        found.setdefault(f"{task}/{metric}", score)
    return found


def _arguments(stated: Any) -> dict[str, Any]:
    """Of ``name=value,name=value``, or of a mapping."""
    if isinstance(stated, Mapping):
        return {str(name): value for name, value in stated.items()}
    pairs = [each.partition("=") for each in str(stated or "").split(",")]
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


def _version(found: Mapping[str, Any]) -> str | None:
    """Of the engine, where the file's environment names it."""
    for line in str(found.get("pretty_env_info") or "").splitlines():
        _name, _, version = line.partition("vllm==")
        if version:
            return version.strip()
    return None
