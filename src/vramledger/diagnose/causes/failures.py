"""Requests fail: the server, or something in front of it, refuses, breaks off or restarts."""

from collections.abc import Sequence

import numpy as np

from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, ramp
from vramledger.record.outcome import Outcome

_FAILED = (
    Outcome.FAILED.value,
    Outcome.REJECTED.value,
    Outcome.INCOMPLETE.value,
    Outcome.TIMED_OUT.value,
)


def _signs(picture: Picture) -> Sequence[Sign]:
    requests = picture.evidence.requests
    if not len(requests):
        return _without_requests(picture)
    share = float(np.isin(requests.outcome, _FAILED).mean())
    classes = ", ".join(
        f"{name} {count:,}"
        for name, count in sorted(requests.errors.items(), key=lambda one: -one[1])[:4]
    )
    text = f"{share:.1%} of the requests failed" + (f" ({classes})." if classes else ".")
    return (
        Sign(text, ramp(share, 0.003, 0.02), needed=True),
        _restarted(picture),
        _not_late(picture),
    )


def _without_requests(picture: Picture) -> Sequence[Sign]:
    """Of a server alone: whether it was gone, or began again, which ends every request that is under way."""
    gone = next((each for each in picture.evidence.silences if each.gone), None)
    began_again = _began_again(picture)
    unseen = Sign("Which requests failed was not seen, as none was recorded.", None)
    if gone is None and not began_again:
        return (Sign("The requests were not seen.", None, needed=True),)
    if gone is None:
        text = "The server began again while it was looked at, so that what was under way in it was lost."
    else:
        until = (
            "and was not back at the end" if gone.to_the_end else f"until second {gone.to_s:.0f}"
        )
        text = f"The server was gone from second {gone.from_s:.0f} on ({gone.why}), {until}."
    return (Sign(text, 1.0, needed=True), _restarted(picture), unseen)


def _began_again(picture: Picture) -> bool:
    pages = picture.evidence.pages
    return "server_restarted" in picture.evidence.events or (
        pages is not None and pages.restarts > 0
    )


def _restarted(picture: Picture) -> Sign:
    pages = picture.evidence.pages
    told = _began_again(picture)
    if pages is None and not told:
        return Sign("Whether the server restarted was not seen.", None)
    return Sign(
        "The server restarted in the run." if told else "The server did not restart.",
        1.0 if told else 0.4,
    )


def _not_late(picture: Picture) -> Sign:
    """Requests that ran out of time fail for what made them slow, not by themselves."""
    outcome = picture.evidence.requests.outcome
    failed = np.isin(outcome, _FAILED)
    late = float((outcome[failed] == Outcome.TIMED_OUT.value).mean()) if failed.any() else 0.0
    return Sign(f"{late:.0%} of those that failed ran out of time.", 1 - late)


def _change(picture: Picture) -> NextChange:
    errors = picture.evidence.requests.errors
    most = max(errors, key=lambda name: errors[name]) if errors else None
    return NextChange(
        "Read the server's log of that time"
        + (f" for {most}" if most else "")
        + "; nothing else is worth a change before requests stop failing."
    )


CAUSE = Cause("D15", "failures", "Requests fail", _signs, _change)
