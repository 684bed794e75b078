"""nginx access logs: the combined format with whatever was appended to it, or JSON.

Source: https://nginx.org/en/docs/http/ngx_http_log_module.html, and of the variables
https://nginx.org/en/docs/http/ngx_http_core_module.html#variables.

nginx writes a line when a request has ended: the arrival is that moment less `$request_time`. 499 is
nginx's own status for "the client closed the connection". Appended variables are read where a
name stands before them (`rt=0.123`, `request_time:"0.123"`); a bare number with three decimals is
taken for `$request_time`, which nginx always writes so. JSON that has `$upstream_response_time` alone
holds a time for each server that was asked, after commas and colons: their sum is taken.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from vramledger.frozen import frozen
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
from vramledger.workload.formats.parts.times import span_ns
from vramledger.workload.raw import RawRequest, RowProblem
from vramledger.workload.timestamps import moment_ns

_LINE: Final = re.compile(
    r"(?P<address>\S+) \S+ (?P<user>.*?) ?\[(?P<end>\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "
    r'"(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}) (?:\d+|-)(?P<rest>.*)'
)
# Referer, user agent and what else the client says; a variable may stand in quotes with its name.
_SAID: Final = re.compile(r'(?<!\S)"(?![A-Za-z_]\w*[=:]\s?[\d.]+")(?:[^"\\]|\\.)*"')
_NAMED: Final = re.compile(r'([A-Za-z_]\w*)[=:]\s?"?([^\s",;]+)"?')
_BARE: Final = re.compile(r"(?:^|(?<=\s))(\d+\.\d{3})(?=\s|$)")
_TIME_NAMES: Final = ("request_time", "rt", "req_time", "reqtime", "request_duration", "duration")
_UPSTREAM: Final = "upstream_response_time"
_END_NAMES: Final = ("msec", "time_msec", "timestamp_msec")
_JSON_ENDS: Final = (*_END_NAMES, "time_iso8601", "@timestamp", "time", "timestamp", "time_local")
_ID_NAMES: Final = ("request_id", "req_id")  # nginx's own; callers share an x-request-id


@frozen
class _Ended:
    """One access, as either form tells it."""

    end_ns: int
    whole_seconds: bool
    taken_ns: int | None
    method: str
    target: str
    status: int
    user: str | None
    address: str | None
    request_id: str | None


def _recognise(head: Head) -> bool:
    if head.framing is Framing.TEXT:
        lines = [line for line in head.lines if line.strip()]
        return bool(lines) and 2 * sum(_LINE.match(line) is not None for line in lines) > len(lines)
    first = head.records[0] if head.records else {}
    return (
        "status" in first
        and any(name in first for name in ("request", "request_uri", "uri"))
        and any(name in first for name in _JSON_ENDS)
        and any(name in first for name in ("request_time", _UPSTREAM, "msec"))
    )


def _row(record: Record, context: Context) -> RawRequest:
    line = record.values.get("line") if context.head.framing is Framing.TEXT else None
    found = _of_json(record.values, context) if line is None else _of_line(str(line), context)
    require_completion(found.method, found.target)
    if found.whole_seconds:
        context.assume(
            "Ends are logged in whole seconds, so that arrivals are early by up to a second (assumed)."
        )
    if found.taken_ns is None:
        context.assume("No request time is logged: ends are taken as arrivals (assumed).")
    outcome = of_status(found.status)
    if found.user is None and found.address is not None:
        context.infer("Tenants are client addresses, where no user is logged (inferred).")
    return RawRequest(
        line=record.line,
        arrival_ns=found.end_ns - (found.taken_ns or 0),
        logged_ns=found.end_ns,
        duration_ns=found.taken_ns,
        outcome=outcome,
        cancel_after_ns=found.taken_ns if outcome is Outcome.CANCELLED else None,
        tenant=found.user or found.address,
        request_id=found.request_id,
    )


def _of_line(line: str, context: Context) -> _Ended:
    found = _LINE.match(line)
    if found is None:
        raise RowProblem("line is no access log line")
    method, target = _request_line(found["request"])
    rest = _SAID.sub(" ", found["rest"])
    named = dict(_NAMED.findall(rest))
    end = next((named[name] for name in _END_NAMES if name in named), None)
    return _Ended(
        end_ns=moment_ns(found["end"] if end is None else end, "time of the end", context),
        whole_seconds=end is None,
        taken_ns=_taken(named, rest, context),
        method=method,
        target=target,
        status=int(found["status"]),
        user=first_text(found["user"]),
        address=first_text(found["address"]),
        request_id=first_text(*(named.get(name) for name in _ID_NAMES)),
    )


def _taken(named: Mapping[str, Any], rest: str, context: Context) -> int | None:
    for name in _TIME_NAMES:
        if name in named:
            return span_ns(named[name], "request_time")
    bare = _BARE.search(rest)
    if bare is None:
        return None
    context.infer(
        "The first bare number with three decimals is taken for $request_time (inferred)."
    )
    return span_ns(bare[1], "request_time")


def _of_json(values: Mapping[str, Any], context: Context) -> _Ended:
    if first_text(values.get("request_method")) is not None:
        method = str(values["request_method"])
        target = first_text(values.get("request_uri"), values.get("uri"), values.get("request"))
    else:
        method, target = _request_line(str(values.get("request") or ""))
    name = next((name for name in _JSON_ENDS if values.get(name)), None)
    if name is None:
        raise RowProblem("time of the end is missing")
    return _Ended(
        end_ns=moment_ns(values[name], "time of the end", context),
        whole_seconds=name not in _END_NAMES and "." not in str(values[name]),
        taken_ns=_taken_of_json(values, context),
        method=method,
        target=target or "",
        status=whole_number(values.get("status"), "status"),
        user=first_text(values.get("remote_user")),
        address=first_text(values.get("http_x_forwarded_for"), values.get("remote_addr")),
        request_id=first_text(*(values.get(key) for key in _ID_NAMES)),
    )


def _taken_of_json(values: Mapping[str, Any], context: Context) -> int | None:
    for name in _TIME_NAMES:
        if values.get(name) not in (None, "", "-"):
            return span_ns(values[name], "request_time")
    parts = re.split("[,:]", str(values.get(_UPSTREAM) or ""))
    asked = [part.strip() for part in parts if part.strip() not in ("", "-")]
    if not asked:
        return None
    context.infer(
        "Requests are taken to last as long as the servers behind nginx did, since no $request_time "
        "is logged (inferred)."
    )
    return sum(span_ns(part, _UPSTREAM) for part in asked)


def _request_line(request: str) -> tuple[str, str]:
    """Method and target of "POST /v1/completions HTTP/1.1"."""
    method, _, rest = request.partition(" ")
    return method, rest.split(" ", 1)[0]


FORMAT: Final = LogFormat(
    name="nginx",
    title="nginx access log (combined, with what was appended, or JSON)",
    framings=(Framing.TEXT, Framing.JSONL, Framing.JSON),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=row_by_row(_row),
    lacks=(
        "It counts no tokens and holds no texts: arrivals, durations and outcomes only.",
        "A status of 200 stands even where the stream broke.",
        "The time to the headers is not the time to the first token, and is not used.",
    ),
    source="https://nginx.org/en/docs/http/ngx_http_log_module.html",
)
