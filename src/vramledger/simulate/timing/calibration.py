"""A host's calibration as a file: ``vramledger.calibration/1``, JSON, read into a `Fit`.

`vram calibrate` writes it. `coefficients` are whole, so that a file means the same beside another release of this
package; `terms` tell the same in figures for people, `factors` and `covariance` how sure they are.
"""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from vramledger.errors import BadInput
from vramledger.ledger.calibration_file import REMEDY, has_step_times, read_content
from vramledger.simulate.timing.carrying import HOME, HOME_FIRST
from vramledger.simulate.timing.coefficients import Coefficients, Fit, shipped
from vramledger.simulate.timing.host import Host, Setting, Term
from vramledger.simulate.timing.host_terms import BY_NAME


def host_json(host: Host, coefficients: Coefficients) -> dict[str, Any]:
    """The part of the file that `read_calibration` reads."""
    return {
        "setting": _plain(host.setting),
        "origin": host.origin,
        "factors": {name: _plain(term) for name, term in host.terms.items()},
        "covariance": [list(row) for row in host.covariance],
        "coefficients": _plain(coefficients),
    }


def fit_of_host(host: Host, coefficients: Coefficients, date: str, source: str) -> Fit:
    """A host's coefficients, with the bands they have on the deployment that was measured."""
    return Fit(
        coefficients=coefficients,
        tpot=HOME,
        ttft=HOME_FIRST,
        ttft_waiting=HOME_FIRST,
        tpot_waiting=HOME,
        date=date,
        rows=0,
        source=source,
        architectures=frozenset({host.setting.architecture}),
        releases=(),
        errors={},
        host=host,
    )


def read_calibration(path: Path) -> Fit:
    """The calibration of a file.

    Raises:
        BadInput: no file, not of this schema, no step times in it, or a key without sense.
    """
    content = read_content(path)
    if not has_step_times(content):
        raise BadInput(
            f"{path} is a calibration of memory alone, from a start-up log, and has no step times; calibrate on "
            "a run."
        )
    try:
        host = Host(
            setting=_record(Setting, content["setting"]),
            terms={name: _record(Term, each) for name, each in content["factors"].items()},
            covariance=tuple(tuple(float(x) for x in row) for row in content["covariance"]),
            origin=str(content["origin"]),
        )
        coefficients = _coefficients(content["coefficients"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{path} is damaged near {error}; {REMEDY}.") from None
    _check(path, host)
    return fit_of_host(host, coefficients, str(content.get("date", "")), f"the calibration {path}")


def _plain(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _record(kind: Any, content: Mapping[str, Any]) -> Any:
    """A record of plain fields; each must be there and of its type."""
    values = {}
    for field in fields(kind):
        wanted = float if field.type in (float, "float") else field.type
        value = content[field.name]
        values[field.name] = float(value) if wanted is float else value
        if isinstance(wanted, type) and not isinstance(values[field.name], wanted):
            raise TypeError(f"{field.name} {value!r}")
    return kind(**values)


def _coefficients(content: Mapping[str, Any]) -> Coefficients:
    """Those of the file; one that is newer than the file is the shipped one."""
    newer = _plain(shipped().coefficients)
    values = {name: float(content.get(name, newer[name])) for name in newer}
    for name, value in values.items():
        if not 0 <= value < float("inf"):
            raise ValueError(f"{name} {value!r}")
    return Coefficients(**values)


def _check(path: Path, host: Host) -> None:
    count = len(host.terms)
    square = len(host.covariance) == count and all(len(row) == count for row in host.covariance)
    unknown = [name for name in host.terms if name not in BY_NAME]
    if unknown or not square:
        what = f"the terms {', '.join(unknown)}" if unknown else "its covariance"
        raise BadInput(f"{path} is damaged near {what}; {REMEDY}.")
