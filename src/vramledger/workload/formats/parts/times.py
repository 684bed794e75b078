"""Moments and lengths of time that a record may leave out."""

from typing import Any

from vramledger.workload.fields import optional_duration_ns
from vramledger.workload.formats.format import Context
from vramledger.workload.raw import RowProblem
from vramledger.workload.timestamps import moment_ns


def optional_moment_ns(value: Any, name: str, context: Context) -> int | None:
    """As `moment_ns`, None where the field is absent or empty."""
    return None if value in (None, "", "-") else moment_ns(value, name, context)


def between_ns(start: int | None, end: int | None) -> int | None:
    """From one moment to another; None where either is unknown or the clock went back."""
    if start is None or end is None or end < start:
        return None
    return end - start


def span_ns(value: Any, name: str, unit_ns: int = 10**9) -> int:
    """A length of time that counts units of `unit_ns`.

    Raises:
        RowProblem: missing, no number, or negative.
    """
    found = optional_duration_ns(value, name, unit_ns)
    if found is None:
        raise RowProblem(f"{name} is missing")
    return found


def optional_span_ns(value: Any, name: str, unit_ns: int = 10**9) -> int | None:
    """As `span_ns`, None where the field is absent, empty or the "-" of access logs."""
    return None if value in (None, "", "-") else span_ns(value, name, unit_ns)
