"""What another tool told, as the description of a run with the origin `imported`."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from vramledger import __version__
from vramledger.plan.contract_json import contract_to_json
from vramledger.record.document import Clock, Deployment, Description, Origin
from vramledger.trial.imported.counted import Counted
from vramledger.trial.imported.held_against import HeldAgainst
from vramledger.trial.imported.told import Told

SECOND_HAND: Final = (
    "Imported: another tool's client and clock made these figures. Nobody recorded how late or busy that client was, the server's "
    "metrics, or the GPUs."
)
_NOT_DUE: Final = "due times are not in the file, so the load cannot be shown to be an open loop: a client that waited for the server flatters it"
_UNSEEN: Final = ("the server's metrics", "GPUs", "the client's own lag")


def describe(
    told: Told, found: Counted, files: Mapping[str, str], held: HeldAgainst | None = None
) -> Description:
    """run.json of an import; `files` maps names to SHA-256."""
    return Description(
        origin=Origin.IMPORTED,
        name=f"{told.model or 'unknown model'} by {told.tool}",
        plan=None if held is None else held.plan,
        scenario=None if held is None else held.scenario,
        in_effect=Deployment(model=told.model),
        client_version=__version__,
        clock=Clock(wall_at_zero=_moment(told.zero_s)),
        started_at=_moment(told.zero_s),
        ended_at=_moment(told.ended_s),
    ).model_copy(
        update={"trial": _trial(told, found) | _promised(held), "imported": _imported(told, files)}
    )


def _promised(held: HeldAgainst | None) -> dict[str, Any]:
    stated = held is not None and not held.contract.is_empty
    return {"contract": contract_to_json(held.contract) if held is not None and stated else None}


def _trial(told: Told, found: Counted) -> dict[str, Any]:
    """What summaries and exports of a trial read."""
    return {
        "server": "server unknown",
        "target": {"url": "unknown", "path": told.endpoint or "unknown"},
        "load": {
            "closed": told.closed or None,
            "duration_s": None,
            "period_s": found.ended_s,
            "workload": "imported",
            "prompts": {
                "style": {"endpoint": _endpoint(told), "model": told.model or "unknown"},
                "salt": 0,
                "own": None,
                "lexicon": None,
            },
        },
        "rate_scale": 1.0,
        "workers": 1,
        "kv_tokens": None,
        "prompts_said": "",
        "warnings": [SECOND_HAND, *_warnings(told)],
        "unseen": [*_UNSEEN, *(f"{name}: {why}." for name, why in told.missing.items())],
        "unjudgeable": list(_unjudgeable(told, found)),
    }  # fmt: skip


def _endpoint(told: Told) -> str:
    """Which of the two kinds of API; `imported.endpoint` has the tool's word for it, null where it has none."""
    return "chat" if "chat" in (told.endpoint or "") else "completions"


def _warnings(told: Told) -> Iterator[str]:
    if "due_s" in told.missing:
        yield f"Not verifiable: {_NOT_DUE}."
    if told.claimed_origin in ("rehearsed", "simulated"):
        yield f"The file says of itself that it is {told.claimed_origin}: nothing in it was measured on a real server."
    if told.unrecorded:
        yield f"The file counts {told.unrecorded:,} requests that it has no record of; they are in no figure here."
    yield from told.notes


def _unjudgeable(told: Told, found: Counted) -> Iterator[dict[str, str]]:
    """Lines of a contract that such records cannot decide."""
    if not found.records:
        return
    if not found.streams:
        yield {"line": "ITL", "why": f"{told.tool} keeps no times of single gaps, and its ITL is a mean a request"}  # fmt: skip
    if told.unrecorded:
        yield {"line": "success", "why": f"{told.unrecorded:,} requests have no record"}


def _imported(told: Told, files: Mapping[str, str]) -> dict[str, Any]:
    return {
        "tool": told.tool,
        "tool_version": told.version,
        "endpoint": told.endpoint,
        "files_sha256": dict(files),
        "claimed_origin": told.claimed_origin,
        "unrecorded_requests": told.unrecorded,
        "missing": dict(told.missing),
        "definitions": dict(told.definitions),
        "headline": [
            {"name": each.name, "unit": each.unit, "told": each.told, "found": each.found, "agrees": each.agrees}
            for each in told.claims
        ],
    }  # fmt: skip


def _moment(seconds: float | None) -> str | None:
    """As run.json writes moments; None for a clock that is not the wall's."""
    if seconds is None or not 0 <= seconds < 4e9:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
