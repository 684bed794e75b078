"""Drawn answers under the simulator's own name."""

from vramledger.workload.operators.drawn_answers import with_answers

__all__ = ["with_answers"]
