"""Envoy access logs: its default text format, Istio's, and JSON with the usual keys.

Sources: https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage
and https://istio.io/latest/docs/tasks/observability/logs/access-log/.

`%START_TIME%` is the arrival: nothing is taken off it. `%DURATION%` counts milliseconds to the end of
the response. The response flags tell what the status does not: a stream may break after 200.
x-request-id is no identity of a request: callers pass it on, and several calls may share it.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from vramledger.record.outcome import Outcome, of_status
from vramledger.workload.fields import whole_number
from vramledger.workload.formats.format import (
    Clock,
    Context,
    Framing,
    Head,
    LogFormat,
    Record,
    row_by_row,
)
from vramledger.workload.formats.parts.completion_path import require_completion
from vramledger.workload.formats.parts.embedded import first_text
from vramledger.workload.formats.parts.times import optional_span_ns
from vramledger.workload.raw import RawRequest, RowProblem
from vramledger.workload.timestamps import moment_ns

_MS: Final = 1_000_000
_QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
_LINE: Final = re.compile(
    r'\[(?P<start_time>\d{4}-\d\d-\d\dT[^\]\s]+)\] "(?P<method>\S+) (?P<path>\S+) (?P<protocol>[^"]*)" '
    r"(?P<response_code>\d+) (?P<response_flags>\S+) "
    rf"(?:\S+ \S+ {_QUOTED} )?"  # Istio: code details, termination details, transport failure
    r"(?P<bytes_received>\d+|-) (?P<bytes_sent>\d+|-) (?P<duration>\d+|-) (?P<service>\d+|-)"
    rf"(?: (?P<forwarded>{_QUOTED}))?"
)
_KEYS: Final = {  # what we call it -> what JSON formats call it
    "start_time": ("start_time", "timestamp", "@timestamp", "startTime"),
    "method": ("method", "request_method", ":method"),
    "path": ("path", "x-envoy-origin-path", "x-envoy-original-path", "original_path", ":path"),
    "response_code": ("response_code", "status", "responseCode"),
    "response_flags": ("response_flags", "responseFlags"),
    "duration": ("duration", "duration_ms"),
    "forwarded": ("x_forwarded_for", "x-forwarded-for", "downstream_remote_address"),
}
_FLAGS: Final = {
    "DC": Outcome.CANCELLED,  # downstream connection termination
    "DR": Outcome.CANCELLED,  # downstream reset of an HTTP/2 stream
    "UT": Outcome.TIMED_OUT,  # upstream request timeout
    "SI": Outcome.TIMED_OUT,  # stream idle timeout
    "DT": Outcome.TIMED_OUT,  # a limit of duration
    "UMSDR": Outcome.TIMED_OUT,  # upstream's longest stream duration
    "DI": Outcome.FAILED,  # delayed by fault injection and failed
    "FI": Outcome.FAILED,  # aborted by fault injection
    "RL": Outcome.REJECTED,  # rate limit
    "UAEX": Outcome.REJECTED,  # denied by the external authorisation
    "RLSE": Outcome.REJECTED,  # rate limit service in error
    "IH": Outcome.REJECTED,  # invalid header
    "NR": Outcome.REJECTED,  # no route
    "NC": Outcome.REJECTED,  # no cluster
    "UO": Outcome.REJECTED,  # upstream overflow
    "OM": Outcome.REJECTED,  # overload manager
    "DPE": Outcome.REJECTED,  # downstream protocol error
}
_BROKEN: Final = frozenset(("UC", "UR", "LR", "UPE"))  # incomplete after a status of 200


def _recognise(head: Head) -> bool:
    if head.framing is Framing.TEXT:
        lines = [line for line in head.lines if line.strip()]
        return bool(lines) and 2 * sum(_LINE.match(line) is not None for line in lines) > len(lines)
    first = head.records[0] if head.records else {}
    return all(
        any(key in first for key in _KEYS[name])
        for name in ("start_time", "response_code", "response_flags", "duration")
    )


def _row(record: Record, context: Context) -> RawRequest:
    if context.head.framing is Framing.TEXT:
        match = _LINE.match(str(record.values.get("line") or ""))
        if match is None:
            raise RowProblem("line is no access log line")
        found: Mapping[str, Any] = match.groupdict()
    else:
        found = _of_json(record.values)
    require_completion(str(found["method"] or ""), str(found["path"] or ""))
    duration = optional_span_ns(found["duration"], "duration", _MS)
    outcome = _outcome(found["response_code"], str(found["response_flags"] or "-"))
    start = moment_ns(found["start_time"], "start_time", context)
    return RawRequest(
        line=record.line,
        arrival_ns=start,
        logged_ns=start + (duration or 0),
        duration_ns=duration,
        outcome=outcome,
        cancel_after_ns=duration if outcome is Outcome.CANCELLED else None,
        tenant=_address(found["forwarded"], context),
    )


def _of_json(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        name: next((values[key] for key in keys if values.get(key) is not None), None)
        for name, keys in _KEYS.items()
    }


def _outcome(code: Any, flags: str) -> Outcome:
    """Flags speak before the status does: of several, the first that tells."""
    status = whole_number(code, "response_code")
    for flag in flags.split(","):
        if flag in _FLAGS:
            return _FLAGS[flag]
        if flag in _BROKEN:
            return Outcome.INCOMPLETE if 200 <= status < 300 else Outcome.FAILED
    return of_status(status)


def _address(forwarded: Any, context: Context) -> str | None:
    """The client: the first address forwarded, or the peer's without its port."""
    said = first_text(str(forwarded or "").strip('"').split(",")[0])
    if said is None:
        return None
    context.infer("Tenants are client addresses (inferred).")
    return said.rsplit(":", 1)[0] if said.count(":") == 1 else said


FORMAT: Final = LogFormat(
    name="envoy",
    title="Envoy or Istio access log (default text format, or JSON)",
    framings=(Framing.TEXT, Framing.JSONL, Framing.JSON),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=row_by_row(_row),
    lacks=(
        "It counts no tokens and holds no texts: arrivals, durations and outcomes only.",
        "The upstream's service time ends at its headers, and is not the time to the first token.",
    ),
    source="https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage",
)
