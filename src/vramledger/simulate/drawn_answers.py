"""Drawn answers under the simulator's own name."""

from vramledger.workload.operators.drawn_answers import with_answers as with_answers
