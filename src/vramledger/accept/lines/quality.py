"""Quality lines: evidence that a smaller precision answers as well, bound to what was served.

A shadow comparison (`vram trial shadow -o`) and results of lm-eval-harness are evidence. Either counts only for the weights, KV dtype, engine version and
attention backend that it was taken on. Where weights or KV cache were served below the stored precision, a line is asked although no plan asks it.
"""

from collections.abc import Iterator
from math import inf
from typing import Final

from vramledger.accept.beside import Beside
from vramledger.accept.lines.about import RUN_JSON, About
from vramledger.accept.precision import Served, served_of, smaller, unbound
from vramledger.accept.verdict import Line, Said, held
from vramledger.plan.requirement import QualityEvidence

UNASKED: Final = "quality of a smaller precision"
_SETTLES: Final = "a comparison of this deployment with the stored precision: vram trial shadow -o FILE, named under quality.shadow"
_NOT_BOUND: Final = "the evidence is of another deployment: {}"


def quality_lines(about: About, quality: QualityEvidence, beside: Beside) -> Iterator[Line]:
    """Every line of the plan, and one unasked where it asks none and the precision is smaller."""
    run = served_of(about.offered.run.description)
    reduced = smaller(run, beside.stored)
    asked = [*_shadow(about, quality, beside, run), *_scores(about, quality, beside, run)]
    yield from asked
    if reduced and not asked:
        yield Line(UNASKED, Said.INCONCLUSIVE, reason=f"{' and '.join(reduced)} were served, and no evidence says what that does to answers",
                   records=(RUN_JSON,), settles=_SETTLES)  # fmt: skip


def _shadow(about: About, quality: QualityEvidence, beside: Beside, run: Served) -> Iterator[Line]:
    """The agreement of tokens with the stored precision."""
    least, found = quality.min_agreement, beside.shadow
    if least is None and quality.shadow is None:
        return
    name = "agreement of answers" + ("" if least is None else f" >= {least:.2%}")
    records = (RUN_JSON,) if quality.shadow is None else (quality.shadow, RUN_JSON)
    if found is None:
        why = beside.shadow_missing or "the plan names no comparison"
        yield Line(name, Said.INCONCLUSIVE, "0..1", threshold=least, reason=why, records=records, settles=_SETTLES)  # fmt: skip
        return
    why = "; ".join(unbound(Served(found.weights_b, found.kv_dtype_b, found.engine_version_b, found.backend_b), run))  # fmt: skip
    said = Said.INCONCLUSIVE if least is None else held(found.low, found.high, least, at_least=True)
    reason = f"{found.answered:,} prompts answered by both"
    if least is None:
        reason = f"{reason}; the plan asks no min_agreement"
    if found.rehearsed:
        said, reason = Said.INCONCLUSIVE, "the comparison is of a rehearsal, which is no evidence"
    if why:
        said, reason = Said.INCONCLUSIVE, _NOT_BOUND.format(why)
    settles = _SETTLES if said is Said.INCONCLUSIVE else ""
    yield Line(name, said, "0..1", found.value, found.low, found.high, least, reason, records, found.answered, settles=settles)  # fmt: skip
    del about


def _scores(about: About, quality: QualityEvidence, beside: Beside, run: Served) -> Iterator[Line]:
    """Each score that the plan asks, with the normal interval of its standard error."""
    from scipy.special import ndtri

    reach = float(ndtri(about.one_sided))
    for task, least in quality.least.items():
        name = f"{task} >= {least:g}"
        records = (RUN_JSON,) if quality.lm_eval is None else (quality.lm_eval, RUN_JSON)
        if beside.evals is None:
            yield Line(name, Said.INCONCLUSIVE, threshold=least, reason=beside.evals_missing or "the plan names no results", records=records,
                       settles="results of lm-eval-harness on this deployment, named under quality.lm_eval")  # fmt: skip
            continue
        score = beside.evals.score(task)
        off = inf if score.error is None else reach * score.error
        said = held(score.value - off, score.value + off, least, at_least=True)
        why = "; ".join(unbound(beside.evals.served, run))
        reason = "the file has no standard error of it" if score.error is None else ""
        if why:
            said, reason = Said.INCONCLUSIVE, _NOT_BOUND.format(why)
        settles = "" if said is not Said.INCONCLUSIVE else "more questions of that task on this deployment"  # fmt: skip
        yield Line(name, said, "score", score.value, score.value - off, score.value + off, least, reason, records, settles=settles)  # fmt: skip
