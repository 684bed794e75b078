"""The parts of a profile that a log or a table cannot give, and why."""

from collections.abc import Collection
from typing import Final

from vramledger.frozen import frozen
from vramledger.workload import scenarios

_NO_ORDER: Final = "The table has no column row, which tells the order of requests."


@frozen
class _Part:
    """A part, the columns that it needs, and what is said where one of those holds nothing."""

    name: str
    needs: frozenset[str]
    why: str
    of: frozenset[str] = frozenset()  # columns without which nobody expects the part


_PARTS: Final = (
    _Part("input_tokens", frozenset({"input_tokens"}), "The log has no counts of input tokens."),
    _Part("output_tokens", frozenset({"output_tokens"}), "The log has no counts of output tokens."),
    _Part(
        "holding",
        frozenset({"input_tokens", "output_tokens"}),
        "The log does not count both input and output tokens.",
    ),
    _Part("arrival", frozenset({"arrival_s"}), scenarios.NO_TIMES),
    _Part(
        "concurrency",
        frozenset({"arrival_s", "duration_s"}),
        "The log does not tell how long requests took.",
    ),
    _Part(
        "sessions",
        frozenset({"session"}),
        "The log does not tell which requests belong together.",
    ),
    _Part(
        "prefix",
        frozenset({"prefix_blocks"}),
        "The log does not tell which prompts begin alike.",
    ),
    _Part("prefix.shared_blocks", frozenset({"row"}), _NO_ORDER, of=frozenset({"prefix_blocks"})),
    _Part("sessions.carried", frozenset({"row"}), _NO_ORDER, of=frozenset({"session"})),
)


def absent(held: Collection[str]) -> dict[str, str]:
    """Part -> why it is absent, where columns of these names alone hold anything."""
    columns = frozenset(held)
    return {
        part.name: part.why for part in _PARTS if part.of <= columns and not part.needs <= columns
    }
