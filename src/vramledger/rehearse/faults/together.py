"""All faults of a server on one request."""

from collections.abc import Sequence
from math import inf
from random import Random

from vramledger.rehearse.api.refusal import Refusal
from vramledger.rehearse.faults.fault import Fault, Outage, Style
from vramledger.rehearse.http.sink import Sink


class Faults:
    """The faults in their order; the request's number and the seed decide what befalls it."""

    def __init__(self, faults: Sequence[Fault], seed: int) -> None:
        self._faults, self._seed = faults, seed

    @property
    def style(self) -> Style:
        """How streams are written."""
        style = Style()
        for fault in self._faults:
            style = fault.styled(style)
        return style

    @property
    def outages(self) -> tuple[Outage, ...]:
        """When the server dies, the first first."""
        found = (fault.outage for fault in self._faults)
        return tuple(sorted((one for one in found if one is not None), key=lambda one: one.at_s))

    @property
    def metrics_until_s(self) -> float:
        """For how long there is a metrics page, in seconds after the server began to serve."""
        return min((fault.metrics_until_s for fault in self._faults), default=inf)

    def refusal(self, number: int) -> Refusal | None:
        """What is answered instead, by the first fault that does."""
        found = (fault.refusal(self._draw(fault, number)) for fault in self._faults)
        return next((one for one in found if one is not None), None)

    def in_front(self, sink: Sink, number: int, tokens: int) -> Sink:
        """Where an answer of so many tokens is written; the fault named first sees it first."""
        for fault in reversed(self._faults):
            sink = fault.in_front(sink, self._draw(fault, number), tokens)
        return sink

    def _draw(self, fault: Fault, number: int) -> Random:
        return Random(f"{self._seed} {fault.form} {number}")  # noqa: S311 - faults, not secrets
