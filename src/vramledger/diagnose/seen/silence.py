"""Times in which a server's metrics page could not be read, by the journal."""

from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vramledger.record.journal import Entry

_PAGE: Final = "target"
_LATE: Final = "slow"  # pages that come late are read all the same
_GONE: Final = frozenset({"connect_refused", "reset", "cut_off"})


@frozen
class Silence:
    """From `from_s` to `to_s` of the run there was no page, for the reason `why`; `to_the_end` is whether it came back.

    `gone` is whether the server itself was not there, and not its page alone.
    """

    from_s: float
    to_s: float
    why: str
    gone: bool
    to_the_end: bool


def silences_of(entries: "Sequence[Entry]") -> tuple[Silence, ...]:
    """The silences of all servers of a run, in the order in which they began."""
    open_ones: dict[str, Entry] = {}
    found = []
    for entry in entries:
        source = str(entry.details.get("source", ""))
        if not source.startswith(_PAGE) or entry.details.get("error_class") == _LATE:
            continue
        if entry.event == "gap_began":
            open_ones[source] = entry
        elif entry.event == "gap_ended" and source in open_ones:
            ends = bool(entry.details.get("with_the_run"))
            found.append(_silence(open_ones.pop(source), entry.t_s, ends=ends))
    last_s = entries[-1].t_s if entries else 0.0
    found += [_silence(each, last_s, ends=True) for each in open_ones.values()]
    return _joined(sorted(found, key=lambda each: each.from_s))


def _joined(found: list[Silence]) -> tuple[Silence, ...]:
    """Silences that follow each other at once are one, for the reason that the last one gives."""
    joined: list[Silence] = []
    for each in found:
        if joined and each.from_s <= joined[-1].to_s:
            before = joined.pop()
            joined.append(
                Silence(
                    before.from_s,
                    max(each.to_s, before.to_s),
                    each.why,
                    each.gone or before.gone,
                    each.to_the_end,
                )
            )
        else:
            joined.append(each)
    return tuple(joined)


def _silence(began: "Entry", to_s: float, *, ends: bool) -> Silence:
    details = began.details
    return Silence(
        from_s=began.t_s,
        to_s=max(to_s, began.t_s),
        why=str(details.get("why", "")),
        gone=details.get("error_class") in _GONE,
        to_the_end=ends,
    )
