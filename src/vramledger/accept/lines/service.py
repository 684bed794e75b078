"""Lines of a model service, seen from the client alone: the model it reports, the longest context, where 429 begins, what it bills."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from vramledger.accept.lines.about import REQUESTS, RUN_JSON, About
from vramledger.accept.verdict import Line, Said, held
from vramledger.statistics.estimate import rate_of

if TYPE_CHECKING:
    import numpy as np

    Marks = np.ndarray[Any, np.dtype[np.bool_]]

_WINDOW_S: Final = 60.0
_REFUSED: Final = frozenset({400, 413, 422})
_TOO_MANY: Final = 429


def service_lines(about: About) -> Iterator[Line]:
    """The lines that the contract has."""
    contract = about.scenario.contract
    if contract.model_reported is not None:
        yield _model(about, contract.model_reported)
    if contract.context_tokens is not None:
        yield _context(about, contract.context_tokens)
    if contract.requests_per_minute is not None:
        yield _rate(about, contract.requests_per_minute)
    if contract.billed_within is not None:
        yield _billed(about, contract.billed_within)


def _model(about: About, asked: str) -> Line:
    name = f"the service reports {asked}"
    found = about.offered.run.description.in_effect.model
    if found is None:
        return Line(name, Said.INCONCLUSIVE, reason="it reported no model", records=(RUN_JSON,))
    said = Said.PASS if found == asked else Said.FAIL
    return Line(name, said, reason=f"it reported {found}", records=(RUN_JSON,))


def _context(about: About, least: float) -> Line:
    """The longest request that was answered; one that was refused though it is no longer than asked fails."""
    import numpy as np

    name, served = f"context of {least:,.0f} tokens", about.offered.served
    total = np.nan_to_num(served.input_tokens) + np.nan_to_num(served.output_tokens)
    longest = float(np.max(total[served.ok], initial=0.0))
    status = _status(about)
    refused = np.isin(status, list(_REFUSED)) & (total <= least) & (total > 0)
    said, reason, settles = Said.PASS, "the longest that was answered", ""
    if refused.any():
        said = Said.FAIL
        reason = f"one of {float(total[refused].min()):,.0f} tokens was refused"
    elif longest < least:
        said, reason = Said.INCONCLUSIVE, "no longer one was sent and answered"
        settles = f"a request of {least:,.0f} tokens"
    return Line(name, said, "tokens", longest, longest, longest, least, reason, (REQUESTS,), settles=settles)  # fmt: skip


def _rate(about: About, least: float) -> Line:
    """Requests sent within a minute when 429 first comes; the most that were sent where it never does."""
    import numpy as np

    name, unit = f"429 begins above {least:,.0f} requests a minute", "requests/min"
    sent = about.offered.found.columns["dispatched_s"]
    told = ~np.isnan(sent)
    moments = np.sort(sent[told])
    counts = np.searchsorted(moments, moments, side="right") - np.searchsorted(
        moments, moments - _WINDOW_S
    )
    too_many = _status(about) == _TOO_MANY
    if too_many.any():
        at = np.searchsorted(moments, sent[too_many & told], side="right") - 1
        begins = float(counts[at].min(initial=counts.max(initial=0)))
        said = Said.PASS if begins > least else Said.FAIL
        reason = f"{int(too_many.sum()):,} requests were refused with 429"
        return Line(name, said, unit, begins, begins, begins, least, reason, (REQUESTS,))
    most = float(counts.max(initial=0))
    said = Said.PASS if most >= least else Said.INCONCLUSIVE
    settles = "" if said is Said.PASS else f"a load of {least:,.0f} requests a minute"
    return Line(name, said, unit, most, most, None, least, "none was refused with 429", (REQUESTS,), settles=settles)  # fmt: skip


def _billed(about: About, most: float) -> Line:
    """By how much the input tokens that the service counted are off those that were sent, as a share."""
    import numpy as np

    name, columns = f"billed input tokens within {most:.1%} of those sent", about.offered.found.columns  # fmt: skip
    asked, got = columns["input_tokens_asked"], columns["input_tokens_got"]
    both = ~np.isnan(asked) & ~np.isnan(got) & (asked > 0)
    found = rate_of(got[both] - asked[both], asked[both], about.level) if both.any() else None
    if found is None:
        return Line(name, Said.INCONCLUSIVE, "0..1", threshold=most, records=(REQUESTS,),
                    reason="the service told no usage, or no length was asked for")  # fmt: skip
    ends = (held(found.low, found.high, most), held(-found.high, -found.low, most))
    said = next(each for each in (Said.FAIL, Said.INCONCLUSIVE, Said.PASS) if each in ends)
    return Line(name, said, "0..1", found.value, found.low, found.high, most, "billed over sent, less 1", (REQUESTS,), int(both.sum()))  # fmt: skip


def _status(about: About) -> "np.ndarray[Any, Any]":
    return about.offered.found.columns["http_status"]
