"""Access logs of gateways with a request id: Envoy as JSON or in its default form, nginx as JSON.

Envoy: https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage (START_TIME; DURATION,
REQUEST_TX_DURATION and RESPONSE_DURATION in milliseconds from it). nginx:
https://nginx.org/en/docs/http/ngx_http_log_module.html and ngx_http_upstream_module.html (`msec` is when the line was
written, in seconds; `request_time`, `upstream_response_time` and `upstream_header_time` are seconds). The upstream of
nginx ends with the request, so it began `upstream_response_time` before.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from vramledger.trial.stages.told import GATEWAY, GATEWAY_WHOLE, UPSTREAM, Told

_IDS: Final = ("x_request_id", "request_id", "x-request-id", "traceparent", "http_x_request_id", "http_traceparent", "trace_id")  # fmt: skip
_DEFAULT: Final = re.compile(
    r'\[(?P<start>\d{4}-\d\d-\d\dT[\d:.]+Z)\] "[^"]*" \d+ \S+ (?:\S+ )*?\d+ \d+ (?P<duration>\d+) (?P<upstream>\d+|-) '
    r'"[^"]*" "[^"]*" "(?P<id>[^"]+)"'
)
_MS: Final = 1_000_000
_NS: Final = 1e9


def told_by_json(line: Mapping[str, Any]) -> Iterator[Told] | None:
    """The stages of a line of JSON; None where it is of neither form."""
    names = tuple(line[key] for key in _IDS if isinstance(line.get(key), str))
    if not names:
        return None
    if "start_time" in line and "duration" in line:
        return _envoy(names, line)
    return _nginx(names, line) if "msec" in line and "request_time" in line else None


def told_by_text(line: str) -> Iterator[Told] | None:
    """The whole time in Envoy by a line of its default form, which does not tell when it sent the request on."""
    found = _DEFAULT.match(line)
    begin = _moment(found["start"]) if found else None
    if found is None or begin is None:
        return None
    end = begin + int(found["duration"]) * _MS
    return iter((Told((found["id"],), GATEWAY_WHOLE, "envoy", begin, end),))


def _envoy(names: tuple[str, ...], line: Mapping[str, Any]) -> Iterator[Told]:
    begin = _moment(line["start_time"])
    whole, sent, answered = (
        _number(line.get(key)) for key in ("duration", "request_tx_duration", "response_duration")
    )
    if begin is None or whole is None:
        return
    yield Told(names, GATEWAY_WHOLE, "envoy", begin, begin + round(whole * _MS))
    if sent is not None:
        on = begin + round(sent * _MS)
        yield Told(names, GATEWAY, "envoy", begin, on)
        if answered is not None and answered >= sent:
            yield Told(names, UPSTREAM, "envoy", on, begin + round(answered * _MS))


def _nginx(names: tuple[str, ...], line: Mapping[str, Any]) -> Iterator[Told]:
    end_s, took_s, upstream_s, header_s = (
        _number(line.get(key))
        for key in ("msec", "request_time", "upstream_response_time", "upstream_header_time")
    )
    if end_s is None or took_s is None:
        return
    end = round(end_s * _NS)
    begin = end - round(took_s * _NS)
    yield Told(names, GATEWAY_WHOLE, "nginx", begin, end)
    if upstream_s is not None and upstream_s <= took_s:
        on = end - round(upstream_s * _NS)
        yield Told(names, GATEWAY, "nginx", begin, on)
        if header_s is not None:
            yield Told(names, UPSTREAM, "nginx", on, on + round(header_s * _NS))


def _moment(text: Any) -> int | None:
    try:
        return round(datetime.fromisoformat(str(text)).timestamp() * 1e6) * 1_000
    except (ValueError, OverflowError):
        return None


def _number(value: Any) -> float | None:
    """A number, or the text of one; several upstreams, and "-" for none, are no number."""
    if isinstance(value, bool):
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if 0 <= found < _NS * _NS else None
