"""What a worker has done so far, and how it tells its parent: one JSON object a line."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.record.requests import RequestRecord
from vramledger.trial.client.sketch import Sketch

if TYPE_CHECKING:
    from vramledger.record.outcome import Outcome

_LONGEST_EXAMPLE: Final = 300


class Counts:
    """Sums over the requests of a worker; `ttft` and `recent_ttft` are from due to the first token, until the last line and since.

    `examples` holds the server's own words about the first failure of each class, for a person to read, shortened,
    without the key; they belong on a terminal and never in a record.
    """

    def __init__(self, secret: str | None) -> None:
        self._secret = secret
        self.sent = 0
        self.in_flight = 0
        self.ended: dict[Outcome, int] = {}
        self.failures: dict[str, int] = {}
        self.examples: dict[str, str] = {}
        self.tokens = 0
        self.ttft, self.recent_ttft = Sketch(), Sketch()
        self.late = Sketch()

    def add(self, record: RequestRecord, message: bytes) -> None:
        """A request has ended so; `message` is what the server said about it."""
        self.ended[record.outcome] = self.ended.get(record.outcome, 0) + 1
        self.tokens += record.output_tokens_got or 0
        if record.first_content_s is not None:
            self.recent_ttft.add(record.first_content_s - record.due_s)
        name = record.error_class
        if name is not None:
            self.failures[name] = self.failures.get(name, 0) + 1
            if message and name not in self.examples:
                self.examples[name] = self._shown(message)

    @property
    def whole_ttft(self) -> Sketch:
        """The time to the first token of all requests so far."""
        whole = Sketch()
        whole.merge(self.ttft)
        whole.merge(self.recent_ttft)
        return whole

    def line(self, t_s: float, unsent: int) -> dict[str, Any]:
        """What to tell the parent now; the recent sketch begins anew."""
        recent, self.recent_ttft = self.recent_ttft, Sketch()
        self.ttft.merge(recent)
        return {
            "event": "progress",
            "t_s": round(t_s, 6),
            "sent": self.sent,
            "in_flight": self.in_flight,
            "waiting": unsent,
            "ended": {outcome.value: count for outcome, count in self.ended.items()},
            "failures": dict(self.failures),
            "tokens": self.tokens,
            "ttft_s": recent.to_json(),
            "late_p99_s": self.late.percentile(0.99),
        }

    def _shown(self, message: bytes) -> str:
        text = message.decode(errors="replace")
        if self._secret:
            text = text.replace(self._secret, "[the key]")
        text = " ".join(text.split())
        return text if len(text) <= _LONGEST_EXAMPLE else text[: _LONGEST_EXAMPLE - 3] + "..."
