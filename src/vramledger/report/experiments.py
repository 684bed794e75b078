"""The experiment log for a terminal: each entry as a paragraph."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vramledger.printable import flat


def experiments_text(found: Sequence[Mapping[str, Any]]) -> str:
    """In order of writing."""
    if not found:
        return "No experiment is in it yet."
    return "\n\n".join("\n".join(flat(line) for line in _entry(each)) for each in found)


def _entry(found: Mapping[str, Any]) -> Iterator[str]:
    basis = ", ".join(dict.fromkeys(str(each) for each in (found.get("basis") or {}).values()))
    yield f"{found['at']}  {found.get('question') or 'no question was stated'}  ({basis or 'of unknown basis'})"
    for name, paths in found["sides"].items():
        yield f"  {name}         {', '.join(map(str, paths))}"
    if found.get("expect"):
        yield f"  expected  {found['expect']}"
    for each in found["results"]:
        yield from _result(each)
    if found.get("choice"):
        yield f"  chosen    {found['choice']}"


def _result(found: Mapping[str, Any]) -> Iterator[str]:
    change = found.get("change")
    if isinstance(change, Mapping):
        yield f"  changed   {change.get('name')}: {change.get('a')} of A, {change.get('b')} of {found.get('side')}"
    else:
        yield f"  changed   {found.get('reason') or found.get('attribution')}"
    effects = [_effect(each) for each in found["effects"] if isinstance(each, Mapping)]
    said = "; ".join(effects) or "no detectable difference"
    yield f"  result    {said} (of {found.get('compared')} figures)"


def _effect(found: Mapping[str, Any]) -> str:
    name = " ".join(str(found[key]) for key in ("name", "statistic") if found.get(key))
    ends = f"{_percent(found.get('low'))} to {_percent(found.get('high'))}"
    return f"{name} {_percent(found.get('effect'))} ({ends})"


def _percent(value: Any) -> str:
    return f"{value:+.1%}" if isinstance(value, int | float) else str(value)
